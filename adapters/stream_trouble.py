"""Whether an error that a stream reports in one of its events may be gone at the next attempt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from eval_skills.adapters.http_status import TRANSIENT
from eval_skills.adapters.json_text import parse_json

_PASSING = re.compile(
    r"overloaded|rate[ _-]?limit|too[ _-]many[ _-]requests|server[ _-]?error|unavailable|api_error|temporar", re.IGNORECASE
)
_CODES = ("code", "status", "status_code", "statusCode")
_WORDS = ("type", "code", "status", "message")


def is_passing(data: bytes) -> bool:
    """Whether the error in `data` says that the service is overloaded, limits its rate or has trouble of its own (a 5xx)."""
    try:
        report = parse_json(data)
    except ValueError:
        return bool(_PASSING.search(data.decode(errors="replace")))
    return any(map(_says_so, _objects(report)))


def _objects(report: Any) -> Iterator[Any]:
    yield report
    if isinstance(report, dict):
        yield report.get("error")


def _says_so(said: Any) -> bool:
    if not isinstance(said, dict):
        return isinstance(said, str) and bool(_PASSING.search(said))
    words = " ".join(said[key] for key in _WORDS if isinstance(said.get(key), str))
    return bool(_PASSING.search(words)) or any(_is_passing_code(said.get(key)) for key in _CODES)


def _is_passing_code(code: Any) -> bool:
    number = int(code) if isinstance(code, str) and re.fullmatch(r"[0-9]{3}", code) else code
    return isinstance(number, int) and not isinstance(number, bool) and (number in TRANSIENT or 500 <= number < 600)
