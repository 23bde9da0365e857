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
    """The blocks of a message's content, or of `parts`, as Gemini, Vercel and OpenTelemetry have them, also within the content;
    one that stands alone is one, and text has none."""
    return [*_blocks(message.get("content")), *_blocks(message.get("parts"))]


def is_text(block: Any) -> bool:
    """Whether a block is text: OpenAI's, Anthropic's and LangChain's say so, Gemini's and Bedrock's have a `text` and no type.

    OpenTelemetry's and those of Pydantic AI, which say so too, have their `content`. What Gemini marks as a thought is not.
    """
    return _words(block) is not None


def _words(block: Any) -> str | None:
    """The text of a block that is text, else None."""
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return None
    kind, text = block.get("type", block.get("part_kind")), block.get("text")
    if not isinstance(text, str) and kind == "text":
        text = block.get("content")
    is_said = kind in _TEXTS if isinstance(kind, str) else "type" not in block and not block.get("thought")
    return text if is_said and isinstance(text, str) else None


def text_of(content: Any) -> str:
    """The texts of a message's content, one after the other; blocks that are not text are left out."""
    if isinstance(content, str):
        return content
    return "".join(words for block in _blocks(content) if (words := _words(block)) is not None)


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
    if isinstance(content, Mapping) and isinstance(parts := content.get("parts"), list):
        return list(parts)
    return [content] if isinstance(content, Mapping) else []
