"""Time is cut into periods in UTC, and every moment lies in exactly one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.engine.backfill.periods import Period, moment_period, period_of
from tests.tables import each_row


@each_row(
    ("moment", "every", "name", "start"),
    [
        pytest.param(datetime(2026, 3, 1, tzinfo=UTC), "day", "2026-03-01", "2026-03-01", id="midnight-begins-the-day"),
        pytest.param(datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC), "day", "2026-03-01", "2026-03-01", id="last-second"),
        pytest.param(
            datetime(2026, 3, 2, 1, tzinfo=timezone(timedelta(hours=2))), "day", "2026-03-01", "2026-03-01", id="days-are-utc"
        ),
        pytest.param(datetime(2026, 3, 1, tzinfo=UTC), "week", "2026-W09", "2026-02-23", id="sunday-ends-the-week"),
        pytest.param(datetime(2026, 3, 2, tzinfo=UTC), "week", "2026-W10", "2026-03-02", id="monday-begins-it"),
        pytest.param(datetime(2027, 1, 1, tzinfo=UTC), "week", "2026-W53", "2026-12-28", id="january-in-the-old-year"),
        pytest.param(datetime(2024, 12, 30, tzinfo=UTC), "week", "2025-W01", "2024-12-30", id="december-in-the-new-year"),
    ],
)
def test_a_moment_has_its_period(moment: datetime, every: Literal["day", "week"], name: str, start: str) -> None:
    period = period_of(moment, every)
    assert (period.name, period.start.date().isoformat()) == (name, start)
    assert period.end - period.start == timedelta(days=1 if every == "day" else 7)


@given(st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)), st.sampled_from(["day", "week"]))
def test_periods_leave_no_gap_and_do_not_overlap(moment: datetime, every: Literal["day", "week"]) -> None:
    period = period_of(moment, every)
    assert period.start <= moment < period.end
    assert period_of(period.start, every) == period
    assert period_of(period.end, every).start == period.end
    assert period_of(period.end, every).name > period.name


def test_a_run_or_tag_is_a_moment_under_its_name() -> None:
    moment = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=1)))
    period = moment_period(moment, "v1.0")
    assert period == Period(name="v1.0", start=moment, end=moment)
    assert period.start.tzinfo is UTC


def test_a_period_survives_json() -> None:
    period = period_of(datetime(2026, 3, 1, tzinfo=UTC), "week")
    assert Period.model_validate_json(period.model_dump_json()) == period
