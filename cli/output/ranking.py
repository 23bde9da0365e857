"""The table that a run ends with: the best skill first, in the width there is.

Why items of a run ended badly, in a handful of lines below its ranking.

The page of a CI job, where there is one: see `eval_skills.reporting.summary`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from eval_skills.cli.context import current, printable
from eval_skills.cli.output.tables import left_out_note
from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.dimensions import DIMENSIONS
from eval_skills.core.models.report import MISSING_KINDS
from eval_skills.core.text import plural
from eval_skills.reporting import numbers
from eval_skills.reporting.context import dimension_title, mean_of, ranked, shown_dimensions
from eval_skills.reporting.escape import both_ends, visible_line
from eval_skills.reporting.ranking import completion_text, rank_text
from eval_skills.reporting.sections import ErrorKindCount, errors_by_kind, reasons
from eval_skills.reporting.summary import append_job_summary

if TYPE_CHECKING:
    from eval_skills.engine.evaluation.summary import RunSummary

GAP = 2

FIGURES: dict[str, Callable[[SkillCompletionReport], str]] = {
    "95 % interval": lambda report: numbers.interval(report.summary.known_interval),
    "P(best)": lambda report: numbers.rate(report.ranking.probability_best if report.ranking else None),
    "errors": lambda report: numbers.rate(report.summary.error_rate),
    "flaky": lambda report: numbers.rate(report.summary.flake_rate),
    "P50": lambda report: numbers.milliseconds(report.latency.p50_ms),
    "P95": lambda report: numbers.milliseconds(report.latency.p95_ms),
    "composite": lambda report: numbers.score(report.summary.known_composite),
}
LEAST_TELLING_FIRST = ("P50", "flaky", "P(best)", "composite", "P95", "errors", "95 % interval")
"""A rate without its interval says more than is known: that goes last."""


SHOWN, BEST, LAST = 50, 20, 20
"""A terminal shows so many skills whole, and of more the best and the last ones."""


def ranking(summary: RunSummary, width: int, *, whole: bool = True) -> Group:
    """The ranking; unless `whole`, of many skills the best and the last ones, and how many are between them.

    Figures that do not fit into `width` are left out whole, the least telling ones first, and named below: reports have them all.

    Agent runs have a column for every dimension that any of them was scored on; those of rubrics are in the reports alone.

    A skill's name is folded only where it and its completion rate alone are wider than `width`.
    """
    reports = ranked(summary.reports)
    columns = _columns(summary, reports)
    too_wide = []
    for name in (*LEAST_TELLING_FIRST[:3], *map(_heading, reversed(_dimensions(reports))), *LEAST_TELLING_FIRST[3:]):
        if _width(columns) > width and name in columns:
            too_wide.append(name)
            del columns[name]
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for name in columns:
        table.add_column(name, justify="left" if name == "skill" else "right", no_wrap=name != "skill", overflow="fold")
    left_out = 0 if whole or len(reports) <= SHOWN else len(reports) - BEST - LAST
    for place, (report, *cells) in enumerate(zip(reports, *columns.values(), strict=True)):
        if left_out and BEST <= place < len(reports) - LAST:
            if place == BEST:
                table.add_row("…", Text(f"{left_out:,} more skills"))
            continue
        colour = "green" if report.summary.completion_rate >= summary.min_completion else "red"
        styles = [colour if name == "completion" else "" for name in columns]
        table.add_row(*map(Text, cells, styles))
    return Group(table, *([left_out_note(too_wide, "in reports")] if too_wide else []))


def _columns(summary: RunSummary, reports: list[SkillCompletionReport]) -> dict[str, list[str]]:
    places = [rank_text(report, place) for place, report in enumerate(reports, start=1)]
    columns = {"#": places, "skill": [report.skill_key for report in reports]}
    columns["completion"] = [completion_text(report, summary.min_completion) for report in reports]
    columns |= {name: [show(report) for report in reports] for name, show in FIGURES.items()}
    if all(report.ranking is None or report.ranking.probability_best is None for report in reports):
        del columns["P(best)"]
    for name in _dimensions(reports):
        columns[_heading(name)] = [numbers.score(mean_of(report, name)) for report in reports]
    if summary.selected is not None:
        ranks = {choice.skill.key: choice.rank for choice in summary.selected}
        columns["selected"] = [str(ranks.get(report.skill_key, "")) for report in reports]
    return columns


def _dimensions(reports: list[SkillCompletionReport]) -> list[str]:
    return [name for name in shown_dimensions(reports) if not name.startswith("rubric.")]


def _heading(dimension: str) -> str:
    """A dimension's own name may be anybody's, and that of a figure."""
    return printable(dimension_title(dimension).lower() if dimension in DIMENSIONS else f"{dimension} (dimension)")


def _width(columns: dict[str, list[str]]) -> int:
    return sum(max(map(cell_len, (name, *cells))) + GAP for name, cells in columns.items()) - GAP


LINES, LENGTH = 5, 200


def not_selected(removals: Sequence[str], *, selected: int) -> list[str]:
    """Which filters removed which skill, a line each, and that none is left where none was `selected`.

    At most `LINES` skills are named, and how many more there are is said.
    """
    more = len(removals) - LINES
    shown = [f"not selected: {line}" for line in removals[:LINES]]
    none = [] if selected else ["no skill was selected"]
    return [*none, *shown, *([f"… and {plural(more, 'skill')} more not selected"] if more > 0 else [])]


def error_summary(reports: Sequence[SkillCompletionReport]) -> list[str]:
    """The errors of every skill by kind with the first message, then the first failures; at most `LINES` of each, and how many
    more. First come the skills that most items have no verdict of: what kept these from being asked is for the reader to fix.

    ``12 errors of a@1.0.0: infra: connection refused``, ``8 errors of b@1.0.0: 5 contract, 3 skill; the first: contract: …`` and
    ``failed: t1#2 of b@1.0.0: NOT_EQUAL: 4 is not 5``, which says ``t1 (2 of 3 runs)`` where several runs failed. Where several
    skills have errors of several kinds, the run's are counted.
    """
    order = ranked(reports)
    return [*_errors(order), *_failures(order)]


def _errors(reports: Sequence[SkillCompletionReport]) -> list[str]:
    found = [(report.skill_key, kinds) for report in reports if (kinds := errors_by_kind(report))]
    found.sort(key=lambda each: -sum(kind.items for kind in each[1] if kind.kind in MISSING_KINDS))
    every = _counted(kind for _, kinds in found for kind in kinds)
    lines = [f"{plural(every.total(), 'error')}: {_kinds(every)}"] if len(found) > 1 and len(every) > 1 else []
    lines += [_of_skill(skill, kinds) for skill, kinds in found[:LINES]]
    more = _counted(kind for _, kinds in found[LINES:] for kind in kinds)
    return [*lines, f"… and {plural(more.total(), 'error')} of other skills: {_kinds(more)}"] if more else lines


def _counted(kinds: Iterable[ErrorKindCount]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for kind in kinds:
        counts[kind.kind] += kind.items
    return counts


def _kinds(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common())


def _of_skill(skill: str, kinds: Sequence[ErrorKindCount]) -> str:
    first, every = kinds[0], _counted(kinds)
    said = f": {_short(first.message)}" if first.message else ""
    if first.messages > 1:
        said = f", the first of {first.messages} messages{said}"
    head = f"{plural(every.total(), 'error')} of {skill}: "
    return f"{head}{first.kind}{said}" if len(kinds) == 1 else f"{head}{_kinds(every)}; {first.kind}{said}"


def _failures(reports: Sequence[SkillCompletionReport]) -> list[str]:
    failed = [failure for report in reports for failure in _failed_tasks(report)]
    more = sum(len(items) for _, items, _ in failed[LINES:])
    lines = [_failure(*failure) for failure in failed[:LINES]]
    return [*lines, f"… and {plural(more, 'failure')} more, which the reports have"] if more else lines


def _failed_tasks(report: SkillCompletionReport) -> Iterator[tuple[str, list[TaskResult], int]]:
    """The skill, the failed runs of one of its tasks, and how many runs the task has."""
    runs: dict[str, list[TaskResult]] = {}
    for item in report.task_results:
        runs.setdefault(item.task_id, []).append(item)
    for items in runs.values():
        if failed := [item for item in items if item.status == "fail"]:
            yield report.skill_key, failed, len(items)


def _failure(skill: str, failed: Sequence[TaskResult], runs: int) -> str:
    first = failed[0]
    which = f"#{first.run_index + 1}" if len(failed) == 1 else f" ({len(failed)} of {runs} runs)"
    return f"failed: {_short(first.task_id)}{which} of {skill}: {_short(reasons(first)[0])}"


def _short(text: str) -> str:
    return both_ends(visible_line(text), LENGTH)


def add_job_summary(summary: RunSummary, *, gate: bool) -> None:
    """Append the run to the job's summary; a remark says why where that did not work."""
    from eval_skills.engine.evaluation.summary import context_of

    verdict = summary.gate_passed if gate else None
    remark = append_job_summary(
        summary.reports, context_of(replace(summary, gated=gate)), line=summary.line, gate_passed=verdict, environ=os.environ
    )
    if remark:
        current().remark(remark)


def set_step_outputs(summary: RunSummary, *, finished: bool) -> None:
    """Tell the later steps of a GitHub Actions job which run this was, and whether it is whole: outputs `run-id`, `finished`."""
    if not (file := os.environ.get("GITHUB_OUTPUT")):
        return
    try:
        with open(file, "a", encoding="utf-8") as stream:
            stream.write(f"run-id={summary.run_id}\nfinished={str(finished).lower()}\n")
    except OSError as error:
        current().remark(f"GITHUB_OUTPUT {file}: the step's outputs cannot be written: {error.strerror}")
