"""Values that a document gives as examples, or that its schemas allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eval_skills.scaffolding.openapi.document import Document, mapping, sequence

_MAX_DEPTH = 12
_MOST_ADDED = 10
_MAX_LENGTH = 1_000

_TEXTS = {
    "date": "2024-01-31",
    "date-time": "2024-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "someone@example.com",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "byte": "dGV4dA==",
}


@dataclass(frozen=True, slots=True)
class Example:
    """A value; `made_up` when the document gives none, so that a service may not know it."""

    value: Any
    made_up: bool = False


def examples_of(document: Document, node: dict[str, Any], where: str) -> dict[str, Any]:
    """The examples of a parameter, a body or a response by their names; one without a name is ``""``.

    They come from `example`, else `examples`, else the same of its schema; empty when there is none.
    """
    if "example" in node:
        return {"": node["example"]}
    named = {
        name: entry["value"]
        for name, part in mapping(node.get("examples")).items()
        if "value" in (entry := document.object_at(part, f"{where}.examples.{name}"))
    }
    if named or "schema" not in node:
        return named
    given = _given(document, node["schema"], where, defaults=False)
    return {} if given is None else {"": given.value}


def sample(document: Document, schema: Any, where: str, depth: int = 0) -> Example:
    """A value for `schema`: its example, default, const or first enum; else one put together from those of its parts."""
    if (given := _given(document, schema, where)) is not None:
        return given
    if depth > _MAX_DEPTH or not isinstance(schema, dict):
        return Example(None if depth > _MAX_DEPTH else {}, made_up=True)
    node = document.object_at(schema, where)
    for key in ("allOf", "oneOf", "anyOf"):
        if parts := sequence(node.get(key)):
            return _combined(document, node, parts if key == "allOf" else parts[:1], where, depth)
    kind = _type(node)
    if kind == "object":
        return _object(document, node, where, depth)
    if kind == "array":
        return _array(document, node, where, depth)
    return Example(_scalar(kind, node), made_up=True)


def _given(document: Document, schema: Any, where: str, *, defaults: bool = True) -> Example | None:
    """What the schema itself, or what it refers to, gives as a whole value."""
    if not isinstance(schema, dict):
        return None
    for node in (schema, document.object_at(schema, where)):
        if "example" in node:
            return Example(node["example"])
        if listed := sequence(node.get("examples")):
            return Example(listed[0])
        if "const" in node:
            return Example(node["const"])
        if defaults and "default" in node:
            return Example(node["default"])
        if defaults and (values := sequence(node.get("enum"))):
            return Example(values[0])
    return None


def _combined(document: Document, node: dict[str, Any], parts: list[Any], where: str, depth: int) -> Example:
    own = {key: part for key, part in node.items() if key in {"properties", "required"}}
    samples = [sample(document, part, where, depth + 1) for part in [*parts, *([{**own, "type": "object"}] if own else [])]]
    made_up = any(each.made_up for each in samples)
    if len(samples) > 1 and all(isinstance(each.value, dict) for each in samples):
        return Example({key: value for each in samples for key, value in each.value.items()}, made_up)
    return Example(samples[0].value, made_up)


def _object(document: Document, node: dict[str, Any], where: str, depth: int) -> Example:
    """The required properties, and the others where the document gives a value for them; as many more of any name as
    `minProperties` asks for."""
    required, value, made_up = sequence(node.get("required")), {}, False
    known, any_other = mapping(node.get("properties")), node.get("additionalProperties", True)
    others = [name for name in required if name not in known and isinstance(name, str)]
    for name, part in [*known.items(), *((name, any_other) for name in others if any_other is not False)]:
        if isinstance(part, dict) and document.object_at(part, where).get("readOnly") is True:
            continue
        if name in required:
            found = sample(document, part, where, depth + 1) if part is not True else Example("text", made_up=True)
            value[name], made_up = found.value, made_up or found.made_up
        elif (given := _given(document, part, where, defaults=False)) is not None:
            value[name] = given.value
    least = node.get("minProperties")
    for number in range(1, (min(least, _MOST_ADDED) if isinstance(least, int) and any_other is not False else 0) + 1):
        if len(value) < (least or 0):
            value[f"key{number}"], made_up = _of_any_name(document, any_other, where, depth), True
    return Example(value, made_up)


def _of_any_name(document: Document, schema: Any, where: str, depth: int) -> Any:
    return sample(document, schema, where, depth + 1).value if isinstance(schema, dict) else "text"


def _array(document: Document, node: dict[str, Any], where: str, depth: int) -> Example:
    items = node.get("items", {})
    item = sample(document, items, where, depth + 1)
    least = node.get("minItems")
    count = min(least, _MOST_ADDED) if isinstance(least, int) and least > 1 else 1
    if node.get("uniqueItems") is True and isinstance(items, dict):
        each = document.object_at(items, where)
        return Example([another(each, item.value, number) for number in range(count)], item.made_up or count > 1)
    return Example([item.value] * count, item.made_up)


def another(node: dict[str, Any], value: Any, number: int) -> Any:
    """The `number`-th value of a list whose items differ, where `value` is the first (of number 0).

    The next choice, number or text, or an object with another one of those; the same value again where there is none.
    """
    choices = sequence(node.get("enum"))
    if value in choices:
        return choices[(choices.index(value) + number) % len(choices)]
    if isinstance(value, bool):
        return value is (number % 2 == 0)
    if isinstance(value, int | float):
        return value + number * (node.get("multipleOf") or 1)
    if isinstance(value, str) and number:
        most = node.get("maxLength")
        return f"{value[: most - len(str(number))] if isinstance(most, int) else value}{number}"
    if isinstance(value, dict) and number:
        parts = mapping(node.get("properties"))
        for name, inner in value.items():
            if (other := another(mapping(parts.get(name)), inner, number)) != inner:
                return {**value, name: other}
    return value


def _type(node: dict[str, Any]) -> str:
    kinds = [kind for kind in (node["type"] if isinstance(node.get("type"), list) else [node.get("type")]) if kind != "null"]
    if kinds and isinstance(kinds[0], str):
        return kinds[0]
    return "object" if "properties" in node else "array" if "items" in node else "string"


def _scalar(kind: str, node: dict[str, Any]) -> Any:
    if kind == "boolean":
        return True
    if kind in {"integer", "number"}:
        return _number(node)
    text = _TEXTS.get(str(node.get("format")), "text")
    least, most = node.get("minLength"), node.get("maxLength")
    text = text.ljust(min(least, _MAX_LENGTH), "x") if isinstance(least, int) else text
    return text[:most] if isinstance(most, int) and most >= 0 else text


def _number(node: dict[str, Any]) -> Any:
    least, most = node.get("minimum"), node.get("maximum")
    if isinstance(least, int | float) and not isinstance(least, bool):
        return least + 1 if node.get("exclusiveMinimum") is True else least
    above = node.get("exclusiveMinimum")
    if isinstance(above, int | float) and not isinstance(above, bool):
        return above + 1
    return most if isinstance(most, int | float) and most < 1 else 1
