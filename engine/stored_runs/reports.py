"""Reports to read again: those of a JSON report, or those of a stored run, rebuilt from its items."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from eval_skills.core.documents.loading import validate_known
from eval_skills.core.errors import InputError, UsageError, UserError
from eval_skills.core.models import Benchmark, ItemResult, SkillCompletionReport, TaskResult, WorkspaceFile
from eval_skills.core.models.base import collection_paused
from eval_skills.core.models.dimensions import DIMENSIONS
from eval_skills.core.models.report import MAX_DETAILED_ITEMS
from eval_skills.core.models.result import ItemKey
from eval_skills.core.models.task import OWN_TESTS
from eval_skills.core.ranking import Outcomes, rank_by_task_results, rank_reports
from eval_skills.core.store import Manifest, Store, started_at
from eval_skills.core.store.newer import newer_remarks
from eval_skills.core.store.retention import pruned_words
from eval_skills.core.text import plural
from eval_skills.engine.definition.benchmark import benchmark_notes, digests_of_the_same, resolve_benchmark
from eval_skills.engine.definition.request import EvaluateRequest, part_remarks
from eval_skills.engine.definition.scoring import judges_of
from eval_skills.engine.judging.outcome import add_judge_figures, scorings_at_the_time
from eval_skills.engine.stored_runs.provenance import provenance_of
from eval_skills.engine.stored_runs.run_ids import names_run, resolve_run_id
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.json_report import began, read_reports, reported_run
from eval_skills.reporting.judging import judging_of
from eval_skills.reporting.stopping import stop_words
from eval_skills.scorers.registry import known_scorer

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from eval_skills.core.diff.until import Decision
    from eval_skills.core.metrics.item_table import Columns
    from eval_skills.core.statistics.rates import IntArray


FIGURE_COLUMNS = (
    "skill_id", "skill_version", "task_id", "run_index", "status", "score", "latency_ms", "weight", "tags", "complexity",
    "prompt_tokens", "completion_tokens", "cost_usd", "judge_tokens", "judge_cost_usd", "started_at", "origin",
    "time_to_first_token_ms", "error_kind", "skill_digest", "attempts", "flow_run_id",
    *DIMENSIONS, "forbidden_tools_called", "forbidden_unknown", "judge_requests", "user_requests", "user_tokens", "user_cost_usd",
)  # fmt: skip

JUDGED_COLUMNS = ("benchmark_id", "benchmark_digest", "task_digest", "scoring_digest", "dimensions", "reasons", "judge_agreement")
"""The further columns that the figures of judges need, but for the answers."""


def figure_columns(*, judged: bool, detailed: bool) -> list[str]:
    """The columns that the figures of a run need, whose tasks a model judges or not.

    The answers, whose length is compared with their scores, only where the run is `detailed`: they are too much of a large one.
    """
    answers = ["output"] if judged and detailed else []
    return [*FIGURE_COLUMNS, *(JUDGED_COLUMNS if judged else ()), *answers]


def frame_of(table: pa.Table, columns: list[str]) -> pd.DataFrame:
    """These columns of a table of items, as `skill_reports_of` takes them; the attempts of those alone that had several, since
    hardly any item had, and each attempt would become an object."""
    import pyarrow as pa
    import pyarrow.compute as pc

    attempts = table["attempts"]
    several = pc.if_else(pc.greater(pc.list_value_length(attempts), 1), attempts, pa.scalar(None, attempts.type))
    chosen = table.select(columns)
    frame: pd.DataFrame = chosen.set_column(columns.index("attempts"), "attempts", several).to_pandas(maps_as_pydicts="strict")
    return frame


@dataclass(frozen=True, slots=True)
class ReportSource:
    """Completion reports, with what a rendered report shows besides them.

    `name` is how the user named them: the file, or the run id. `file` is the file that was read, None for a run. `stem` is the
    name for files that are made from them. `remarks` are notes for the user. `tools` are the versions of what made them, where a
    manifest says them. `decisions` say of a run that was added to until it was decided how that ended.
    """

    name: str
    stem: str
    reports: list[SkillCompletionReport]
    context: ReportContext
    file: Path | None = None
    remarks: list[str] = field(default_factory=list)
    tools: dict[str, str] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)

    @property
    def run_id(self) -> str | None:
        """The run that they are of; None of a file that does not say it."""
        if self.file is None:
            return self.name
        run = reported_run(self.reports)
        return run.run_id if run else None

    @property
    def unfinished(self) -> str | None:
        """In a sentence, that the run has items without a result, of which nothing is known; None where it has none."""
        if self.context.partial is None:
            return None
        items = items_of_planned(*self.context.partial)
        if self.file is not None:
            return f"{self.name} is of a run that was not finished: {items}; resume it, and write its report again"
        return f"run {self.name} is unfinished: {items}; continue it with --resume {self.name}"

    @property
    def made_by(self) -> dict[str, str]:
        """What the reports are of: skills, benchmark, judging models and tools, each with its version, as far as it is known."""
        benchmarks = {f"{each.benchmark_id}@{each.evaluator_metadata.get('benchmarkVersion', '?')}" for each in self.reports}
        judging = [figures for each in self.reports if (figures := judging_of(each)) is not None]
        judges = {f"{judge.model} ({judge.prompt})" for each in judging for judge in each.judges}
        found = {
            "skills": [each.skill_key for each in self.reports],
            "benchmark": sorted(benchmarks),
            "judge": sorted(judges),
            "tools": [f"{name} {number}" for name, number in self.tools.items()],
        }
        return {name: ", ".join(dict.fromkeys(values)) for name, values in found.items() if values}


class NoItemsError(InputError):
    """A run has no items: they were pruned, or none has finished; or its reports hold none."""


def check_items(source: ReportSource, what: str) -> None:
    """Refuse reports that hold figures only, of which `what` cannot be computed.

    Raises:
        NoItemsError: they hold no items.
    """
    if not any(report.task_results for report in source.reports):
        why = source.remarks[0] if source.remarks else f"the reports of {source.name} hold figures only"
        raise NoItemsError(f"{why}; {what} computed from items")


def read_source(given: str, store: str) -> ReportSource:
    """The reports of a JSON report file, of the run with this id in `store`, or of ``latest``, the run that started last.

    The beginning of an id is enough where it fits one run and there is no file of that name. A run id is never read as a file;
    for a file named like one, or ``latest``, put ``./`` before it.

    Raises:
        InputError: there is no such file, it is not a report, or it is empty; the run has no items.
        UsageError: the store holds no such run, or several that begin like that.
    """
    if names_run(given):
        return _of_run(Store(store), given)
    path = Path(given)
    if not given.strip() or not path.exists():
        raise InputError(
            "no such file; give a JSON report, a run id as 20261121T233824Z-3f9a, or latest", source=given.strip() or "''"
        )
    reports = read_reports(path)
    if all(report.ranking is None for report in reports):  # written by an earlier version
        reports = rank_by_task_results(reports)
    context, remarks = context_of_reports(reports, path.name), []
    if context.partial is not None:
        remarks = [f"{given} is of run {context.run_id}, which is unfinished: {items_of_planned(*context.partial)}"]
    return ReportSource(given, path.stem, reports, context, path, remarks)


def context_of_reports(reports: Sequence[SkillCompletionReport], name: str) -> ReportContext:
    """What reports themselves say of their run; where they do not name it, it is called `name`."""
    context = ReportContext(run_id=name, created_at=max(map(began, reports)))
    if (run := reported_run(reports)) is None:
        return context
    skipped = tuple(run.skipped or ())
    return replace(context, run_id=run.run_id, partial=run.partial, skipped=skipped, min_completion=run.min_completion)


def items_of_planned(done: int, planned: int) -> str:
    """``11 of 40 items``: what is done of a run."""
    return f"{done:,} of {plural(planned, 'item')}"


def files_left(source: ReportSource, store: str) -> dict[ItemKey, list[WorkspaceFile]]:
    """What agents left in their workspaces in a run, by skill (``id@version``), task and run index; none of a report file."""
    if source.file is not None:
        return {}
    from eval_skills.core.store.rows import results_of

    results = results_of(Store(store).item_table(source.name))
    return {result.key: result.files for result in results if result.files}


def _of_run(store: Store, given: str) -> ReportSource:
    run_id = resolve_run_id(store, given, "no report to read; evaluate skills first, or name a JSON report")
    table = store.item_table(run_id)
    if table.num_rows:
        return reports_from_items(store, run_id, table)
    if (pruned := pruned_words(store, run_id)) is not None:
        remark = f"{pruned}: figures only, and no tasks to compare"  # as they landed
        return _source(run_id, store.find_manifest(run_id), store.reports_of(run_id), [remark])
    raise InputError(f"run {run_id} has no finished item yet; continue with --resume {run_id}", source=store.path)


def reports_from_items(store: Store, run_id: str, table: pa.Table) -> ReportSource:
    """The reports of these items of a run, with their benchmark as it was where that is known, and judges' figures."""
    manifest = store.find_manifest(run_id)  # None: the run landed, and its folder is gone
    request = recorded_request(manifest)
    benchmark, remarks = benchmark_at_the_time(manifest, request, table)
    remarks += newer_remarks(store, run_id)
    detailed = table.num_rows <= MAX_DETAILED_ITEMS
    if not detailed:
        remarks.append(f"run {run_id} has more than {MAX_DETAILED_ITEMS:,} items: its reports hold figures only")
    part = part_remarks(manifest.provenance, manifest.benchmark.id) if manifest else []
    remarks += [f"run {run_id}: {each}" for each in part]
    notes, partial = [*benchmark_notes(benchmark), *part], None
    if manifest and table.num_rows < manifest.planned_items:
        partial = (table.num_rows, manifest.planned_items)
        if manifest.stopped is None:
            remarks.append(f"run {run_id} is unfinished: {items_of_planned(*partial)}")
        else:
            stopped = stop_words(manifest.stopped, *partial)
            remarks.append(f"run {run_id} {stopped}")
            notes.insert(0, stopped)
    reports = _reports_of(store, table, manifest, benchmark, detailed=detailed)
    source = _source(run_id, manifest, reports, remarks, notes)
    return replace(source, context=replace(source.context, benchmark=benchmark, partial=partial))


