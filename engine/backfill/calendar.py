"""Time cut into periods: days, ISO weeks, single runs, or what lies behind one tag. All of them in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import Field

from eval_skills.core.models.base import Model, Text

Every = Literal["day", "week", "run", "tag"]
_LENGTHS = {"day": timedelta(days=1), "week": timedelta(weeks=1)}


class Period(Model):
    """A stretch of time under a name: from `start` on, and before `end`. A single moment has `start` equal to `end`."""

    name: Text
    start: datetime = Field(strict=False)
    end: datetime = Field(strict=False)


def period_of(moment: datetime, every: Literal["day", "week"]) -> Period:
    """The day (``2026-03-01``) or ISO week (``2026-W09``, from Monday on) in UTC that holds an aware `moment`.

    The last days of December may lie in the first week of the next year, and the first of January in the last week of the year
    before: the week's name says so.
    """
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    start = day if every == "day" else day - timedelta(days=day.weekday())
    year, week, _ = start.isocalendar()
    name = f"{start:%Y-%m-%d}" if every == "day" else f"{year:04d}-W{week:02d}"
    return Period(name=name, start=start, end=start + _LENGTHS[every])


def moment_period(moment: datetime, name: str) -> Period:
    """The period of one run or one tag: its moment, under its name."""
    return Period(name=name, start=moment.astimezone(UTC), end=moment.astimezone(UTC))
