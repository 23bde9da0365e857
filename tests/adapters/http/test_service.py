from __future__ import annotations

import asyncio
import shlex
import socket
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.core.errors import InfraError, InputError, ItemError, SkillCrashed, SkillNotStarted
from eval_skills.core.models import Skill
from tests.adapters.programs import PATIENCE_S, in_time

MakeSkill = Callable[..., Skill]
Running = Callable[[], list[str]]

SERVICE = """
import http.server, json, os, subprocess, sys, time
ready_after = int(sys.argv[2]) if len(sys.argv) > 2 else 0
class Handler(http.server.BaseHTTPRequestHandler):
    probes = 0
    def do_GET(self):
        Handler.probes += 1
        self.send_response(204 if self.path == "/ready" and Handler.probes > ready_after else 503)
        self.end_headers()
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        if asked == "die":
            print("dying of it", file=sys.stderr, flush=True)
            os._exit(5)
        if asked == "hang up and die":
            self.connection.shutdown(2)
            time.sleep(0.25)
            os._exit(5)
        body = json.dumps({"pid": os.getpid(), "cwd": os.getcwd(), "env": dict(os.environ)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
subprocess.Popen(["sleep", "600"])
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.fixture
def served_skill(http_skill: MakeSkill, tmp_path: Path) -> MakeSkill:
    """A skill with a service in its folder: ``served_skill(SERVICE, "{port}", readyPath="/ready")``."""

    def make(source: str, arguments: str = "{port}", entrypoint: str = "http://127.0.0.1:{port}/run", **serve: Any) -> Skill:
        (tmp_path / "service.py").write_text(textwrap.dedent(source))
        command = f"{shlex.quote(sys.executable)} -S -E service.py {arguments}"
        more = serve.pop("config", {})
        return http_skill(entrypoint, serve={"command": command, "readyTimeoutMs": 60_000, **serve}, **more)

    return make


async def failure(skill: Skill, params: Any = None) -> ItemError:
    async with HttpAdapter(skill) as adapter:
        with pytest.raises(ItemError) as caught:
            await adapter.call(params, PATIENCE_S)
    return caught.value


async def has_died(adapter: HttpAdapter) -> None:
    """Waits until the end of the service is known: its connections break a moment earlier."""
    assert adapter._service is not None
    assert adapter._service._child is not None
    await asyncio.wait_for(asyncio.shield(adapter._service._child.exited), PATIENCE_S)


@pytest.mark.slow
async def test_p22_the_service_runs_while_the_adapter_is_open(
    served_skill: MakeSkill, tmp_path: Path, left_running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    skill = served_skill(SERVICE, readyPath="/ready", config={"env": {"MODE": "test"}})
    async with HttpAdapter(skill) as adapter:
        answers = [(await adapter.call(number, PATIENCE_S)).output for number in range(3)]
    assert len({answer["pid"] for answer in answers}) == 1
    assert answers[0]["cwd"] == str(tmp_path.resolve())
    assert answers[0]["env"]["MODE"] == "test"
    assert answers[0]["env"]["PORT"].isdigit()
    assert "OPENAI_API_KEY" not in answers[0]["env"]
    assert left_running() == []


@pytest.mark.slow
async def test_two_runs_at_once_do_not_collide(served_skill: MakeSkill) -> None:
    skill = served_skill(SERVICE)
    async with HttpAdapter(skill) as one, HttpAdapter(skill) as other:
        pids = {(await adapter.call(1, PATIENCE_S)).output["pid"] for adapter in (one, other)}
    assert len(pids) == 2


@pytest.mark.slow
async def test_a_service_is_waited_for_until_its_ready_path_answers_2xx(served_skill: MakeSkill) -> None:
    async with HttpAdapter(served_skill(SERVICE, "{port} 3", readyPath="/ready")) as adapter:
        assert (await adapter.call(1, PATIENCE_S)).output["pid"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("serve", "seen"),
    [
        pytest.param({"readyPath": "/never"}, "; the last attempt: HTTP 503", id="ready-path-fails"),
        pytest.param(
            {"source": "import time; print('warming up', flush=True); time.sleep(600)"}, "warming up", id="never-listens"
        ),
    ],
)
async def test_a_service_that_is_not_ready_in_time_is_ended_and_quoted(
    served_skill: MakeSkill, left_running: Running, serve: dict[str, Any], seen: str
) -> None:
    source = serve.pop("source", SERVICE)

    async def late(limit_s: float) -> ItemError:
        error = await failure(served_skill(source, readyTimeoutMs=int(limit_s * 1000), **serve))
        assert type(error) is InfraError
        assert f"not ready within {limit_s:g} s (serve.readyTimeoutMs)" in str(error)
        return error

    error = await in_time(late, lambda error: seen in str(error))
    assert seen in str(error)
    assert left_running() == []


async def test_a_service_that_dies_at_its_start_is_named_with_exit_code_and_last_lines(served_skill: MakeSkill) -> None:
    error = await failure(served_skill("print('starting', flush=True); raise SystemExit('no database')", readyPath="/ready"))
    assert type(error) is SkillNotStarted
    assert "at its start the service died (exit code 1); its last lines: starting | no database" in str(error)


async def test_a_service_that_cannot_be_started_is_an_infra_error(http_skill: MakeSkill) -> None:
    error = await failure(http_skill("http://127.0.0.1:{port}/", serve={"command": "no-such-server {port}"}))
    assert type(error) is InfraError
    assert "cannot start 'no-such-server'" in str(error)


async def test_a_taken_port_is_not_taken_for_the_service(served_skill: MakeSkill, left_running: Running) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        error = await failure(served_skill(SERVICE, str(port), entrypoint=f"http://127.0.0.1:{port}/run"))
    assert "another program already listens at" in str(error)
    assert "{port}" in str(error)
    assert left_running() == []


@pytest.mark.slow
async def test_a_service_that_dies_in_a_call_is_started_again_before_the_next(
    served_skill: MakeSkill, left_running: Running
) -> None:
    async with HttpAdapter(served_skill(SERVICE, readyPath="/ready")) as adapter:
        first = (await adapter.call(1, PATIENCE_S)).output["pid"]
        with pytest.raises(SkillCrashed):
            await adapter.call("die", PATIENCE_S)
        await has_died(adapter)
        answers = await asyncio.gather(*(adapter.call(number, PATIENCE_S) for number in range(3)))
    assert len({answer.output["pid"] for answer in answers}) == 1
    assert answers[0].output["pid"] != first
    assert left_running() == []


@pytest.mark.slow
async def test_one_that_ends_a_moment_after_its_connections_has_crashed(served_skill: MakeSkill) -> None:
    async with HttpAdapter(served_skill(SERVICE, readyPath="/ready")) as adapter:
        with pytest.raises(SkillCrashed, match="the service died"):
            await adapter.call("hang up and die", PATIENCE_S)


@pytest.mark.slow
async def test_a_slow_restart_takes_nothing_from_the_time_of_the_next_item(served_skill: MakeSkill, tmp_path: Path) -> None:
    async with HttpAdapter(served_skill(SERVICE, readyPath="/ready")) as adapter:
        with pytest.raises(SkillCrashed):
            await adapter.call("die", PATIENCE_S)
        await has_died(adapter)
        (tmp_path / "service.py").write_text(f"import time; time.sleep(2.2)\n{SERVICE}")
        response = await adapter.call(1, 2.0)
    assert response.latency_ms is not None
    assert response.latency_ms < 2000


@pytest.mark.slow
async def test_a_failed_restart_is_not_tried_for_every_item(served_skill: MakeSkill, tmp_path: Path) -> None:
    skill = served_skill(SERVICE, readyPath="/ready")
    async with HttpAdapter(skill) as adapter:
        (tmp_path / "service.py").write_text("open('starts', 'a').write('x'); raise SystemExit(4)")
        with pytest.raises(SkillCrashed):
            await adapter.call("die", PATIENCE_S)
        await has_died(adapter)
        for _ in range(3):
            with pytest.raises(SkillNotStarted, match="exit code 4"):
                await adapter.call(1, PATIENCE_S)
    assert (tmp_path / "starts").read_text() == "x"


async def test_cancelling_while_the_service_starts_ends_it(served_skill: MakeSkill, left_running: Running) -> None:
    adapter = HttpAdapter(served_skill("import time; time.sleep(600)"))
    opening = asyncio.create_task(adapter.__aenter__())
    await asyncio.wait([opening], timeout=0.3)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert left_running() == []


def test_a_service_needs_its_skills_folder(served_skill: MakeSkill) -> None:
    skill = Skill.model_validate(served_skill(SERVICE).to_json())
    with pytest.raises(InputError, match="this skill has none"):
        HttpAdapter.check(skill)
