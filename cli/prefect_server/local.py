"""The Prefect server that `server start` leaves running: its process, its note, its log."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from uuid import uuid4

import psutil

from eval_skills.cli.prefect_server.api_server import SERVER_SETTINGS, cause_in, check_authorities, check_home, is_alive
from eval_skills.cli.prefect_server.existing import (
    Noted,
    configured_api_url,
    forget,
    local_api_url,
    note,
    noted_server,
    own_url,
    prefect_home,
)
from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.store.files import PRIVATE, create

State = dict[str, str | int | bool | None]
START_TIMEOUT_S, STOP_TIMEOUT_S = 300.0, 10.0


def start_server(port: int | None = None) -> State:
    """Start a server with the UI, unless this PREFECT_HOME has one; its state.

    Raises:
        UsageError: the port is out of range, a server that is not ours answers there, or a variable cannot be used.
        RunError: the server did not start; the message names its log.
    """
    if port is not None and not 0 < port < 65536:
        raise UsageError(f"--port {port} is out of range; give a number from 1 to 65535")
    check_home()
    check_authorities()
    url = local_api_url(port)
    if (own := own_url()) is not None and is_alive(own):
        if own != url and port is not None:
            raise UsageError(f"--port {port}: a server runs at {_ui(own)} already; stop it first with: eval-skills server stop")
        return _state(own, f"a Prefect server already answers at {_ui(own)}")
    if is_alive(url):
        raise UsageError(
            f"a Prefect server that is not of this PREFECT_HOME answers at {_ui(url)}; use it with PREFECT_API_URL={url}, "
            "or start one of your own with --port"
        )
    stop_server()  # one that was being started and never answered
    log = prefect_home() / "eval-skills-server-start.log"
    begun = Noted(url, uuid4().hex)
    note(begun)
    try:
        process = _spawn(begun, log)
        note(replace(begun, pid=process.pid))
        _wait_until_ready(url, process, log)
    except BaseException:  # an interruption, too: what was begun is not left behind
        stop_server()
        raise
    return _state(url, f"Prefect server started; its UI is at {_ui(url)}")


def stop_server() -> State:
    """Stop the server that `start_server` started, even if that was cut short; says so when there is none."""
    noted = noted_server()
    process = noted.process() if noted else None
    if noted is None or process is None:
        forget()
        return {"running": False, "url": None, "pid": None, "message": "no server to stop: none was started by `server start`"}
    process.terminate()
    try:
        process.wait(timeout=STOP_TIMEOUT_S)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(timeout=STOP_TIMEOUT_S)
    forget()
    return {"running": False, "url": noted.url, "pid": process.pid, "message": "Prefect server stopped"}


def server_status() -> State:
    """Whether the server answers that runs would use, and where; another one that answers is told, too."""
    url = configured_api_url() or own_url()
    if url is not None and is_alive(url):
        return _state(url, f"a Prefect server answers at {_ui(url)}")
    usual = local_api_url()
    if url is None and is_alive(usual):
        said = f"the Prefect server at {_ui(usual)} is not of this PREFECT_HOME; runs use it only with PREFECT_API_URL={usual}"
        return {"running": False, "url": usual, "pid": None, "message": said}
    return {"running": False, "url": url or usual, "pid": None, "message": f"no Prefect server answers at {url or usual}"}


def _spawn(begun: Noted, log: Path) -> subprocess.Popen[bytes]:
    port = begun.url.rsplit(":", 1)[1].removesuffix("/api")
    environment = {**SERVER_SETTINGS, **os.environ, "PREFECT_UI_API_URL": begun.url}
    environment.pop("PREFECT_API_URL", None)
    create(log, PRIVATE)
    with log.open("wb") as stream:
        return subprocess.Popen(
            [sys.executable, "-m", "eval_skills.cli.prefect_server.process", port, begun.token],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=environment,
            start_new_session=True,
        )


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + START_TIMEOUT_S
    while not is_alive(url):
        if process.poll() is not None or monotonic() > deadline:
            raise RunError(f"the Prefect server did not start: {cause_in(log)}")
        sleep(0.1)


def _state(url: str, message: str) -> State:
    noted = noted_server()
    pid = noted.pid if noted and noted.url == url else None
    return {"running": True, "url": url, "pid": pid, "message": message}


def _ui(url: str) -> str:
    return url.removesuffix("/api")
