"""``{{input.key}}`` inside a template: which part of the input, or of the conversation that it belongs to, stands there."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

_KEY = r"""\.[A-Za-z0-9_-]+|\["(?:[^"\\]|\\.)*"\]"""
_PLACEHOLDER = re.compile(
    rf"""\{{\{{\s*(?P<root>input|conversation)(?P<path>(?:{_KEY})*)\s*(?:\|\s*join\((?P<glue>"(?:[^"\\]|\\.)*")\)\s*)?\}}\}}""",
    re.ASCII,
)
_STEP = re.compile(_KEY, re.ASCII)
_PLAIN = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


_BEGINS = re.compile(r"\{\{\s*(?:input|conversation)\b")


def has_placeholder(text: str) -> bool:
    """Whether `text` asks for a part of the input or of the conversation, be it in a way that cannot be read."""
    return _BEGINS.search(text) is not None


class Missing:
    """The type of `MISSING`."""

    __slots__ = ()


MISSING: Final = Missing()
"""What stands where the input has no such key; never a JSON value."""


INPUT = "input"


@dataclass(frozen=True)
class InConversation:
    """The input of one turn, and what the skill is told of the conversation; `data` is that of `Conversation`.

    Outside of conversations (`data` is None) an input is the only turn of one.
    """

    input_data: Any
    data: dict[str, Any] | None

    @cached_property
    def conversation(self) -> dict[str, Any]:
        """The data, and as ``messages`` all that was said, with the input as the user's last one."""
        data = self.data or {"id": uuid.uuid4().hex, "turn": 1, "history": []}
        return data | {"messages": as_messages(data["history"], self.input_data)}


def as_messages(history: Sequence[Mapping[str, Any]], input_data: Any) -> list[dict[str, Any]]:
    """Earlier turns as messages of the user and the assistant, then `input_data`. What is not text is written as JSON, but for
    the only value of an object that is text."""
    said = [pair for turn in history for pair in (("user", turn["input"]), ("assistant", turn["output"]))]
    return [{"role": role, "content": _said(value)} for role, value in [*said, ("user", input_data)]]


def _said(value: Any) -> str:
    only = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value
    return only if isinstance(only, str) else text_of(value)


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The keys that lead from the input (or, by its `root`, from the conversation) to a value; with `glue`, the items of a list
    as one text with that between them."""

    keys: tuple[str, ...]
    glue: str | None = None
    root: str = INPUT

    def value(self, input_data: Any) -> Any:
        """The value in `input_data`, or `MISSING`. A key of digits is an index where it meets a list.

        Where the input is a turn (`InConversation`) the conversation has the keys ``id``, ``turn``, ``history`` and ``messages``.
        """
        turn = input_data if isinstance(input_data, InConversation) else InConversation(input_data, None)
        value = turn.input_data if self.root == INPUT else turn.conversation
        for key in self.keys:
            value = _step(value, key)
        if self.glue is not None and isinstance(value, list):
            return self.glue.join(text_of(item) for item in value)
        return value

    def __str__(self) -> str:
        path = "".join(f".{key}" if _PLAIN.fullmatch(key) else f"[{json.dumps(key)}]" for key in self.keys)
        return f"{{{{{self.root}{path}{'' if self.glue is None else f' | join({json.dumps(self.glue)})'}}}}}"


def filled(template: Any, input_data: Any) -> Any:
    """`template` with every placeholder replaced by its part of the input.

    A text that is one placeholder becomes the value itself, with its JSON type; inside a longer text a value becomes text.
    Where the input has no such key, the text that asks for it is left out: from its object, its list, or as a whole, which is
    `MISSING`. What was put in is not searched for placeholders again.
    """
    if isinstance(template, str):
        return _filled_text(template, input_data)
    if isinstance(template, dict):
        parts = {key: filled(part, input_data) for key, part in template.items()}
        return {key: part for key, part in parts.items() if part is not MISSING}
    if isinstance(template, list):
        return [part for part in (filled(part, input_data) for part in template) if part is not MISSING]
    return template


def text_of(value: Any) -> str:
    """A value as text: text as it is, anything else as JSON (``true``, ``5``, ``[1,2]``).

    Raises:
        ValueError: it holds something that is not JSON.
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def refuse_malformed(template: Any) -> None:
    """Raise a ValueError when a text in `template` holds ``{{…}}`` that is not a placeholder."""
    if isinstance(template, str):
        if "{{" in (rest := _PLACEHOLDER.sub("", template)):
            seen = rest[rest.index("{{") :][:60]
            ours = '{{input}}, {{input.key}}, {{input["any key"]}} or {{conversation.id}}'
            raise ValueError(f"{seen!r} is not a placeholder; write {ours}")
        _parts(template)
    elif isinstance(template, dict | list):
        for part in template.values() if isinstance(template, dict) else template:
            refuse_malformed(part)


def first_keys(template: Any) -> set[str]:
    """The keys of the input that `template` asks for."""
    if isinstance(template, str):
        named = (part for part in _parts(template) if isinstance(part, Placeholder) and part.root == INPUT)
        return {part.keys[0] for part in named if part.keys}
    parts = template.values() if isinstance(template, dict) else template if isinstance(template, list) else ()
    return {key for part in parts for key in first_keys(part)}


def _filled_text(text: str, input_data: Any) -> Any:
    parts = _parts(text)
    if len(parts) == 1 and isinstance(parts[0], Placeholder):
        return parts[0].value(input_data)
    values = [part.value(input_data) if isinstance(part, Placeholder) else part for part in parts]
    return MISSING if any(value is MISSING for value in values) else "".join(map(text_of, values))


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[str | Placeholder, ...]:
    parts: list[str | Placeholder] = []
    end = 0
    for hit in _PLACEHOLDER.finditer(text):
        parts += [text[end : hit.start()]] if hit.start() > end else []
        glue = json.loads(hit["glue"]) if hit["glue"] is not None else None
        parts.append(Placeholder(tuple(map(_named, _STEP.findall(hit["path"]))), glue, hit["root"]))
        end = hit.end()
    return (*parts, text[end:]) if end < len(text) or not parts else tuple(parts)


def _named(step: str) -> str:
    key: str = json.loads(step[1:-1]) if step.startswith("[") else step[1:]
    return key


def _step(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return value.get(key, MISSING)
    if isinstance(value, list) and key.isascii() and key.isdigit() and len(key) < 10 and int(key) < len(value):
        return value[int(key)]
    return MISSING
