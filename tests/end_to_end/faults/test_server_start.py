"""`server start`: what cuts it short leaves no server behind, and somebody else's server is never taken for ours."""

from __future__ import annotations

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from tests.prefect_server import free_port

COMMAND = (sys.executable, "-m", "eval_skills.cli", "server")
pytestmark = pytest.mark.slow


class _Healthy(http.server.BaseHTTPRequestHandler):
    """What answers as Prefect does when it is asked how it is."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"true")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "EVAL_SKILLS_"))}
    port = str(free_port())
    return kept | {"HOME": str(tmp_path), "PREFECT_HOME": str(tmp_path / "home"), "PREFECT_SERVER_API_PORT": port}


def call(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], env=environ, capture_output=True, text=True, timeout=120)


@pytest.fixture
def stranger(environ: dict[str, str]) -> Iterator[str]:
    """Somebody else's server on the usual port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(environ["PREFECT_SERVER_API_PORT"])), _Healthy)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_strangers_server_is_told_of_and_not_used(environ: dict[str, str], stranger: str) -> None:
    started, status = call(environ, "start"), call(environ, "status")
    assert started.returncode == 2
    assert f"a Prefect server that is not of this PREFECT_HOME answers at {stranger}" in started.stderr
    assert status.returncode == 1
    assert f"the Prefect server at {stranger} is not of this PREFECT_HOME" in status.stdout
    assert "no server to stop" in call(environ, "stop").stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_start_that_is_cut_short_leaves_nothing_that_stop_does_not_find(environ: dict[str, str], number: int) -> None:
    note = Path(environ["PREFECT_HOME"]) / "eval-skills-server.json"
    with subprocess.Popen([*COMMAND, "start"], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = monotonic() + 60
        while not note.exists():
            assert monotonic() < deadline
            sleep(0.01)
        token = json.loads(note.read_text())["token"]
        if number == signal.SIGKILL:
            while not of(token):
                assert monotonic() < deadline
                sleep(0.01)
        process.send_signal(number)
        process.wait(timeout=60)
    if number == signal.SIGKILL:
        assert "Prefect server stopped" in call(environ, "stop").stdout
    assert of(token) == []
    assert "no server to stop" in call(environ, "stop").stdout


def of(token: str) -> list[str]:
    """The processes whose command line holds the token."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if token.encode() in (folder / "cmdline").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found
