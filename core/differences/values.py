"""Two JSON values compared place by place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from eval_skills.core.differences.words import Words, matched_runs, word_difference
from eval_skills.core.documents.json_equality import json_key, same_scalar
from eval_skills.core.text import excerpt

ChangeKind = Literal["value", "type", "missing", "extra"]

MAX_CHANGES = 50
"""Further differences are counted."""

MAX_VALUES = 100_000
"""After so many pairs of values nothing more is compared."""

VALUE_CHARS = 200
"""How much of a value a change shows."""

_MAX_ALIGNED = 2_000
_PLAIN_NAME = re.compile(r"[\w$-]{1,60}")
_NAME_CHARS = 60
_PATH_CHARS = 200
_KINDS: dict[type, str] = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "text",
    dict: "object",
    list: "list",
    tuple: "list",
}
_Pair: TypeAlias = tuple[str, str, Any, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One place where the values differ.

    `path` is the place in the expected value, as ``rows[1].b``, for `extra` that in the answer, and empty for the whole. Of the
    path of a very deep place it is the end.
    `answer_path` is where that stands in the answer, where that is another place. `expected` and `got` are JSON on one line,
    cut after `VALUE_CHARS`; None on the side that has nothing there. `words` compares two longer texts.
    """

    path: str
    kind: ChangeKind
    expected: str | None = None
    got: str | None = None
    types: tuple[str, str] | None = None
    words: Words | None = None
    answer_path: str | None = None

    @property
    def text(self) -> str:
        """In one line: ``rows[1].b: 3.6 ≠ 3.5``, what is expected first."""
        place = self.path or "the whole"
        if self.answer_path is not None:
            place = f"{place} (in the answer {self.answer_path})"
        if self.kind in ("missing", "extra"):
            return f"{place}: {self.kind}, {self.expected if self.got is None else self.got}"
        if self.types is not None:
            return f"{place}: {self.types[0]} {self.expected} ≠ {self.types[1]} {self.got}"
        return f"{place}: {self.expected} ≠ {self.got}"


@dataclass(frozen=True, slots=True)
class Changes:
    """The first `MAX_CHANGES` differences in the order of the expected value, and how many `more` there are.

    `is_complete` is false where the values are so large that the rest was not compared.
    """

    changes: tuple[Change, ...]
    more: int = 0
    is_complete: bool = True


def json_changes(expected: Any, got: Any) -> Changes:
    """Where two JSON values differ, by the equality of `json_equal`.

    Lists of one length are compared place by place; of others it is found out first which entries are the same, so that one that
    is missing is one difference. Values may be nested more deeply than Python recurses.
    """
    found: list[Change] = []
    more = seen = 0
    waiting: list[_Pair | Change] = [("", "", expected, got)]
    while waiting:
        each = waiting.pop()
        seen += 1
        if seen > MAX_VALUES:
            return Changes(tuple(found), more, is_complete=False)
        if isinstance(each, Change):
            change: Change | None = each
        else:
            path, answer_path, one, other = _short(each[0]), _short(each[1]), each[2], each[3]
            inner = _inner(path, answer_path, one, other)
            if inner is not None:
                waiting.extend(reversed(inner))
                continue
            change = None if _is_same(one, other) else _change(path, answer_path, one, other)
        if change is not None:
            more += len(found) >= MAX_CHANGES
            found = found if len(found) >= MAX_CHANGES else [*found, change]
    return Changes(tuple(found), more)


def kind_of(value: Any) -> str:
    """``text``, ``number``, ``boolean``, ``object``, ``list`` or ``null``."""
    return _KINDS.get(type(value), "null" if value is None else type(value).__name__)


def _is_same(one: Any, other: Any) -> bool:
    return not isinstance(one, dict | list | tuple) and not isinstance(other, dict | list | tuple) and same_scalar(one, other)


def _inner(path: str, answer_path: str, one: Any, other: Any) -> list[_Pair | Change] | None:
    """What two objects or two lists hold, in pairs; None for anything else."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(_of_objects(path, answer_path, one, other))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) == len(other) or max(len(one), len(other)) > _MAX_ALIGNED:
            return list(_side_by_side(path, answer_path, one, other, 0, 0))
        return list(_aligned(path, answer_path, one, other))
    return None


def _of_objects(path: str, answer_path: str, one: dict[str, Any], other: dict[str, Any]) -> Iterator[_Pair | Change]:
    for name, value in one.items():
        if name in other:
            yield _under(path, name), _under(answer_path, name), value, other[name]
        else:
            yield Change(_under(path, name), "missing", expected=_shown(value))
    for name, value in other.items():
        if name not in one:
            yield Change(_under(answer_path, name), "extra", got=_shown(value))


def _aligned(path: str, answer_path: str, one: Any, other: Any) -> Iterator[_Pair | Change]:
    try:
        keys, other_keys = [json_key(each) for each in one], [json_key(each) for each in other]
    except (RecursionError, TypeError):
        yield from _side_by_side(path, answer_path, one, other, 0, 0)
        return
    for same, here, there in matched_runs(keys, other_keys):
        if not same:
            yield from _side_by_side(path, answer_path, one[here], other[there], here.start, there.start)


def _side_by_side(path: str, answer_path: str, one: Any, other: Any, start: int, other_start: int) -> Iterator[_Pair | Change]:
    for place, (value, other_value) in enumerate(zip(one, other, strict=False)):
        yield f"{path}[{start + place}]", f"{answer_path}[{other_start + place}]", value, other_value
    both = min(len(one), len(other))
    for place in range(both, len(one)):
        yield Change(f"{path}[{start + place}]", "missing", expected=_shown(one[place]))
    for place in range(both, len(other)):
        yield Change(f"{answer_path}[{other_start + place}]", "extra", got=_shown(other[place]))


def _change(path: str, answer_path: str, one: Any, other: Any) -> Change:
    kinds = (kind_of(one), kind_of(other))
    elsewhere = answer_path if answer_path != path else None
    if kinds[0] != kinds[1]:
        return Change(path, "type", _shown(one), _shown(other), types=kinds, answer_path=elsewhere)
    words = word_difference(one, other) if isinstance(one, str) and " " in one.strip() and " " in other.strip() else None
    return Change(path, "value", _shown(one), _shown(other), words=words, answer_path=elsewhere)


def _short(path: str) -> str:
    """The end of a path that is too long to read, and would take ever longer to write."""
    return path if len(path) <= _PATH_CHARS else f"…{path[-_PATH_CHARS:]}"


def _under(path: str, name: str) -> str:
    if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
        return f"{path}[{excerpt(name, _NAME_CHARS)}]"
    return f"{path}.{name}" if path else name


def _shown(value: Any) -> str:
    try:
        return excerpt(value, VALUE_CHARS)
    except (RecursionError, ValueError):
        return f"({kind_of(value)} that is nested too deeply to be shown)"


def spelled_json(text: str) -> dict[str, Any] | list[Any] | None:
    """The object or list that a text spells; None where it spells none."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None
