"""An answer in the shape of a well-known API: whole, or as a stream of server-sent events."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from eval_skills.adapters.answer.envelope import parse_json
from eval_skills.adapters.http.config import ShapeName
from eval_skills.adapters.http.shapes.anthropic_messages import AnthropicMessages
from eval_skills.adapters.http.shapes.openai_chat import OpenAiChat
from eval_skills.adapters.http.shapes.openai_responses import OpenAiResponses
from eval_skills.adapters.http.shapes.shape import Shape
from eval_skills.adapters.http.sse import Event, EventStream
from eval_skills.adapters.http.streaming import Arriving, StreamCut, shown
from eval_skills.core.errors import ContractError
from eval_skills.core.models import SkillResponse

SHAPES: dict[ShapeName, type[Shape]] = {
    "openai-chat": OpenAiChat,
    "openai-responses": OpenAiResponses,
    "anthropic-messages": AnthropicMessages,
}

DONE = b"[DONE]"
"""The data of the event that ends a stream of OpenAI's."""


class ShapedAnswer(Arriving):
    """Takes the bytes of one answer. A body that begins as JSON is whole, any other one is a stream.

    `see` gets the JSON of the body or of every event, `first` is called when the first piece of a streamed answer has come, and
    `twice` with each key that an object of them gives twice.

    Raises:
        ContractError: by any method, if an event cannot be read or an error is reported, or the stream ended early (`StreamCut`).
        SkillUnavailable: by any method, if the error that is reported may be gone at the next attempt.
    """

    def __init__(
        self, name: ShapeName, *, see: Callable[[Any], None], first: Callable[[], None], twice: Callable[[str], None]
    ) -> None:
        super().__init__()
        self.shape = SHAPES[name]()
        self._name, self._see, self._first, self._twice = name, see, first, twice
        self._beginning, self._source = b"", EventStream()
        self._is_stream: bool | None = None

    def feed(self, chunk: bytes) -> bool:
        """Take what has come; whether that was the end of the stream."""
        self.bytes += len(chunk)
        if self._is_stream is None:
            self._beginning += chunk
            chunk, start = self._beginning, self._beginning.lstrip(b"\xef\xbb\xbf \t\r\n")
            self._is_stream = None if not start else start[:1] not in b"{["
        if self._is_stream:
            for event in self._source.feed(chunk):
                self._take(event)
                if self.shape.ended:
                    return True
        return False

    def finish(self, body: bytes) -> SkillResponse:
        """The answer, after the last byte of `body`.

        Raises:
            ValueError: a whole body is not JSON, or does not have the shape.
        """
        if not self._is_stream:
            self._read_whole(body)
        elif not self.shape.complete:
            raise StreamCut(self.phrase(f"ended before the end of an answer of {self._name}"))
        known = self.shape.known
        if known is None:
            raise ContractError(self.phrase(f"held no answer of {self._name} (responseShape)"))
        return known.model_copy(update={"output": self.shape.output})

    def _read_whole(self, body: bytes) -> None:
        value = parse_json(body, self._twice)
        if not isinstance(value, dict):
            raise ValueError(f"it is not an object, which responseShape {self._name} expects")
        self._see(value)
        if error := self.shape.error_in(value):
            with suppress(ValueError):  # what was called before it is known then
                self.shape.whole(value)
            raise self.reported(Event("", body), error, f"the answer is an error: {error}")
        self.shape.whole(value)

    def _take(self, event: Event) -> None:
        if event.data.strip() == DONE:
            self.shape.ended = True
            return
        self.events += 1
        if not event.data.strip():
            return
        try:
            value = parse_json(event.data, self._twice)
        except ValueError as problem:
            if event.name == "error":
                raise self.reported(event) from None
            unread = f"has an event that cannot be read: {problem}; it was: {shown(event)}"
            raise ContractError(self.phrase(unread)) from None
        if isinstance(value, dict):
            self._see(value)
            if self.shape.event(value):
                self._first()
        error = self.shape.error_in(value) if isinstance(value, dict) else None
        if event.name == "error" or error:
            raise self.reported(event, error)
