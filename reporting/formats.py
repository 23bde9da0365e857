"""The formats of a report, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.text import nearest
from eval_skills.reporting.context import ReportContext


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a report down: the ending of its file, and the function that renders it as ``module:function``, imported
    when it is first used: templates and charts would slow every command that only prints. `streamed` names the function that
    renders it piece by piece, where there is one."""

    extension: str
    renderer: str
    streamed: str | None = None

    def content(self, reports: Sequence[SkillCompletionReport], context: ReportContext) -> Content:
        """The same as `render`, made piece by piece while it is written where the format can be."""
        return (
            self.render(reports, context) if self.streamed is None else Pieces(partial(_named(self.streamed), reports, context))
        )

    def render(self, reports: Sequence[SkillCompletionReport], context: ReportContext) -> str | bytes:
        """The reports in this format, the best skill first; bytes where the format is binary."""
        written: str | bytes = _named(self.renderer)(reports, context)
        return written


class Pieces:
    """Text that is made piece by piece, anew whenever it is iterated over."""

    def __init__(self, make: Callable[[], Iterator[str]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[str]:
        return self._make()


Content = str | bytes | Pieces
"""What a report file holds."""


def _named(place: str) -> Callable[..., Any]:
    module, _, function = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"{__package__}.{module}"), function)
    return found


FORMATS: dict[str, Format] = {
    "json": Format("json", "json_report:render", streamed="json_report:parts"),
    "markdown": Format("md", "markdown:render"),
    "html": Format("html", "html.report:render"),
    "csv": Format("csv", "table:render_csv"),
    "junit": Format("xml", "junit_report:render"),
    "parquet": Format("parquet", "table:render_parquet"),
    "gaia": Format("gaia.jsonl", "exports.gaia:render"),
    "promptfoo": Format("promptfoo.json", "exports.promptfoo:render"),
    "inspect": Format("inspect.json", "exports.inspect_log:render"),
    "langsmith": Format("langsmith.csv", "exports.langsmith:render"),
    "openai-evals": Format("openai-evals.jsonl", "exports.openai_evals:render"),
    "evalview": Format("evalview.json", "exports.evalview:render"),
}


def formats() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(FORMATS)


def format_named(name: str) -> Format:
    """The format of this name.

    Raises:
        UsageError: there is none; the message names the valid ones and the nearest.
    """
    if name not in FORMATS:
        raise UsageError(f"unknown report format {name!r}{nearest(name, FORMATS)}; valid are {', '.join(FORMATS)}")
    return FORMATS[name]


def check_formats(names: Iterable[str]) -> None:
    """Refuse an unknown format before anything is run for it; see `format_named`."""
    for name in names:
        format_named(name)


def render(
    format: str,  # noqa: A002 - the word that people use
    reports: Sequence[SkillCompletionReport],
    context: ReportContext,
) -> str | bytes:
    """The reports in this format, the best skill first; bytes where the format is binary.

    Raises:
        UsageError: the format is unknown.
    """
    return format_named(format).render(reports, context)