def _reports_of(
    store: Store, table: pa.Table, manifest: Manifest | None, benchmark: Benchmark | None, *, detailed: bool
) -> list[SkillCompletionReport]:
    request = recorded_request(manifest)
    with collection_paused():
        scorings = scorings_at_the_time(request, benchmark, manifest)
    items = frame_of(table, figure_columns(judged=judges_of(scorings) is not None, detailed=detailed))
    asked = benchmark or bare_benchmark(table.slice(0, 1).to_pandas())
    timeout_ms = (request or EvaluateRequest()).timeout_ms
    reports = skill_reports_of(items, asked, timeout_ms, detailed=detailed, whole=table)
    return add_judge_figures(reports, items, scorings, store)


def _source(
    run_id: str,
    manifest: Manifest | None,
    reports: list[SkillCompletionReport],
    remarks: list[str],
    notes: Sequence[str] = (),
) -> ReportSource:
    """The reports of a stored run, with what its manifest says of it, where that is there."""
    request, decisions = recorded_request(manifest), _decisions(manifest)
    context = ReportContext(
        run_id=run_id,
        created_at=manifest.created_at if manifest else started_at(run_id),
        min_completion=request.min_completion if request and request.exit_on_fail else None,
        skipped=tuple(manifest.skipped) if manifest else (),
        notes=(*notes, *(decision.line for decision in decisions)),
        provenance=provenance_of(manifest, request),
    )
    tools = manifest.versions if manifest else {}
    return ReportSource(run_id, f"eval-result-{run_id}", reports, context, remarks=remarks, tools=tools, decisions=decisions)


