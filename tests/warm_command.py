"""The command line with its imports done: each call is a fork of one process, which saves the seconds that its start takes.

Tests and pages call `eval-skills` some hundred times. All workers of a session share the one process: a call hands it arguments,
variables, folder and streams, and learns the fork's process id and, once it has ended, its exit code. A shim of that name, in
front on a PATH, does the same for what a shell calls.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import termios
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from io import StringIO
from pathlib import Path
from pkgutil import iter_modules
from runpy import run_module
from types import ModuleType
from typing import IO, NoReturn

import pytest

from eval_skills.cli import commands
from eval_skills.cli.context import USAGE
from eval_skills.cli.prefect_server.api_server import CLIENT_SETTINGS, QUIET, WITHOUT_TLS, apply
from eval_skills.cli.prefect_server.existing import prefect_home
from eval_skills.cli.running import NEEDED_BY_A_FLOW
from tests.ending import end
from tests.kept_options import keep_options
from tests.prefect_server import FOLDER

SHIM = """#!{python} -ISs
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(call).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(call)
    _, code = server.makefile()
sys.exit(int(code))
"""
PYTHON_SHIM = """#!{python} -ISs
import json, os, signal, socket, sys
if {others}:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(call).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(call)
    lines = server.makefile()
    pid = int(lines.readline())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: os.kill(pid, number))
    code = int(lines.readline())
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
"""A Python that is begun as a fork; `others` are the calls for which it is a new process."""
ROOT = Path(__file__).parents[1]
REHEARSED = [{"input": {"operation": "evaluate", "expression": "2+3"}, "expected": 5}]
PROGRAM = "-c"
"""In front of a call's arguments: they are a Python program and its own."""
MODULE = "-m"
"""In front of a call's arguments: they are a Python module, which knows Prefect's variables, and its own."""
UNBUFFERED = "-u"
"""In front of a call's arguments: they are those of the Python in which xdist begins a worker."""
IMPORTED = (
    "eval_skills.flows.pipeline",
    "eval_skills.cli.main",
    "eval_skills.cli.app",
    *NEEDED_BY_A_FLOW,
    *(f"eval_skills.adapters.{name}.adapter" for name in ("agent", "http", "mcp", "process", "python")),
    "eval_skills.benchmarks.importers.kinds",
    "eval_skills.core.store.tables",
    "anyio._backends._asyncio",
    "cyclopts.help",
    "duckdb",
    "graphviz",
    "mcp.server.mcpserver",
    "pandas",
    "psutil",
    "pyarrow.parquet",
    "rich._emoji_codes",
    "rich.progress",
    "sse_starlette",
    "uvicorn",
)
"""Beside the commands."""


class WarmProcess:
    """One call: as far as tests ask, what `subprocess.Popen` is; in a session, so also a process group, of its own."""

    def __init__(self, server: socket.socket, out: IO[bytes], err: IO[bytes]) -> None:
        self._server, self._streams = server, (out, err)
        self._lines = server.makefile()
        self.pid = int(self._lines.readline())
        self._code: int | None = None

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once there is one.

        Raises:
            subprocess.TimeoutExpired: it still runs after `timeout` seconds.
        """
        if self._code is None:
            if not select.select([self._server], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("eval-skills", timeout or 0)
            with self._server, self._lines:
                self._code = int(self._lines.readline())
        return self._code

    def output(self, timeout: float | None = None) -> tuple[int, str, str]:
        """The exit code, once there is one, and what was kept of stdout and stderr; what does not end in time is killed."""
        try:
            code = self.wait(timeout)
        finally:
            self.kill()
        kept = []
        for stream in self._streams:
            with stream:
                stream.seek(0)
                kept.append(stream.read().decode())
        out, err = kept
        return code, out, err

    def kill(self) -> None:
        """Kill -9 of its whole process group, if it runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has ended by itself, and its exit code is on its way
                os.killpg(self.pid, signal.SIGKILL)


