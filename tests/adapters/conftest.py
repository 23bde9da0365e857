"""Real servers and real programs for the adapters' tests."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import Skill
from tests.adapters.hosted import Hosted
from tests.adapters.langchain_agent import Started, running_agent
from tests.adapters.mcp_by_hand import Told, serving
from tests.adapters.misbehaving import LocalServer, MisbehavingServer
from tests.adapters.skills import make_skill
from tests.adapters.wire import Ask, Wire, listening, response, skill

MakeSkill = Callable[..., Skill]


@pytest.fixture
def server() -> Iterator[LocalServer]:
    """A server of the test's own: what a client that gave up had sent may come in when the next test counts its requests."""
    server = MisbehavingServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True)
    thread.start()
    yield server.local
    server.stop.set()
    server.shutdown()
    server.server_close()
    thread.join()


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
def forked_skill(tmp_path: Path) -> MakeSkill:
    """A skill that is a Python program whose processes a server forks: ``forked_skill('print(1)', limits={…})``."""

    def make(source: str, entrypoint: str = "{python} skill.py", **config: Any) -> Skill:
        (tmp_path / "skill.py").write_text(textwrap.dedent(source))
        return make_skill("subprocess", entrypoint, {"startMethod": "forkserver"} | config, tmp_path)

    return make


@pytest.fixture
def python_skill(tmp_path: Path) -> MakeSkill:
    """A skill that is a Python object of a module of its own: ``python_skill("def run(value): return value")``."""

    def make(source: str, entrypoint: str = "skill:run", adapter_type: str = "custom", **config: Any) -> Skill:
        (tmp_path / "skill.py").write_text(textwrap.dedent(source))
        return make_skill(adapter_type, entrypoint, config, tmp_path)

    return make


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Callable[..., Hosted]]:
    """Start a host in a folder whose ``skill.py`` is given."""
    started: list[Hosted] = []

    def start(source: str, *options: str) -> Hosted:
        (tmp_path / "skill.py").write_text(textwrap.dedent(source))
        started.append(Hosted(tmp_path, *options))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.communicate()


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    """A call of an attribute of the agent's module, by a host in this process: LangChain takes seconds to import."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    with running_agent(tmp_path) as start:
        yield start


@pytest.fixture
def left_running(tmp_path: Path) -> Callable[[], list[str]]:
    """The command lines of all processes whose working directory is the skill's folder.

    Waits up to 60 s for none: a killed process needs a moment on a busy machine, and one that was left stays for minutes.
    """

    def running() -> list[str]:
        end = time.monotonic() + 60
        while (found := _commands_in(tmp_path)) and time.monotonic() < end:
            time.sleep(0.01)
        return found

    return running


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with listening() as wire:
        yield wire


@pytest.fixture
def ask(wire: Wire) -> Ask:
    """The output of one call of a skill at a path of the wire: ``await ask("/run", {"q": 1}, method="PUT")``."""

    async def asked(path: str, input_data: Any, **config: Any) -> Any:
        return (await response(skill(wire.url + path, **config), input_data)).output

    return asked


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


def _commands_in(folder: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(folder.resolve()):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return [command for command in found if command]
