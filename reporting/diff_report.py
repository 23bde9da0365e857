"""A comparison of two evaluations as a document: Markdown and HTML for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_skills.core.errors import UsageError, nearest
from eval_skills.core.report_diff import ReportDiff
from eval_skills.reporting import diff_figures, diff_page
from eval_skills.reporting.escape import encodable
from eval_skills.reporting.markdown_template import template

FLIPS_SHOWN, NAMES_SHOWN, EXCERPT_LENGTH = 20, 10, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffDocument:
    """A comparison with what its sides are called.

    `failures` says why the gate failed, empty where it passed, None where there was none. `remarks` are shown above everything.
    """

    diff: ReportDiff
    before: str
    after: str
    failures: list[str] | None = None
    remarks: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON-ready data, with `labels`, `gate` and `remarks` beside it."""
        gate = None if self.failures is None else {"passed": not self.failures, "failures": self.failures}
        labels = {"before": self.before, "after": self.after}
        return {"labels": labels, **self.diff.to_json(), "gate": gate, "remarks": self.remarks}


@dataclass(frozen=True, slots=True)
class DiffFormat:
    """A way to write a comparison down: the ending of its file, and the function that renders it."""

    extension: str
    render: Callable[[DiffDocument], str]


def render_json(document: DiffDocument) -> str:
    """All of it, unrounded."""
    return encodable(json.dumps(document.to_json(), ensure_ascii=False, allow_nan=False, indent=2)) + "\n"


def render_markdown(document: DiffDocument) -> str:
    """Verdicts first, then each skill's figures, statistics and flipped tasks; lists are cut, and say by how much."""
    names = ("shown_row", "points", "verdict_text", "lineage", "statistics_lines", "flips_shown", "side_text", "names_shown")
    functions = {name: getattr(diff_figures, name) for name in names}
    limits = {"flips_limit": FLIPS_SHOWN, "names_limit": NAMES_SHOWN, "excerpt_length": EXCERPT_LENGTH}
    return encodable(template("diff.md.jinja").render(document=document, **functions, **limits))


def render_html(document: DiffDocument) -> str:
    """One page with all flipped tasks, to filter and search; see `diff_page.render`."""
    return diff_page.render(document)


DIFF_FORMATS: dict[str, DiffFormat] = {
    "markdown": DiffFormat("md", render_markdown),
    "json": DiffFormat("json", render_json),
    "html": DiffFormat("html", render_html),
}


def diff_format_of(output: str) -> str:
    """The format that the ending of a file asks for: HTML or JSON; Markdown for any other, and for a folder."""
    return {".html": "html", ".htm": "html", ".json": "json"}.get(Path(output).suffix.lower(), "markdown")


def check_diff_formats(names: Iterable[str]) -> None:
    """Refuse a name that is no format of a comparison.

    Raises:
        UsageError: the message names the valid ones and the nearest.
    """
    for name in names:
        if name not in DIFF_FORMATS:
            hint = nearest(name, DIFF_FORMATS)
            raise UsageError(f"unknown format {name!r} of a comparison{hint}; valid are {', '.join(DIFF_FORMATS)}")
