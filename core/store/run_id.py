"""Run ids: ``20261121T233824Z-3f9a``, sortable by the second a run began."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection
from datetime import UTC, date, datetime

from eval_skills.core.errors import UsageError

_SHAPE = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})([0-9]{2})Z-[0-9a-f]{4}")
_MOMENT = "%Y%m%dT%H%M%SZ"
_SUFFIXES = 0x10000


def new_run_id(now: datetime | None = None) -> str:
    """A fresh run id for a run that begins `now` (absent: this moment).

    The four random hex digits keep runs apart that begin within one second.

    Raises:
        ValueError: `now` has no time zone, so it names no moment.
    """
    moment = now or datetime.now(UTC)
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; give an aware datetime, such as datetime.now(UTC)")
    return f"{moment.astimezone(UTC).strftime(_MOMENT)}-{secrets.token_hex(2)}"


def derived_run_id(moment: datetime, content: str, taken: Collection[str] = ()) -> str:
    """The run id of a run at `moment` that `content` alone decides, so that whoever asks again gets the same one.

    Ids that are `taken` are passed over.

    Raises:
        ValueError: `moment` has no time zone, or every id of that second is taken.
    """
    start = new_run_id(moment).rpartition("-")[0]
    first = int.from_bytes(hashlib.sha256(content.encode()).digest()[:2], "big")
    for step in range(_SUFFIXES):
        if (run_id := f"{start}-{(first + step) % _SUFFIXES:04x}") not in taken:
            return run_id
    raise ValueError(f"every run id of {start} is taken")


def is_run_id(text: str) -> bool:
    """Whether `text` has the exact shape of a run id and names a moment of the calendar."""
    return _moment_of(text) is not None


def check_run_id(text: str) -> str:
    """`text` itself, safe as a file name.

    Raises:
        UsageError: it is no run id; paths such as ``../x`` are none.
    """
    if not is_run_id(text):
        raise UsageError(f"{text!r} is not a run id; one looks like 20261121T233824Z-3f9a")
    return text


def started_at(run_id: str) -> datetime:
    """The second (UTC) in which the run began.

    Raises:
        UsageError: `run_id` is none.
    """
    moment = _moment_of(check_run_id(run_id))
    assert moment is not None
    return moment


def start_date(run_id: str) -> date:
    """The UTC day on which the run began: it lands under this day, however late it is resumed.

    Raises:
        UsageError: `run_id` is none.
    """
    return started_at(run_id).date()


def _moment_of(text: str) -> datetime | None:
    match = _SHAPE.fullmatch(text)
    if match is None:
        return None
    try:
        # `strptime` takes 20 times as long, and a store asks this of every file
        return datetime(*map(int, match.groups()), tzinfo=UTC)  # type: ignore[arg-type, misc] # six numbers
    except ValueError:
        return None
