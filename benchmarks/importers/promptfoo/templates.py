"""Texts of promptfoo with ``{{variables}}`` in them, and how JavaScript spells the values that they stand for.

Only plain variables and paths into them are rendered: filters, conditions and names that nothing is known of are not guessed at.

Source: promptfoo's ``renderPrompt`` and ``resolveVariables`` in ``src/evaluatorHelpers.ts``; nunjucks writes null as no text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from eval_skills.benchmarks.importers.rows import Skip
from eval_skills.core.documents.loading import refuse_constant

_PLACE = re.compile(r"\{\{-?\s*([A-Za-z_]\w*(?:\.\w+)*)\s*-?\}\}", re.ASCII)
_MORE = re.compile(r"\{\{|\{%|\{#")
_ROUNDS = 5
"""How often variables in variables are looked up there."""

_LARGEST_PLAIN = 1e21
"""The first number that JavaScript spells with an exponent."""


class MoreThanVariables(Exception):
    """A template holds more than plain variables, or one that is not given."""


def resolved(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables with the variables in their texts rendered, and without the line feed that ends one.

    Raises:
        Skip: one holds a template that is more than plain variables, an object, or itself.
    """
    found = {name: value.removesuffix("\n") if isinstance(value, str) else value for name, value in variables.items()}
    for _ in range(_ROUNDS):
        held = [name for name, value in found.items() if isinstance(value, str) and _MORE.search(value)]
        if not held:
            return found
        for name in held:
            try:
                found[name] = rendered(found[name], found, objects=False)
            except MoreThanVariables:
                raise Skip("one of its variables holds a template that is more than plain variables") from None
    raise Skip("one of its variables holds itself, or variables in variables too deeply")


def rendered(text: str, variables: Mapping[str, Any], *, objects: bool) -> str:
    """The text with the variables in it; `objects`: an object or a list may be among them, and is written as JSON.

    Raises:
        MoreThanVariables: it holds anything else.
    """
    if _MORE.search(_PLACE.sub("", text)):
        raise MoreThanVariables(text)
    return _PLACE.sub(lambda place: _value(place[1], variables, objects=objects), text)


def rendered_prompt(prompt: str, variables: Mapping[str, Any]) -> str:
    """The prompt with the variables in it; in a prompt that is JSON, in each of its texts, so that it stays JSON.

    Raises:
        MoreThanVariables: as `rendered`.
    """
    try:
        document = json.loads(prompt, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return rendered(prompt, variables, objects=True)
    return json.dumps(_inside(document, variables), indent=2, ensure_ascii=False)


def spelled(value: Any) -> str:
    """The text that JavaScript makes of a value: ``true``, ``1`` for 1.0, nothing for null; JSON for objects and lists."""
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, bool):
        return str(value).lower()
    return _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    if value.is_integer() and abs(value) < _LARGEST_PLAIN:
        return str(int(value))
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    power = int(exponent)
    return f"{Decimal(repr(value)):f}" if -7 < power < 0 else f"{digits}e{power:+d}"


def _value(path: str, variables: Mapping[str, Any], *, objects: bool) -> str:
    found: Any = variables
    for part in path.split("."):
        if not isinstance(found, Mapping) or part not in found:
            raise MoreThanVariables(path)
        found = found[part]
    if isinstance(found, dict | list) and not objects:
        raise MoreThanVariables(path)
    return spelled(found)


def _inside(part: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(part, dict):
        return {key: _inside(each, variables) for key, each in part.items()}
    if isinstance(part, list):
        return [_inside(each, variables) for each in part]
    return rendered(part, variables, objects=True) if isinstance(part, str) else part
