"""What the fault tests share: a running Prefect server, and evaluations in real processes that can be killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from eval_skills.core.store import Store
from tests.prefect_server import free_port
from tests.warm_command import WarmCommand

PATIENCE_S = 180.0
"""How long anything may take on a busy machine; what hangs takes for ever."""

SKILL = """
import json, os, signal, sys, time
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
evaluation = os.getppid()
for line in sys.stdin:
    request = json.loads(line)
    given = request["params"]
    with open(given["log"], "a") as log:
        log.write(given["task"] + "\\n")
    time.sleep(given["seconds"])
    while given["gate"] and not os.path.exists(given["gate"]) and os.getppid() == evaluation:
        time.sleep(0.02)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "ok"}), flush=True)
"""
"""Writes down every call at its beginning, outside its own folder, so that nobody's digest changes."""


class Process:
    """One call of the command line, in a process group of its own."""

    def __init__(
        self, command: WarmCommand, arguments: list[str], *, cwd: Path, environment: dict[str, str], output: Path
    ) -> None:
        self._output = output
        with output.with_suffix(".out").open("wb") as out, output.with_suffix(".err").open("wb") as err:
            self.popen = command.start(arguments, cwd=cwd, environment=environment, out=out, err=err)

    @property
    def out(self) -> str:
        return self._output.with_suffix(".out").read_text()

    @property
    def err(self) -> str:
        return self._output.with_suffix(".err").read_text()

    @property
    def last_word(self) -> str:
        """The last line on stderr."""
        return (self.err.strip().splitlines() or [""])[-1]

    def end(self, within_s: float = PATIENCE_S) -> int:
        """The exit code, once there is one."""
        return self.popen.wait(timeout=within_s)

    def send(self, number: signal.Signals, *, group: bool = False) -> None:
        if self.popen.poll() is None:
            (os.killpg if group else os.kill)(self.popen.pid, number)

    def kill(self) -> None:
        """Kill -9 of the whole process group, now."""
        self.send(signal.SIGKILL, group=True)
        self.end()

    def wait_until(self, condition: Callable[[], bool], within_s: float = PATIENCE_S) -> bool:
        """Poll until `condition` holds (True) or the process has ended (False)."""
        deadline = time.monotonic() + within_s
        while not condition():
            if self.popen.poll() is not None:
                return condition()
            assert time.monotonic() < deadline, f"nothing happened in {within_s:g} s: {self.err}"
            time.sleep(0.005)
        return True


