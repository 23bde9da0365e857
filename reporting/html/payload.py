"""What an HTML report shows of its skills' items, as JSON: figures ready to read, numbers to sort by, texts stored once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.models import Benchmark, EvalTask, SkillCompletionReport, TagSummary, TaskResult, TurnResult
from eval_skills.core.models.report import is_missing
from eval_skills.reporting import numbers
from eval_skills.reporting.context import ReportContext, dimension_text, dimension_title, k_of, shown_dimensions
from eval_skills.reporting.costs import cost_text, earlier_figures, tokens_text
from eval_skills.reporting.escape import visible
from eval_skills.reporting.html import across
from eval_skills.reporting.html.differences import DifferenceTable
from eval_skills.reporting.html.runs import Row, RunTable, TextTable
from eval_skills.reporting.judging import corrected_rate, judges_table, judging_figures, judging_notes, judging_of
from eval_skills.reporting.sections import errors_by_kind, reasons, turn_reasons

Json = dict[str, Any]
TaskPage = Callable[[str, str], str]

LONG_TEXTS = 20_000
"""Characters of a text on the page of one task."""

TURNS_SHOWN = 50
"""Of a longer conversation the others are in the JSON report."""


@dataclass(slots=True)
class TaskTable:
    """The tasks that were asked, each stored once: skills and runs that were asked the same share its input and expectation.

    `known` are the tasks of the benchmark by its id and theirs; empty without a benchmark. `page` names
    the page of a task, where it has one.
    """

    texts: TextTable
    known: dict[tuple[str, str], EvalTask]
    page: TaskPage | None = None
    rows: list[Json] = field(default_factory=list)
    _index: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def add(self, benchmark_id: str, item: TaskResult) -> int:
        """The index of the task of an item."""
        asked, expected = self.texts.add(item.input), self.texts.add(item.expected)
        key = (benchmark_id, item.task_id, asked, expected, tuple(item.tags))
        if key not in self._index:
            self._index[key] = len(self.rows)
            task = self.known.get((benchmark_id, item.task_id))
            row = {"id": visible(item.task_id), "tags": [visible(tag) for tag in item.tags], "input": asked, "expected": expected}
            about = (task.description or None) if task else None
            page = self.page and self.page(benchmark_id, item.task_id)
            self.rows.append(
                _known({**row, "page": page, "about": self.texts.add(about), "rules": self.texts.add(task and _rules(task))})
            )
        return self._index[key]


@dataclass(slots=True)
class Tables:
    """What the items of a page refer to by index; `groups` are those of failures by their keys."""

    tasks: TaskTable
    runs: RunTable = field(default_factory=RunTable)
    differences: DifferenceTable = field(default_factory=DifferenceTable)
    groups: Mapping[str, int] = field(default_factory=dict)

    def item(self, benchmark_id: str, item: TaskResult) -> Json:
        """An item of a task of that benchmark."""
        return _item(item, self.tasks.add(benchmark_id, item), self)

    def rows(self) -> Json:
        """``{"texts", "tasks", "did", "differences"}``."""
        texts: list[Row] = self.tasks.texts.rows()
        return {"texts": texts, "tasks": self.tasks.rows, "did": self.runs.rows(), "differences": self.differences.rows}


def skill_names(reports: Sequence[SkillCompletionReport]) -> list[str]:
    """A name per report that no other has: ``id@version``, followed by the benchmark, and by a number, only where it must be."""
    keys = [report.skill_key for report in reports]
    often = Counter(keys)
    named = [key if often[key] == 1 else f"{key} on {report.benchmark_id}" for key, report in zip(keys, reports, strict=True)]
    seen: Counter[str] = Counter()
    names = []
    for name in named:
        seen[name] += 1
        names.append(visible(name if seen[name] == 1 else f"{name} #{seen[name]}"))
    return names


def payload(reports: Sequence[SkillCompletionReport], context: ReportContext, *, task_page: TaskPage | None = None) -> Json:
    """The reports, in the order given, as the page's script reads them.

    A skill's `items` refer to `tasks`, `texts`, `differences`, what agents `did`, and `failures` (their `why`) by index; unknown
    values are absent, never zero. `matrix` has a row for each task, `places` and `fronts` are those of `across`.
    """
    texts = TextTable()
    groups = across.failure_groups(reports)
    shown = groups[: across.GROUPS_SHOWN]
    indices = {group.key: index for index, group in enumerate(shown)}
    tables = Tables(TaskTable(texts, _tasks_of(context.benchmark), task_page), groups=indices)
    names = skill_names(reports)
    dimensions = shown_dimensions(reports)
    skills = [_skill(name, report, tables, dimensions) for name, report in zip(names, reports, strict=True)]
    places = across.points(reports)
    failures = across.groups_json(shown, texts.add)
    return {
        **tables.rows(),
        "skills": skills,
        "matrix": _matrix(reports, task_page),
        "failures": failures,
        "failuresMore": len(groups) - len(shown),
        "places": places,
        "fronts": across.fronts(places),
    }


def _matrix(reports: Sequence[SkillCompletionReport], task_page: TaskPage | None) -> list[Json]:
    several = len({report.benchmark_id for report in reports}) > 1
    return [
        _known(
            {
                "task": visible(row.task_id),
                "benchmark": visible(row.benchmark_id) if several else None,
                "kind": row.kind,
                "codes": " ".join(row.codes),
                "page": task_page and task_page(row.benchmark_id, row.task_id),
            }
        )
        for row in across.matrix_rows(reports)
    ]


def answers_payload(benchmark_id: str, task: EvalTask | None, answers: Sequence[tuple[str, TaskResult]]) -> Json:
    """Items of one task as `payload` has them, under ``items``, each with its ``skill``; `answers` name the skills.

    Texts are as long here as a page about few items can show.
    """
    texts = TextTable(LONG_TEXTS)
    tables = Tables(TaskTable(texts, {} if task is None else {(benchmark_id, task.id): task}))
    items = [{"skill": visible(skill), **tables.item(benchmark_id, item)} for skill, item in answers]
    return {**tables.rows(), "items": items}


def _tasks_of(benchmark: Benchmark | None) -> dict[tuple[str, str], EvalTask]:
    return {} if benchmark is None else {(benchmark.id, task.id): task for task in benchmark.tasks}


def _rules(task: EvalTask) -> Json | None:
    """By what the task is judged beside its expected answer, as written; None where there is nothing."""
    names = ("thresholds", "weights", "checks", "expected", "evaluator")
    if task.turns is not None:
        turns = [turn.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"input"}) for turn in task.turns]
        return (_rules(task.model_copy(update={"turns": None})) or {}) | {"turns": turns}
    if task.user is not None:
        user = task.user.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return (_rules(task.model_copy(update={"user": None})) or {}) | {"user": user}
    given = {name: getattr(task, name) for name in names}
    if task.expected_output is None:
        del given["expected"]  # it stands where the expected answer would
    written = {name: part.model_dump(mode="json", by_alias=True, exclude_unset=True) for name, part in given.items() if part}
    if task.evaluators is not None:
        several = {"evaluators", "combine", "threshold", "cost_order"}
        written |= task.model_dump(mode="json", by_alias=True, exclude_unset=True, include=several)
    return {name: part for name, part in written.items() if part} or None


def _skill(name: str, report: SkillCompletionReport, tables: Tables, dimensions: Sequence[str]) -> Json:
    texts = tables.tasks.texts
    errors = errors_by_kind(report)
    return {
        "name": name,
        "figures": [*_figures(report), *judging_figures(report), *_of_the_agent(report, dimensions)],
        "tags": [_tag(tag, summary) for tag, summary in report.by_tag.items()],
        "complexity": [_tag(name, summary) for name, summary in report.by_complexity.items()],
        "errors": [_known({"kind": each.kind, "items": each.items, "message": texts.add(each.message)}) for each in errors],
        "judging": _judging(report),
        "items": [tables.item(report.benchmark_id, item) for item in report.task_results],
    }


def _figures(report: SkillCompletionReport) -> list[tuple[str, str]]:
    summary, latency = report.summary, report.latency
    shape = f"{numbers.count(summary.items)} ({numbers.count(summary.tasks)} × {numbers.count(summary.runs)})"
    ends = summary.counts
    return [
        ("Completion", f"{numbers.rate(summary.known_completion)} ({numbers.interval(summary.known_interval)})"),
        *_corrected(report),
        *_missing(report),
        ("Partial score", numbers.score(summary.partial_score)),
        ("Errors and timeouts", numbers.rate(summary.error_rate)),
        ("Consistency over runs", numbers.score(summary.consistency_score)),
        ("Flaky tasks", numbers.rate(summary.flake_rate)),
        (f"pass@{k_of(report)}", numbers.rate(summary.pass_at_k)),
        (f"pass^{k_of(report)}", numbers.rate(summary.pass_hat_k)),
        ("Composite", numbers.score(summary.known_composite)),
        ("Items (tasks × runs)", shape),
        (
            "Passed, failed, errors, timeouts",
            f"{ends.passed:,}, {ends.fail:,}, {ends.error:,}, {ends.timeout:,}" if ends else "–",
        ),
        ("Latency P50, P95, P99", numbers.times(latency.p50_ms, latency.p95_ms, latency.p99_ms)),
        ("Latency, mean", numbers.milliseconds(latency.mean_ms)),
        *_of_the_stream(report),
        ("Tokens (prompt + completion)", tokens_text(report)),
        ("Cost", cost_text(report)),
        *earlier_figures(report),
    ]


def _missing(report: SkillCompletionReport) -> list[tuple[str, str]]:
    summary = report.summary
    if not summary.missing_items:
        return []
    return [
        ("Items without a verdict", numbers.count(summary.missing_items)),
        ("Completion of the others", numbers.rate(summary.judged_completion_rate)),
        ("Completion at most", numbers.rate(summary.completion_upper_bound)),
    ]


def _of_the_stream(report: SkillCompletionReport) -> list[tuple[str, str]]:
    first = report.latency.time_to_first_token_p50_ms
    return [] if first is None else [("Time to first token P50", numbers.milliseconds(first))]


def _of_the_agent(report: SkillCompletionReport, dimensions: Sequence[str]) -> list[tuple[str, str]]:
    """The dimensions of its runs, and the items in which it called what it must not call, where there are any."""
    shown = [(visible(dimension_title(name)), dimension_text(report.dimensions.get(name))) for name in dimensions]
    forbidden = report.summary.forbidden_items
    return [*shown, ("Items with a forbidden tool", numbers.count(forbidden))] if forbidden else shown


def _corrected(report: SkillCompletionReport) -> list[tuple[str, str]]:
    judging = judging_of(report)
    known = judging is not None and judging.corrected is not None
    return [("Judge-corrected completion", corrected_rate(judging.corrected))] if judging and known else []


def _judging(report: SkillCompletionReport) -> Json | None:
    """The judges of the skill as a table, and sentences about them; None where no model judged."""
    table = judges_table(report)
    if table is None:
        return None
    return {
        "heads": [("Judge", "text"), *table.heads.items()],
        "rows": [[visible(name), *(visible(cell.line) for cell in cells.values())] for name, cells in table.rows],
        "notes": [visible(note) for note in (*judging_notes(report), *table.notes)],
    }


def _tag(tag: str, summary: TagSummary) -> Json:
    bounds = summary.known_interval
    return _known(
        {
            "tag": visible(tag),
            "tasks": summary.tasks,
            "items": summary.items,
            "completion": summary.known_completion,
            "shown": f"{numbers.rate(summary.known_completion)}{' *' if summary.missing_items else ''}",
            "lower": bounds and bounds.lower,
            "upper": bounds and bounds.upper,
            "interval": bounds and numbers.interval(bounds),
            "partial": summary.partial_score,
            "errors": summary.error_rate,
            "errorsShown": numbers.rate(summary.error_rate),
        }
    )


def _item(item: TaskResult, task: int, tables: Tables) -> Json:
    texts = tables.tasks.texts
    said = [] if item.passed and not item.reasons and not item.error_message else reasons(item)
    return _known(
        {
            "task": task,
            "run": item.run_index,
            "status": item.status,
            "score": _rounded(item.score),
            "ms": _rounded(item.latency_ms),
            "output": texts.add(item.output),
            "difference": tables.differences.add(item, task) if item.status == "fail" and item.error_kind is None else None,
            "did": tables.runs.add(item),
            "firstToken": _rounded(item.time_to_first_token_ms),
            "reasons": [texts.add(reason) for reason in said] or None,
            "why": [tables.groups[key] for key in across.why_failed(item) if key in tables.groups] or None,
            "turns": [_turn(turn, texts) for turn in (item.turns or ())[:TURNS_SHOWN]] or None,
            "turnsMore": max(0, len(item.turns or ()) - TURNS_SHOWN) or None,
            "dimensions": {visible(name): _rounded(value) for name, value in item.dimensions.items()} or None,
            "attempts": item.attempts if item.attempts > 1 else None,
            "kind": item.error_kind,
            "missing": is_missing(item) or None,
            "tokens": _sum(item.prompt_tokens, item.completion_tokens),
            "cost": None if item.cost_usd is None else numbers.usd(item.cost_usd),
        }
    )


def _turn(turn: TurnResult, texts: TextTable) -> Json:
    """What was said in a turn, and its verdict; a reason names the place within the turn."""
    return _known(
        {
            "input": texts.add(turn.input),
            "output": texts.add(turn.output),
            "status": turn.status,
            "score": _rounded(turn.score),
            "ms": _rounded(turn.latency_ms),
            "calls": None if turn.tool_calls is None else len(turn.tool_calls),
            "reasons": [texts.add(reason) for reason in turn_reasons(turn)] or None,
        }
    )


def _known(values: Json) -> Json:
    return {name: value for name, value in values.items() if value is not None}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _sum(*values: int | None) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
