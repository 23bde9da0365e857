"""The trend of one figure as an HTML page that needs nothing besides itself: a chart and a table per benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.trend.trend import Trend, TrendPoint
from eval_skills.reporting import numbers
from eval_skills.reporting.escape import script_json, visible
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.reporting.html.pages import html_template, page_assets
from eval_skills.reporting.trend.series import BOUNDED, SHARES, Annotations, Series, trend_series, unit, value_text
from eval_skills.reporting.trend.series import shown as shown_of

SCRIPTS = (
    "elements",
    "printing",
    "theme",
    "sorting",
    "csv",
    "exports",
    "timeline",
    "trend_lines",
    "trend_chart",
    "trend_reading",
    "trend_page",
)
STYLES = ("style", "trend")

Shown = Callable[[float | None], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Further:
    """Another figure of the same runs, drawn below the first one."""

    title: str
    metric: str
    trend: Trend
    annotations: Annotations = field(default_factory=dict)

    def value(self, benchmark: str, point: TrendPoint) -> float | None:
        """What it was in the run of a point."""
        same = (point.run_id, point.skill_version)
        return next((each.value for each in self.trend.get(benchmark, ()) if (each.run_id, each.skill_version) == same), None)

    def shown(self, value: float | None) -> str:
        """A value as it is written for people."""
        return shown_of(self.metric)(value)


def render(
    trend: Trend,
    *,
    skill: str,
    metric: str,
    shown: Shown,
    annotations: Annotations | None = None,
    navigation: Navigation | None = None,
    further: Sequence[Further] = (),
    digests: Mapping[tuple[str, str], str] | None = None,
) -> str:
    """The whole page as text: it loads nothing, sends nothing, and shows names as text, whatever marks they hold.

    The chart has its points where their runs stand in time, a line per version of the skill, and around a completion rate or an
    effect its interval. `shown` writes a value of the `metric` for people. `annotations` are drawn as vertical lines, as are the
    moments from which on there is another version of the skill or of the benchmark. `digests` are those of the skill, by run and
    version. In the viewer every point leads to the page of its run.
    """
    found = trend_series(trend, annotations)
    run_page = navigation.run_page if navigation else None
    return html_template("trend.html.jinja").render(
        nav=navigation,
        series=found,
        skill=skill,
        metric=metric,
        bounded=metric in BOUNDED,
        shown=shown,
        value_text=value_text,
        facts=_facts(found),
        methods=_methods(found),
        further=further,
        digests=digests,
        run_page=run_page,
        data=script_json(payload(found, metric, shown, further=further, run_page=run_page)),
        assets=page_assets(SCRIPTS, STYLES),
    )


def payload(
    series: Sequence[Series],
    metric: str,
    shown: Shown,
    *,
    further: Sequence[Further] = (),
    run_page: Callable[[str], str] | None = None,
) -> dict[str, Any]:
    """The series as the page's script reads them: moments in ms since 1970, unknown values None, texts ready to be shown.

    Each holds its `further` figures that are known in some run, in the form of the whole.
    """
    drawn = [_series(each, shown, run_page) for each in series]
    for each in further:
        lower = {part.benchmark: part for part in trend_series(each.trend, each.annotations)}
        for made, main in zip(drawn, series, strict=True):
            part = lower.get(main.benchmark)
            known = part is not None and any(point.value is not None for point in part.points)
            figure = {**_figure(each.metric), **_series(part, each.shown, run_page)} if part and known else None
            made.setdefault("further", []).append(figure)
    return {**_figure(metric), "series": drawn}


def _figure(metric: str) -> dict[str, Any]:
    return {"metric": visible(metric), "unit": unit(metric), "share": metric in SHARES}


def _series(series: Series, shown: Shown, run_page: Callable[[str], str] | None) -> dict[str, Any]:
    return {
        "benchmark": visible(series.benchmark),
        "successive": series.successive,
        "versions": [visible(version) for version in series.versions],
        "points": [_point(point, shown, run_page) for point in series.points],
        "annotations": [
            {"timestamp": round(mark.timestamp.timestamp() * 1000), "label": visible(mark.label), "kind": mark.kind}
            for mark in series.marks
        ],
    }


def _point(point: TrendPoint, shown: Shown, run_page: Callable[[str], str] | None) -> dict[str, Any]:
    bounds = point.interval
    return {
        "timestamp": round(point.timestamp.timestamp() * 1000),
        "run": visible(point.run_id),
        "version": visible(point.skill_version),
        "value": point.whole_value,
        "shown": visible(value_text(point, shown)),
        "lower": bounds and bounds.lower,
        "upper": bounds and bounds.upper,
        "interval": bounds and f"{100 * bounds.level:g} % interval {numbers.interval(bounds)}",
        **({"page": run_page(point.run_id)} if run_page else {}),
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
    return numbers.methods(point.interval for each in series for point in each.points if point.interval)
