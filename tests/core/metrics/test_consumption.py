from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.metrics.consumption import Consumption
from eval_skills.core.metrics.item_table import item_table
from eval_skills.core.models.report import EarlierAttempts
from tests.tables import each_row

START = datetime(2026, 5, 4, 8, 15, tzinfo=UTC)
ALL = slice(0, 3)


def consumption(**columns: Any) -> Consumption:
    rows = {"skill_id": "s", "skill_version": "1.0.0", "task_id": ["a", "b", "c"], "run_index": 0, "status": "fail", "score": 0.0}
    return Consumption.of(item_table(pd.DataFrame({**rows, "latency_ms": [500.0, None, 1000.0], **columns}), []))


@each_row(
    ("columns", "unjudged"),
    [
        pytest.param({}, None, id="it-cannot-be-told"),
        pytest.param({"error_kind": None, "judge_tokens": None}, None, id="no-model-was-asked"),
        pytest.param({"error_kind": None, "judge_tokens": [5, None, None]}, 0, id="all-judged"),
        pytest.param({"error_kind": ["judge", "infra", None], "status": "error"}, 1, id="the-judge-failed"),
        pytest.param({"error_kind": ["judge", None, None], "status": "fail"}, None, id="a-verdict-is-a-verdict"),
    ],
)
def test_items_that_could_not_be_judged(columns: dict[str, Any], unjudged: int | None) -> None:
    assert consumption(**columns).unjudged_items(ALL) == unjudged


@each_row(
    "starts",
    [
        pytest.param([START, START, START + timedelta(seconds=2)], id="datetimes"),
        pytest.param(["2026-05-04T08:15:00Z", "2026-05-04T10:15:00+02:00", "2026-05-04T08:15:02Z"], id="iso-text"),
        pytest.param(["2026-05-04T08:15:00", "2026-05-04T08:15:00", "2026-05-04T08:15:02"], id="no-zone-is-utc"),
        pytest.param(
            pd.to_datetime(["2026-05-04T10:15:00", "2026-05-04T10:15:00", "2026-05-04T10:15:02"]).tz_localize("Europe/Berlin"),
            id="another-zone",
        ),
    ],
)
def test_latest_start_and_throughput(starts: Any) -> None:
    used = consumption(started_at=starts)
    assert used.latest_start(ALL) == START + timedelta(seconds=2)
    assert used.throughput(ALL) == pytest.approx(3 / 3.0)


def test_throughput_leaves_out_the_time_before_a_resume() -> None:
    starts = [START, START + timedelta(seconds=1), START + timedelta(hours=5)]  # each call worked for 1.0 s
    assert consumption(started_at=starts, flow_run_id=["one", "one", "two"]).throughput(ALL) == pytest.approx(3 / 2.0)
    assert consumption(started_at=starts, flow_run_id=None).throughput(ALL) is None
    assert consumption(started_at=starts).throughput(ALL) is None


def test_an_unknown_start_leaves_throughput_unknown() -> None:
    used = consumption(started_at=[START, None, START + timedelta(seconds=2)])
    assert used.latest_start(ALL) == START + timedelta(seconds=2)
    assert used.throughput(ALL) is None


@pytest.mark.parametrize("columns", [{}, {"started_at": [None, None, None]}], ids=["no-column", "no-value"])
def test_without_a_start_the_time_is_now(columns: dict[str, Any]) -> None:
    before = datetime.now(UTC)
    used = consumption(**columns)
    assert before <= used.latest_start(ALL) <= datetime.now(UTC)
    assert used.throughput(ALL) is None


def test_no_time_no_throughput() -> None:
    assert consumption(started_at=[START] * 3, latency_ms=0.0).throughput(ALL) is None


def test_a_start_that_is_no_time_is_refused() -> None:
    with pytest.raises(InputError, match="started_at must be times"):
        consumption(started_at=["yesterday", None, None])


def test_latencies_are_of_the_rows_asked_for() -> None:
    latency = consumption().latency(slice(2, 3))
    assert (latency.p50_ms, latency.p99_ms, latency.mean_ms) == (1000.0, 1000.0, 1000.0)


@pytest.mark.parametrize(
    ("costs", "usd", "unknown"),
    [
        pytest.param([0.5, 0.25, 0.0], 0.75, None, id="all-known"),
        pytest.param([0.5, None, None], 0.5, 2, id="some-unknown"),
        pytest.param([None, None, None], None, None, id="none-known"),
    ],
)
def test_a_sum_says_of_how_many_items_it_is_unknown(costs: list[float | None], usd: float | None, unknown: int | None) -> None:
    found = consumption(cost_usd=costs).token_cost(ALL)
    assert (found.estimated_usd, found.cost_unknown_items) == (usd, unknown)
    assert ("costUnknownItems" in found.to_json()) == (unknown is not None)


def test_what_earlier_attempts_took_stands_beside_the_sums() -> None:
    def attempt(cost: float | None, tokens: int | None) -> dict[str, Any]:
        return {"cost_usd": cost, "tokens": tokens}

    attempts = [[attempt(0.5, 1000), attempt(None, 10), attempt(0.25, 100)], [attempt(0.25, 100)], None]
    found = consumption(cost_usd=0.25, attempts=attempts).token_cost(ALL)
    assert found.estimated_usd == 0.75
    assert found.earlier_attempts == EarlierAttempts(
        attempts=2, estimated_usd=0.5, cost_unknown_attempts=1, total_tokens=1010, tokens_unknown_attempts=0
    )
    assert (
        "earlierAttempts" not in consumption(cost_usd=0.25, attempts=[attempts[1], attempts[1], None]).token_cost(ALL).to_json()
    )


def test_tokens_are_unknown_of_an_item_where_either_side_is() -> None:
    found = consumption(prompt_tokens=[10, None, 5], completion_tokens=[1, 2, None]).token_cost(ALL)
    assert (found.total_tokens, found.tokens_unknown_items) == (18, 2)
    one_side = consumption(prompt_tokens=[10, None, 5], completion_tokens=None).token_cost(ALL)
    assert (one_side.total_tokens, one_side.tokens_unknown_items) == (None, None)


@pytest.mark.parametrize("column", ["prompt_tokens", "completion_tokens", "cost_usd"])
def test_negative_amounts_are_refused(column: str) -> None:
    with pytest.raises(InputError, match=f"{column} must be a finite number from 0 on; got -1"):
        consumption(**{column: [1, -1, 0]})


@pytest.mark.parametrize(
    ("columns", "p50"),
    [
        pytest.param({}, None, id="an-older-store"),
        pytest.param({"time_to_first_token_ms": [None, None, None]}, None, id="nothing-was-streamed"),
        pytest.param({"time_to_first_token_ms": [9.0, None, 3.0]}, 3.0, id="nearest-rank-of-what-is-known"),
    ],
)
def test_the_time_to_the_first_token(columns: dict[str, Any], p50: float | None) -> None:
    assert consumption(**columns).latency(ALL).time_to_first_token_p50_ms == p50
