"""The health of a skill: started and asked once, by real processes and sockets, never scored."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import Confinement
from eval_skills.adapters.health import skill_check, skill_checks
from eval_skills.core.environment import Check
from eval_skills.core.models import Skill
from tests.adapters.greedy import greedy_skill
from tests.adapters.mcp_probe import by_hand, mcp_skill
from tests.adapters.programs import ECHO, ONE_SHOT, PATIENCE_S
from tests.adapters.wire import Wire

MakeSkill = Callable[..., Skill]


async def health(skill: Skill, timeout_s: float = PATIENCE_S) -> Check:
    return await skill_check(skill, timeout_s, Confinement())


@pytest.mark.parametrize(
    ("source", "status", "found"),
    [
        pytest.param(ECHO, "ok", "answers an empty request (subprocess", id="answers"),
        pytest.param(
            ONE_SHOT + "print(json.dumps({'jsonrpc': '2.0', 'id': 1, 'error': {'code': 1, 'message': 'no query'}}))",
            "ok",
            "answers an empty request, with an error: error 1: no query",
            id="answers-with-an-error",
        ),
        pytest.param("import missing_library", "failed", "No module named 'missing_library'", id="dies"),
        pytest.param("print('hello')", "failed", "ended without an answer to id 1", id="says-something-else"),
        pytest.param("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "failed", "killed by SIGSEGV", id="crashes"),
    ],
)
async def test_a_program_is_started_and_asked(program_skill: MakeSkill, source: str, status: str, found: str) -> None:
    check = await health(program_skill(source))
    assert (check.area, check.name, check.status) == ("skills", "probe@1.2.3", status)
    assert found in check.found
    assert bool(check.remedy) == (status != "ok")


async def test_what_the_schema_requires_is_in_the_request(program_skill: MakeSkill) -> None:
    skill = program_skill(ONE_SHOT + "print(reply(params['operation']))")
    assert (await health(skill)).status == "failed"
    schema = {"required": ["operation"], "properties": {"operation": {"enum": ["evaluate"]}}}
    described = skill.model_copy(update={"input_schema": schema}).located_in(skill.folder or Path())
    assert (await health(described)).status == "ok"


async def test_one_that_is_silent_has_its_deadline(program_skill: MakeSkill, left_running: Callable[[], list[str]]) -> None:
    check = await health(program_skill("import time; time.sleep(600)"), 0.5)
    assert check.status == "failed"
    assert "no answer within 0.5 s" in check.found
    assert left_running() == []


async def test_one_that_is_never_ready_has_its_deadline_too(tmp_path: Path) -> None:
    skill = greedy_skill("http", tmp_path / "skill")
    (tmp_path / "skill" / "skill.py").write_text("import time; time.sleep(600)")
    check = await health(skill, 0.5)
    assert (check.status, check.found) == ("failed", "it was not ready within 0.5 s")


async def test_a_wrong_configuration_is_found_before_anything_starts(program_skill: MakeSkill) -> None:
    check = await health(program_skill(ECHO, limits={"memory": 3}))
    assert check.status == "failed"
    assert "unknown key 'memory'" in check.found


@pytest.mark.slow
async def test_a_service_becomes_ready_and_no_task_is_sent(tmp_path: Path) -> None:
    skill = greedy_skill("http", tmp_path / "skill")
    source = tmp_path / "skill" / "skill.py"
    source.write_text(source.read_text().replace("def do_POST(self):", "def do_POST(self):\n        open('asked', 'w').close()"))
    check = await health(skill)
    assert check.status == "ok"
    assert check.found.startswith("its service is ready; http://127.0.0.1:")
    assert "answers (HTTP 204 to GET)" in check.found
    assert not (tmp_path / "skill" / "asked").exists()


async def test_an_address_that_nobody_listens_at(http_skill: MakeSkill) -> None:
    check = await health(http_skill("http://127.0.0.1:9/x"))
    assert check.status == "failed"
    assert "connection to http://127.0.0.1:9/x failed" in check.found


async def test_p22_an_address_is_asked_with_the_secret_of_a_run(
    wire: Wire, http_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "right-one-77")
    check = await health(http_skill(f"{wire.url}/x", authType="bearer", authTokenEnvKey="TOKEN"))
    assert check.status == "ok"
    assert (wire.line(), wire.headers()["authorization"]) == ("GET /x HTTP/1.1", "Bearer right-one-77")
    wire.head = "HTTP/1.1 401 Unauthorized"
    check = await health(http_skill(f"{wire.url}/x", authType="bearer", authTokenEnvKey="TOKEN"))
    assert check.status == "warning"
    assert "it refuses the credentials that a run sends" in check.found
    assert "right-one" not in check.found
    assert "asks for credentials, and authType is not set" in (await health(http_skill(f"{wire.url}/x"))).found


async def test_an_address_that_sends_a_run_elsewhere_is_doubtful(wire: Wire, http_skill: MakeSkill) -> None:
    wire.answers = {
        "/away": "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/login",
        "/near": "HTTP/1.1 307 Temporary Redirect\r\nLocation: /page",
        "/page": "HTTP/1.1 200 OK\r\nContent-Type: text/html",
        "/round": "HTTP/1.1 307 Temporary Redirect\r\nLocation: /round",
    }
    away, near = await health(http_skill(f"{wire.url}/away")), await health(http_skill(f"{wire.url}/near"))
    assert (away.status, near.status) == ("warning", "warning")
    assert "redirected to http://127.0.0.1:9/login, which is not followed; put the final address there" in away.found
    assert "it answers with a web page (text/html), perhaps a login page, where a run expects JSON" in near.found
    round_ = await health(http_skill(f"{wire.url}/round"))
    assert (round_.status, "redirected in a circle" in round_.found) == ("warning", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "entrypoint", "status", "found"),
    [
        pytest.param("def run(value): open('called', 'w')", "skill:run", "ok", "skill:run is loaded (custom", id="loads"),
        pytest.param("def run(value): pass", "skill:rum", "failed", "did you mean 'run'", id="misspelt"),
        pytest.param("import missing_library", "skill:run", "failed", "missing_library", id="import-fails"),
    ],
)
async def test_python_is_loaded_and_not_called(
    python_skill: MakeSkill, tmp_path: Path, source: str, entrypoint: str, status: str, found: str
) -> None:
    check = await health(python_skill(source, entrypoint))
    assert check.status == status
    assert found in check.found
    assert not (tmp_path / "called").exists()


@pytest.mark.slow  # loads the SDK
async def test_an_mcp_server_is_asked_for_its_tools(tmp_path: Path) -> None:
    check = await health(mcp_skill(tmp_path, by_hand(), "echo"))
    assert check.status == "ok"
    assert check.found.startswith("by-hand 0.9.0 offers echo, 1 of ")
    assert "offers no tool 'ecko' (did you mean 'echo'?)" in (await health(mcp_skill(tmp_path, by_hand(), "ecko"))).found
    assert "no configuration found" in (await health(mcp_skill(tmp_path, by_hand("crash"), "echo"))).found
    skill = mcp_skill(tmp_path, by_hand(), "echo")
    narrower = skill.model_copy(update={"input_schema": {"properties": {"q": {"type": "string"}}}}).located_in(tmp_path)
    assert (await health(narrower)).status == "ok", "a tool that takes any object takes this one"


async def test_all_are_asked_side_by_side_and_told_in_their_order(tmp_path: Path) -> None:
    """Each waits until the others have begun: one after the other they would wait for ever."""
    skills = [_meeting(tmp_path, number, 3) for number in range(3)]
    checks = await skill_checks(skills, PATIENCE_S, Confinement())
    assert [(check.name, check.status) for check in checks] == [(f"probe{number}@1.0.0", "ok") for number in range(3)]


def _meeting(folder: Path, number: int, together: int) -> Skill:
    home = folder / f"s{number}"
    home.mkdir()
    (home / "skill.py").write_text(f"""
import json, os, sys, time
request = json.loads(sys.stdin.read())
open("here", "w").close()
while sum(os.path.exists(f"../s{{number}}/here") for number in range({together})) < {together}:
    time.sleep(0.01)
print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": 1}}))
""")
    data: dict[str, Any] = {"id": f"probe{number}", "name": "P", "version": "1.0.0", "adapterType": "subprocess"}
    return Skill.model_validate({**data, "entrypoint": json.dumps(sys.executable) + " -S -E skill.py"}).located_in(home)
