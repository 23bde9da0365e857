"""OpenAI's Responses."""

from __future__ import annotations

from typing import Any

from eval_skills.adapters.answer.calls import tool_call_of, with_results
from eval_skills.adapters.http.shapes.shape import Shape, append, as_object, as_objects
from eval_skills.core.messages.blocks import text_of
from eval_skills.core.messages.responses_items import built_in_call, is_call
from eval_skills.core.models import ToolCall

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_NO_ANSWER = ("failed", "cancelled")
_ITEMS = frozenset({"response.output_item.added", "response.output_item.done"})
_TEXTS = {"response.output_text.delta": ("output_text", "text"), "response.refusal.delta": ("refusal", "refusal")}
_PARTS = {
    "response.function_call_arguments.delta": ("function_call", "arguments"),
    "response.mcp_call_arguments.delta": ("mcp_call", "arguments"),
    "response.custom_tool_call_input.delta": ("custom_tool_call", "input"),
    "response.code_interpreter_call_code.delta": ("code_interpreter_call", "code"),
}
"""By the events that bring pieces of an item: the item's type, and where in it they belong."""

_UNDER_WAY = frozenset({"queued", "in_progress"})


class OpenAiResponses(Shape):
    """The items of ``output``: messages, reasoning, and calls, also those of the tools that the API runs itself.

    In a stream every item counts from the event that adds it. The last event has them all once more; should it have none, those
    that came before stand.
    """

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[Any, dict[str, Any]] = {}
        self._output: list[dict[str, Any]] = []

    def whole(self, body: dict[str, Any]) -> None:
        if not isinstance(body.get("output"), list):
            raise ValueError("it has no list `output`, which responseShape openai-responses expects")
        if body.get("status") in _UNDER_WAY:
            raise ValueError(f"its status is {body['status']}, so there is no answer yet; ask without background")
        self._end(body)

    def event(self, event: dict[str, Any]) -> bool:
        kind = event.get("type")
        if not isinstance(kind, str) or not kind.startswith("response."):
            return False
        self.begun = True
        if kind in _ENDS:
            self._end(as_object(event.get("response")))
        if kind in _ITEMS and isinstance(event.get("item"), dict):
            self._items[event.get("output_index")] = event["item"]
            return is_call(str(event["item"].get("type")))
        if kind in _TEXTS:
            part_type, key = _TEXTS[kind]
            return append(self._part(event, part_type), key, event.get("delta"))
        if kind in _PARTS:
            item_type, key = _PARTS[kind]
            return append(self._item(event, item_type), key, event.get("delta"))
        return False

    @property
    def output(self) -> str:
        parts = [part for item in self.messages if item.get("type") == "message" for part in as_objects(item.get("content"))]
        return text_of(parts) or "".join(str(part.get("refusal", "")) for part in parts if part.get("type") == "refusal")

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self._output or list(self._items.values())

    @property
    def tool_calls(self) -> list[ToolCall]:
        items = [item for item in self.messages if is_call(str(item.get("type")))]
        return with_results(map(_tool_call, items), items)

    def error_in(self, said: dict[str, Any]) -> Any:
        response = as_object(said.get("response", said))
        status = response.get("status")
        return super().error_in(said) or (response.get("error") or f"the response is {status}" if status in _NO_ANSWER else None)

    def _end(self, response: dict[str, Any]) -> None:
        self.begun = self.ended = True
        self._output = as_objects(response.get("output"))
        self.finish_reason = as_object(response.get("incomplete_details")).get("reason") or response.get("status")

    def _item(self, event: dict[str, Any], item_type: str) -> dict[str, Any]:
        return self._items.setdefault(event.get("output_index"), {"type": item_type})

    def _part(self, event: dict[str, Any], part_type: str) -> dict[str, Any]:
        item = self._item(event, "message")
        item.setdefault("role", "assistant")
        parts: list[dict[str, Any]] = item.setdefault("content", [])
        at = event.get("content_index")
        while len(parts) <= (at if isinstance(at, int) and 0 <= at <= len(parts) else 0):
            parts.append({"type": part_type})
        return parts[at if isinstance(at, int) and 0 <= at < len(parts) else 0]


def _tool_call(item: dict[str, Any]) -> ToolCall:
    kind = item["type"]
    if kind == "custom_tool_call":
        return tool_call_of({**item, "input": {"input": item.get("input")}})
    named = built_in_call(item, kind)
    return tool_call_of(named if kind != "function_call" or isinstance(item.get("name"), str) else {**named, "name": ""})
