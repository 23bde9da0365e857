"""OpenAI's Chat Completions, and the many services that speak like it."""

from __future__ import annotations

from typing import Any

from eval_skills.adapters.answer.calls import tool_call_of
from eval_skills.adapters.answer.envelope import parse_json
from eval_skills.adapters.http.shapes.shape import Shape, append, as_object, as_objects
from eval_skills.core.messages.blocks import text_of
from eval_skills.core.models import ToolCall


class OpenAiChat(Shape):
    """``choices[0].message``, or the chunks of one: texts are appended, and so are the arguments of calls.

    Of several choices the one with the index 0 counts, wherever a service lists it; without any, the first. The parts of parallel
    calls are told apart by their index, or, with services that number all of them 0 or not at all, by their ids.
    """

    def __init__(self) -> None:
        super().__init__()
        self._message: dict[str, Any] = {}
        self._calls: list[tuple[Any, dict[str, Any]]] = []

    def whole(self, body: dict[str, Any]) -> None:
        choice = _first_choice(body)
        if not isinstance(choice.get("message"), dict):
            raise ValueError("it has no choices[0].message, which responseShape openai-chat expects")
        self.finish_reason = choice.get("finish_reason")
        self._take_whole(choice["message"])

    def event(self, event: dict[str, Any]) -> bool:
        brought = False
        for choice in as_objects(event.get("choices")):
            if choice.get("index", 0) == 0:
                self.begun = True
                brought |= self._merge(as_object(choice.get("delta")))
                if not choice.get("delta") and isinstance(choice.get("message"), dict):  # as in a whole body
                    self._take_whole(choice["message"])
                    brought = True
                self.finish_reason = choice.get("finish_reason") or self.finish_reason
        return brought

    def error_in(self, said: dict[str, Any]) -> Any:
        """Services that pass on the answers of others report what failed there in the choice itself, beside half an answer."""
        choice = _first_choice(said)
        return super().error_in(said) or (choice.get("error") if choice.get("index", 0) == 0 else None)

    @property
    def output(self) -> str:
        return text_of(self._message.get("content")) or text_of(self._message.get("refusal"))

    @property
    def messages(self) -> list[dict[str, Any]]:
        calls = {"tool_calls": [call for _, call in self._calls]} if self._calls else {}
        return [{"role": "assistant", "content": None, **self._message, **calls}]

    @property
    def tool_calls(self) -> list[ToolCall]:
        legacy = self._message.get("function_call")
        return [tool_call_of(call) for call in [*(call for _, call in self._calls), *([legacy] if legacy else [])]]

    def _take_whole(self, message: dict[str, Any]) -> None:
        self.begun, self._message = True, message
        self._calls = [(None, call) for call in as_objects(message.get("tool_calls"))]

    def _merge(self, delta: dict[str, Any]) -> bool:
        brought = False
        for key, value in delta.items():
            if key == "tool_calls":
                for piece in as_objects(value):
                    self._merge_call(piece)
                brought |= bool(value)
            elif key == "function_call" and isinstance(value, dict):
                brought |= _merge_texts(self._message.setdefault(key, {}), value)
            elif key == "content" and (isinstance(value, list) or isinstance(self._message.get(key), list)):
                self._message[key] = _parts_of(self._message.get(key))
                brought |= _merge_parts(self._message[key], _parts_of(value))
            elif isinstance(value, str) and key != "role":
                brought |= append(self._message, key, value)
            elif value is not None:
                self._message[key] = value
        return brought

    def _merge_call(self, piece: dict[str, Any]) -> None:
        call = self._continued(piece)
        if call is None:
            call = {}
            self._calls.append((piece.get("index"), call))
        for key, value in piece.items():
            if isinstance(value, dict) and key in ("function", "custom"):
                _merge_texts(call.setdefault(key, {}), value)
            elif key != "index" and value:
                call[key] = value

    def _continued(self, piece: dict[str, Any]) -> dict[str, Any] | None:
        """The call that a piece belongs to; None where it begins a new one."""
        index = piece.get("index")
        call = next((call for at, call in reversed(self._calls) if index is None or at == index), None)
        if call is None:
            return None
        other_id = piece.get("id") and call.get("id") and piece["id"] != call["id"]
        return None if other_id or _begins_anew(piece, call) else call


def _first_choice(said: dict[str, Any]) -> dict[str, Any]:
    choices = as_objects(said.get("choices"))
    return next((choice for choice in choices if choice.get("index") == 0), next(iter(choices), {}))


def _parts_of(content: Any) -> list[Any]:
    """Content as a list of parts, of which a text is one; some models send now the one and now the other."""
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if isinstance(content, str) and content else []


def _merge_parts(held: list[Any], pieces: list[Any]) -> bool:
    """Append the pieces of a content that comes as parts: one continues the part before it where that is of the same type."""
    brought = False
    for piece in pieces:
        last, kind = as_object(held[-1] if held else None), as_object(piece).get("type")
        if kind not in _GROWING or last.get("type") != kind:
            held.append(piece)
            brought = True
        elif isinstance(piece.get(kind), list) and isinstance(last.get(kind), list):  # thinking is a list of texts itself
            brought |= _merge_parts(last[kind], piece[kind])
        else:
            brought |= append(last, kind, piece.get(kind))
    return brought


_GROWING = ("text", "thinking")
"""The types of parts that come in pieces, each also the key of what grows."""


def _begins_anew(piece: dict[str, Any], call: dict[str, Any]) -> bool:
    """Whether a piece without an id of its own names a tool with arguments, where those of the call before are whole."""
    function, held = as_object(piece.get("function")), as_object(call.get("function"))
    if piece.get("id") or not function.get("name") or not function.get("arguments") or not isinstance(held.get("arguments"), str):
        return False
    try:
        parse_json(held["arguments"].encode())
    except ValueError:
        return False
    return True


def _merge_texts(held: dict[str, Any], pieces: dict[str, Any]) -> bool:
    """Append the pieces; a name that is repeated with every piece is one."""
    brought = False
    for key, piece in pieces.items():
        if key == "name" and piece == held.get("name"):
            continue
        if isinstance(piece, dict):
            held[key], brought = piece, True
        else:
            brought |= append(held, key, piece)
    return brought
