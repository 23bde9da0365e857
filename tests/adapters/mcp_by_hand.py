"""An MCP server behind a URL, by hand, that fails in every way HTTP knows."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

JSON = "application/json"


@dataclass
class Told:
    """What the server was sent, and which sessions it knows."""

    headers: list[dict[str, str]] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    methods: list[str] = field(default_factory=list)
    metas: list[dict[str, Any]] = field(default_factory=list)
    """The ``_meta`` of every call of a tool."""
    resumed: list[dict[str, Any]] = field(default_factory=list)
    """What comes when a stream of events is asked for again by its last event."""


class _ByHand(BaseHTTPRequestHandler):
    """Protocol 2025-06-18 with sessions and JSON answers; the tool `answer` answers as its arguments say."""

    protocol_version = "HTTP/1.1"
    told: Told
    over: threading.Event
    beyond = b""
    """What is sent behind an answer, uncounted."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.told.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.told.methods.append(message["method"])
        if self.path == "/closed":
            self.reply(401, b"who are you", Content_Type="text/plain")
        elif self.path == "/sse":
            self.reply(405, b"")
        elif self.path == "/old" and message["method"] == "initialize":
            error = {"code": -32602, "message": "Unsupported protocol version; supported: 2024-11-05"}
            self.reply(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode(), Content_Type=JSON)
        elif self.path == "/elder" and message["method"] == "initialize" and not self.knows(message):
            error = {"code": -32602, "message": "Unsupported protocol version", "data": {"supported": ["2025-06-18"]}}
            self.reply(400, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode(), Content_Type=JSON)
        elif (
            self.path in {"/strict", "/old", "/elder"} and self.headers.get("MCP-Protocol-Version", "2025-06-18") != "2025-06-18"
        ):
            self.reply(400, b'{"error": "Unsupported protocol version"}', Content_Type=JSON)
        elif message["method"] == "initialize":
            session = f"s{len(self.told.methods)}"
            self.told.sessions.add(session)
            about = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "raw", "version": "1"},
            }
            self.result(message, about, Mcp_Session_Id=session)
        elif self.headers.get("Mcp-Session-Id") not in self.told.sessions:
            gone = {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "Session not found"}}
            self.reply(404, json.dumps(gone).encode(), Content_Type="application/json")
        elif "id" not in message:
            self.reply(202, b"")
        elif message["method"] == "tools/list" and self.path.startswith("/torn"):
            schema = {"type": "object", "default": "\ud800"}
            tools = [{"name": "torn", "inputSchema": schema}, {"name": "answer", "inputSchema": {"type": "object"}}]
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools}})
            streams = self.path == "/torn-events"
            kind = "text/event-stream" if streams else JSON
            self.reply(200, (f"data: {body}\n\n" if streams else body).encode(), Content_Type=kind)
        elif message["method"] == "tools/list":
            self.result(message, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("answer", "hang")]})
        else:
            self.told.metas.append(message["params"].get("_meta", {}))
            self.answer(message, message["params"]["arguments"])

    def knows(self, handshake: Any) -> bool:
        return bool(handshake["params"]["protocolVersion"] == "2025-06-18")

    def do_GET(self) -> None:
        if self.headers.get("Last-Event-ID") is None:
            self.reply(405, b"")
            return
        body = "".join(f"data: {json.dumps(each)}\n\n" for each in self.told.resumed)
        self.reply(200, body.encode(), Content_Type="text/event-stream")

    def do_DELETE(self) -> None:
        self.told.methods.append("DELETE")
        self.reply(200, b"")

    def answer(self, message: Any, given: Any) -> None:
        self.beyond = given.get("beyond", "").encode()
        self.told.resumed = [{"id": message["id"], **each} for each in given.get("resumed", ())]
        if message["params"]["name"] == "hang":
            self.over.wait(600)
            self.close_connection = True
        elif given.get("reset"):
            self.close_connection = True
        elif "status" in given:
            self.reply(given["status"], given.get("body", "").encode(), **given.get("headers", {}))
        else:
            self.result(message, {"content": [{"type": "text", "text": json.dumps(given)}]})

    def result(self, message: Any, result: Any, **headers: str) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        self.reply(200, body, Content_Type="application/json", **headers)

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body + self.beyond)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(told: Told) -> Iterator[str]:
    """The address of such a server, which notes what it is told."""
    over = threading.Event()
    handler = type("Handler", (_ByHand,), {"told": told, "over": over})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    over.set()
    server.shutdown()
    server.server_close()
