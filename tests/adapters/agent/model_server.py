"""A model on loopback for agents, which says what a script has: in chat completions, OpenAI's Responses, and Gemini's stream."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

WAIT_S = 60.0
"""Ends a hang; no test waits so long."""

_WORDS = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
"""What Gemini's API says beside the status (https://ai.google.dev/gemini-api/docs/troubleshooting)."""


@dataclass(frozen=True)
class Use:
    """A tool that the model calls."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Turn:
    """What the model says once: a text, then calls of tools; or an error by its HTTP `status`. `hold`: it begins to answer, and
    goes on when the event is set."""

    text: str = ""
    uses: tuple[Use, ...] = ()
    status: int = 200
    hold: threading.Event | None = None
    prompt_tokens: int = 100
    completion_tokens: int = 20


def uses(name: str, /, **arguments: Any) -> Turn:
    """A turn that is the call of one tool."""
    return Turn(uses=(Use(name, arguments),))


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """All of the body, as the text that a model could read."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def tools(self) -> list[str]:
        """The names of the tools that it offers, in any of the three protocols."""
        listed = [one for tool in self.body.get("tools") or [] for one in tool.get("functionDeclarations", [tool])]
        return [str((tool.get("function") or tool).get("name") or tool.get("type")) for tool in listed]


class AgentModel:
    """The server: to requests that hold one of the texts of its scripts it says their turns one by one, and then `otherwise`.

    `turns` are the requests for a turn, `strays` all others: for titles (they offer no tools), of other paths, and, where this
    is named as a proxy, for other servers.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scripts: dict[str, list[Turn]] = {}
        self.otherwise = Turn("done")
        self.turns: list[Asked] = []
        self.strays: list[Asked] = []
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(WAIT_S)

    @property
    def root(self) -> str:
        """The address without a path, as Gemini's clients want it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The address as OpenAI's clients want it."""
        return f"{self.root}/v1"

    def script(self, text: str, *turns: Turn) -> None:
        """What it says next to requests that hold `text`, such as a prompt."""
        with self._lock:
            self._scripts.setdefault(text, []).extend(turns)

    def asked(self, text: str) -> list[Asked]:
        """The requests for a turn that hold `text`."""
        with self._lock:
            return [asked for asked in self.turns if text in asked.text]

    def says(self, asked: Asked) -> Turn:
        """The turn for a request, which is noted."""
        with self._lock:
            if not (asked.path.partition("?")[0].endswith(tuple(_PROTOCOLS)) and asked.tools):
                self.strays.append(asked)
                return Turn("A title", prompt_tokens=7, completion_tokens=3)
            self.turns.append(asked)
            script = next((turns for text, turns in self._scripts.items() if text in asked.text), [])
            return script.pop(0) if script else self.otherwise


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # beyond five, the default, connections of a busy test wait a second or are refused


def _handler(model: AgentModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, json.loads(raw or b"{}"))
            turn = model.says(asked)
            with suppress(BrokenPipeError, ConnectionResetError):
                self._answer(asked, turn)

        def do_GET(self) -> None:
            model.says(Asked(self.path, dict(self.headers), {}))
            self._send(404, "application/json", b'{"error": {"message": "no such path"}}')

        def do_CONNECT(self) -> None:
            self.do_GET()  # through us as a proxy

        def _answer(self, asked: Asked, turn: Turn) -> None:
            path = self.path.partition("?")[0]
            protocol = next((events for end, events in _PROTOCOLS.items() if path.endswith(end)), None)
            if turn.status != 200 or protocol is None:
                word = _WORDS.get(turn.status, "UNKNOWN")
                error = {"code": turn.status, "message": f"scripted {turn.status}", "type": "error", "status": word}
                self._send(turn.status if protocol else 404, "application/json", json.dumps({"error": error}).encode())
                return
            self._send(200, "text/event-stream", b"")
            if turn.hold is not None:
                self.wfile.flush()
                turn.hold.wait(WAIT_S)
            for event in protocol(turn, len(model.turns)):
                name = f"event: {event['type']}\n" if protocol is _responses else ""
                self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
            if protocol is _chat:
                self.wfile.write(b"data: [DONE]\n\n")

        def _send(self, status: int, content_type: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            if status >= 400:
                self.send_header("retry-after-ms", "1")  # agents that try again do it at once
            self.end_headers()  # HTTP/1.0: the body ends with the connection
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def _chat(turn: Turn, number: int) -> Iterator[dict[str, Any]]:
    """https://platform.openai.com/docs/api-reference/chat/streaming"""

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": f"c-{number}", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}

    yield chunk({"role": "assistant", "content": turn.text or None})
    for index, use in enumerate(turn.uses):
        call = {"name": use.name, "arguments": json.dumps(use.arguments)}
        yield chunk({"tool_calls": [{"index": index, "id": f"call-{number}-{index}", "type": "function", "function": call}]})
    total = turn.prompt_tokens + turn.completion_tokens
    usage = {"prompt_tokens": turn.prompt_tokens, "completion_tokens": turn.completion_tokens, "total_tokens": total}
    yield chunk({}, "tool_calls" if turn.uses else "stop", usage=usage)


def _responses(turn: Turn, number: int) -> Iterator[dict[str, Any]]:
    """https://platform.openai.com/docs/api-reference/responses-streaming"""
    items: list[dict[str, Any]] = []
    if turn.text:
        part = {"type": "output_text", "text": turn.text, "annotations": []}
        items.append({"type": "message", "role": "assistant", "id": f"m-{number}", "content": [part]})
    for index, use in enumerate(turn.uses):
        ids = {"id": f"f-{number}-{index}", "call_id": f"call-{number}-{index}"}
        items.append({"type": "function_call", **ids, "name": use.name, "arguments": json.dumps(use.arguments)})
    response = {"id": f"r-{number}", "object": "response", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": response}
    for index, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    total = turn.prompt_tokens + turn.completion_tokens
    usage = {"input_tokens": turn.prompt_tokens, "output_tokens": turn.completion_tokens, "total_tokens": total}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    yield {
        "type": "response.completed",
        "response": response | {"status": "completed", "output": items, "usage": usage | details},
    }


def _gemini(turn: Turn, number: int) -> Iterator[dict[str, Any]]:
    """https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent"""
    parts: list[dict[str, Any]] = [{"text": turn.text}] if turn.text else []
    parts += [
        {"functionCall": {"id": f"call-{number}-{i}", "name": use.name, "args": use.arguments}} for i, use in enumerate(turn.uses)
    ]
    counts = {"promptTokenCount": turn.prompt_tokens, "candidatesTokenCount": turn.completion_tokens}
    total = {"totalTokenCount": turn.prompt_tokens + turn.completion_tokens}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    yield {"candidates": [candidate], "usageMetadata": counts | total, "modelVersion": "m"}


_PROTOCOLS = {"/chat/completions": _chat, "/responses": _responses, ":streamGenerateContent": _gemini}
