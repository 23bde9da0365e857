"""What stored answers are scored by: a benchmark as it is today, with its scorers and settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.fingerprint import digest_of_json, installed_version
from eval_skills.core.models import Benchmark
from eval_skills.core.models.base import collection_paused
from eval_skills.engine.definition.benchmark import (
    EVERY_TASK,
    benchmark_digests,
    columns_of,
    resolve_scored,
    searched_for,
)
from eval_skills.engine.definition.request import EvaluateRequest, absolute_if_there
from eval_skills.engine.definition.scoring import custom_files, judges_of, scoring_digests
from eval_skills.engine.rescoring.request import ScoringOptions
from eval_skills.scorers import TaskScoring

SETTINGS = ("evaluator", "weights", "tool_categories", "tool_names")
"""What of a request decides about scores, beside the tasks and the judging models."""


@dataclass(frozen=True, slots=True)
class ScoringBasis:
    """A benchmark that is ready to score.

    `request` is the evaluation that scores in the same way; `digests` are those of `benchmark` and ``task/<id>``; `expectation`
    is the digest of what is expected of an answer (tasks, settings, a benchmark's own scorer files), `digest` that of everything
    that decides a score, including our own version.
    """

    request: EvaluateRequest
    benchmark: Benchmark
    folder: Path | None
    scorings: dict[str, TaskScoring]
    digests: dict[str, str]
    expectation: str
    digest: str


@collection_paused()
def scoring_basis(options: ScoringOptions, then: EvaluateRequest) -> ScoringBasis:
    """What answers to the request `then` are scored by today; the `options` that are set replace its own.

    Whether custom code may run is always taken from `options`: it was allowed for the earlier files.

    Raises:
        UserError: the benchmark no longer exists, or it or a task in it is malformed.
    """
    request = _request(options, then)
    scored = resolve_scored(request)
    benchmark, folder, scorings = scored.benchmark, scored.folder, scored.scorings
    digests = benchmark_digests(benchmark, folder) | scoring_digests(scorings)
    content = {
        "benchmark": digests["benchmark"],
        "settings": request.model_dump(mode="json", include=set(SETTINGS)),
        "code": _code_digest(scorings, folder),
    }
    if judges_of(scorings) is not None:
        content["judge"] = request.llm.deciding
    expectation = digest_of_json(content)
    digest = digest_of_json({"expectation": expectation, "version": installed_version("eval-skills")})
    return ScoringBasis(request, benchmark, folder, scorings, digests, expectation, digest)


def _request(options: ScoringOptions, then: EvaluateRequest) -> EvaluateRequest:
    given = {name: getattr(options, name) for name in SETTINGS if getattr(options, name) is not None}
    if options.benchmark is not None or options.tasks is not None:
        given["own_tests"] = False
        given |= {"benchmark": absolute_if_there(options.benchmark) or then.benchmark, "tasks": absolute_if_there(options.tasks)}
        given["map"] = columns_of(then, options.tasks)
    if directory := searched_for(options.benchmark, options.benchmarks_dir):
        given["benchmarks_dir"] = absolute_if_there(directory)
    given["llm"] = then.llm.with_said(options.llm)
    given |= {name: getattr(options, name) for name in JudgeOptions.model_fields if name != "llm"}
    return then.model_copy(update={**given, "allow_custom_code": options.allow_custom_code, **_choice(options)})


def _choice(options: ScoringOptions) -> dict[str, list[str]]:
    """The tasks that are scored: those that were chosen now, whatever was when they were asked."""
    return {name: getattr(options, name, every) for name, every in EVERY_TASK.items()}


def _code_digest(scorings: dict[str, TaskScoring], folder: Path | None) -> list[str]:
    """A benchmark's own scorer may import its neighbours: all Python files beside it count."""
    own = {} if folder is None else custom_files(scorings.values(), folder)
    return [f"{name} {digest}" for name, digest in own.items()]
