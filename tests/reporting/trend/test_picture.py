"""The picture of a trend: a PNG of a known size that shows what the page shows."""

from __future__ import annotations

import struct
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.models import ConfidenceInterval
from eval_skills.core.trend.trend import Trend, TrendPoint
from eval_skills.reporting.trend.picture import MOST_BENCHMARKS, _draw, check_drawable, render_png
from eval_skills.reporting.trend.series import Annotation, shown, trend_series

pytest.importorskip("matplotlib")
START = datetime(2026, 1, 1, tzinfo=UTC)


def points(*values: float | None, version: str = "1.0.0") -> list[TrendPoint]:
    return [
        TrendPoint(
            timestamp=START + timedelta(days=day),
            run_id=f"r{day}",
            skill_version=version,
            benchmark_version=None,
            value=value,
            interval=None if value is None else ConfidenceInterval(lower=value / 2, upper=(1 + value) / 2),
        )
        for day, value in enumerate(values)
    ]


def picture(trend: Trend, metric: str = "completionRate", **fields: Any) -> bytes:
    return render_png(trend, **{"skill": "adder", "metric": metric, "shown": shown(metric), **fields})


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trend", "high"),
    [
        pytest.param({"sums": points(0.5, None, 0.7)}, 600, id="a-gap"),
        pytest.param({"sums": points(0.5)}, 600, id="one-point"),
        pytest.param({"sums": points(None, None)}, 600, id="nothing-known"),
        pytest.param({"sums": points(0.5, 0.6), "words": points(0.1)}, 1200, id="two-benchmarks"),
        pytest.param({}, 600, id="nothing"),
    ],
)
def test_a_benchmark_is_ten_by_four_inches_at_150_dpi(trend: Trend, high: int) -> None:
    assert size(picture(trend)) == (1500, high)


@pytest.mark.slow
def test_it_draws_the_points_the_intervals_and_the_marks() -> None:
    bare = picture({"sums": [TrendPoint(**{**fields(each), "interval": None}) for each in points(0.5, 0.7)]})
    banded = picture({"sums": points(0.5, 0.7)})
    marked = picture({"sums": points(0.5, 0.7)}, annotations={"sums": [Annotation(START, "drop")]})
    moved = picture({"sums": points(0.5, 0.9)})
    assert len({bare, banded, marked, moved}) == 4
    assert picture({"sums": points(0.5, 0.7)}) == banded


@pytest.mark.slow
@pytest.mark.parametrize("values", [pytest.param((-0.4, -0.2), id="harm"), pytest.param((-0.4, 0.3), id="both-signs")])
def test_an_effect_below_zero_is_within_the_picture(values: tuple[float, ...]) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    bare = [replace(each, value=value) for each, value in zip(points(None, None), values, strict=True)]
    _draw(figure, trend_series({"sums": bare}, None), "adder", "effect", shown("effect"))
    low, high = figure.axes[0].get_ylim()
    assert low < min(values)
    assert high > max(values)
    assert high >= 0


@pytest.mark.slow
def test_a_point_at_the_edge_is_drawn_whole() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    _draw(figure, trend_series({"sums": points(0.0, 1.0)}, None), "adder", "completionRate", shown("completionRate"))
    assert [line.get_clip_on() for line in figure.axes[0].lines] == [False]


@pytest.mark.slow
def test_only_a_picture_of_nothing_says_that_there_is_nothing() -> None:
    from matplotlib.figure import Figure

    empty, full = Figure(), Figure()
    _draw(empty, [], "adder", "completionRate", shown("completionRate"))
    _draw(full, trend_series({"sums": points(0.5)}, None), "adder", "completionRate", shown("completionRate"))
    assert [each.get_text() for each in empty.texts] == ["No report in this time."]
    assert full.texts == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["$a$ \\frac{", "a\nb\x1b\u202e", "漢字 🦊", "_" * 500], ids=["mathtext", "controls", "no-such-letters", "long"]
)
def test_p68_names_are_letters_and_never_formulas(text: str) -> None:
    versions = [*points(0.5, version=text), *points(0.4, version="2")]
    noted = {text: [Annotation(START, text)]}
    assert size(picture({text: versions}, "estimatedUSD", skill=text, annotations=noted)) == (1500, 600)


def test_more_benchmarks_than_a_picture_holds_are_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError, match=f"up to {MOST_BENCHMARKS} benchmarks, and adder has 21; choose one with --benchmark"):
        picture({f"b{number}": points(0.5) for number in range(MOST_BENCHMARKS + 1)})


@pytest.mark.slow
def test_drawing_leaves_no_state_behind() -> None:
    import matplotlib
    from matplotlib._pylab_helpers import Gcf

    before = dict(matplotlib.rcParams)
    picture({"sums": points(0.5, 0.7)})
    assert dict(matplotlib.rcParams) == before
    assert Gcf.get_all_fig_managers() == []


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install 'eval-skills\[plot\]'"):
        check_drawable()


def fields(point: TrendPoint) -> dict[str, Any]:
    return {name: getattr(point, name) for name in ("timestamp", "run_id", "skill_version", "benchmark_version", "value")}
