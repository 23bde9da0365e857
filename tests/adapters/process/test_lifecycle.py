"""Setup and teardown around runs and items, and sessions for one item."""

from __future__ import annotations

import asyncio
import json
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import check_skill, open_adapter
from eval_skills.core.errors import InfraError, InputError, SkillTimeout
from eval_skills.core.models import Skill
from tests.adapters.mcp_probe import by_hand, mcp_skill
from tests.adapters.programs import ECHO, PATIENCE_S
from tests.adapters.sandboxed import needs_sandbox, sandboxed

MakeSkill = Callable[..., Skill]

NOTE = "{python} -S -E note.py"
"""Appends its arguments to a file, and fails, waits or writes elsewhere if one of them says so."""

_NOTE = """
import json, os, sys, time
with open("notes", "a") as file:
    file.write(" ".join(sys.argv[1:]) + chr(10))
if "env" in sys.argv:
    json.dump(dict(os.environ), open("env.json", "w"))
if "wait" in sys.argv:
    time.sleep(600)
if "fail" in sys.argv:
    print("no database", file=sys.stderr)
    sys.exit(3)
"""


@pytest.fixture
def around(program_skill: MakeSkill, tmp_path: Path) -> MakeSkill:
    """A skill with commands around it: ``around(ECHO, setup={"item": f"{NOTE} up"})``."""
    (tmp_path / "note.py").write_text(_NOTE)
    return program_skill


def notes(folder: Path) -> list[str]:
    return (folder / "notes").read_text().splitlines()


def every(**config: Any) -> dict[str, Any]:
    """All four commands, each noting its own name."""
    own = {when: {scope: f"{NOTE} {when} {scope}" for scope in ("run", "item")} for when in ("setup", "teardown")}
    return {**own, **config}


AROUND_ONE = ["setup run", "setup item", "teardown item", "teardown run"]