def _decisions(manifest: Manifest | None) -> list[Decision]:
    from eval_skills.core.diff.until import DECISIONS, Decision  # numpy

    return [validate_known(Decision, each)[0] for each in manifest.provenance.get(DECISIONS, [])] if manifest else []


def skill_reports_of(
    items: pd.DataFrame, benchmark: Benchmark, timeout_ms: float, *, detailed: bool, whole: pa.Table | None = None
) -> list[SkillCompletionReport]:
    """The reports of a run's rows, ranked; see `core.metrics.skill_reports`, which imports pandas and so is imported here.

    `whole` is the same table with all columns, where `items` has but those of figures.
    """
    from eval_skills.core.metrics.reports import skill_reports

    rows = None if whole is None else partial(_columns_at, whole)
    found = skill_reports(items, benchmark, timeout_ms, task_results=detailed, whole=rows)
    reports = [
        report.model_copy(update={"task_results": [with_calls(result) for result in report.task_results]})
        if report.task_results
        else report
        for report in found
    ]
    if len(reports) < 2 or benchmark.id == OWN_TESTS:
        return reports
    return rank_reports(reports, Outcomes.of_items(items))


def _columns_at(table: pa.Table, positions: IntArray, names: Collection[str]) -> Columns:
    chosen = table.select([name for name in names if name in table.column_names]).take(positions)
    return {name: chosen[name].to_pylist() for name in chosen.column_names}


