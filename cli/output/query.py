"""Values that SQL can answer with, as JSON and as text."""

from __future__ import annotations

import json
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

CELL_WIDTH = 60


def json_value(value: Any) -> Any:
    """The value as JSON has it. Moments are ISO 8601, bytes hexadecimal; NaN and infinities are null; the rest is its text."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, dict):
        return {str(key): json_value(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(part) for part in value]
    return _scalar(value)


def text_value(value: Any) -> str:
    """The value as one text: "" for null, JSON for lists and structures."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    plain = json_value(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def short(text: str) -> str:
    """The text in one line of at most `CELL_WIDTH` characters, without what could steer a terminal."""
    from eval_skills.reporting.escape import visible

    line = visible(" ".join(text.split()))
    return line if len(line) <= CELL_WIDTH else f"{line[: CELL_WIDTH - 1]}…"


def _scalar(value: Any) -> Any:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return str(value)