@pytest.mark.slow
async def test_commands_run_around_the_run_and_around_each_item(
    around: MakeSkill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    skill = around(ECHO, **every(setup={"run": f"{NOTE} setup run env"}, env={"MODE": "test"}, persistent=False))
    async with open_adapter(skill) as adapter:
        for number in range(2):
            assert (await adapter.call(number, PATIENCE_S)).output == number
    assert notes(tmp_path) == ["setup run env", "teardown item", "teardown item", "teardown run"]
    seen = json.loads((tmp_path / "env.json").read_text())
    assert seen["MODE"] == "test"
    assert "OPENAI_API_KEY" not in seen
    assert adapter.remarks == []


@pytest.mark.slow
async def test_teardown_follows_a_time_limit_and_a_cancellation(around: MakeSkill, tmp_path: Path) -> None:
    skill = around("import time; time.sleep(600)", **every())
    async with open_adapter(skill) as adapter:
        with pytest.raises(SkillTimeout):
            await adapter.call(None, 0.2)
        call = asyncio.create_task(adapter.call(None, PATIENCE_S))
        while len(notes(tmp_path)) < 4:
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert notes(tmp_path) == ["setup run", "setup item", "teardown item", "setup item", "teardown item", "teardown run"]


async def test_setup_that_fails_is_no_error_of_the_skill_and_is_torn_down(around: MakeSkill, tmp_path: Path) -> None:
    skill = around(ECHO, **every(setup={"item": f"{NOTE} fail"}))
    async with open_adapter(skill) as adapter:
        with pytest.raises(InfraError, match=r"setup\.item failed \(exit code 3\); its last lines: no database") as caught:
            await adapter.call(None, PATIENCE_S)
    assert caught.value.known is not None, "it is known that nothing was called"
    assert notes(tmp_path) == ["fail", "teardown item", "teardown run"]


async def test_setup_of_the_run_that_fails_is_every_items_error(around: MakeSkill, tmp_path: Path) -> None:
    async with open_adapter(around(ECHO, **every(setup={"run": f"{NOTE} fail"}))) as adapter:
        for _ in range(2):
            with pytest.raises(InfraError, match=r"setup\.run failed"):
                await adapter.call(None, PATIENCE_S)
    assert notes(tmp_path) == ["fail", "teardown run"]


@pytest.mark.slow
async def test_setup_has_a_limit_of_its_own_and_takes_nothing_from_the_item(around: MakeSkill, tmp_path: Path) -> None:
    waits = {"item": {"command": f"{NOTE} wait", "timeoutMs": 300}}
    async with open_adapter(around(ECHO, setup=waits)) as adapter:
        with pytest.raises(InfraError, match=r"setup\.item was not done within 0\.3 s \(timeoutMs\)"):
            await adapter.call(None, PATIENCE_S)
    slow = around(ECHO, setup={"item": "sleep 1.5"}, persistent=False)
    async with open_adapter(slow) as adapter:
        began = time.perf_counter()
        response = await adapter.call(None, PATIENCE_S)
        took_ms = (time.perf_counter() - began) * 1000
    assert response.latency_ms is not None
    assert response.latency_ms < took_ms - 1400


@pytest.mark.slow
async def test_teardown_that_fails_is_a_remark_and_the_answer_counts(around: MakeSkill) -> None:
    async with open_adapter(around(ECHO, teardown={"item": f"{NOTE} fail", "run": "no-such-program"})) as adapter:
        answers = [(await adapter.call(number, PATIENCE_S)).output for number in range(2)]
    assert answers == [0, 1]
    item, run = adapter.remarks
    assert item.startswith("probe@1.2.3: adapterConfig.teardown.item failed (exit code 3)")
    assert item.endswith("(2 times)")
    assert "no-such-program" in run


@pytest.mark.slow
async def test_items_with_commands_of_their_own_do_not_meet(around: MakeSkill, tmp_path: Path) -> None:
    async with open_adapter(around(ECHO, **every())) as adapter:
        await asyncio.gather(*(adapter.call(number, PATIENCE_S) for number in range(2)))
    assert notes(tmp_path) == ["setup run", *["setup item", "teardown item"] * 2, "teardown run"]


@needs_sandbox
@pytest.mark.slow
async def test_commands_are_held_as_the_skill_is(around: MakeSkill, tmp_path: Path) -> None:
    async with sandboxed(around(ECHO, **every())) as adapter:
        with pytest.raises(InfraError, match=r"setup\.run failed .*Read-only file system"):
            await adapter.call(None, PATIENCE_S)
    shared = around(ECHO, sandbox={"writable": ["."]}, **every())
    async with sandboxed(shared) as adapter:
        assert (await adapter.call(7, PATIENCE_S)).output == 7
    assert notes(tmp_path) == AROUND_ONE


def test_p60_a_command_that_cannot_be_meant_is_refused(around: MakeSkill) -> None:
    with pytest.raises(InputError, match=r"adapterConfig\.setup\.item\.command: .*its quotes"):
        check_skill(around(ECHO, setup={"item": "echo 'x"}))
    with pytest.raises(InputError, match=r"adapterConfig\.teardown: unknown key 'items' .did you mean 'item'"):
        check_skill(around(ECHO, teardown={"items": "true"}))


COUNTER = """
count = 0
def run(value):
    global count
    count += 1
    return count
"""


@pytest.mark.slow
@pytest.mark.parametrize(("session", "seen"), [("run", [1, 2]), ("item", [1, 1])])
async def test_a_session_of_a_python_skill(python_skill: MakeSkill, session: str, seen: list[int]) -> None:
    async with open_adapter(python_skill(COUNTER, session=session)) as adapter:
        assert [(await adapter.call(None, PATIENCE_S)).output for _ in range(2)] == seen


@pytest.mark.slow
async def test_a_session_of_an_mcp_server(tmp_path: Path) -> None:
    async with open_adapter(mcp_skill(tmp_path, by_hand(), "state", session="item")) as adapter:
        first, second = [(await adapter.call({}, PATIENCE_S)).output for _ in range(2)]
    assert first["pid"] != second["pid"]


PIDS = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = str(os.getpid()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.mark.slow
async def test_a_session_of_a_service(http_skill: MakeSkill, tmp_path: Path, left_running: Callable[[], list[str]]) -> None:
    (tmp_path / "service.py").write_text(textwrap.dedent(PIDS))
    serve = {"command": "{python} -S -E service.py {port}", "readyTimeoutMs": 60_000}
    skill = http_skill("http://127.0.0.1:{port}/run", serve=serve, session="item")
    async with open_adapter(skill) as adapter:
        pids = await asyncio.gather(*(adapter.call(None, PATIENCE_S) for _ in range(2)))
        assert len({answer.output for answer in pids}) == 2
        assert left_running() == []
        assert "answers" in (await adapter.probe(PATIENCE_S)).seen
