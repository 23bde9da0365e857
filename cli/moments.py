"""Points in time as people type them: ``2026-01-31``, or ``30d`` for thirty days ago. Days are those of UTC."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from cyclopts import Token

_AGO = re.compile(r"([0-9]{1,5})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def from_moment(_: Any, tokens: Sequence[Token]) -> datetime:
    """The first moment that is meant: of a day, its beginning.

    Raises:
        ValueError: it is neither a date nor a span such as 12h, 30d or 4w.
    """
    return _moment(tokens[0].value, timedelta(0))


def to_moment(_: Any, tokens: Sequence[Token]) -> datetime:
    """The first moment that is not meant any more: of a day, its end.

    Raises:
        ValueError: it is neither a date nor a span such as 12h, 30d or 4w.
    """
    return _moment(tokens[0].value, timedelta(days=1))


def _moment(text: str, of_a_day: timedelta) -> datetime:
    try:
        if ago := _AGO.fullmatch(text):
            return datetime.now(UTC) - int(ago[1]) * _UNITS[ago[2]]
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            raise ValueError
        return datetime.combine(date.fromisoformat(text), time(tzinfo=UTC)) + of_a_day
    except (ValueError, OverflowError):
        raise ValueError(f"give a day such as 2026-01-31, or a time ago such as 12h, 30d or 4w; got {text!r}") from None
