"""What `server start` notes, and that nothing else is taken for the server that it started."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_skills.cli.prefect_server.existing import Noted, existing_api, note, noted_server, own_url, state_file
from tests.tables import each_row

LISTENS = """
import socket, sys, time
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    for name in ("PREFECT_API_URL", "PREFECT_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def server() -> Iterator[tuple[int, str]]:
    """A process with a token in its command line that listens: its number, and where."""
    with subprocess.Popen([sys.executable, "-c", LISTENS, "the-token"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        yield process.pid, f"http://127.0.0.1:{port}/api"
        process.kill()


@each_row("text", [None, "", "{", "[]", "7", '{"pid": 1}'])
def test_a_note_that_says_nothing_is_no_server(text: str | None) -> None:
    if text is not None:
        state_file().write_text(text)
    assert noted_server() is None
    assert own_url() is None


def test_our_own_is_known_by_its_token_and_where_it_listens(server: tuple[int, str]) -> None:
    pid, url = server
    note(Noted(url, "the-token", pid))
    assert own_url() == existing_api() == url


def test_one_that_was_noted_before_it_had_a_number_is_found(server: tuple[int, str]) -> None:
    pid, url = server
    note(begun := Noted(url, "the-token"))
    process = begun.process()
    assert process is not None
    assert process.pid == pid


@pytest.mark.parametrize(("token", "listens"), [("another", True), ("", True), ("the-token", False)])
def test_a_number_that_somebody_else_has_now_is_not_ours(server: tuple[int, str], token: str, listens: bool) -> None:
    pid, url = server
    note(Noted(url if listens else "http://127.0.0.1:9/api", token, pid))
    assert own_url() is None


def test_what_merely_listens_on_the_usual_port_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        monkeypatch.setenv("PREFECT_SERVER_API_PORT", str(stranger.getsockname()[1]))
        assert existing_api() is None


def test_a_process_that_ended_is_no_server() -> None:
    done = subprocess.Popen([sys.executable, "-c", "", "the-token"])
    done.wait()
    assert Noted("http://127.0.0.1:9/api", "the-token", done.pid).process() is None
    assert Noted("http://127.0.0.1:9/api", "the-token", os.getpid()).process() is None
