"""What the tests of the deployments share: a Prefect server that stays, and a folder of skills to deploy from."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar

import httpx
import pytest

from tests.prefect_server import QUICK
from tests.warm_command import PROGRAM, WarmCommand

T = TypeVar("T")
ROOT = Path(__file__).parents[3]
PATIENCE_S = 300.0
"""How long anything may take on a busy machine; what hangs takes for ever."""
FINAL = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


PREFECT = Path(sys.executable).with_name("prefect")
EVAL_SKILLS = PREFECT.with_name("eval-skills")

FORKED = """
import os, runpy, sys
from prefect.context import refresh_global_settings_context
from prefect.logging.configuration import setup_logging
refresh_global_settings_context()
setup_logging(incremental=False)
sys.executable = os.environ.get("PYTHON_OF_RUNS", sys.executable)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""A program as it would begin, but for what it imports. Prefect starts the processes of flow runs with `sys.executable`."""


@dataclass(frozen=True, slots=True)
class Site:
    """A folder with skills, and a Prefect server of its own."""

    folder: Path
    url: str
    environ: dict[str, str]
    warm: WarmCommand
    python: Path

    def run(self, program: Path, *arguments: str, **environ: str) -> tuple[int, str, str]:
        """A Python program, to its end, in a fork; its exit code, and what it wrote. Nothing can be typed into it."""
        call = [PROGRAM, FORKED, str(program), *arguments]
        return self.warm.start(call, cwd=self.folder, environment=self.environ | environ).output(timeout=300)

    @contextmanager
    def running(self, program: Path, *arguments: str, log: Path) -> Iterator[None]:
        """A Python program that goes on until it is stopped, in a fork, as its flow runs are; both its streams go to `log`."""
        call, environ = [PROGRAM, FORKED, str(program), *arguments], self.environ | {"PYTHON_OF_RUNS": str(self.python)}
        with log.open("wb") as stream:
            process = self.warm.start(call, cwd=self.folder, environment=environ, out=stream, err=stream)
            try:
                yield
            finally:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=60)
                process.kill()

    @contextmanager
    def started(self, program: str, *arguments: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
        """A command that goes on until it is stopped, in a process that has imported nothing; both its streams go to `log`."""
        command = [str(Path(sys.executable).with_name(program)), *arguments]
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command, cwd=self.folder, env=self.environ, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
            )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def ask(self, path: str, **body: Any) -> Any:
        """The API's answer to a path and a JSON body."""
        return httpx.post(f"{self.url}/{path}", json=body, timeout=60, trust_env=False, verify=False).raise_for_status().json()

    def forget(self, path: str) -> None:
        """Delete what the API has at a path."""
        httpx.delete(f"{self.url}/{path}", timeout=60, trust_env=False, verify=False).raise_for_status()

    def deployment(self, name: str) -> Any:
        """What the API knows of a deployment: ``evaluate/evaluate``."""
        return (
            httpx.get(f"{self.url}/deployments/name/{name}", timeout=60, trust_env=False, verify=False).raise_for_status().json()
        )

    def begin(self, name: str, **request: Any) -> str:
        """Ask for a run of a deployment, as the UI and ``prefect deployment run`` do; the id of the flow run."""
        asked: dict[str, Any] = {"state": {"type": "SCHEDULED"}, "parameters": {"request": request} if request else {}}
        flow_run = self.ask(f"deployments/{self.deployment(name)['id']}/create_flow_run", **asked)
        return str(flow_run["id"])

    def ended(self, flow_run_id: str) -> Any:
        """The state in which a flow run ended; None as long as it has not."""
        [found] = self.ask("flow_runs/filter", flow_runs={"id": {"any_": [flow_run_id]}})
        return found["state"] if found["state_type"] in FINAL else None


def until(look: Callable[[], T], *, what: str, log: Path | None = None) -> T:
    """What `look` finds, as soon as it finds something; a wait that does not end says what it waited for."""
    deadline = monotonic() + PATIENCE_S
    while not (found := look()):
        said = log.read_text(encoding="utf-8", errors="replace")[-3000:] if log else ""
        assert monotonic() < deadline, f"in vain: {what}\n{said}"
        sleep(0.2)
    return found


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, server_url: str, warm_command: WarmCommand) -> Site:
    """The session's server, with a home of its own for what is called here."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "examples" / "skills" / "calculator", folder / "skills" / "calculator")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT", "EVAL_SKILLS"))}
    home = {
        "PREFECT_HOME": str(tmp_path_factory.mktemp("home")),
        "PREFECT_API_URL": server_url,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        **QUICK,
    }
    environ = kept | home | {"SKILLS_FOLDER": str(folder), "COLUMNS": "200"}
    return Site(folder, server_url, environ, warm_command, warm_command.python_shim(tmp_path_factory.mktemp("shim")))
