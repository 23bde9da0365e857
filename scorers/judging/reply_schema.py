"""The JSON schema of a reply, in the subset that providers enforce."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_skills.scorers.judging.reply import Reply

_ENFORCED = frozenset({"type", "properties", "items", "enum", "const", "anyOf", "$ref", "$defs", "description"})
"""What strict modes know. Bounds of numbers are checked by us when the reply has come; their description tells the model."""


@cache
def reply_schema(reply: type[Reply]) -> dict[str, Any]:
    """The schema: every key required, no other allowed, in the order of the class. It is shared: do not change it."""
    schema: dict[str, Any] = _strict(reply.model_json_schema())
    return schema


def _strict(part: Any, *, names: bool = False) -> Any:
    """`names`: the keys of `part` are names of the reply's own, not words of JSON Schema."""
    if isinstance(part, list):
        return [_strict(each) for each in part]
    if not isinstance(part, dict):
        return part
    kept = {key: _strict(value, names=key in ("properties", "$defs")) for key, value in part.items() if names or key in _ENFORCED}
    if not names and "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept
