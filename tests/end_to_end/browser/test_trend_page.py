"""The page of a trend in a real browser: its chart is drawn and can be read, and it runs no stranger's code."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import ConfidenceInterval
from eval_skills.core.trend.trend import Trend, TrendPoint
from eval_skills.reporting.trend.page import render
from eval_skills.reporting.trend.series import Annotation, shown

pytestmark = pytest.mark.slow

START = datetime(2026, 11, 1, 10, tzinfo=UTC)
PROBES = (
    "<script>document.documentElement.dataset.pwned=1</script>"
    "<img src=http://127.0.0.1:9/p.png onerror=document.documentElement.dataset.pwned=2>"
    "</script><svg onload=document.documentElement.dataset.pwned=3><style>*{display:none}</style><!--"
)
CHART = "Chart.getChart(document.querySelector('canvas'))"
MEASURED = "data.datasets.filter((each) => each.measured)"


def point(day: float, value: float | None, version: str = "1.0.0", **fields: Any) -> TrendPoint:
    interval = None
    if value is not None and "interval" not in fields:
        interval = ConfidenceInterval(lower=value / 2, upper=(1 + value) / 2, method="wilson")
    known = {"timestamp": START + timedelta(days=day), "run_id": f"run-{day:g}", "skill_version": version}
    return TrendPoint(**{**known, "benchmark_version": "1.0.0", "value": value, "interval": interval, **fields})


def sums() -> list[TrendPoint]:
    """Unevenly spaced, a gap, and a second version."""
    return [point(0, 0.5), point(1, None), point(2, 0.6), point(9, 0.8, "1.1.0"), point(10, 0.7, "1.1.0")]


def written(folder: Path, trend: Trend, metric: str = "completionRate", **fields: Any) -> Path:
    file = folder / "trend.html"
    page = render(trend, **{"skill": "adder", "metric": metric, "shown": shown(metric), **fields})
    file.write_bytes(page.encode("utf-8"))
    return file


@pytest.fixture
def trend(tmp_path: Path) -> Path:
    noted = {"sums": [Annotation(START + timedelta(days=5), "a drop")]}
    return written(tmp_path, {"sums": sums(), "words": [point(3, 0.9)]}, annotations=noted)


def test_it_opens_without_a_network_and_without_a_complaint(page: Any, trend: Path) -> None:
    page.open(trend)
    assert page.texts("h2") == ["sums", "words"]
    assert page.complaints() == []
    assert page.requests() == [trend.as_uri()]


def test_each_benchmark_has_a_chart_that_is_drawn(page: Any, trend: Path) -> None:
    page.open(trend)
    inked = (
        "[...document.querySelectorAll('canvas')].map((each) => new Set(new Uint32Array("
        "each.getContext('2d').getImageData(0, 0, each.width, each.height).data.buffer)).size > 3)"
    )
    assert page.value(inked) == [True, True]


def test_points_stand_where_their_runs_stand_in_time(page: Any, trend: Path) -> None:
    page.open(trend)
    gaps = page.value(
        f"(({{data, scales}}) => {MEASURED}.flatMap((each) => each.data).map(({{x}}) => scales.x.getPixelForValue(x)))({CHART})"
    )
    steps = [later - earlier for earlier, later in pairwise(gaps)]
    assert [round(step / steps[0]) for step in steps] == [1, 1, 7, 1]


def test_a_point_at_the_end_of_the_scale_is_drawn_whole(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, {"sums": [point(0, 0.0, interval=None), point(1, 1.0, interval=None)]}))
    inked = (
        "((chart) => chart.getDatasetMeta(0).data.map(({x, y}) => [-3, 3].map((off) => [...chart.ctx.getImageData("
        "x * devicePixelRatio, (y + off) * devicePixelRatio, 1, 1).data].join()))"
        f".map(([above, below]) => above === below))({CHART})"
    )
    assert page.value(inked) == [True, True]


def test_versions_have_lines_of_their_own_with_a_band_and_a_gap_where_nothing_is_known(page: Any, trend: Path) -> None:
    page.open(trend)
    lines = page.value(f"(({{data}}) => {MEASURED}.map((each) => [each.label, each.data.map(({{y}}) => y)]))({CHART})")
    assert lines == [["1.0.0", [0.5, None, 0.6]], ["1.1.0", [0.8, 0.7]]]
    bands = page.value(f"{CHART}.data.datasets.filter((each) => each.fill === '-1').map((each) => each.data.map(({{y}}) => y))")
    assert bands == [[0.75, None, 0.8], [0.9, 0.85]]
    assert page.value(f"{CHART}.data.datasets.some((each) => each.label === 'passage')") is True


def test_the_ticks_of_time_are_days_and_those_of_a_rate_are_percent(page: Any, trend: Path) -> None:
    page.open(trend)
    days, rates = page.value(f"[{CHART}.scales.x, {CHART}.scales.y].map((axis) => axis.ticks.map((tick) => tick.label))")
    assert set(days) <= {f"2026-{month}-{day:02d}" for month, count in ((10, 31), (11, 30)) for day in range(1, count + 1)}
    assert 2 <= len(days) <= 15
    assert (rates[0], rates[-1]) == ("0 %", "100 %")


def test_the_mouse_is_told_run_version_value_and_interval_of_the_nearest_point(page: Any, trend: Path) -> None:
    page.open(trend)
    place = page.value(
        f"(() => {{ const chart = {CHART}; const box = chart.canvas.getBoundingClientRect();"
        " const it = chart.getDatasetMeta(0).data[2];"
        " return {x: box.x + it.x + 9, y: box.y + it.y + 9} })()"
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", **place)
    page.until(f"{CHART}.tooltip.opacity === 1")
    said = page.value(f"(({{title, body}}) => [title, body[0].lines])({CHART}.tooltip)")
    assert said == [["2026-11-03 10:00:00 UTC"], ["60.0 % (95 % interval 30.0 to 80.0 %)", "version 1.0.0", "run run-2"]]
    assert page.text(".reading").startswith("2026-11-03 10:00:00 UTC · 60.0 %")


def test_the_keyboard_goes_from_run_to_run_and_over_the_gap(page: Any, trend: Path) -> None:
    page.open(trend)
    page.value("document.querySelector('canvas').focus()")
    values = []
    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowRight", "End"):
        page.press(key)
        values.append(page.value("document.querySelector('canvas').getAttribute('aria-valuetext').split(' · ')[3]"))
    assert values == ["run run-9", "run run-2", "run run-0", "run run-0", "run run-2", "run run-10"]
    assert page.value(f"{CHART}.tooltip.opacity") == 1
    assert page.value("document.querySelector('canvas').getAttribute('aria-valuenow')") == "4"


def test_a_version_is_hidden_with_its_band(page: Any, trend: Path) -> None:
    page.open(trend)
    page.value(f"(({{legend}}) => legend.options.onClick(null, legend.legendItems[0], legend))({CHART})")
    shown = (
        f"{CHART}.data.datasets.filter((_, index) => {CHART}.isDatasetVisible(index)).map((each) => each.version ?? each.label)"
    )
    assert set(page.value(shown)) == {"1.1.0", "passage"}


def test_the_table_sorts_and_holds_what_the_chart_shows(page: Any, trend: Path) -> None:
    page.open(trend)
    page.click(".series:first-of-type th:nth-child(5) button")
    assert page.texts(".series:first-of-type td:nth-child(5)") == ["80.0 %", "70.0 %", "60.0 %", "50.0 %", "–"]


@pytest.mark.parametrize(
    ("metric", "value", "tick"),
    [("p95Ms", 1234.5, " ms"), ("estimatedUSD", 0.002, "$0"), ("compositeScore", 0.5, "0")],
    ids=["ms", "usd", "score"],
)
def test_p48_the_axis_has_the_unit_of_the_metric(page: Any, tmp_path: Path, metric: str, value: float, tick: str) -> None:
    page.open(written(tmp_path, {"sums": [point(0, value, interval=None), point(1, value / 2, interval=None)]}, metric))
    assert tick in page.value(f"{CHART}.scales.y.ticks[0].label")
    assert page.complaints() == []


@pytest.mark.parametrize(
    "points",
    [
        pytest.param([point(0, 0.5)], id="one-run"),
        pytest.param([point(0, None), point(1, None)], id="nothing-known"),
        pytest.param([point(0, 0.5), point(0, 0.6, "2")], id="one-moment"),
        pytest.param([point(day * 400, 0.5) for day in range(12)], id="twelve-years"),
        pytest.param([point(day / 86_400, 0.5) for day in range(5)], id="seconds"),
        pytest.param([point(day, 0.5, f"{day}.0.0") for day in range(40)], id="forty-versions"),
    ],
)
def test_any_span_and_number_of_points_is_drawn(page: Any, tmp_path: Path, points: list[TrendPoint]) -> None:
    page.open(written(tmp_path, {"sums": points}))
    labels = page.value(f"{CHART}.scales.x.ticks.map((tick) => String(tick.label))")
    assert len(labels) == len(set(labels)) > 0
    assert page.complaints() == []


def test_p68_stored_scripts_stay_text_in_every_field(page: Any, tmp_path: Path) -> None:
    def probe(field: str) -> str:
        return f"[{field}] {PROBES}"

    names = {"run_id": probe("run"), "benchmark_version": probe("benchmark version")}
    points = [point(0, 0.5, probe("version"), **names), point(1, 0.6, "2", **names)]
    benchmark = probe("benchmark")
    file = written(
        tmp_path, {benchmark: points}, skill=probe("skill"), annotations={benchmark: [Annotation(START, probe("label"))]}
    )
    page.open(file)
    page.value("document.querySelector('canvas').focus()")
    page.press("ArrowLeft")
    everything = page.value("document.documentElement.textContent.replace(document.querySelector('#data').textContent, '')")
    fields = ("run", "benchmark version", "version", "benchmark", "skill")
    assert [field for field in fields if probe(field) not in everything] == []
    assert page.value("'pwned' in document.documentElement.dataset") is False
    assert page.value("document.querySelectorAll('img, svg, iframe, style:not(head > style)').length") == 0
    assert page.complaints() == []
    assert page.requests() == [file.as_uri()]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_chart_has_the_colours_of_the_theme(page: Any, trend: Path, dark: bool, pictures: Callable[[str], Path]) -> None:
    page.look(dark=dark)
    page.open(trend)
    first = page.value(f"{CHART}.data.datasets[0].borderColor")
    assert first == ("rgb(125, 183, 255)" if dark else "rgb(11, 87, 176)")
    page.picture(pictures(f"trend-{'dark' if dark else 'light'}"))
    for _ in range(1 if dark else 2):  # from auto by way of light
        page.click("#theme")
    assert page.value(f"{CHART}.data.datasets[0].borderColor") != first


def test_a_phone_shows_it_without_scrolling_sideways(page: Any, trend: Path, pictures: Callable[[str], Path]) -> None:
    page.look(width=390, height=800)
    page.open(trend)
    assert page.value("document.documentElement.scrollWidth") <= 390
    assert page.value(f"{CHART}.width") > 280
    page.picture(pictures("trend-phone"))


def test_nothing_in_this_time_opens(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, {}))
    assert "No report in this time." in page.text("main")
    assert page.complaints() == []