class WarmCommand:
    """The process that waits for calls; the first call of the session starts it."""

    def __init__(self, folder: Path, also: Sequence[str] = ()) -> None:
        """`also` are further modules that the process imports, if it is this call that starts it."""
        self._folder, self._also = folder, also

    def start(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        environment: dict[str, str],
        out: IO[bytes] | None = None,
        err: IO[bytes] | None = None,
        terminal: IO[bytes] | None = None,
    ) -> WarmProcess:
        """Begin ``eval-skills ARGUMENTS``, in a `terminal` or with nothing to read. What it writes is kept if nobody takes it."""
        address, server = self._address(), socket.socket(socket.AF_UNIX)
        server.connect(address)
        out = terminal or out or tempfile.TemporaryFile()  # noqa: SIM115 - `output` closes it
        err = terminal or err or tempfile.TemporaryFile()  # noqa: SIM115
        call = json.dumps([list(arguments), str(cwd), environment]).encode()
        with Path(os.devnull).open("rb") as nothing:
            read = terminal or nothing
            socket.send_fds(server, [len(call).to_bytes(4, "big")], [read.fileno(), out.fileno(), err.fileno()])
            server.sendall(call)
            return WarmProcess(server, out, err)

    def python(self, program: str, *arguments: str, cwd: Path = ROOT) -> WarmProcess:
        """Begin ``python -c PROGRAM ARGUMENTS`` with this process's variables: where it ends, and how, is its own affair."""
        return self.start([PROGRAM, program, *arguments], cwd=cwd, environment=dict(os.environ))

    def shim(self, folder: Path) -> Path:
        """A folder for the PATH, below `folder`, with `eval-skills` in it."""
        return self._shim(SHIM, folder / "bin" / "eval-skills").parent

    def python_shim(self, folder: Path) -> Path:
        """A Python, below `folder`, that forks for ``-m MODULE`` of Prefect: the process of a flow run."""
        return self._shim(PYTHON_SHIM, folder / "bin" / "python", others="sys.argv[1:2] != ['-m']")

    def worker_shim(self, folder: Path) -> Path:
        """A Python, below `folder`, in which xdist begins a worker: a fork."""
        return self._shim(PYTHON_SHIM, folder / "bin" / "python", others="False")

    def _shim(self, program: str, shim: Path, **places: str) -> Path:
        shim.parent.mkdir()
        shim.write_text(program.format(python=sys.executable, address=self._address(), **places), encoding="utf-8")
        shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
        return shim

    def _address(self) -> str:
        with (self._folder / "warm.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (noted := self._folder / "warm.pid").exists():
                command = [sys.executable, "-m", __name__, str(self._folder / "warm"), *self._also]
                kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "EVAL_SKILLS_"))}
                with subprocess.Popen(
                    command,
                    cwd=ROOT,
                    env=kept | CLIENT_SETTINGS | QUIET,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                ) as process:
                    assert process.stdout is not None
                    number = process.stdout.readline()
                assert number, "it did not start; why is above"
                noted.write_bytes(number)
        return str(self._folder / "warm")


@pytest.fixture(scope="session")
def warm_command(pytestconfig: pytest.Config) -> WarmCommand:
    """The session's, which ends with it."""
    return WarmCommand(pytestconfig.stash[FOLDER])


@pytest.hookimpl(tryfirst=True)  # before the folder goes
def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and (noted := config.stash[FOLDER] / "warm.pid").exists():
        os.kill(int(noted.read_text()), signal.SIGTERM)


def serve(address: str, *also: str) -> None:
    """Fork for each call, in the background, until the process is ended; print its id."""
    for name in (*IMPORTED, *also):
        import_module(name)
    for command in iter_modules(commands.__path__, f"{commands.__name__}."):
        import_module(command.name)
    import_module("eval_skills.core.llm").load_with_openai()
    keep_options()
    _rehearse()
    gc.collect()
    gc.freeze()
    if os.fork():
        os._exit(0)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen(128)
        print(os.getpid(), flush=True)
        _take_calls(server)


