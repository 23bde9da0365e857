"""The Prefect API that is there before a call: the configured one, or that of the server which `server start` left running.

What `server start` notes of its server is written before there is a process, so that whatever interrupts the start, `server stop`
finds what it began: the server's command line holds the note's token.
"""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from eval_skills.core.store.files import PRIVATE, create, make_folder


def prefect_home() -> Path:
    """Where Prefect keeps its state."""
    return Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect").expanduser()


def configured_api_url() -> str | None:
    """``PREFECT_API_URL`` from the environment, else from the active Prefect profile; None where neither names one."""
    if url := os.environ.get("PREFECT_API_URL"):
        return url
    try:
        profiles = tomllib.loads((prefect_home() / "profiles.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError):
        return None  # Prefect itself reports a broken profile when it is imported
    active = os.environ.get("PREFECT_PROFILE") or profiles.get("active")
    profile: dict[str, Any] = profiles.get("profiles", {}).get(active, {})
    return profile.get("PREFECT_API_URL")


def existing_api() -> str | None:
    """The API that outlives this call: the configured one, else that of this PREFECT_HOME's own server; None: neither.

    A server that merely answers on the usual port may be anybody's, and would get the runs and all of their data.
    """
    return configured_api_url() or own_url()


def local_api_url(port: int | None = None) -> str:
    """Where a local server would be: on `port`, else by Prefect's own settings."""
    host = os.environ.get("PREFECT_SERVER_API_HOST") or "127.0.0.1"
    return f"http://{host}:{port or os.environ.get('PREFECT_SERVER_API_PORT') or 4200}/api"


_OLD = "prefect.server.api.server"
"""What the command line of a server shows that was started by a version without tokens."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A server that was started to stay: where it listens, and by what its process is known. `pid` is None while it starts."""

    url: str
    token: str
    pid: int | None = None

    def process(self) -> psutil.Process | None:
        """Its process, if that lives and is of this user; a process number alone is used again after a reboot."""
        if self.pid is not None:
            return _same(self.pid, self.token or _OLD)
        return next((found for each in psutil.process_iter() if (found := _same(each.pid, self.token))), None)


def state_file() -> Path:
    """Where the note is."""
    return prefect_home() / "eval-skills-server.json"


def noted_server() -> Noted | None:
    """The server that `server start` noted, whether it still lives or not; None where there is no note that can be read."""
    try:
        found = json.loads(state_file().read_text(encoding="utf-8"))
        return Noted(str(found["url"]), str(found.get("token", "")), found.get("pid"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def note(server: Noted) -> None:
    """Write the note, whole or not at all; its folder is made if need be."""
    file = state_file()
    make_folder(file.parent, PRIVATE)
    scratch = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    create(scratch, PRIVATE)
    scratch.write_text(json.dumps(asdict(server)), encoding="utf-8")
    scratch.replace(file)


def forget() -> None:
    """Remove the note."""
    state_file().unlink(missing_ok=True)


def own_url() -> str | None:
    """The API of this PREFECT_HOME's own server, if it lives and listens where its note says.

    Whatever else answers there is somebody else's: it gets no runs and none of their data.
    """
    noted = noted_server()
    if noted is None or (process := noted.process()) is None:
        return None
    port = int(noted.url.rsplit(":", 1)[1].partition("/")[0])
    try:
        listening = {each.laddr.port for each in process.net_connections(kind="tcp") if each.status == psutil.CONN_LISTEN}
    except psutil.Error:
        return None
    return noted.url if port in listening else None


def _same(pid: int, token: str) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        ours = process.uids().real == os.getuid() and process.status() != psutil.STATUS_ZOMBIE
        return process if ours and token and any(token in part for part in process.cmdline()) else None
    except psutil.Error:
        return None
