"""The parameters of an operation: their names in the skill's input, and where they go in the request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from eval_skills.adapters.headers import FRAMING
from eval_skills.adapters.template.placeholder import Placeholder
from eval_skills.scaffolding.openapi.document import Document, mapping, sequence
from eval_skills.scaffolding.openapi.operation import Operation

BODY_KEY = "body"
"""The input's key of the request body."""

_IGNORED = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that OpenAPI itself says to ignore."""

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_MARK = re.compile(r"\{([^{}/]+)\}")
_GLUE = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that can be sent. `key` is its name in the input, unique within the operation."""

    name: str
    place: str
    key: str
    required: bool
    node: dict[str, Any]

    @property
    def schema(self) -> Any:
        """Its schema as the document has it."""
        return self.node.get("schema", {})

    def entries(self, document: Document, where: str) -> dict[str, str]:
        """What its part of the request template holds: for a query one entry or, for an object, one for each property."""
        schema = document.object_at(self.schema, where) if isinstance(self.schema, dict) else {}
        style, explode = self.node.get("style", "form"), self.node.get("explode", self.node.get("style", "form") == "form")
        if self.place == "query" and (names := mapping(schema.get("properties"))):
            form = "{0}[{1}]" if style == "deepObject" else "{1}"
            return {form.format(self.name, name): str(Placeholder((self.key, name))) for name in names}
        is_list = schema.get("type") == "array" or "items" in schema
        glue = _GLUE.get(str(style)) if self.place == "query" and is_list and not explode else None
        return {self.name: str(Placeholder((self.key,), glue))}


def parameters_of(document: Document, operation: Operation, *, has_body: bool) -> tuple[list[Parameter], list[str]]:
    """The parameters of the operation and of its path, and remarks about optional ones that cannot be sent.

    A name that the path has and nothing describes becomes a required text.

    Raises:
        InputError: a parameter is malformed, or a required one cannot be sent.
    """
    found: list[Parameter] = []
    remarks: list[str] = []
    taken = {BODY_KEY} if has_body else set()
    for (name, place), node in _nodes(document, operation).items():
        if place == "header" and name.lower() in _IGNORED:
            continue
        required = place == "path" or node.get("required") is True
        if (problem := _problem(name, place, node, operation)) is None:
            found.append(Parameter(name, place, _key(name, place, taken), required, node))
        elif required:
            raise document.error(f"the required {place} parameter {name!r} {problem}", operation.where)
        else:
            remarks.append(f"left out the {place} parameter {name!r}: it {problem}")
    return found, remarks


def mark_of(name: str) -> str:
    """How the entrypoint marks the path parameter `name`; ``{port}`` is taken, by the free port of a service."""
    return "port_" if name == "port" else name


def _nodes(document: Document, operation: Operation) -> dict[tuple[str, str], dict[str, Any]]:
    nodes: dict[tuple[str, str], dict[str, Any]] = {}
    for part in [*sequence(operation.shared.get("parameters")), *sequence(operation.node.get("parameters"))]:
        node = document.object_at(part, f"{operation.where}.parameters")
        name, place = node.get("name"), node.get("in")
        if not isinstance(name, str) or not name or not isinstance(place, str):
            raise document.error("a parameter needs a name and a place ('in')", f"{operation.where}.parameters")
        nodes[name, place] = _described(node)
    for name in _MARK.findall(operation.path):
        nodes.setdefault((name, "path"), {"schema": {"type": "string"}})
    return nodes


def _described(node: dict[str, Any]) -> dict[str, Any]:
    """The parameter with the schema and examples of its content, if it has them there."""
    content = mapping(node.get("content"))
    return {**node, **mapping(next(iter(content.values()), None)), "in_content": bool(content)}


def _problem(name: str, place: str, node: dict[str, Any], operation: Operation) -> str | None:
    if place not in {"path", "query", "header"}:
        return f"is sent in {place!r}, which is not supported"
    if place == "header" and (not _HEADER.fullmatch(name) or name.lower() in FRAMING):
        return "is not a header that a skill may set"
    if place == "path" and f"{{{name}}}" not in operation.path:
        return "is not in the path"
    if place == "path" and node.get("style", "simple") != "simple":
        return f"has the style {node['style']!r}, which is not supported"
    if node.get("in_content"):
        return "is sent as a whole document, which is not supported"
    schema = mapping(node.get("schema"))
    is_object = schema.get("type") == "object" or "properties" in schema
    if place == "query" and is_object and (node.get("explode") is False or not mapping(schema.get("properties"))):
        return "is an object whose properties cannot be sent one by one"
    return None


def _key(name: str, place: str, taken: set[str]) -> str:
    names = (name, f"{name}_{place}", *(f"{name}_{place}_{number}" for number in range(2, len(taken) + 3)))
    key = next(each for each in names if each not in taken)
    taken.add(key)
    return key
