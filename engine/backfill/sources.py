"""The sources of a backfill's periods: stored runs and commits, each with the digest of what decides its results."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from eval_skills.core.errors import InputError, UserError
from eval_skills.core.fingerprint import digest_of_json, installed_version
from eval_skills.core.store import Manifest, Store, started_at
from eval_skills.engine.backfill.recompute import todays_benchmark
from eval_skills.engine.backfill.request import BackfillRequest
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.rescoring.basis import ScoringBasis, scoring_basis
from eval_skills.engine.rescoring.plan import rescoring_digest
from eval_skills.engine.stored_runs.reports import recorded_request, refuse_without_evaluator
from eval_skills.scorers import TaskScoring


@dataclass(frozen=True, slots=True)
class Source:
    """A stored run or a commit that a period is made of; `digest` covers everything that decides its results.

    `skills` (``id@version``) and `benchmark` (its id) are known for a run; for a commit they are empty.
    """

    name: str
    moment: datetime
    digest: str
    skills: frozenset[str] = frozenset()
    benchmark: str = ""


class StoredRuns:
    """The sources of stored runs; a run that cannot be used is left out with a remark."""

    def __init__(self, request: BackfillRequest, store: Store) -> None:
        self.remarks: list[str] = []
        self._request, self._store = request, store
        self._bases: dict[str, ScoringBasis | UserError] = {}
        self._wanted = self._benchmark_id()

    def source(self, run_id: str, manifest: Manifest | None) -> Source | None:
        """The source of one run, or None."""
        benchmark = manifest.benchmark.id if manifest else ""
        if self._wanted is not None and benchmark != self._wanted:
            self.remarks.append(f"runs of other benchmarks than {self._wanted} are left out")
            return None
        try:
            digest = self._rescored(run_id, manifest) if self._request.mode == "rescore" else self._recomputed(run_id, manifest)
        except UserError as error:
            self.remarks.append(f"run {run_id} is left out: {error}")
            return None
        skills = frozenset(skill.key for skill in manifest.skills) if manifest else frozenset()
        return Source(run_id, started_at(run_id), digest, skills, benchmark)

    @property
    def scorings(self) -> dict[str, TaskScoring]:
        """All scorings of the sources so far, under unique names."""
        known = [each for each in self._bases.values() if isinstance(each, ScoringBasis)]
        return {f"{place}/{task}": scoring for place, each in enumerate(known) for task, scoring in each.scorings.items()}

    def _benchmark_id(self) -> str | None:
        if self._request.benchmark is None and self._request.tasks is None:
            return None
        return scoring_basis(self._request.scoring(), EvaluateRequest()).benchmark.id

    def _recomputed(self, run_id: str, manifest: Manifest | None) -> str:
        benchmark = todays_benchmark(recorded_request(manifest), self._request.scoring())
        content = {
            "items": self._store.tables.digest("items", run_id),
            "benchmark": digest_of_json(benchmark.to_json()) if benchmark else None,
            "version": installed_version("eval-skills"),
        }
        return digest_of_json(content)

    def _rescored(self, run_id: str, manifest: Manifest | None) -> str:
        then = recorded_request(manifest)
        if then is None and self._wanted is None:
            raise InputError("its manifest cannot be read; name its benchmark with --benchmark")
        if then is not None:
            refuse_without_evaluator(manifest, self._request.evaluator or then.evaluator)
        return rescoring_digest(self._store, run_id, self._basis(then or EvaluateRequest()))

    def _basis(self, then: EvaluateRequest) -> ScoringBasis:
        names = {
            "benchmark",
            "tasks",
            "benchmarks_dir",
            "skip_unreadable",
            "evaluator",
            "weights",
            "tool_categories",
            "tool_names",
            "llm",
        }
        key = json.dumps(then.model_dump(mode="json", include=names), sort_keys=True)
        if key not in self._bases:
            try:
                self._bases[key] = scoring_basis(self._request.scoring(), then)
            except UserError as error:
                self._bases[key] = error
        found = self._bases[key]
        if isinstance(found, UserError):
            raise found
        return found
