"""One Prefect server for all tests of a session: the first worker that needs it starts it, who began the session stops it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import Any

import httpx
import pytest

from eval_skills.cli.prefect_server.api_server import WITHOUT_TLS, prefect_api

LIGHT = {"PREFECT_SERVER_ANALYTICS_ENABLED": "false", "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false"}
"""The session's server keeps no single events, a quarter of what a server does for a run; `sent_events` has ours."""
QUICK = {"PREFECT_RUNNER_POLL_FREQUENCY": "1", "PREFECT_WORKER_QUERY_SECONDS": "1"}
"""Variables with which a worker, or what is served, looks for work every second and not every ten."""

COMMAND = (sys.executable, "-m", "eval_skills.cli", "server")
FOLDER = pytest.StashKey[Path]()
"""Where the workers of a session find each other: the server's home, a lock, and its URL once it runs."""


def pytest_configure(config: pytest.Config) -> None:
    given = getattr(config, "workerinput", {}).get("prefect_server")
    config.stash[FOLDER] = Path(given or tempfile.mkdtemp(prefix="eval-skills-tests-"))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Called by xdist where the session began, for each worker."""
    node.workerinput["prefect_server"] = str(node.config.stash[FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    folder = config.stash[FOLDER]
    if (folder / "url").exists():
        stopped = _call(folder, "stop")
        assert stopped["running"] is False, stopped
    shutil.rmtree(folder)


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "server_url" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("one_real_run"):
            item.add_marker(pytest.mark.slow)


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def server_url(pytestconfig: pytest.Config) -> str:
    """The API of the session's one server, as `server start` leaves it running.

    All workers share it: a test finds its runs by their ids or names, and never counts everything that the server has.
    """
    folder = pytestconfig.stash[FOLDER]
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "url").exists():
            started = _call(folder, "start", "--port", str(free_port()))
            with closing(connect(folder / "home" / "prefect.db")) as live, closing(connect(folder / "new.db")) as copy:
                live.backup(copy)
            (folder / "url").write_text(started["url"])
    return (folder / "url").read_text()


@pytest.fixture(scope="session")
def new_database(pytestconfig: pytest.Config, server_url: str) -> Path:
    """The database of a server that has only been started: in another home, it saves a server the seconds that tables take."""
    return pytestconfig.stash[FOLDER] / "new.db"


@pytest.fixture(scope="session")
def prefect_url(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same API, known to Prefect in this process, for flows and Prefect tasks that a test calls itself."""
    from prefect.settings import (
        PREFECT_API_SSL_CERT_FILE,
        PREFECT_API_URL,
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
        PREFECT_HOME,
        temporary_settings,
    )

    home = tmp_path_factory.mktemp("prefect")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PREFECT_API_URL", server_url)
        environment.setenv("PREFECT_HOME", str(home))
        # Without the heartbeat a flow run ends at once, as it does from the command line: its thread sleeps in whole seconds.
        settings = {PREFECT_API_URL: server_url, PREFECT_HOME: home, PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}
        settings[PREFECT_API_SSL_CERT_FILE] = WITHOUT_TLS["PREFECT_API_SSL_CERT_FILE"]
        with prefect_api() as server, temporary_settings(settings):
            server.wait_until_ready()
            yield server_url


@pytest.fixture
def ask(prefect_url: str) -> Callable[..., Any]:
    """Ask the Prefect API: a path and a JSON body, the JSON answer."""

    def post(path: str, **body: Any) -> Any:
        return (
            httpx.post(f"{prefect_url}/{path}", json=body, timeout=120, trust_env=False, verify=False).raise_for_status().json()
        )

    return post


@pytest.fixture
def sent_events(prefect_url: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The events of ours that this process sends from now on."""
    from prefect.events.worker import EventsWorker

    sent: list[Any] = []
    send = EventsWorker.send

    def noted(worker: EventsWorker, event: Any) -> None:
        if event.event.startswith("eval-skills"):
            sent.append(event)
        send(worker, event)

    monkeypatch.setattr(EventsWorker, "send", noted)
    return sent


def _call(folder: Path, *arguments: str) -> Any:
    """What ``eval-skills server ARGUMENTS`` prints, with the server's home in `folder` and nothing of a developer's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "EVAL_SKILLS_"))}
    home = {"HOME": str(folder), "PREFECT_HOME": str(folder / "home"), **LIGHT}
    done = subprocess.run(
        [*COMMAND, *arguments, "--json"], env=kept | home, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
