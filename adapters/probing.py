"""What is found out about a skill without asking it anything that matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_EMPTY: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {}, "null": None}
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a probe saw; `warnings` are things that may be right and are probably not meant."""

    seen: str
    warnings: tuple[str, ...] = ()


def empty_input(schema: dict[str, Any]) -> Any:
    """The least that a schema asks for: its required properties with their default, first choice or an empty value."""
    if "const" in schema:
        return schema["const"]
    if "default" in schema:
        return schema["default"]
    if choices := next((schema[key] for key in ("enum", "examples") if isinstance(schema.get(key), list) and schema[key]), None):
        return choices[0]
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind != "object":
        return _EMPTY.get(kind) if isinstance(kind, str) else None
    known = schema.get("properties")
    properties: dict[str, Any] = known if isinstance(known, dict) else {}
    required = schema.get("required")
    wanted = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return {name: empty_input(part if isinstance(part := properties.get(name), dict) else {"type": "string"}) for name in wanted}


def schema_differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Where a skill's input schema says something else than its tool's, the first few; an empty one says nothing."""
    if not ours or not theirs:
        return []
    mine, tools = _properties(ours), _properties(theirs)
    needed = _names(theirs.get("required")) - mine.keys()
    unknown = mine.keys() - tools.keys() if tools else set()
    other = [name for name in sorted(mine.keys() & tools.keys()) if _type(mine[name]) != _type(tools[name])]
    return [
        *(f"the tool requires {name!r}, and inputSchema has no such property" for name in sorted(needed)),
        *(f"inputSchema has {name!r}, and the tool has no such property" for name in sorted(unknown)),
        *(f"{name!r} is {_type(mine[name])} in inputSchema and {_type(tools[name])} in the tool" for name in other),
    ][:_SHOWN]


def _properties(schema: dict[str, Any]) -> dict[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _names(value: Any) -> set[str]:
    return {name for name in value if isinstance(name, str)} if isinstance(value, list) else set()


def _type(schema: Any) -> str:
    kind = schema.get("type", "anything") if isinstance(schema, dict) else "anything"
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
