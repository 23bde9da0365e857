"""What a skill's code answered, as JSON. Standard library only: models and messages are recognised by their attributes."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import json
import math
from typing import Any

from eval_skills.adapters.python.host.errors import NotJson, TooLong, a_type, described

MAX_BITS = 13_288
"""Numbers of 4,000 digits: Python writes and reads no more than a few digits beyond."""

ENVELOPE = {"output", "messages", "tool_calls", "usage", "cost_usd", "metadata"}
MESSAGE_PARTS = (
    "type", "content", "name", "role", "tool_calls", "invalid_tool_calls", "tool_call_id", "status", "usage_metadata",
)  # fmt: skip
MESSAGE_CHARS = 2000
MAX_LEVELS = 190
"""Nested deeper, what an exception reports would make its reply unreadable, and another error would be raised."""

_REPORTED = {"tool_calls": "toolCalls", "messages": "messages", "usage": "usage", "cost_usd": "costUsd"}


def is_message(value: Any) -> bool:
    """Whether `value` looks like one of LangChain's messages."""
    return not isinstance(value, type) and all(hasattr(value, part) for part in ("type", "content", "response_metadata"))


def error_data(error: BaseException, max_chars: int | None = None) -> dict[str, Any]:
    """What an exception reports of the run before it, as ``data`` of an error reply: its attributes `tool_calls`, `messages`,
    `usage` and `cost_usd`, as far as they are there and JSON, not too deep and together not above `max_chars` of it.
    """
    reported: dict[str, Any] = {}
    for name, key in _REPORTED.items():
        with contextlib.suppress(Exception):  # an attribute may be computed, by any code
            if (part := getattr(error, name, None)) is not None:
                written = plain(part, name)
                json.dumps(written, ensure_ascii=False).encode()  # halves of surrogate pairs cannot be passed on
                if _is_flat(written) and (max_chars is None or len(json.dumps({**reported, key: written})) <= max_chars):
                    reported[key] = written
    return {"data": reported} if reported else {}


def _is_flat(value: Any, levels: int = MAX_LEVELS) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_flat(each, levels - 1) for each in inner)


class Pieces:
    """What a generator gives, as a list. As JSON it has at most `max_bytes` (None: any number): a generator may never end."""

    def __init__(self, max_bytes: int | None) -> None:
        self.values: list[Any] = []
        self._left = max_bytes

    def add(self, piece: Any) -> None:
        """Append what it gave next.

        Raises:
            NotJson: JSON cannot say it.
            TooLong: it is too much with what was given before.
        """
        written = plain(piece, f"the answer[{len(self.values)}]")
        if self._left is not None:
            self._left -= len(json.dumps(written)) + len(", ")
            if self._left < 0:
                raise TooLong
        self.values.append(piece)


def plain(value: Any, where: str = "the answer") -> Any:
    """`value` as JSON knows it: models, dataclasses, enums and tuples are written out, everything else is refused.

    Raises:
        NotJson: with the place of what is not JSON.
    """
    try:
        return _plain(value, where)
    except RecursionError:
        raise NotJson(f"{where} contains itself, or is nested too deeply") from None


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, enum.Enum):
        return _plain(value.value, where)
    if isinstance(value, float) and not math.isfinite(value):
        raise NotJson(f"{where} is {value}, which is not a JSON value; return null or text")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise NotJson(f"{where} is a number of more than 4,000 digits; return it as text")
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, dict):
        return _object(value, where)
    if isinstance(value, (list, tuple)):
        return [_plain(part, f"{where}[{index}]") for index, part in enumerate(value)]
    if is_message(value):
        parts = ((name, getattr(value, name, None)) for name in MESSAGE_PARTS)
        return {name: _plain(part, f"{where}.{name}") for name, part in parts if part is not None}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name), f"{where}.{each.name}") for each in dataclasses.fields(value)}
    if callable(getattr(value, "model_dump", None)) and not isinstance(value, type):
        return _plain(_dumped(value, where), where)
    raise NotJson(f"{where} is {a_type(value)}, which cannot be written as JSON; {_remedy(value)}")


def _object(value: dict[Any, Any], where: str) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for key, part in value.items():
        if (name := _key(key, where)) in written:
            raise NotJson(f"{where} has two keys that are both written {name!r}; the keys of a JSON object are texts")
        written[name] = _plain(part, f"{where}.{name}")
    return written


def _key(key: Any, where: str) -> str:
    if isinstance(key, str) or (isinstance(key, int) and not isinstance(key, bool)):
        return str(key.value if isinstance(key, enum.Enum) else key)
    raise NotJson(f"{where} has the key {key!r}, which is {a_type(key)}; the keys of a JSON object are texts")


def _dumped(model: Any, where: str) -> Any:
    is_response = type(model).__name__ == "SkillResponse" and type(model).__module__.startswith("eval_skills.")
    options = {"by_alias": True, "include": ENVELOPE} if is_response else {}
    try:
        return model.model_dump(mode="json", **options)
    except Exception as error:  # noqa: BLE001 - the model's own serializers may raise anything
        raise NotJson(f"{where} is {a_type(model)} that cannot be written out: {described(error)}") from None


def _remedy(value: Any) -> str:
    if isinstance(value, (set, frozenset)):
        return "a set has no order: return a sorted list"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "decode it, or return base64 text"
    for method in ("tolist", "to_dict", "isoformat"):  # of NumPy and pandas, of tables, of dates
        if callable(getattr(type(value), method, None)):  # a mock has every attribute that it is asked for
            return f"return its {method}()"
    return "return text, numbers, lists, objects, a dataclass or a pydantic model"
