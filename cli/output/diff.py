"""What `report diff` prints: per skill its verdict, its figures, what the tasks say, and the tasks that flipped."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.text import Text

from eval_skills.cli.context import current, print_json
from eval_skills.cli.output.tables import NO_LIMIT, Column, bare_table, print_table
from eval_skills.core.diff.model import Flip, FlipSide, SkillDiff
from eval_skills.core.text import plural
from eval_skills.reporting import numbers
from eval_skills.reporting.diff.figures import (
    flips_shown,
    lineage,
    names_shown,
    shown_row,
    statistics_lines,
    summary_of_skills,
    tasks_apart,
    verdict_text,
    worst_first,
)
from eval_skills.reporting.diff.report import DIFF_FORMATS, DiffDocument
from eval_skills.reporting.escape import shortened, visible_line
from eval_skills.reporting.numbers import UNKNOWN

FLIPS_SHOWN, NAMES_SHOWN, ANSWER_LENGTH = 10, 10, 60
COLOURS = {"better": "green", "worse": "red", "added": "cyan", "removed": "yellow"}


def show_diff(
    document: DiffDocument,
    format: str | None,  # noqa: A002 - the word that people use
    *,
    flips: int | None = FLIPS_SHOWN,
    more: str = "--json has them all",
) -> None:
    """The comparison on stdout: as JSON in a ``--json`` call, else in `format`, else as tables, what got worse first.

    Of each skill at most so many `flips` are shown (None: all), and `more` says where the others are. Remarks go to stderr.
    """
    session = current()
    for remark in document.remarks:
        session.remark(remark)
    if session.json:
        print_json(document.to_json())
    elif format is not None:
        sys.stdout.write(DIFF_FORMATS[format].render(document))
    else:
        for side, name, made_by in (
            ("before", document.before, document.before_made_by),
            ("after", document.after, document.after_made_by),
        ):
            _say(f"{side:<6}  {name}")
            for what, versions in made_by.items():
                _say(f"        {what:<9}  {versions}", "dim")
        _say(summary_of_skills(document.diff.skills), "bold")
        for skill in worst_first(document.diff.skills):
            _show_skill(skill, flips, more)
        _show_gate(document)


def _show_skill(skill: SkillDiff, flips: int | None, more: str) -> None:
    _say("")
    _say(f"{lineage(skill)} on {skill.benchmark_id}: {verdict_text(skill)}", COLOURS.get(skill.verdict or skill.change, ""))
    if skill.explanation:
        _say(skill.explanation)
    rows = [shown_row(row) for row in skill.rows]
    cells = [(row.name, row.before, row.after, f"{row.delta} {row.arrow}".rstrip(), row.mark) for row in rows]
    print_table(FIGURES, [[*map(_cell, row)] for row in cells])
    if skill.statistics:
        _print_sentences(statistics_lines(skill.statistics, skill.newly_failing))
    for where, names in tasks_apart(skill):
        _say(f"{where}: {names_shown(names, NAMES_SHOWN)}")
    _show_flips(skill, flips, more)


FIGURES = (Column(""), Column("before", right=True), Column("after", right=True), Column("change", right=True), Column(""))
FLIPS = (
    Column("task that flipped"), Column(""),
    Column("before"), Column("answer", least=10, drop=3, called="answer before"),
    Column("after"), Column("answer", least=10, drop=2, called="answer after"),
    Column("of runs passed", drop=1),
)  # fmt: skip


def _show_flips(skill: SkillDiff, limit: int | None, more: str) -> None:
    flips, hidden = flips_shown(skill, len(skill.flips) if limit is None else limit)
    if flips:
        print_table(FLIPS, [[*map(_cell, _flip_cells(flip))] for flip in flips])
    if hidden:
        _say(f"… and {plural(hidden, 'more task')} flipped; {more}")


def _flip_cells(flip: Flip) -> Sequence[str]:
    mark = "✔ better" if flip.change == "better" else "✘ worse"
    sides = [(_run_shown(side), _answer(side.output)) for side in (flip.before, flip.after)]
    passed = " → ".join(numbers.rate(side.completion_rate) for side in (flip.before, flip.after))
    return (flip.task_id, mark, *sides[0], *sides[1], passed)


def _run_shown(side: FlipSide) -> str:
    """``fail, run 2 of 3``: how the run ended whose answer is shown; of the only one just how."""
    return f"{side.status}, run {side.run_index + 1} of {side.runs}" if side.runs > 1 else side.status


def _answer(output: object) -> str:
    return UNKNOWN if output is None else shortened(output, ANSWER_LENGTH)


def _show_gate(document: DiffDocument) -> None:
    if document.failures is None:
        return
    _say("")
    for failure in document.failures:
        _say(f"gate failed: {failure}", "red")
    if not document.failures:
        _say(f"gate passed: {document.gate_words}", "green")
    if document.gate_rates is not None:
        _say(str(document.gate_rates))


def _print_sentences(rows: Iterable[Sequence[str]]) -> None:
    table = bare_table(head=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible_line(cell)) for cell in row))
    current().out(pipe_width=NO_LIMIT).print(table)


def _cell(cell: str) -> Text:
    return Text(visible_line(cell), style=_style(cell))


def _style(cell: str) -> str:
    return {"✔": "green", "✘": "red"}.get(cell[:1], "")


def _say(line: str, style: str = "") -> None:
    current().say(visible_line(line), style=style)
