"""``eval-skills report diff``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from eval_skills.cli.commands.report.comparison import FailOn, Margin, MinEffect, check_shares
from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import GATE_FAILED, current
from eval_skills.cli.options import COMPARED, RESULTS, PastResults
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval_skills.reporting.diff.report import DiffDocument

Missing = Literal["bounds", "ignore"]
MARKDOWN = frozenset({"", ".md", ".markdown", ".txt"})
"""Endings of files that Markdown may be in."""


def diff(
    before: Annotated[
        str, Mark.ID_OR_PATH, Parameter(help="The earlier side: a JSON report, a run id of the store or its beginning, or latest")
    ],
    after: Annotated[str, Mark.ID_OR_PATH, Parameter(help="The later side, likewise")],
    /,
    *,
    label_a: Annotated[
        str | None, Parameter(group=RESULTS, help="What the earlier side is called [default: as it was given]")
    ] = None,
    label_b: Annotated[
        str | None, Parameter(group=RESULTS, help="What the later side is called [default: as it was given]")
    ] = None,
    map_: Annotated[
        list[str] | None,
        Parameter(
            group=COMPARED,
            name="--map",
            consume_multiple=1,
            help="Skills that took another's place: old=new, each an id or id@version",
        ),
    ] = None,
    min_effect: MinEffect = None,
    fail_on: FailOn = None,
    margin: Margin = None,
    missing: Annotated[
        Missing,
        Parameter(
            group=COMPARED,
            help="Items without a verdict on the skill (outages, a failed judge): "
            "verdicts must hold within their bounds, or ignore them",
        ),
    ] = "bounds",
    output: Annotated[
        str | None,
        Mark.PATH,
        Parameter(group=RESULTS, help="Write it to a file, or a folder for several formats [default: print it]"),
    ] = None,
    format: Annotated[  # noqa: A002 - the word that people use
        list[str] | None,
        Own("a comparison has formats of its own"),
        Parameter(
            group=RESULTS,
            consume_multiple=1,
            help="Formats: markdown json html [default: by the ending of --output, else markdown; a table without one]",
        ),
    ] = None,
    all_: Annotated[
        bool,
        Parameter(group=RESULTS, name="--all", help="Print every task that flipped, not ten of each skill", show_default=False),
    ] = False,
    store: PastResults = None,
) -> int:
    """Compare two evaluations skill by skill.

    The tasks that both sides ran are compared in pairs; each skill is better, worse, equivalent or inconclusive. Printed, the
    skills that lost most come first.

    Example: eval-skills report diff main.json latest --fail-on worse

    Example: eval-skills report diff main.json new.json --output diff.html
    """
    from eval_skills.cli.output.diff import FLIPS_SHOWN, show_diff
    from eval_skills.reporting.diff.report import check_diff_formats, diff_format_of

    check_diff_formats(format or [])
    if output is not None and not format:
        _check_ending(output)
    if output is None and format and (len(format) > 1 or current().json):
        raise UsageError("--format prints one format, and --json has its own; name a place for more with --output")
    check_shares(min_effect, fail_on, margin)
    rules = {"mapping": _mapping(map_ or []), "min_effect": min_effect or 0.0, "missing": missing}
    document = _compared((before, label_a), (after, label_b), rules, fail_on, margin, store)
    if output is not None:
        _write_diff(document, format or [diff_format_of(output)], output, inputs=[Path(before), Path(after)])
    printed = format[0] if format and output is None else None
    show_diff(document, printed, flips=None if all_ else FLIPS_SHOWN, more="--all shows all")
    return GATE_FAILED if document.failures else 0


def _compared(
    before: tuple[str, str | None],
    after: tuple[str, str | None],
    rules: dict[str, Any],
    fail_on: FailOn,
    margin: float | None,
    store: str | None,
) -> DiffDocument:
    """The comparison of two sides, each a source and what it is called."""
    from eval_skills.engine.report_diff import compared
    from eval_skills.engine.stored_runs.reports import read_source

    folder = current().config({"store": store}).store
    old, new = read_source(before[0], folder), read_source(after[0], folder)
    return compared(old, new, labels=(before[1], after[1]), fail_on=fail_on, margin=margin, **rules)


def _mapping(pairs: Sequence[str]) -> dict[str, str]:
    mapping: dict[str, str] = {}
    for pair in pairs:
        old, _, new = pair.partition("=")
        if not old or not new or old in mapping:
            problem = f"{old!r} is given twice" if old in mapping else f"give old=new, two skills' ids; got {pair!r}"
            raise UsageError(f"--map: {problem}")
        mapping[old] = new
    return mapping


def _check_ending(output: str) -> None:
    """A file whose ending speaks of none of the formats is not one that somebody wants Markdown in."""
    from eval_skills.reporting.diff.report import diff_format_of

    ending = "" if output.endswith(os.sep) or os.path.isdir(output) else Path(output).suffix.lower()
    if diff_format_of(output) == "markdown" and ending not in MARKDOWN:
        raise UsageError(
            f"--output {output}: a comparison is written as Markdown, JSON or HTML; give a file that ends in .md, .json or .html,"
            " or say which with --format"
        )


def _write_diff(document: DiffDocument, formats: list[str], output: str, *, inputs: list[Path]) -> None:
    from eval_skills.reporting.diff.report import DIFF_FORMATS
    from eval_skills.reporting.writing import target_files, write_targets

    extensions = {name: DIFF_FORMATS[name].extension for name in formats}
    files = target_files(output, extensions, "eval-diff", inputs=inputs)
    for path in write_targets({file: DIFF_FORMATS[name].render(document) for name, file in files.items()}):
        current().remark(f"diff    {path}", style="")