Result = TypeVar("Result", ItemResult, TaskResult)


def with_calls(result: Result) -> Result:
    """The item with tool calls that are in its messages alone: its reasons count them.

    Where a turn does not say what was called in it, nothing is known of the whole.
    """
    if result.tool_calls or not result.messages:
        return result
    if any(turn.messages is None and turn.tool_calls is None for turn in result.turns or ()):
        return result
    from eval_skills.scorers.tools.calls import calls_of_messages

    return result.model_copy(update={"tool_calls": calls_of_messages(result.messages)})


def recorded_request(manifest: Manifest | None) -> EvaluateRequest | None:
    """The request of a run, without the options of newer versions; None where it is not known, or an option has another form."""
    try:
        return validate_known(EvaluateRequest, manifest.request)[0] if manifest else None
    except InputError:
        return None


def refuse_without_evaluator(manifest: Manifest | None, evaluator: str) -> None:
    """Refuse to judge by a scorer that the run had and this process does not have.

    Raises:
        UsageError: that is so.
    """
    if manifest is not None and evaluator in (manifest.scorers or {}) and known_scorer(evaluator) is None:
        raise UsageError(
            f"the run was judged by {evaluator}, which is not known here: a function is known to the Python program that gives "
            "it, a plug-in where it is installed"
        )


WITHOUT_BENCHMARK = "the reports are made from the items alone, without expected answers"


def benchmark_at_the_time(
    manifest: Manifest | None, request: EvaluateRequest | None, items: pa.Table, without: str = WITHOUT_BENCHMARK
) -> tuple[Benchmark | None, list[str]]:
    """The benchmark as it was when the run started; None, and why, where it is gone, which ends in `without`."""
    name = str(items["benchmark_id"][0])
    if manifest is None or request is None:
        return None, [f"the run's manifest cannot be read; {without}"]
    try:
        refuse_without_evaluator(manifest, request.evaluator)
        with collection_paused():
            benchmark, folder = resolve_benchmark(request)
    except UserError as error:
        return None, [f"benchmark {name} is gone ({error}); {without}"]
    if manifest.benchmark.digest not in (None, *digests_of_the_same(benchmark, folder)["benchmark"]):
        return None, [f"benchmark {name} changed since the run started; {without}"]
    return benchmark, []


def bare_benchmark(items: pd.DataFrame) -> Benchmark:
    """The benchmark as far as the rows of a run know it: its name and version, and no task."""
    name, version = (str(items[column].iloc[0]) for column in ("benchmark_id", "benchmark_version"))
    return Benchmark.model_validate({"id": name, "name": name, "version": version, "tasks": []})
