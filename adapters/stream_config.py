"""How a service streams its answer."""

from __future__ import annotations

from typing import Literal

from eval_skills.adapters.http.json_pointer import JsonPointer
from eval_skills.core.models import Model
from eval_skills.core.models.base import Text


class StreamConfig(Model):
    """An answer that comes in events: server-sent ones, or lines of JSON.

    With `mode` ``last`` the output is what stands at `path` (default: the whole JSON) in the last event that has it; with
    ``concat`` it is the texts there, joined. Server-sent events without a `path` are joined as they are, unread. `done` is the
    data, or the name, of the event that ends the stream; where it is given, a stream that ends without it is broken.
    """

    format: Literal["sse", "jsonl"] = "sse"
    mode: Literal["last", "concat"] = "last"
    path: JsonPointer | None = None
    done: Text | None = None

    @property
    def media_type(self) -> str:
        """What is asked for in the header Accept."""
        return "text/event-stream" if self.format == "sse" else "application/x-ndjson"

    @property
    def is_whole(self) -> bool:
        """Whether the last event is the whole answer, which may be our envelope."""
        return self.mode == "last" and self.path is None

    @property
    def unread(self) -> bool:
        """Whether the data of an event are a text and not JSON."""
        return self.format == "sse" and self.mode == "concat" and self.path is None
