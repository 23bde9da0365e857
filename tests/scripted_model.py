"""A real HTTP server on loopback that speaks the OpenAI-compatible chat protocol and replies as a test scripts it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import psutil

WAIT_S = 60.0
"""Ends a hang; no test waits so long."""


@dataclass(frozen=True)
class Says:
    """One HTTP answer. `content` becomes a chat completion with `usage`; `body` is sent as it is instead.

    `hold`: the answer waits for this event, forever as far as the test is concerned. `drip`: one byte, then nothing until `hold`.
    """

    content: Any = None
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    finish: str = "stop"
    usage: dict[str, int] | None = field(default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 20})
    hold: threading.Event | None = None
    drip: bool = False

    def payload(self) -> bytes:
        if self.body is not None:
            return self.body
        content = self.content if isinstance(self.content, str | None) else json.dumps(self.content)
        message = {"role": "assistant", "content": content}
        completion = {
            "id": "c-1", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
        }  # fmt: skip
        return json.dumps(completion | ({"usage": self.usage} if self.usage else {})).encode()


def verdict(score: Any = 1.0, reasoning: str = "as asked", **more: Any) -> Says:
    """A good reply of the scorer `llm_judge`."""
    return Says({"reasoning": reasoning, "score": score, **more})


def embedding(*vector: float, tokens: int | None = 4) -> Says:
    """The vector of one text, as OpenAI's embeddings are sent."""
    listed = {"object": "list", "model": "scripted", "data": [{"object": "embedding", "index": 0, "embedding": vector}]}
    usage = {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}} if tokens is not None else {}
    return Says(body=json.dumps(listed | usage).encode())


def failure(status: int, message: str = "no", code: str = "", **headers: str) -> Says:
    """An error as OpenAI words it; ``Retry_After="1"`` is a header."""
    error = {"error": {"message": message, "type": "error", "code": code or None}}
    return Says(status=status, body=json.dumps(error).encode(), headers={k.replace("_", "-"): v for k, v in headers.items()})


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """All messages, or texts to embed, one after the other."""
        return "\n".join(message["content"] or "" for message in self.body.get("messages", [])) or "\n".join(self.body["input"])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # beyond five, the default, connections of a busy test wait a second or are refused


class ScriptedModel:
    """The server; `script` what it says to the next requests, then it goes on with `otherwise`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.forget()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(WAIT_S)

    @property
    def url(self) -> str:
        """As `llm.apiBase` has it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def connections(self) -> int:
        """How many this process has open to it."""
        port = self._server.server_address[1]
        return sum(bool(each.raddr) and each.raddr.port == port for each in psutil.Process().net_connections("tcp"))

    def forget(self) -> None:
        """An empty script, and no requests."""
        self._script: list[Says] = []
        self.asked: list[Asked] = []
        self.otherwise: Says | Callable[[Asked], Says] = verdict()
        self.busy = self.most_busy = 0
        self._act = object()
        self.came = threading.Condition(self._lock)

    def script(self, *replies: Says) -> None:
        """What it says next, reply by reply."""
        self._script += replies

    def wait_for(self, busy: int) -> None:
        """Return when so many requests are being answered at a time."""
        with self.came:
            assert self.came.wait_for(lambda: self.busy >= busy, WAIT_S)

    def wait_for_asked(self, count: int) -> None:
        """Return when so many requests have come in."""
        with self.came:
            assert self.came.wait_for(lambda: len(self.asked) >= count, WAIT_S)

    def _next(self, asked: Asked) -> tuple[Says, object]:
        """What it says, and the act in which it was asked: the end of an answer that another test left is not ours."""
        with self.came:
            act = self._act
            self.asked.append(asked)
            self.busy += 1
            self.most_busy = max(self.busy, self.most_busy)
            self.came.notify_all()
            if self._script:
                return self._script.pop(0), act
        return (self.otherwise(asked) if callable(self.otherwise) else self.otherwise), act

    def _done(self, act: object) -> None:
        with self.came:
            self.busy -= act is self._act

    def _handler(model) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                size = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(size))
                asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                says, act = model._next(asked)
                try:
                    rest = self._begin(says)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True
                    return
                finally:
                    model._done(act)  # before the last byte, for whoever has that may ask again
                with suppress(BrokenPipeError, ConnectionResetError):
                    self.wfile.write(rest)

            def _begin(self, says: Says) -> bytes:
                """Answer but for the rest that is returned."""
                payload = says.payload()
                if says.hold is not None and not says.drip:
                    says.hold.wait(WAIT_S)
                self.send_response(says.status)
                self.send_header("Content-Type", says.content_type)
                self.send_header("Content-Length", str(len(payload)))
                for name, value in says.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if says.drip and says.hold is not None:
                    self.wfile.write(payload[:1])
                    self.wfile.flush()
                    says.hold.wait(WAIT_S)
                    payload = payload[1:]
                return payload

            def log_message(self, *_: Any) -> None:
                pass

        return Handler
