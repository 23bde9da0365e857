"""Nights that are made: over a store whose runs are written by hand, one day after the other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pandas as pd

from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.metrics.tasks import count_tallies
from eval_skills.core.models import Benchmark, ItemResult
from eval_skills.core.nightly.classification import classify
from eval_skills.core.nightly.evidence import Classification, FreshRuns
from eval_skills.core.store import Store, land_items, land_reports, table_of
from eval_skills.engine.nightly.events import record_night
from eval_skills.engine.nightly.evidence import SuiteEvidence, SuiteRun, gather, gone, last_good_runs, suite_run
from eval_skills.engine.nightly.execution import suite_outcome
from eval_skills.engine.nightly.history import suite_history
from eval_skills.engine.nightly.request import Suite
from eval_skills.engine.nightly.summary import NightSummary, SkillOutcome, SuiteOutcome

Outcome = dict[str, str]
SUITE = Suite(name="sums", skills=["s"], benchmark="sums")
BENCHMARK = Benchmark.model_validate({"id": "sums", "name": "Sums", "version": "1.0.0", "tasks": []})
STATUS: dict[str, dict[str, Any]] = {
    "p": {"status": "pass", "passed": True, "score": 1.0},
    "f": {"status": "fail", "passed": False, "score": 0.0},
    "i": {"status": "error", "passed": False, "error_kind": "infra", "error_message": "connection refused"},
    "j": {"status": "error", "passed": False, "error_kind": "judge", "error_message": "no such key"},
    "s": {"status": "error", "passed": False, "error_kind": "simulator", "error_message": "talks rubbish"},
}
TASKS = [f"t{number}" for number in range(20)]
FINE = dict.fromkeys(TASKS, "p")
BROKEN = FINE | {"t3": "f"}


class Nights:
    """Makes nights of a suite, one day after the other."""

    def __init__(self, store: Store) -> None:
        self.store, self.days = store, count(1)

    def run(self, outcome: Outcome, day: int, suite: Suite = SUITE, *, number: int = 1, **more: Any) -> SuiteRun:
        """A landed run of adder on the day, of other versions `beside` it, too."""
        run_id = f"202601{day:02}T000000Z-{number:04}"
        skill = {"skill_id": "adder", "skill_version": "1.0.0", "benchmark_id": "sums", "benchmark_version": "1.0.0"}
        digests, version = more.pop("digests", {}), more.pop("skill_version", "1.0.0")
        versions = {version: outcome, **more.pop("beside", {})}
        results = [
            ItemResult(
                **{
                    **skill, **STATUS[letter], **more, "run_id": run_id, "task_id": task, "run_index": index, "latency_ms": 1.0,
                    "skill_version": version,
                    "started_at": datetime(2026, 1, day, tzinfo=UTC), "task_digest": digests.get(task, "same"),
                }
            )
            for version, outcome in versions.items()
            for task, letters in outcome.items()
            for index, letter in enumerate(letters)
        ]  # fmt: skip
        land_items(self.store, run_id, results)
        frame: pd.DataFrame = table_of(results).to_pandas(maps_as_pydicts="strict")
        reports = skill_reports(frame, BENCHMARK, timeout_ms=1000)
        land_reports(self.store, run_id, None, reports, benchmark_version="1.0.0")
        return suite_run(suite, run_id, reports)

    def evidence(self, *runs: SuiteRun, baseline: str | None = None, night_id: str = "tonight") -> list[SuiteEvidence]:
        return gather(self.store, night_id, runs, [suite_history(self.store, run.suite.name) for run in runs], baseline)

    def night(
        self,
        outcome: Outcome,
        fresh: Outcome | None = None,
        *,
        of: int = 0,
        neighbour: bool = False,
        suite: Suite = SUITE,
        **more: Any,
    ) -> SuiteOutcome:
        """A whole night of one suite, recorded, with fresh runs `of` this skill; with `neighbour` another one of it is down."""
        day = next(self.days)
        night_id = f"202601{day:02}T000000Z-9999"
        (evidence,) = self.evidence(self.run(outcome, day, suite, **more), night_id=night_id)
        again = self.run(fresh, day, suite, number=2, **more) if fresh else None
        found = {of: FreshRuns(tallies=count_tallies(again.reports[0].task_results), run_id=again.run_id)} if again else {}
        skills = [
            SkillOutcome(
                report=report,
                classification=classification,
                against=skill.against,
                confirm_run_id=again.run_id if again else None,
                last_good=last_good,
            )
            for report, skill, last_good, classification in zip(
                evidence.run.reports,
                evidence.skills,
                last_good_runs(evidence),
                classify(night_id, evidence.skills, found),
                strict=True,
            )
        ]
        if neighbour:
            report = skills[0].report.model_copy(update={"skill_id": "neighbour"})
            skills.append(SkillOutcome(report=report, classification=Classification(verdict="failed", explanation="down")))
        ended = SuiteOutcome(
            name=suite.name,
            benchmark_id="sums",
            run_id=evidence.run.run_id,
            skills=skills,
            failures=evidence.run.failures,
            gone=gone(replace(evidence.run, reports=[skill.report for skill in skills]), evidence.history),
        )
        record_night(self.store, NightSummary(night_id=night_id, store=self.store.path, suites=[ended]))
        return ended


def verdicts(*suites: SuiteOutcome) -> list[str]:
    return [skill.classification.verdict for suite in suites for skill in suite.skills]


def told(nights: Nights, outcome: Outcome, day: int, **more: Any) -> SuiteOutcome:
    """What tonight says, without fresh runs."""
    (evidence,) = nights.evidence(nights.run(outcome, day, **more))
    return suite_outcome(evidence, list(enumerate(classify("tonight", evidence.skills, {}))), {}, None)
