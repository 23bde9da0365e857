"""What an HTTP status that is no success means for an item."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from eval_skills.adapters.tail import excerpt
from eval_skills.core.errors import InfraError, ItemError, SkillError, SkillUnavailable

TRANSIENT = frozenset({408, 425, 429})
UNREACHED = frozenset({401, 403, 404, 405, 407, 410})
"""The address or the credentials are wrong: the skill itself was not reached."""


def status_error(status: int, headers: Mapping[str, str], body: str, url: str) -> ItemError | None:
    """The error that a response with `status` is, or None for 2xx. The status comes first, then the body's beginning.

    408, 425, 429 and 5xx are SkillUnavailable, with the wait that Retry-After asks for; 3xx (one that was not
    followed) and the `UNREACHED` are InfraError; other 4xx are SkillError.
    """
    if 200 <= status < 300:
        return None
    said = f": {excerpt(body)}" if body.strip() else ""
    if status in TRANSIENT or status >= 500:
        return SkillUnavailable(f"HTTP {status} from {url}{said}", retry_after_s=retry_after_s(headers.get("retry-after")))
    if 300 <= status < 400:
        target = excerpt(headers.get("location", "nowhere"))
        return InfraError(f"HTTP {status} from {url}: redirected to {target}, which is not followed; put the final address there")
    error = InfraError if status in UNREACHED else SkillError
    return error(f"HTTP {status} from {url}{said}")


def retry_after_s(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds to wait by a Retry-After header: a number of seconds or an HTTP date (RFC 9110, section 10.2.3).

    A date in the past is 0. None where there is no header, or none that can be read.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        return _seconds_until(value, now or datetime.now(UTC))
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds_until(date: str, now: datetime) -> float | None:
    try:
        when = parsedate_to_datetime(date)
    except ValueError:
        return None
    when = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return max(0.0, (when - now).total_seconds())
