"""What `report diff` prints: per skill its verdict, its figures, what the tasks say, and the tasks that flipped."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from eval_skills.cli.context import current, print_json
from eval_skills.cli.output.run import NO_LIMIT
from eval_skills.core.diff.model import Flip, SkillDiff
from eval_skills.reporting.diff.figures import (
    flips_shown,
    lineage,
    names_shown,
    shown_row,
    side_text,
    statistics_lines,
    tasks_apart,
    verdict_text,
)
from eval_skills.reporting.diff.report import DIFF_FORMATS, DiffDocument
from eval_skills.reporting.escape import excerpt, visible_line
from eval_skills.reporting.numbers import UNKNOWN

FLIPS_SHOWN, NAMES_SHOWN, ANSWER_LENGTH = 10, 10, 60
COLOURS = {"better": "green", "worse": "red", "added": "cyan", "removed": "yellow"}


def show_diff(document: DiffDocument, format: str | None) -> None:  # noqa: A002 - the word that people use
    """The comparison on stdout: as JSON in a ``--json`` call, else in `format`, else as tables. Remarks go to stderr."""
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
        for skill in document.diff.skills:
            _show_skill(skill)
        _show_gate(document)


def _show_skill(skill: SkillDiff) -> None:
    _say("")
    _say(f"{lineage(skill)} on {skill.benchmark_id}: {verdict_text(skill)}", COLOURS.get(skill.verdict or skill.change, ""))
    if skill.explanation:
        _say(skill.explanation)
    rows = [shown_row(row) for row in skill.rows]
    cells = [(row.name, row.before, row.after, f"{row.delta} {row.arrow}".rstrip(), row.mark) for row in rows]
    _print_table(("", "before", "after", "change", ""), cells, right=(1, 2, 3))
    if skill.statistics:
        _print_table(("", ""), statistics_lines(skill.statistics))
    for where, names in tasks_apart(skill):
        _say(f"{where}: {names_shown(names, NAMES_SHOWN)}")
    _show_flips(skill)


def _show_flips(skill: SkillDiff) -> None:
    flips, more = flips_shown(skill, FLIPS_SHOWN)
    if flips:
        _print_table(("task that flipped", "", "before", "answer", "after", "answer"), map(_flip_cells, flips))
    if more:
        _say(f"… and {more:,} more tasks flipped; --format json has them all")


def _flip_cells(flip: Flip) -> Sequence[str]:
    mark = "✔ better" if flip.change == "better" else "✘ worse"
    sides = [(side_text(side), _answer(side.output)) for side in (flip.before, flip.after)]
    return (flip.task_id, mark, *sides[0], *sides[1])


def _answer(output: object) -> str:
    return UNKNOWN if output is None else excerpt(output, ANSWER_LENGTH)


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


def _print_table(names: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(names))
    for index, name in enumerate(names):
        table.add_column(name, justify="right" if index in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible_line(cell), style=_style(cell)) for cell in row))
    current().out(pipe_width=NO_LIMIT).print(table)


def _style(cell: str) -> str:
    return {"✔": "green", "✘": "red"}.get(cell[:1], "")


def _say(line: str, style: str = "") -> None:
    current().say(visible_line(line), style=style)
