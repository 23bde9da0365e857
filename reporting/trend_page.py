"""The trend of one figure as an HTML page that needs nothing besides itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from eval_skills.core.trend import Trend
from eval_skills.reporting import figures
from eval_skills.reporting.escape import encodable, visible


def render(trend: Trend, *, skill: str, metric: str, shown: Callable[[float | None], str]) -> str:
    """The page: a table of the points per benchmark. Names are shown as text, whatever marks they hold."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"shown": shown, "interval": figures.interval, "visible": visible}
    page = environment.get_template("trend.html.jinja").render(trend=trend, skill=skill, metric=metric)
    return encodable(page) + "\n"
