"""A trend as it is drawn: which versions follow one another, and which moments are marked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from eval_skills.core.trend.trend import TrendPoint
from eval_skills.reporting.trend.series import Annotation, shown, trend_series, unit, utc
from tests.tables import each_row

START = datetime(2026, 1, 1, 10, tzinfo=UTC)


def point(day: float, version: str = "1", benchmark: str | None = "b1") -> TrendPoint:
    moment = START + timedelta(days=day)
    return TrendPoint(timestamp=moment, run_id=f"r{day}", skill_version=version, benchmark_version=benchmark, value=0.5)


@each_row(
    ("points", "successive"),
    [
        pytest.param([point(0), point(1)], True, id="one-version"),
        pytest.param([point(0), point(1, "2"), point(2, "2"), point(3, "3")], True, id="each-follows"),
        pytest.param([point(0), point(1, "2"), point(2)], False, id="an-older-one-ran-again"),
        pytest.param([point(0), point(0, "2")], False, id="side-by-side-in-one-run"),
    ],
)
def test_a_line_leads_from_version_to_version_only_where_it_would_not_zigzag(points: list[TrendPoint], successive: bool) -> None:
    assert trend_series({"b": points})[0].successive is successive


def test_a_version_is_marked_where_it_first_ran_and_the_first_one_is_not() -> None:
    (series,) = trend_series({"b": [point(0), point(1, "2"), point(2), point(3, "2"), point(4, "3")]})
    assert series.versions == ["1", "2", "3"]
    assert [(mark.label, mark.kind, mark.timestamp) for mark in series.marks] == [
        ("2", "version", START + timedelta(days=1)),
        ("3", "version", START + timedelta(days=4)),
    ]


def test_a_changed_benchmark_is_marked_and_an_unknown_version_of_it_is_no_change() -> None:
    points = [point(0), point(1, benchmark=None), point(2), point(3, benchmark="b2"), point(4)]
    (series,) = trend_series({"b": points})
    assert [mark.label for mark in series.marks] == ["benchmark b2", "benchmark b1"]


def test_annotations_are_marks_of_their_own_benchmark_alone_in_order_of_time() -> None:
    berlin = datetime(2026, 1, 2, 13, tzinfo=timezone(timedelta(hours=1)))
    noted = {"b": [Annotation(berlin, "later"), Annotation(datetime(2026, 1, 1, 11), "first")], "gone": [Annotation(START, "x")]}
    found = {series.benchmark: series for series in trend_series({"b": [point(0)], "c": [point(0)], "empty": []}, noted)}
    assert found.keys() == {"b", "c"}
    assert [(mark.label, mark.timestamp.hour) for mark in found["b"].marks] == [("first", 11), ("later", 12)]
    assert found["c"].marks == []


def test_marks_of_one_moment_share_a_line() -> None:
    noted = {"b": [Annotation(START + timedelta(days=1), "drop")]}
    (series,) = trend_series({"b": [point(0), point(1, "2", "b2")]}, noted)
    assert [(mark.label, mark.kind) for mark in series.marks] == [("2 · benchmark b2 · drop", "note")]


def test_a_moment_without_a_zone_is_utc() -> None:
    assert utc(datetime(2026, 1, 1)) == datetime(2026, 1, 1, tzinfo=UTC)


@each_row(
    ("metric", "value", "text"),
    [
        pytest.param("completionRate", 0.25, "25.0 %", id="rate"),
        pytest.param("p95Ms", 1234.0, "1,234 ms", id="ms"),
        pytest.param("estimatedUSD", 0.5, "$0.5000", id="usd"),
        pytest.param("compositeScore", 0.5, "0.5000", id="score"),
        pytest.param("p95Ms", None, "–", id="unknown"),
    ],
)
def test_p48_values_have_their_units(metric: str, value: float | None, text: str) -> None:
    assert shown(metric)(value) == text
    assert unit(metric) in {"rate", "ms", "usd", "score"}