def _rehearse() -> None:
    """Evaluate a skill and write its reports, without Prefect, whose threads no fork has: what is made at first use (models,
    templates, options) is a third of what a run costs."""
    import eval_skills
    from eval_skills.cli.main import call

    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        eval_skills.evaluate(skills=[str(ROOT / "examples" / "skills" / "calculator")], tasks=REHEARSED, store=folder)
        files = ["--format", "html", "markdown", "json", "--output", f"{folder}/reports/"]
        assert call(["--json", "report", "convert", "--input", "latest", "--store", folder, *files]) == 0
        for command in ("run", "eval", "nightly", "backfill"):
            assert call([command, "--no-such-option"]) == USAGE


def _take_calls(server: socket.socket) -> None:
    """Fork for each call, and tell each caller the exit code."""
    callers: dict[int, socket.socket] = {}
    ended, ends = socket.socketpair()
    ends.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ends.fileno())
    while True:
        ready, _, _ = select.select([server, ended], [], [])
        if server in ready:
            caller, _ = server.accept()
            call, streams = _received(caller)
            if (child := os.fork()) == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for mine in (server, ended, ends, *callers.values()):
                    mine.close()
                _make(call, streams, caller)
            callers[child] = caller
            for stream in streams:
                os.close(stream)
        if ended in ready:
            ended.recv(4096)
            while callers and (gone := os.waitpid(-1, os.WNOHANG))[0]:
                with suppress(OSError), callers.pop(gone[0]) as caller:  # nobody may wait any more
                    caller.sendall(f"{os.waitstatus_to_exitcode(gone[1])}\n".encode())


def _received(caller: socket.socket) -> tuple[bytes, list[int]]:
    """A call and its three streams."""
    size, streams, _, _ = socket.recv_fds(caller, 4, 3)
    call = b""
    while len(call) < int.from_bytes(size, "big"):
        call += caller.recv(1 << 16)
    return call, list(streams)


def _make(call: bytes, streams: list[int], caller: socket.socket) -> NoReturn:
    """Make the call, in this process, once the caller knows its id, by which the group may be killed from then on."""
    arguments, folder, variables = json.loads(call)
    os.setsid()
    with suppress(OSError), caller:
        caller.sendall(f"{os.getpid()}\n".encode())
    # A terminal that closes is noticed, also where the tests themselves were started with `nohup`.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # Ctrl-C is for this process
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    end(_code_of(arguments))


def _code_of(arguments: list[str]) -> int:
    """The exit code of what is called."""
    try:
        _call(arguments)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - what ends an interpreter with a traceback
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _call(arguments: list[str]) -> None:
    if arguments[:1] == [PROGRAM]:
        sys.argv, sys.path[0] = [PROGRAM, *arguments[2:]], ""
        exec(arguments[1], {"__name__": "__main__"})
        return
    from prefect.context import refresh_global_settings_context
    from prefect.logging.configuration import setup_logging

    from eval_skills.cli.main import main

    if arguments[:1] in ([MODULE], [UNBUFFERED]):
        refresh_global_settings_context()
        setup_logging(incremental=False)  # this process was told to be quiet
    if arguments[:1] == [UNBUFFERED]:
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]  # pytest imports them itself, with their assertions rewritten
        program = sys.modules["__main__"] = ModuleType("__main__")
        sys.argv, sys.path[0] = [PROGRAM], ""
        exec(arguments[arguments.index(PROGRAM) + 1], vars(program))
        return
    if arguments[:1] == [MODULE]:
        sys.argv, sys.path[0] = arguments[1:], ""
        if sys.argv[0] != "prefect.engine":  # what prepares a run's folder begins the process of the run
            sys.executable = os.environ.get("PYTHON_OF_RUNS", sys.executable)
        sys.modules.pop(sys.argv[0], None)  # it begins as a program
        run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    prefect_home().parent.mkdir(parents=True, exist_ok=True)  # Prefect makes the last folder alone
    apply(WITHOUT_TLS)  # the APIs of tests are spoken to in plain HTTP
    apply(CLIENT_SETTINGS if {"-v", "--verbose"} & set(arguments) else CLIENT_SETTINGS | QUIET)
    refresh_global_settings_context()
    sys.argv = ["eval-skills", *arguments]
    main()


if __name__ == "__main__":
    serve(*sys.argv[1:])
