"""The trend of one figure as an HTML page that needs nothing besides itself: a chart and a table per benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eval_skills.core.trend.trend import Trend, TrendPoint
from eval_skills.reporting import numbers
from eval_skills.reporting.escape import script_json, visible
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.reporting.html.report import html_template, page_assets
from eval_skills.reporting.trend.series import BOUNDED, SHARES, Annotations, Series, trend_series, unit, value_text

SCRIPTS = ("elements", "theme", "sorting", "timeline", "trend_lines", "trend_chart", "trend_reading", "trend_page")
STYLES = ("style", "trend")

Shown = Callable[[float | None], str]


def render(
    trend: Trend,
    *,
    skill: str,
    metric: str,
    shown: Shown,
    annotations: Annotations | None = None,
    navigation: Navigation | None = None,
) -> str:
    """The whole page as text: it loads nothing, sends nothing, and shows names as text, whatever marks they hold.

    The chart has its points where their runs stand in time, a line per version of the skill, and around a completion rate or an
    effect its interval. `shown` writes a value of the `metric` for people. `annotations` are drawn as vertical lines, as are the
    moments from which on there is another version of the skill or of the benchmark.
    """
    found = trend_series(trend, annotations)
    return html_template("trend.html.jinja").render(
        nav=navigation,
        series=found,
        skill=skill,
        metric=metric,
        bounded=metric in BOUNDED,
        shown=shown,
        facts=_facts(found),
        methods=_methods(found),
        data=script_json(payload(found, metric, shown)),
        assets=page_assets(SCRIPTS, STYLES),
    )


def payload(series: Sequence[Series], metric: str, shown: Shown) -> dict[str, Any]:
    """The series as the page's script reads them: moments in ms since 1970, unknown values None, texts ready to be shown."""
    return {
        "metric": visible(metric),
        "unit": unit(metric),
        "share": metric in SHARES,
        "series": [_series(each, shown) for each in series],
    }


def _series(series: Series, shown: Shown) -> dict[str, Any]:
    return {
        "benchmark": visible(series.benchmark),
        "successive": series.successive,
        "versions": [visible(version) for version in series.versions],
        "points": [_point(point, shown) for point in series.points],
        "annotations": [
            {"timestamp": round(mark.timestamp.timestamp() * 1000), "label": visible(mark.label), "kind": mark.kind}
            for mark in series.marks
        ],
    }


def _point(point: TrendPoint, shown: Shown) -> dict[str, Any]:
    bounds = point.interval
    return {
        "timestamp": round(point.timestamp.timestamp() * 1000),
        "run": visible(point.run_id),
        "version": visible(point.skill_version),
        "value": point.value,
        "shown": visible(value_text(point, shown)),
        "lower": bounds and bounds.lower,
        "upper": bounds and bounds.upper,
        "interval": bounds and f"{100 * bounds.level:g} % interval {numbers.interval(bounds)}",
    }


def _facts(series: Sequence[Series]) -> dict[str, str]:
    """How much is shown, and of which time."""
    points = [point for each in series for point in each.points]
    if not points:
        return {}
    days = [f"{point.timestamp:%Y-%m-%d}" for point in points]
    versions = {point.skill_version for point in points}
    return {
        "Runs": numbers.count(len({point.run_id for point in points})),
        "Versions": numbers.count(len(versions)),
        "From": min(days),
        "To": max(days),
    }


def _methods(series: Sequence[Series]) -> list[str]:
    bounds = [point.interval for each in series for point in each.points if point.interval]
    return list(dict.fromkeys(f"{100 * each.level:g} %, {each.method or 'method not recorded'}" for each in bounds))
