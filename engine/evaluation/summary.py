"""What a run came to, as flows return it.

What a run came to, from its plan and its figures.

What reports tell of a run beside its figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from eval_skills.core.models import Benchmark, Skill, SkillCompletionReport
from eval_skills.core.selection import RankedSkill
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.judging.outcome import judges_of, judging_lines, unjudged, unjudged_line
from eval_skills.reporting import ReportContext, count_run, summary_line


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The outcome of one run.

    `reports` holds one report per skill. `selected` is None where nothing was selected from. `finished` and `planned` count
    items; they differ only for a run that stopped early. `skipped` counts skills that were asked for and could not be used.
    `flow_runs` and `task_runs` say what Prefect should have recorded. `judging` says in lines what judging models did and cost;
    `out_of_budget`: they were to cost no more, and items were left unjudged. `unjudged` counts the items that have no verdict
    because of the judge, for whatever reason.
    """

    run_id: str
    line: str
    skills: list[Skill]
    benchmark: Benchmark
    reports: list[SkillCompletionReport]
    planned: int
    finished: int
    min_completion: float
    store: str
    selected: list[RankedSkill] | None = None
    report_files: list[Path] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    skipped: int = 0
    flow_runs: tuple[str, ...] = ()
    task_runs: int = 0
    judging: list[str] = field(default_factory=list)
    out_of_budget: bool = False
    unjudged: int = 0

    @property
    def is_partial(self) -> bool:
        """Whether items are missing, as after `failFast`."""
        return self.finished < self.planned

    @property
    def below(self) -> list[SkillCompletionReport]:
        """The reports of skills whose completion rate is under `min_completion`."""
        return [report for report in self.reports if report.summary.completion_rate < self.min_completion]

    @property
    def rogue(self) -> list[SkillCompletionReport]:
        """The reports of skills that called a forbidden tool, however much they complete."""
        return [report for report in self.reports if report.summary.forbidden_items]

    @property
    def gate_passed(self) -> bool:
        """Whether every skill reached `min_completion` and called nothing forbidden; a gate that could not be evaluated has not
        passed, and neither has one with items that nobody judged.
        """
        whole = bool(self.reports) and not self.is_partial and not self.skipped and not self.unjudged
        return whole and not self.below and not self.rogue


def summary_of(plan: RunPlan, reports: Sequence[SkillCompletionReport], finished: int, seconds: float) -> RunSummary:
    """The summary of a run of which `finished` items are known, after `seconds`; what judging came to is in it."""
    judges = judges_of(plan.scorings)
    results = [result for report in reports for result in report.task_results]
    failed = unjudged_line(results)
    return RunSummary(
        run_id=plan.run_id,
        line=summary_line(count_run(reports, seconds)),
        skills=list(plan.skills.values()),
        benchmark=plan.benchmark,
        reports=list(reports),
        planned=plan.planned,
        finished=finished,
        min_completion=plan.request.min_completion,
        store=plan.store.path,
        remarks=plan.remarks,
        skipped=plan.skipped,
        judging=[*([failed] if failed else []), *judging_lines(judges, plan.run_id, plan.request.store)],
        out_of_budget=judges is not None and judges.budget.exhausted,
        unjudged=len(unjudged(results)),
    )


def context_of(summary: RunSummary) -> ReportContext:
    """What a report says of the run beside its figures."""
    return ReportContext(
        run_id=summary.run_id,
        created_at=datetime.now(UTC),
        benchmark=summary.benchmark,
        min_completion=summary.min_completion,
        partial=(summary.finished, summary.planned) if summary.is_partial else None,
        ranks=None if summary.selected is None else {choice.skill.key: choice.rank for choice in summary.selected},
    )
