"""Real servers and real programs for the adapters' tests."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import Skill
from tests.adapters.mcp_by_hand import Told, serving
from tests.adapters.wire import Wire, listening

MakeSkill = Callable[..., Skill]


@dataclass
class LocalServer:
    """A server on 127.0.0.1 that misbehaves by route, and what it was asked."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    flaky: set[str] = field(default_factory=set)


class _Misbehaving(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw)
        local = self.server.local
        local.requests.append(
            {"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "body": body, "raw": raw}
        )
        route = getattr(self, "route_" + self.path.partition("?")[0].strip("/").replace("-", "_").replace("/", "_"))
        route(body)

    def do_GET(self) -> None:
        self.answer(204 if self.path == "/ready" else 404, b"")

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def route_echo(self, body: Any) -> None:
        self.answer(200, json.dumps(body["input"]).encode(), Content_Type="application/json")

    def route_api_v1_echo(self, body: Any) -> None:
        self.route_echo(body)

    def route_status(self, body: Any) -> None:
        given = body["input"]
        self.answer(given["status"], given.get("body", "").encode(), **given.get("headers", {}))

    def route_past_date(self, _: Any) -> None:
        self.answer(503, b"", Retry_After=formatdate(0, usegmt=True))

    def route_packed(self, body: Any) -> None:
        self.answer(200, gzip.compress(b'"' + b"0" * body["input"] + b'"'), Content_Encoding="gzip")

    def route_slow_if_told(self, body: Any) -> None:
        (self.route_slow if body["input"] == "be slow" else self.route_echo)(body)

    def route_slow(self, _: Any) -> None:
        self.server.stop.wait(600)
        self.close_connection = True

    def route_endless(self, _: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while not self.server.stop.is_set():
                self.wfile.write(b"[" * 65536)
        except OSError:
            return

    def route_reset(self, _: Any) -> None:
        self.close_connection = True

    def route_half(self, _: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"out')
        self.close_connection = True

    def route_half_error(self, _: Any) -> None:
        self.send_response(503)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"overloaded")
        self.close_connection = True

    def route_garbage(self, _: Any) -> None:
        self.wfile.write(b"this is no HTTP at all\r\n\r\n")
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Misbehaving)
        self.local = LocalServer(f"http://127.0.0.1:{self.server_port}")
        self.stop = threading.Event()

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is what some tests are about."""


@pytest.fixture(scope="session")
def running_server() -> Iterator[LocalServer]:
    server = _Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield server.local
    server.stop.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def server(running_server: LocalServer) -> LocalServer:
    running_server.requests.clear()
    return running_server


@pytest.fixture
def http_skill(server: LocalServer, tmp_path: Path) -> MakeSkill:
    """A skill at a route of the server: ``http_skill("/echo", authType=…)``."""

    def make(entrypoint: str, **config: Any) -> Skill:
        address = entrypoint if "://" in entrypoint or "baseUrl" in config else server.url + entrypoint
        return make_skill("http", address, config, tmp_path)

    return make


@pytest.fixture
def program_skill(tmp_path: Path) -> MakeSkill:
    """A skill that is a Python program in a folder of its own: ``program_skill('print(1)', persistent=True)``."""

    def make(source: str, arguments: str = "", **config: Any) -> Skill:
        (tmp_path / "skill.py").write_text(textwrap.dedent(source))
        return make_skill("subprocess", f"{shlex.quote(sys.executable)} -S -E skill.py {arguments}", config, tmp_path)

    return make


@pytest.fixture
def python_skill(tmp_path: Path) -> MakeSkill:
    """A skill that is a Python object of a module of its own: ``python_skill("def run(value): return value")``."""

    def make(source: str, entrypoint: str = "skill:run", adapter_type: str = "custom", **config: Any) -> Skill:
        (tmp_path / "skill.py").write_text(textwrap.dedent(source))
        return make_skill(adapter_type, entrypoint, config, tmp_path)

    return make


@pytest.fixture
def left_running(tmp_path: Path) -> Callable[[], list[str]]:
    """The command lines of all processes whose working directory is the skill's folder.

    Waits up to 30 s for none: a killed process needs a moment on a busy machine, and one that was left stays for minutes.
    """

    def running() -> list[str]:
        end = time.monotonic() + 30
        while (found := _commands_in(tmp_path)) and time.monotonic() < end:
            time.sleep(0.01)
        return found

    return running


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with listening() as wire:
        yield wire


@pytest.fixture
async def other_wire() -> AsyncIterator[Wire]:
    async with listening() as wire:
        yield wire


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def raw_url(told: Told) -> Iterator[str]:
    """The address of an MCP server that fails as it is asked to."""
    with serving(told) as url:
        yield url


def make_skill(adapter_type: str, entrypoint: str, config: dict[str, Any], folder: Path) -> Skill:
    data = {"id": "probe", "name": "Probe", "version": "1.2.3", "adapterType": adapter_type, "entrypoint": entrypoint}
    return Skill.model_validate(data | {"adapterConfig": config}).located_in(folder)


def _commands_in(folder: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(folder.resolve()):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return [command for command in found if command]
