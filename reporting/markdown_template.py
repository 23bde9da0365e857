"""Templates of Markdown: whatever a template prints is literal text, unless it is Markdown of our own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from eval_skills.reporting import figures
from eval_skills.reporting.dimension_figures import dimension_title, mean_of
from eval_skills.reporting.escape import excerpt, markdown
from eval_skills.reporting.judge_figures import corrected_rate, judging_figures, judging_notes, judging_of
from eval_skills.reporting.judging_table import judges_table
from eval_skills.reporting.sections import calls_line, reasons

FIGURES = (figures.rate, figures.interval, figures.score, figures.milliseconds, figures.usd, figures.count)


def template(name: str) -> Template:
    """The template of that file name in ``templates/``."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    # autoescape makes what macros and filters return count as escaped already; `finalize` is what escapes, for Markdown.
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=markdown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {function.__name__: _literal(function) for function in FIGURES}
    environment.filters |= {"plural": figures.plural, "times": lambda values: figures.times(*values)}
    plain = (excerpt, reasons, calls_line, dimension_title, mean_of, judging_of, judging_figures, judging_notes, judges_table)
    environment.filters |= {function.__name__: function for function in plain}
    environment.filters |= {"ours": _literal(str), "corrected_rate": _literal(corrected_rate)}
    return environment


def _literal(figure: Callable[[Any], str]) -> Callable[[Any], Markup]:
    """The figure as Markdown of our own: its dollar sign needs no escape."""
    return lambda value: Markup(figure(value))  # noqa: S704 - digits and units only
