"""What a scorer is, in words: for the command line, and for the reference."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError

from eval_skills.scorers.options import EXPECTATIONS, FILLED_IN, Option
from eval_skills.scorers.registry import ScorerEntry


@dataclass(frozen=True, slots=True)
class OptionDescription:
    """An option as a benchmark writes it: its `type` in words; its `default` as text, empty where it has none.

    One that is `expected` may stand in ``expectedOutput`` as well.
    """

    name: str
    type: str
    required: bool
    default: str
    expected: bool


@dataclass(frozen=True, slots=True)
class ScorerDescription:
    """A scorer: what it says of an answer in a sentence or two, and whole; its options."""

    name: str
    aliases: tuple[str, ...]
    summary: str
    text: str
    options: list[OptionDescription]


def describe_scorer(entry: ScorerEntry) -> ScorerDescription:
    """A registered scorer, by its docstring and its parameters; the text is Markdown, with a backquote on each side of code."""
    text = (inspect.getdoc(entry.target) or "").replace("``", "`")
    parameters = inspect.signature(entry.target).parameters
    options = [
        _described(option, parameters[option.name].default) for option in entry.options.values() if option.name not in FILLED_IN
    ]
    return ScorerDescription(entry.name, entry.aliases, " ".join(text.partition("\n\n")[0].split()), text, options)


def _described(option: Option, default: Any) -> OptionDescription:
    shown = "" if option.required or default in (None, (), (None,)) else _default(default)
    return OptionDescription(option.written, _type(option.hint), option.required, shown, option.name in EXPECTATIONS)


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _type(hint: Any) -> str:
    if hint is Any:
        return "any JSON value"
    try:
        return type_words(TypeAdapter(hint).json_schema())
    except (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError):
        return f"`{inspect.formatannotation(hint)}`"


_TYPES = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "null": "null",
}


def type_words(schema: Mapping[str, Any]) -> str:
    """A JSON schema in words: ``integer, 1 to 1024``; ``list of text``; ``one of `a`, `b```."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(type_words(each) for each in schema["anyOf"] if each != {"type": "null"}))
    if "enum" in schema or "const" in schema:
        return "one of " + ", ".join(f"`{each}`" for each in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        places = schema.get("prefixItems")
        if places:
            return f"list of {len(places)}: {type_words(places[0])}"
        return f"list of {type_words(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {type_words(schema['additionalProperties'])}"
    return _TYPES.get(schema.get("type", ""), "any JSON value") + _range(schema)


def _range(schema: Mapping[str, Any]) -> str:
    low, high, above = (schema.get(bound) for bound in ("minimum", "maximum", "exclusiveMinimum"))
    low_words = f"above {above:,}" if above is not None else f"from {low:,}" if low is not None else ""
    if low is not None and high is not None:
        return f", {low:,} to {high:,}"
    high_words = f"at most {high:,}" if high is not None else ""
    return "".join(f", {each}" for each in (low_words, high_words) if each)
