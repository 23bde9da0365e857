"""What `triggers` prints: the rates, the queries that did not do as they should, and who took them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from eval_skills.cli.context import current, print_json
from eval_skills.cli.output.run import print_experiment
from eval_skills.cli.output.tables import NO_LIMIT, bare_table
from eval_skills.core.text import plural
from eval_skills.reporting import numbers
from eval_skills.reporting.diff.figures import verdict_text
from eval_skills.reporting.escape import visible_line
from eval_skills.reporting.triggers.figures import (
    QUERY_COLUMNS,
    RATE_COLUMNS,
    confusion_lines,
    query_cells,
    rate_rows,
    title,
)

if TYPE_CHECKING:
    from eval_skills.core.triggers import Triggers
    from eval_skills.engine.triggers.optimizing import Candidate, Optimized

QUERIES_SHOWN = 20


def show_triggers(found: Triggers, files: Sequence[Path], failures: Sequence[str] | None, *, store: str) -> None:
    """The figures on stdout, as one document in a ``--json`` call; `failures` of the gate, None where there was none."""
    if current().json:
        print_experiment(found, files, failures, store)
        return
    session = current()
    session.say(title(found))
    _print_table(RATE_COLUMNS, rate_rows(found))
    for line in confusion_lines(found):
        session.say(line)
    if failed := found.failed:
        session.say("")
        session.say(f"did not do as they should: {len(failed)} of {len(found.queries)}", style="red")
        _print_table(QUERY_COLUMNS, map(query_cells, failed[:QUERIES_SHOWN]))
        if len(failed) > QUERIES_SHOWN:
            session.say(f"… and {len(failed) - QUERIES_SHOWN:,} more; the reports have them all")
    if unknown := found.unknown:
        session.say("")
        session.say(f"unknown: {len(unknown)} of {plural(len(found.queries), 'query')}, none of whose runs was observed")
        for each in unknown[:QUERIES_SHOWN]:
            session.say(f"  {visible_line(each.query)}")
        if len(unknown) > QUERIES_SHOWN:
            session.say(f"… and {len(unknown) - QUERIES_SHOWN:,} more; the reports have them all")
    for remark in found.remarks:
        session.remark(remark)
    for path in files:
        session.say(f"report  {path}")
    session.say_stored(store, f"run {found.run_id}")
    for failure in failures or ():
        session.say(f"gate failed: {failure}", style="red")
    if failures == []:
        session.say("gate passed: every query did as it should", style="green")


def show_optimized(found: Optimized, kept: Path | None) -> None:
    """What came of the rounds, as one document in a ``--json`` call; `kept` is the file that was changed, if any was."""
    if current().json:
        print_json(_document(found, kept))
        return
    session = current()
    for number, each in enumerate(found.tried):
        session.say(f"{'original' if number == 0 else f'rewritten {number}'}: {candidate_line(each)}")
        session.say(f"  {visible_line(each.description)}")
    if found.ended is not None:
        session.say(f"ended early: {visible_line(found.ended)}")
    if found.best is None or found.difference is None or found.original is None or found.rewritten is None:
        session.say("no other description did better on the training queries; nothing was changed")
        return
    session.say("")
    session.say(f"held out: {len(found.original.queries)} queries that the descriptions were not made for")
    for name, figures in (("original", found.original), ("rewritten", found.rewritten)):
        session.say(name)
        _print_table(RATE_COLUMNS, rate_rows(figures))
    session.say(f"{verdict_text(found.difference)}: {found.difference.explanation}")
    if kept is not None:
        session.say(f"kept: the new description is in {kept}", style="green")
    elif found.is_proven:
        session.say("not kept, though it is proven to be better")
    elif found.harm is not None:
        session.say(f"not kept: {found.harm}; nothing was changed")
    else:
        session.say("not kept: it is not proven to be better on queries that it was not made for; nothing was changed")


def candidate_line(each: Candidate) -> str:
    """``83.3 % of the training queries did as they should``, and how many of them say nothing."""
    unseen = f"; {plural(each.unobserved, 'query')} without an observed run" if each.unobserved else ""
    return f"{numbers.rate(each.share)} of the training queries did as they should{unseen}"


def _document(found: Optimized, kept: Path | None) -> dict[str, Any]:
    def figures(each: Triggers | None) -> dict[str, Any] | None:
        return None if each is None else each.to_json()

    return {
        "tried": [
            {"description": each.description, "share": each.share, "unobserved": each.unobserved, "failed": each.failed}
            for each in found.tried
        ],
        "ended": found.ended,
        "best": None if found.best is None else found.best.description,
        "heldOut": {"original": figures(found.original), "rewritten": figures(found.rewritten)},
        "difference": None if found.difference is None else found.difference.to_json(),
        "harm": found.harm,
        "kept": None if kept is None else str(kept),
        "runs": found.runs,
    }


def _print_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = bare_table()
    last = len(names) - 1
    for index, name in enumerate(names):  # a narrow terminal folds what is long: the query, and the names of neighbours
        table.add_column(name, overflow="fold", no_wrap=0 < index < last, justify="left" if index < 2 else "right")
    for row in rows:
        table.add_row(*(Text(visible_line(cell)) for cell in row))
    current().out(pipe_width=NO_LIMIT).print(table)
