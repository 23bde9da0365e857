"""The Prefect server that `server start` leaves running: its process, its state file, its log."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

from eval_skills.cli.prefect_server.private import (
    SERVER_SETTINGS,
    configured_api_url,
    is_alive,
    known_server,
    last_line,
    local_api_url,
    prefect_home,
    state_file,
)
from eval_skills.core.errors import RunError, UsageError

State = dict[str, str | int | bool | None]
START_TIMEOUT_S, STOP_TIMEOUT_S = 300.0, 10.0


def start_server(port: int | None = None) -> State:
    """Start a server with the UI, unless one answers there already; its state.

    Raises:
        UsageError: the port is out of range.
        RunError: the server did not start; the message names its log.
    """
    if port is not None and not 0 < port < 65536:
        raise UsageError(f"--port {port} is out of range; give a number from 1 to 65535")
    url = local_api_url(port)
    if is_alive(url):
        return _state(url, f"a Prefect server already answers at {_ui(url)}")
    log = prefect_home() / "eval-skills-server-start.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    process = _spawn(url, log)
    deadline = monotonic() + START_TIMEOUT_S
    while not is_alive(url):
        if process.poll() is not None or monotonic() > deadline:
            process.kill()
            process.wait()
            raise RunError(f"the Prefect server did not start; its log is {log}: {last_line(log)}")
        sleep(0.1)
    state_file().write_text(json.dumps({"pid": process.pid, "url": url}), encoding="utf-8")
    return _state(url, f"Prefect server started; its UI is at {_ui(url)}")


def stop_server() -> State:
    """Stop the server that `start_server` left running; says so when there is none."""
    known = known_server()
    if known is None or not _is_ours(int(known["pid"])):
        state_file().unlink(missing_ok=True)
        return {"running": False, "url": None, "pid": None, "message": "no server to stop: none was started by `server start`"}
    pid = int(known["pid"])
    os.kill(pid, signal.SIGTERM)
    deadline = monotonic() + STOP_TIMEOUT_S
    while _is_ours(pid) and monotonic() < deadline:
        sleep(0.05)
    if _is_ours(pid):
        os.kill(pid, signal.SIGKILL)
    state_file().unlink(missing_ok=True)
    return {"running": False, "url": str(known["url"]), "pid": pid, "message": "Prefect server stopped"}


def server_status() -> State:
    """Whether a server answers, and where."""
    known = known_server()
    url = configured_api_url() or (str(known["url"]) if known else local_api_url())
    if is_alive(url):
        return _state(url, f"a Prefect server answers at {_ui(url)}")
    return {"running": False, "url": url, "pid": None, "message": f"no Prefect server answers at {url}"}


def _spawn(url: str, log: Path) -> subprocess.Popen[bytes]:
    port = url.rsplit(":", 1)[1].removesuffix("/api")
    command = [sys.executable, "-m", "uvicorn", "--factory", "prefect.server.api.server:create_app"]
    environment = {**SERVER_SETTINGS, **os.environ, "PREFECT_UI_API_URL": url}
    environment.pop("PREFECT_API_URL", None)
    with log.open("wb") as stream:
        return subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", port, "--log-level", "warning", "--timeout-graceful-shutdown", "2"],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=environment,
            start_new_session=True,
        )


def _state(url: str, message: str) -> State:
    known = known_server()
    pid = int(known["pid"]) if known and known["url"] == url else None
    return {"running": True, "url": url, "pid": pid, "message": message}


def _ui(url: str) -> str:
    return url.removesuffix("/api")


def _is_ours(pid: int) -> bool:
    """Whether the process lives and is a Prefect server: a process number is used again after a reboot."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return _lives(pid) and not Path("/proc").is_dir()
    return b"prefect.server.api.server" in command and _lives(pid)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
