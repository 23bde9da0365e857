"""What the headers of a response say of when the next request may be made: Retry-After, and the limits that are used up."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_REMAINING = re.compile(r"(?P<before>.*rate-?limit-(?:.*-)?)remaining(?P<after>(?:-.*)?)")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_FIELD = re.compile(r"(?:^|[;,\s])(remaining|reset|r|t)\s*=\s*(\d+(?:\.\d+)?)")
_A_MOMENT, _A_MOMENT_IN_MS = 1e9, 1e12
"""From these numbers on a reset is a moment, in seconds or ms since 1970, and no duration."""


def retry_after_s(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds to wait by a Retry-After header: a number of seconds or an HTTP date (RFC 9110, section 10.2.3).

    A date in the past is 0. None if there is no such header or it cannot be read.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        return _seconds_until(value, now or datetime.now(UTC))
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def wait_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds until a refused request may be made again: by Retry-After, else by the limits that are used up; None: unsaid."""
    lowered = _lowered(headers)
    if (asked := retry_after_s(lowered.get("retry-after"), now)) is not None:
        return asked
    if (ms := _number(lowered.get("retry-after-ms"))) is not None:
        return ms / 1000
    return exhausted_s(lowered, now)


def exhausted_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds until the last of the limits is renewed of which nothing is left; None where something is left, or nothing is said.

    ``x-ratelimit-remaining`` and ``-reset``, the same with ``-requests`` and ``-tokens`` behind, ``anthropic-ratelimit-…``, and
    the ``RateLimit`` of the IETF's drafts. Resets are durations (``6m0s``, ``20ms``, 5) or moments (RFC 3339, s since 1970).
    """
    lowered, at = _lowered(headers), now or datetime.now(UTC)
    waits = [wait for wait in (*_paired(lowered, at), *_structured(lowered)) if wait is not None]
    return max(waits, default=None)


def _paired(headers: Mapping[str, str], now: datetime) -> Iterator[float | None]:
    for name, value in headers.items():
        found = _REMAINING.fullmatch(name)
        if found is None or _number(value) != 0:
            continue
        before, after = found["before"], found["after"]
        resets = (headers.get(f"{before}reset{after}"), headers.get(f"{before}reset-after{after}"))
        yield next((_until(reset, now) for reset in resets if reset is not None), None)


def _structured(headers: Mapping[str, str]) -> Iterator[float | None]:
    fields = dict(_FIELD.findall(headers.get("ratelimit", "").lower()))
    remaining, reset = (_number(fields.get(long, fields.get(short))) for long, short in (("remaining", "r"), ("reset", "t")))
    if remaining == 0:
        yield reset


def _until(reset: str, now: datetime) -> float | None:
    """Seconds until a limit is renewed; None: it cannot be read."""
    if (number := _number(reset)) is not None:
        if number < _A_MOMENT:
            return number
        return max(0.0, (number / 1000 if number >= _A_MOMENT_IN_MS else number) - now.timestamp())
    text = reset.strip().lower()
    if text and _PART.sub("", text) == "":
        return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    try:
        moment = datetime.fromisoformat(reset.strip())
    except ValueError:
        return _seconds_until(reset, now)
    return _from(moment, now)


def _seconds_until(date: str, now: datetime) -> float | None:
    try:
        return _from(parsedate_to_datetime(date), now)
    except ValueError:
        return None


def _from(moment: datetime, now: datetime) -> float:
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {str(name).lower(): str(value) for name, value in headers.items()}