class Workplace:
    """A folder with one skill, its tasks, a store and reports; evaluations of them; and what the skill itself has seen."""

    def __init__(self, folder: Path, environment: dict[str, str], command: WarmCommand) -> None:
        self.folder, self.environment, self._command = folder, environment, command
        self.mark = f"mark-{uuid4().hex}"
        self.store = Store(folder / "store")
        self._calls_log = folder / "calls.log"
        self._gate = folder / "gate-is-open"
        self._processes: list[Process] = []

    def furnish(
        self, tasks: int, *, seconds: float = 0.03, persistent: bool = True, stubborn: bool = False, free: int | None = None
    ) -> None:
        """Write the skill, which needs so many seconds for an answer (and may ignore SIGTERM), and so many tasks.

        All tasks but the first `free` ones are answered once the gate is open, so that a run cannot end before it shall.
        """
        config = {"persistent": persistent, "args": [self.mark, *(["stubborn"] if stubborn else [])]}
        self.add_skill("logged", SKILL, entrypoint=f"{sys.executable} -ISs skill.py", adapterConfig=config)
        waits = [free is not None and number >= free for number in range(tasks)]
        common = {"log": str(self._calls_log), "seconds": seconds}
        inputs = [{"task": f"t{n:03d}", "gate": str(self._gate) if wait else "", **common} for n, wait in enumerate(waits)]
        self.write_tasks(*inputs)

    def open_the_gate(self) -> None:
        """Let the tasks be answered that are not free."""
        self._gate.touch()

    def add_skill(self, name: str, program: str, **fields: Any) -> Path:
        """A skill of one program, `skill.py`."""
        folder = self.folder / "skills" / name
        folder.mkdir(parents=True)
        data = {"id": name, "name": name, "version": "1.0.0", "adapterType": "subprocess", **fields}
        (folder / "skill.json").write_text(json.dumps(data))
        (folder / "skill.py").write_text(program)
        return folder

    def write_tasks(self, *inputs: dict[str, Any]) -> None:
        tasks = [{"id": given["task"], "inputData": given, "expectedOutput": {"value": "ok"}} for given in inputs]
        (self.folder / "tasks.json").write_text(json.dumps(tasks))

    def evaluate(self, *options: str) -> Process:
        """Start a new run of all skills on all tasks."""
        return self.call("eval", "--skills", "skills", "--tasks", "tasks.json", "--store", "store", *options)

    def resume(self, *options: str, cwd: Path | None = None) -> Process:
        """Start to go on with the latest run, from any folder."""
        return self.call("eval", "--resume", "latest", "--store", self.store.path, *options, cwd=cwd)

    def call(self, *arguments: str, cwd: Path | None = None) -> Process:
        output = self.folder / f"call-{len(self._processes)}"
        process = Process(self._command, list(arguments), cwd=cwd or self.folder, environment=self.environment, output=output)
        self._processes.append(process)
        return process

    def journal(self) -> list[str]:
        """The task ids in the journal of the latest run, line by line; nothing before there is one."""
        run_id = self.store.latest_run()
        path = self.store.journal_path(run_id) if run_id else None
        lines = path.read_bytes().split(b"\n")[:-1] if path and path.exists() else []
        return [json.loads(line)["task_id"] for line in lines]

    def has_begun(self) -> bool:
        """Whether a run has its manifest, so that it can be resumed."""
        return any((self.folder / "store").glob("runs/*/manifest.json"))

    def is_landing(self) -> bool:
        """Whether a table of items is being written, or has been."""
        return any(path.is_file() for path in (self.folder / "store" / "items").rglob("*"))

    def has_no_journal(self) -> bool:
        """Whether no run is unfinished, or locked."""
        return not list((self.folder / "store").glob("runs/*/journal.*"))

    def calls(self) -> Counter[str]:
        """How often the skill was called with each task."""
        return Counter(self._calls_log.read_text().split()) if self._calls_log.exists() else Counter()

    def landed(self) -> Counter[str]:
        """How many rows the store has of each task."""
        return Counter(self.store.items()["task_id"])

    def reports(self) -> list[str]:
        """The kinds of report files that were written."""
        return sorted(path.suffix for path in (self.folder / "reports").glob("eval-result-*"))

    def use(self, server_url: str) -> None:
        """From now on calls find this server, and start none of their own."""
        self.environment = self.environment | {"PREFECT_API_URL": server_url}

    def survivors(self) -> list[int]:
        """The processes of the skill that are left."""
        return processes_with(self.mark)

    def servers(self) -> list[int]:
        """The private Prefect servers that live in this workplace's ``PREFECT_HOME``."""
        return [pid for pid in processes_with(str(self.prefect_home)) if b"prefect_server.process" in command_line(pid)]

    @property
    def prefect_home(self) -> Path:
        return Path(self.environment["PREFECT_HOME"])

    def is_deserted(self) -> bool:
        """Whether no process of the skill and no private server is left, now or soon."""
        return none_within(PATIENCE_S, lambda: self.survivors() + self.servers())

    def stop_everything(self) -> None:
        for process in self._processes:
            process.kill()


@pytest.fixture
def server_environment(tmp_path_factory: pytest.TempPathFactory, server_url: str) -> dict[str, str]:
    """The environment of calls that find the session's running server."""
    return clean_environment(tmp_path_factory.mktemp("prefect-home")) | {"PREFECT_API_URL": server_url}


@pytest.fixture
def workplace(tmp_path: Path, server_environment: dict[str, str], warm_command: WarmCommand) -> Iterator[Workplace]:
    """A workplace whose calls use the running server."""
    place = Workplace(tmp_path, server_environment, warm_command)
    yield place
    place.stop_everything()


def clean_environment(prefect_home: Path) -> dict[str, str]:
    """This process's environment without its own Prefect settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "EVAL_SKILLS_"))}
    return kept | {"PREFECT_HOME": str(prefect_home), "PREFECT_SERVER_API_PORT": str(free_port())}


@pytest.fixture
def private_place(tmp_path: Path, private_environment: dict[str, str], warm_command: WarmCommand) -> Iterator[Workplace]:
    """A workplace whose calls start private servers, with a ``PREFECT_HOME`` of its own."""
    place = Workplace(tmp_path, private_environment, warm_command)
    yield place
    place.stop_everything()


@pytest.fixture
def private_environment(tmp_path_factory: pytest.TempPathFactory, new_database: Path) -> dict[str, str]:
    """The environment of calls that find no server, in a ``PREFECT_HOME`` with an empty database."""
    home = tmp_path_factory.mktemp("private-home")
    shutil.copy(new_database, home / "prefect.db")
    return clean_environment(home)


def none_within(seconds: float, processes: Callable[[], list[int]]) -> bool:
    """Whether none of these processes is left, now or soon."""
    deadline = time.monotonic() + seconds
    while processes() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not processes()


def command_line(pid: int) -> bytes:
    """The words of a process; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def processes_with(mark: str) -> list[int]:
    """The processes that live and have `mark` in their command line or environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
        if mark.encode() in words:
            found.append(int(folder.name))
    return found


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What every process of the skills carries; and a folder of its own for temporary files."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return f"mark-{uuid4().hex}"
