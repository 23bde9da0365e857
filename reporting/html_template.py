"""Templates of HTML pages, in which whatever is put in stays text."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from eval_skills.reporting import figures
from eval_skills.reporting.dimension_figures import dimension_title, mean_of
from eval_skills.reporting.escape import visible
from eval_skills.reporting.html_assets import TEMPLATES

FIGURES = (figures.rate, figures.interval, figures.score, figures.milliseconds, figures.usd, figures.count)


def html_template(name: str) -> Template:
    """A template of this package; a text put into it is escaped, with its control characters made visible, and None is a dash."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        function.__name__: function for function in (*FIGURES, figures.plural, dimension_title, mean_of, visible)
    }
    return environment


def _shown(value: Any) -> Any:
    if value is None:
        return figures.UNKNOWN
    return visible(value) if type(value) is str else value
