"""``{{input.key}}`` inside a template: which part of the input stands there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

_KEY = r"""\.[A-Za-z0-9_-]+|\["(?:[^"\\]|\\.)*"\]"""
_PLACEHOLDER = re.compile(
    rf"""\{{\{{\s*input(?P<path>(?:{_KEY})*)\s*(?:\|\s*join\((?P<glue>"(?:[^"\\]|\\.)*")\)\s*)?\}}\}}""", re.ASCII
)
_STEP = re.compile(_KEY, re.ASCII)
_PLAIN = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


class Missing:
    """The type of `MISSING`."""

    __slots__ = ()


MISSING: Final = Missing()
"""What stands where the input has no such key; never a JSON value."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The keys that lead from the input to a value; with `glue`, the items of a list as one text with that between them."""

    keys: tuple[str, ...]
    glue: str | None = None

    def value(self, input_data: Any) -> Any:
        """The value in `input_data`, or `MISSING`. A key of digits is an index where it meets a list."""
        value = input_data
        for key in self.keys:
            value = _step(value, key)
        if self.glue is not None and isinstance(value, list):
            return self.glue.join(text_of(item) for item in value)
        return value

    def __str__(self) -> str:
        path = "".join(f".{key}" if _PLAIN.fullmatch(key) else f"[{json.dumps(key)}]" for key in self.keys)
        return f"{{{{input{path}{'' if self.glue is None else f' | join({json.dumps(self.glue)})'}}}}}"


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
            raise ValueError(f'{seen!r} is not a placeholder; write {{{{input}}}}, {{{{input.key}}}} or {{{{input["any key"]}}}}')
        _parts(template)
    elif isinstance(template, dict | list):
        for part in template.values() if isinstance(template, dict) else template:
            refuse_malformed(part)


def first_keys(template: Any) -> set[str]:
    """The keys of the input that `template` asks for."""
    if isinstance(template, str):
        return {part.keys[0] for part in _parts(template) if isinstance(part, Placeholder) and part.keys}
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
        parts.append(Placeholder(tuple(map(_named, _STEP.findall(hit["path"]))), glue))
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
