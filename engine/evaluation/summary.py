"""The result of a run: its reports, as they land in the store, and the summary that flows return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.core.errors import EvalSkillsError, RunError, UsageError
from eval_skills.core.models import Benchmark, Skill, SkillCompletionReport
from eval_skills.core.models.report import MAX_DETAILED_ITEMS
from eval_skills.core.selection import RankedSkill
from eval_skills.core.store import ReachedLimit, Store, land_reports, mirror_sqlite
from eval_skills.core.store.rows import MAX_OUTPUT_BYTES
from eval_skills.core.text import percents_apart, plural, unusable_skills
from eval_skills.engine.definition.benchmark import benchmark_notes
from eval_skills.engine.definition.request import part_remarks
from eval_skills.engine.definition.scoring import judges_of
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.evaluation.recorder import land_recording, partial_recording
from eval_skills.engine.evaluation.spending import continue_words
from eval_skills.engine.judging.outcome import (
    add_judge_figures,
    judging_lines,
    reported_line,
    unjudged_line,
    unsimulated_lines,
)
from eval_skills.engine.skill_effect.experiment import effect_of_run
from eval_skills.engine.stored_runs.provenance import provenance_of
from eval_skills.engine.stored_runs.reports import (
    figure_columns,
    frame_of,
    recorded_request,
    skill_reports_of,
)
from eval_skills.reporting import numbers
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.lines import unknown_calls
from eval_skills.reporting.stopping import of_store, stop_words
from eval_skills.reporting.summary import count_run, summary_line
from eval_skills.reporting.writing import ELSEWHERE

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from eval_skills.core.diff.until import Decision
    from eval_skills.scorers.judging import Judges


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The result of one run.

    `reports` holds one report per skill. `selected` is None where no selection was made; `removed` holds a line for each skill
    that filters removed, and which; `tied` are the skills that were left out although they are as good as a selected one.
    `finished` and `planned` count items; they differ only for a run that stopped early. `skipped` counts the requested skills
    that could not be used. `flow_runs` and `task_runs` are what Prefect should have recorded. `decisions` say why a run that
    grew until it was decided has as many runs as it has. `judging` holds lines on what judging models did and cost;
    `judging_usd`: what this call counts against their cost limit, the check before the run included;
    `out_of_budget`: that was reached, and items were left unjudged. `unjudged` counts the items without a verdict
    because of the judge, for any reason, `unsimulated` the conversations without an end because the model that plays the user
    failed. `part` says of a run that was asked a part of its benchmark how large that is. `gated`: it was asked whether every
    skill reaches `min_completion`, so that reports show it. `stopped` is the limit that left items.
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
    removed: list[str] = field(default_factory=list)
    tied: list[str] = field(default_factory=list)
    report_files: list[Path] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    skipped: int = 0
    flow_runs: tuple[str, ...] = ()
    task_runs: int = 0
    decisions: list[Decision] = field(default_factory=list)
    judging: list[str] = field(default_factory=list)
    judging_usd: float = 0.0
    out_of_budget: bool = False
    unjudged: int = 0
    unsimulated: int = 0
    part: list[str] = field(default_factory=list)
    gated: bool = False
    stopped: ReachedLimit | None = None

    @property
    def skips(self) -> list[str]:
        """Why skills that were asked for are `skipped`, a remark each."""
        return self.remarks[: self.skipped]

    @property
    def is_partial(self) -> bool:
        """Whether items are missing, as after `failFast` or at a limit."""
        return self.finished < self.planned

    @property
    def stop_line(self) -> str | None:
        """At which limit the run stopped, what was spent, and how many items are done; None where no limit stopped it."""
        return None if self.stopped is None else stop_words(self.stopped, self.finished, self.planned)

    def continue_line(self, command: str) -> str:
        """How to go on with a run that a limit stopped; `command` is the one that does."""
        assert self.stopped is not None, "a limit stopped the run"
        return continue_words(self.stopped, command, self.run_id, self.store)

    @property
    def below(self) -> list[SkillCompletionReport]:
        """The reports of skills whose completion rate is under `min_completion`."""
        return [report for report in self.reports if report.summary.completion_rate < self.min_completion]

    @property
    def with_forbidden_calls(self) -> list[SkillCompletionReport]:
        """The reports of skills that called a forbidden tool, whatever their completion rate."""
        return [report for report in self.reports if report.summary.forbidden_items]

    @property
    def with_unknown_calls(self) -> list[SkillCompletionReport]:
        """The reports of skills of which it is not known in every item whether they called a forbidden tool."""
        return [report for report in self.reports if report.summary.forbidden_unknown_items]

    @property
    def without_verdict(self) -> list[SkillCompletionReport]:
        """The reports of skills of which no item has a verdict: of these nothing is known, whatever rate was asked."""
        return [report for report in self.reports if not report.summary.has_verdict]

    @property
    def gate_passed(self) -> bool:
        """Whether every skill reached `min_completion` and called no forbidden tool. False also where that is not known: for a
        partial run, and with skipped skills, skills without a verdict, unjudged items, conversations without an end, or items
        whose calls are unknown."""
        whole = bool(self.reports) and not self.is_partial and not self.skipped
        known = whole and not self.unjudged and not self.unsimulated and not self.without_verdict and not self.with_unknown_calls
        return known and not self.below and not self.with_forbidden_calls


def stopped_early(summary: RunSummary, command: str) -> str:
    """Why items of the run are missing, and how to go on with `command`."""
    if (line := summary.stop_line) is not None:
        return f"{line}; {summary.continue_line(command)}"
    done = f"{summary.finished} of {plural(summary.planned, 'item')}"
    return f"stopped early: {done}; nothing was stored; continue with {command} --resume {summary.run_id}"


GATED_NAMED = 20
"""So many skills are named by a gate that failed; of more it says how many."""


def gate_lines(summary: RunSummary) -> list[str]:
    """Whether every skill reached the completion rate that is asked, and if not, why: a line for each reason."""
    if summary.gate_passed:
        least = numbers.rate(summary.min_completion)
        return [f"gate passed: every skill completes at least {least} and called no forbidden tool"]
    return [f"gate failed: {reason}" for reason in gate_failures(summary)]


def gate_failures(summary: RunSummary) -> list[str]:
    """Why the gate has not passed, a phrase each; of an unfinished run that it is one. Empty where it has passed."""
    if summary.gate_passed:
        return []
    if summary.is_partial:
        return [f"{plural(summary.planned - summary.finished, 'item')} without a result"]
    least, below = numbers.rate(summary.min_completion), summary.below
    called = [
        f"{report.skill_key} called forbidden tools in {plural(report.summary.forbidden_items or 0, 'item')}"
        for report in summary.with_forbidden_calls
    ]
    unknown = map(unknown_calls, summary.with_unknown_calls)
    slow = [
        "{} completes {} %, under {} %".format(
            report.skill_key, *percents_apart(report.summary.completion_rate, summary.min_completion)
        )
        for report in below[:GATED_NAMED]
    ]
    more = [f"and {len(below) - GATED_NAMED:,} more complete less than {least}"] if len(below) > GATED_NAMED else []
    open_ = [f"{plural(summary.unjudged, 'item')} could not be judged"] if summary.unjudged else []
    if summary.unsimulated:
        open_.append(f"the simulated user failed in {plural(summary.unsimulated, 'item')}")
    unusable = unusable_skills(summary.skipped)
    nothing = [f"{report.skill_key} has no item with a verdict" for report in summary.without_verdict if report not in below]
    return [*called, *unknown, *slow, *more, *nothing[:GATED_NAMED], *open_, *([unusable] if summary.skipped else [])]


def summary_of(
    plan: RunPlan,
    reports: Sequence[SkillCompletionReport],
    finished: int,
    seconds: float,
    stopped: ReachedLimit | None = None,
) -> RunSummary:
    """The summary of a run with `finished` items, after `seconds`; `stopped` is the limit that left the others."""
    judges = plan.judges
    failed = _errors(plan, reports)
    has_judging = judges is not None or bool(failed["judge"] or failed["simulator"])
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
        decisions=plan.decisions,
        judging=_judging(plan, judges, reports) if has_judging else [],
        judging_usd=0.0 if judges is None else judges.budget.spent_usd,
        out_of_budget=judges is not None and judges.budget.exhausted,
        unjudged=failed["judge"],
        unsimulated=failed["simulator"],
        part=part_remarks(plan.request.provenance, plan.benchmark.id),
        gated=plan.request.exit_on_fail,
        stopped=stopped,
    )


def _errors(plan: RunPlan, reports: Sequence[SkillCompletionReport]) -> Counter[str | None]:
    """How many items ended in an error, by its kind; of a run whose reports hold figures only, as its stored items say."""
    if all(report.task_results or not report.summary.items for report in reports):
        return Counter(result.error_kind for report in reports for result in report.task_results)
    return Counter(plan.store.items(run_id=plan.run_id, columns=["error_kind"])["error_kind"].dropna())


def _judging(plan: RunPlan, judges: Judges | None, reports: Sequence[SkillCompletionReport]) -> list[str]:
    """Lines on what models judged and played, what that cost, and where they failed."""
    results = [result for report in reports for result in report.task_results]
    reported = None if judges is None else reported_line(judges, reports)
    return [
        *filter(None, (unjudged_line(results), reported)),
        *judging_lines(judges, plan.run_id, plan.request.store),
        *unsimulated_lines(results, plan.run_id, plan.request.store),
    ]


def with_duration(summary: RunSummary, seconds: float) -> RunSummary:
    """The summary with `seconds` in its line as what it all took."""
    selected = "" if summary.selected is None else selected_words(summary)
    return replace(summary, line=summary_line(count_run(summary.reports, seconds)) + selected)


def selected_words(summary: RunSummary) -> str:
    """What the line of a run ends with where the best of its skills are selected: ``; 3 of 7 skills selected``."""
    return f"; {len(summary.selected or ())} of {len(summary.skills)} skills selected"


def share_run(plan: RunPlan) -> EvalSkillsError | None:
    """Bring a landed run to where others read it, too: the store's SQLite mirror, or its object storage.

    Returns why that cannot be done just now: the run is kept in the store here, and the error says how to go on.

    Raises:
        RunError: another machine wrote the same run meanwhile.
    """
    if plan.store.layout.sqlite is None:
        return plan.store.publish_or_keep()
    try:
        mirror_sqlite(plan.store, plan.run_id)
    except EvalSkillsError as error:
        return error
    return None


def landed_reports(plan: RunPlan) -> list[SkillCompletionReport]:
    """The reports of a landed run, one per skill, also written to the store's `reports` table.

    What the run recorded lands with them.
    """
    detailed = plan.planned <= MAX_DETAILED_ITEMS
    columns = figure_columns(judged=judges_of(plan.scorings) is not None, detailed=detailed)
    whole = plan.store.item_table(plan.run_id) if detailed else None
    items = frame_of(_landed(plan, columns) if whole is None else whole, columns)
    reports = skill_reports_of(items, plan.benchmark, plan.request.timeout_ms, detailed=detailed, whole=whole)
    reports = _with_judge_figures(plan, reports, items)
    manifest = plan.store.find_manifest(plan.run_id)
    effect = effect_of_run(manifest, reports, plan.benchmark) if manifest and manifest.has_arms else None
    land_reports(
        plan.store,
        plan.run_id,
        None,
        reports,
        origin=plan.request.origin,
        effect=effect,
        kept=lambda: f"its items are kept, so {plan.going_on()}",
    )
    if whole is not None:
        plan.remarks.extend(_cut_answers(whole))
    if plan.request.record:
        plan.remarks.extend(land_recording(plan))
    return reports


def _cut_answers(items: pa.Table) -> list[str]:
    """A line on the answers of which the store, and so each report, has the beginning only."""
    if not (cut := sum(map(bool, items["output_truncated"].to_pylist()))):
        return []
    size = f"{MAX_OUTPUT_BYTES // 1024} KiB"
    return [f"of {plural(cut, 'answer')} only the first {size} are kept, as text; the whole was judged"]


def _landed(plan: RunPlan, columns: list[str]) -> pa.Table:
    tables = plan.store.tables
    with tables.readable("items", [plan.run_id]):
        return tables.dataset("items", [plan.run_id]).to_table(columns=columns)


def partial_reports(plan: RunPlan) -> list[SkillCompletionReport]:
    """The reports of what a stopped run has so far; none of it lands, for history must not compare part of a run with a whole."""
    table = plan.store.item_table(plan.run_id)
    plan.remarks.extend(_cut_answers(table))
    frame = table.to_pandas(maps_as_pydicts="strict")
    reports = skill_reports_of(frame, plan.benchmark, plan.request.timeout_ms, detailed=True)
    if plan.request.record:
        plan.remarks.extend(partial_recording(plan))
    return _with_judge_figures(plan, reports, frame)


def _with_judge_figures(plan: RunPlan, reports: list[SkillCompletionReport], items: pd.DataFrame) -> list[SkillCompletionReport]:
    return reports if judges_of(plan.scorings) is None else add_judge_figures(reports, items, plan.scorings, plan.store)


@contextmanager
def writing_reports(summary: RunSummary, formats: Sequence[str]) -> Iterator[None]:
    """Write the reports of a run inside.

    Raises:
        RunError: they cannot be written; it says how to write them elsewhere, as the run itself is kept.
    """
    try:
        yield
    except UsageError as error:
        again = f"eval-skills report convert --input {summary.run_id} --format {' '.join(formats)} --output FOLDER/"
        kept = f"run {summary.run_id} is kept; write them elsewhere with: {again}{of_store(summary.store)}"
        raise RunError(f"{str(error).removesuffix(ELSEWHERE)}; {kept}") from None


def context_of(summary: RunSummary) -> ReportContext:
    """What a rendered report shows of the run besides its figures."""
    manifest = Store(summary.store).find_manifest(summary.run_id)
    return ReportContext(
        run_id=summary.run_id,
        created_at=datetime.now(UTC),
        benchmark=summary.benchmark,
        min_completion=summary.min_completion if summary.gated else None,
        provenance=provenance_of(manifest, recorded_request(manifest)),
        partial=(summary.finished, summary.planned) if summary.is_partial else None,
        skipped=tuple(manifest.skipped) if manifest else tuple(summary.skips),
        notes=(
            *filter(None, [summary.stop_line]),
            *benchmark_notes(summary.benchmark),
            *summary.part,
            *(decision.line for decision in summary.decisions),
        ),
        ranks=None if summary.selected is None else {choice.skill.key: choice.rank for choice in summary.selected},
    )
