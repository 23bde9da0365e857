"""The accepted shapes of messages: mappings, objects, serialised LangChain messages, and lists of them, also wrapped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.messages.responses_items import item_role
from eval_skills.core.messages.roles import inner_message, is_wrapped, role_in, unknown_role
from eval_skills.core.text import excerpt

_ATTRIBUTES = (
    "role", "type", "content", "refusal", "tool_calls", "invalid_tool_calls", "additional_kwargs", "function_call", "parts",
)  # fmt: skip
_ACCEPTED = "a list of messages, {'messages': [...]}, one message with a role, or None"


class UnreadableTrajectory(InputError):
    """What was given is not a trajectory, or a message has an unknown role."""


def messages_in(given: Any, side: str) -> list[Any]:
    """The messages in `given`: a list, a mapping that holds one as `messages` (or as its only key `output`), one message, None.

    Raises:
        UnreadableTrajectory: it is none of these; `side` names it.
    """
    if given.__class__ is list:
        messages: list[Any] = given
        return messages
    if given is None:
        return []
    if isinstance(given, list | tuple):
        return list(given)
    if isinstance(given, Mapping) and not _is_message(given):
        return messages_in(_wrapped(given, side), side)
    if isinstance(given, Mapping) or _role_of_object(given) is not None:
        return [given]
    raise UnreadableTrajectory(f"expected {_ACCEPTED}, got {excerpt(given)}", source=side)


def message_of(raw: Any, where: str) -> dict[str, Any]:
    """One message as a mapping: itself, the inner one of a serialised LangChain message, or the attributes of an object.

    Raises:
        UnreadableTrajectory: it is not a message.
    """
    if isinstance(raw, Mapping):
        return dict(inner_message(raw))
    if _role_of_object(raw) is None:
        raise UnreadableTrajectory(f"expected a message with a role, got {excerpt(raw)}", source=where)
    return {name: getattr(raw, name) for name in _ATTRIBUTES if hasattr(raw, name)}


def role_of(message: Mapping[str, Any], where: str) -> str:
    """The role of a message by its own name, from `role` or from LangChain's `type`.

    Raises:
        UnreadableTrajectory: there is none, or it is unknown.
    """
    known = role_in(message)
    if known is None:
        raise UnreadableTrajectory(unknown_role(message), source=where)
    return known


def _is_message(given: Mapping[Any, Any]) -> bool:
    return "role" in given or "lc" in given or is_wrapped(given) or item_role(given) is not None


def _wrapped(given: Mapping[Any, Any], side: str) -> Any:
    if "messages" in given:
        return given["messages"]
    # LangSmith's wrapping of what an agent returns, and OpenAI's response
    if "output" in given and (len(given) == 1 or given.get("object") == "response"):
        return given["output"]
    raise UnreadableTrajectory(f"expected {_ACCEPTED}, got an object with the keys {excerpt(list(given))}", source=side)


def _role_of_object(given: Any) -> Any:
    return getattr(given, "role", getattr(given, "type", None))
