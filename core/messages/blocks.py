"""The blocks of which a message's content is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TEXTS = frozenset({"text", "output_text", "input_text"})


def as_dict(given: Any) -> dict[str, Any]:
    """A mapping, or an object with ``model_dump`` as the clients of models make them, as a dict; empty for anything else."""
    if isinstance(given, dict | Mapping):
        return dict(given)
    dump = getattr(given, "model_dump", None)
    dumped = dump() if callable(dump) else None
    return dumped if isinstance(dumped, dict) else {}


def first_under(block: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """What stands under the first of these keys that has anything but null; None where none of them has."""
    return next((held for key in keys if (held := block.get(key)) is not None), None)


def blocks_of(message: Mapping[str, Any]) -> list[Any]:
    """The blocks of a message's content, or of Gemini's `parts`; one that stands alone is one, and text has none."""
    return [*_blocks(message.get("content")), *_blocks(message.get("parts"))]


def is_text(block: Any) -> bool:
    """Whether a block is text: OpenAI's, Anthropic's and LangChain's say so, Gemini's and Bedrock's have a `text` and no type.

    What Gemini marks as a thought is not.
    """
    if isinstance(block, str):
        return True
    if not isinstance(block, Mapping) or not isinstance(block.get("text"), str):
        return False
    return block.get("type") in _TEXTS or ("type" not in block and not block.get("thought"))


def text_of(content: Any) -> str:
    """The texts of a message's content, one after the other; blocks that are not text are left out."""
    if isinstance(content, str):
        return content
    return "".join(block if isinstance(block, str) else block["text"] for block in _blocks(content) if is_text(block))


def text_in(message: Mapping[str, Any]) -> str:
    """The text of a message, from its content or from Gemini's `parts`."""
    return text_of(message.get("content")) or text_of(message.get("parts"))


def refusal_in(message: Mapping[str, Any]) -> str:
    """The words with which a model of OpenAI's refuses, which stand beside the content or in blocks of their own."""
    for holder in (message, message.get("additional_kwargs")):  # the latter is LangChain's, which may repeat blocks there
        if isinstance(holder, Mapping) and isinstance(said := holder.get("refusal"), str) and said:
            return said
    said_in = (block.get("refusal") for block in blocks_of(message) if isinstance(block, Mapping))
    return "".join(text for text in said_in if isinstance(text, str))


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, list | tuple):
        return list(content)
    return [content] if isinstance(content, Mapping) else []
