"""The values of a log's records, as they can be judged and written down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256
from math import isfinite
from typing import Any

from eval_skills.core.messages.blocks import text_in
from eval_skills.core.messages.roles import inner_message, role_in
from eval_skills.core.messages.tool_results import results_of

ABSENT = object()
"""What `value_at` gives where there is no such key: None is a value."""

_MILLISECONDS = 1e11
"""A Unix time beyond this counts milliseconds: in seconds it would be the year 5138."""


class BadRecord(ValueError):
    """A record of the log is no interaction; the message says why."""


def value_at(record: Mapping[str, Any], key: str) -> Any:
    """The value under a key, else under a path of keys with dots between them, else `ABSENT`."""
    if key in record:
        return record[key]
    value: Any = record
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            return ABSENT
        value = value[part]
    return value


def asked(messages: Any) -> Any:
    """The content of the last message of the user."""
    if not isinstance(messages, list):
        return None
    spoken = (inner_message(each) for each in messages if isinstance(each, dict))
    said = [
        each for each in spoken if role_in(each) == "user" and (text_in(each) or not any(True for _ in results_of(each, "user")))
    ]
    return text_in(said[-1]) if said else None


def error_text(value: Any) -> str | None:
    """Why nothing was answered, as text; None where the log has nothing, or something empty, to say."""
    if value in (None, False, "", [], {}):
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return str(plain(text))


def parsed(value: Any) -> Any:
    """Lists that a table holds as JSON text, as lists."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def known(value: Any) -> Any:
    """A number as JSON has it: the decimals of a table are floats."""
    return plain(float(value) if isinstance(value, Decimal) else value)


def moment_of(value: Any) -> datetime | None:
    """A moment in UTC; None where the log's is unreadable. One without a time zone is taken as UTC."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            value = datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
        if not isinstance(value, datetime):
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def plain(value: Any) -> Any:
    """JSON data that can be written down: a lone surrogate becomes U+FFFD, NaN null, what JSON does not know its text."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {plain(str(key)): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int) else plain(str(value))


def digest(text: str) -> str:
    """32 hex digits that stand for a text."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def kind_of(value: Any) -> str:
    """What a value is, for a message: short, whatever it is."""
    if value is None:
        return "null"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:60]}…"
