"""The points of a trend; the command line's tests have the options."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.models import ConfidenceInterval, Latency, SkillCompletionReport, Summary, TokenCost
from eval_skills.core.store import Store, land_reports
from eval_skills.core.store.schema import REPORT_SCHEMA
from eval_skills.core.trend.trend import METRICS, trend
from eval_skills.reporting.numbers import usd
from eval_skills.reporting.trend.series import value_text

DAYS = [datetime(2026, 1, day, 12, tzinfo=UTC) for day in (1, 2, 3)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A run a day of adder on sums, landed in another order."""
    found = Store(tmp_path / "store")
    for place in (2, 0, 1):
        rate = 0.25 * (place + 1)
        report = SkillCompletionReport(
            skill_id="adder",
            skill_version="1.0.0",
            benchmark_id="sums",
            timestamp=DAYS[place],
            summary=Summary(
                completion_rate=rate,
                partial_score=None,
                error_rate=0.0,
                consistency_score=1.0,
                composite_score=rate,
                confidence_interval=ConfidenceInterval(lower=rate / 2, upper=1.0, method="wilson"),
                pass_at_k=None,
                pass_hat_k=None,
                flake_rate=None,
            ),
            latency=Latency(p50_ms=1.0, p95_ms=2.0, p99_ms=3.0, mean_ms=1.5),
            token_cost=TokenCost(prompt_tokens=None, completion_tokens=None, total_tokens=None, estimated_usd=0.5),
        )
        land_reports(found, f"2026010{place + 1}T120000Z-000{place}", None, [report])
    return found


def test_points_are_in_the_order_of_time_with_intervals(store: Store) -> None:
    points = trend(store, "adder")["sums"]
    assert [(point.timestamp, point.value) for point in points] == list(zip(DAYS, (0.25, 0.5, 0.75), strict=True))
    assert points[0].interval == ConfidenceInterval(lower=0.125, upper=1.0, method="wilson")
    assert points[0].benchmark_version is None


def test_only_completion_has_an_interval(store: Store) -> None:
    assert {point.interval for point in trend(store, "adder", metric="p95Ms")["sums"]} == {None}


def test_a_cost_that_is_unknown_of_some_items_is_no_whole_value(store: Store) -> None:
    run_id = "20260102T120000Z-0001"
    [report] = store.reports_of(run_id)
    token_cost = report.token_cost.model_copy(update={"cost_unknown_items": 2})
    summary = report.summary.model_copy(update={"items": 3})
    land_reports(store, run_id, None, [report.model_copy(update={"token_cost": token_cost, "summary": summary})])
    points = trend(store, "adder", metric="estimatedUSD")["sums"]
    assert [(point.value, point.whole_value, point.unknown_items, point.items) for point in points] == [
        (0.5, 0.5, None, None),
        (0.5, None, 2, 3),
        (0.5, 0.5, None, None),
    ]
    assert value_text(points[1], usd) == "at least $0.5000, unknown of 2 of 3 items"


def test_unknown_is_none_and_never_zero(store: Store) -> None:
    assert [point.value for point in trend(store, "adder", metric="partialScore")["sums"]] == [None, None, None]


@pytest.mark.parametrize(("since", "until", "days"), [(1, None, [1, 2]), (None, 1, [0]), (0, 2, [0, 1]), (None, None, [0, 1, 2])])
def test_the_first_moment_counts_and_the_last_does_not(
    store: Store, since: int | None, until: int | None, days: list[int]
) -> None:
    first, last = (None if day is None else DAYS[day] for day in (since, until))
    found = trend(store, "adder", since=first, until=last)
    assert [point.timestamp for point in found["sums"]] == [DAYS[day] for day in days]


def test_a_time_without_a_report_is_an_empty_trend(store: Store) -> None:
    assert trend(store, "adder", since=datetime(2027, 1, 1, tzinfo=UTC)) == {}


def test_every_metric_is_a_column_of_the_reports() -> None:
    assert set(METRICS.values()) <= set(REPORT_SCHEMA.names)


def test_p40_an_empty_store_knows_no_skill(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no report of 'adder' in the store .*; skills there: none"):
        trend(Store(tmp_path), "adder")


@pytest.mark.parametrize("skill", ["adder", "adder@1.0.0"])
def test_a_skill_with_recorded_runs_alone_is_not_said_to_be_unknown(store: Store, tmp_path: Path, skill: str) -> None:
    recorded = Store(tmp_path / "recorded")
    [report] = store.reports_of("20260101T120000Z-0000")
    land_reports(recorded, "20260101T120000Z-0000", None, [report], origin="traces")
    with pytest.raises(UsageError, match=r"no report of 'adder.*there are runs of it from traces.*; history --all shows them"):
        trend(recorded, skill)
    with pytest.raises(UsageError, match=r"no report of 'subtractor' in the store .*; skills there: none"):
        trend(recorded, "subtractor")
    land_reports(recorded, "20260102T120000Z-0000", None, [report])
    with pytest.raises(UsageError, match=r"no measured effect of 'adder.* in the store .*; skills there: none"):
        trend(recorded, skill, metric="effect")


def test_a_time_that_ends_before_it_begins_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="since must come first"):
        trend(store, "adder", since=DAYS[1], until=DAYS[1])


def test_a_run_that_was_resumed_later_stays_where_it_began(store: Store) -> None:
    (first, *_) = store.tables.files("reports")
    (report,) = store.reports_of(first)
    land_reports(store, first, None, [report.model_copy(update={"timestamp": DAYS[2].replace(day=9)})])
    assert [point.timestamp for point in trend(store, "adder")["sums"]] == DAYS
    assert [point.run_id for point in trend(store, "adder", until=DAYS[1])["sums"]] == [first]
