"""Items of a skill whose processes a server forks: each is held, ended and reported as one that was started by itself."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from eval_skills.adapters import Confinement, check_skill, open_adapter
from eval_skills.adapters.config import SubprocessConfig
from eval_skills.adapters.process import forking
from eval_skills.adapters.process.adapter import SubprocessAdapter, command_words
from eval_skills.adapters.process.forking import Forking, forked_launch
from eval_skills.adapters.process.launch import launch_of
from eval_skills.core.errors import (
    ContractError,
    InfraError,
    InputError,
    ItemError,
    SkillError,
    SkillTimeout,
    SkillUnavailable,
)
from eval_skills.core.models import Skill
from tests.adapters.programs import ECHO, ONE_SHOT, PATIENCE_S, ask, failure, in_time
from tests.adapters.sandboxed import needs_sandbox
from tests.tables import each_row

MakeSkill = Callable[..., Skill]
Running = Callable[[], list[str]]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it works on Linux only, and is refused elsewhere")

PPID = ONE_SHOT + "print(reply(os.getppid()))"
"""Answers with the id of its server."""

SPAWNED = 'probe@1.2.3: "startMethod": "forkserver" was given up, and items start an interpreter each: '


@each_row(
    ("config", "message"),
    [
        (
            {"startMethod": "fork"},
            r"adapterConfig\.startMethod: .*'spawn'.*'forkserver'|adapterConfig\.startMethod: .*spawn.*forkserver",
        ),
        ({"startmethod": "spawn"}, r"unknown key 'startmethod' \(did you mean 'startMethod'\?\)"),
        (
            {"persistent": True},
            r"adapterConfig\.startMethod: .*serve one item, and a persistent one serves many; remove persistent",
        ),
        (
            {"command": "python3 skill.py"},
            r'adapterConfig\.startMethod: "forkserver" forks Python only: a command "\{python\} script\.py"',
        ),
        ({"command": "{python} -u skill.py"}, r"with arguments behind that"),
        ({"command": "{python} -m"}, r"forks Python only"),
        ({"command": "{python} -c pass"}, r"forks Python only"),
        ({"command": "{python} skill.sh"}, r"forks Python only"),
        ({"command": "{python}"}, r"forks Python only"),
    ],
)
def test_p60_what_cannot_be_forked_is_refused(forked_skill: MakeSkill, config: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_skill(forked_skill(ECHO, **config))


@each_row("command", ["{python} skill.py", "{python} skill.py -u 'a b'", "{python} -m skill", "{python} -m skill -x"])
def test_what_can_be_forked_is_taken(forked_skill: MakeSkill, command: str) -> None:
    check_skill(forked_skill(ECHO, command))


def test_other_systems_are_told_what_works_there(forked_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(
        InputError, match=r'startMethod: "forkserver" works on Linux only; leave startMethod out, or write "spawn"'
    ):
        check_skill(forked_skill(ECHO))


@needs_sandbox
@pytest.mark.parametrize("confinement", [Confinement(), Confinement(sandbox="bwrap")], ids=["own", "callers"])
def test_p73_a_sandbox_that_items_would_share_is_refused(forked_skill: MakeSkill, confinement: Confinement) -> None:
    own = {} if confinement.sandbox == "bwrap" else {"sandbox": "bwrap"}
    with pytest.raises(InputError, match="would put all items into one sandbox, and each has its own"):
        check_skill(confinement.of(forked_skill(ECHO, **own)))


@pytest.mark.slow
async def test_many_items_at_once_get_their_own_answers_from_one_server(forked_skill: MakeSkill, left_running: Running) -> None:
    source = ONE_SHOT + "print(reply([params, os.getpid(), os.getppid()]))"
    async with SubprocessAdapter(forked_skill(source)) as adapter:
        answers = [each.output for each in await asyncio.gather(*(adapter.call(number, PATIENCE_S) for number in range(40)))]
    numbers, pids, servers = zip(*answers, strict=True)
    assert numbers == tuple(range(40))
    assert (len(set(pids)), len(set(servers))) == (40, 1)
    assert left_running() == []
    assert adapter.remarks == []


async def test_the_environment_is_the_allow_list(forked_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    seen = (await ask(forked_skill(ONE_SHOT + "print(reply(dict(os.environ)))", env={"OWN": "x"}))).output
    assert seen["OWN"] == "x"
    assert "OPENAI_API_KEY" not in seen


@pytest.mark.slow
async def test_large_inputs_and_outputs_pass_whole_and_an_unread_one_does_no_harm(forked_skill: MakeSkill) -> None:
    big = "x" * 1_000_000
    assert (await ask(forked_skill(ECHO), big)).output == big
    source = 'import os\nos.read(0, 1); os.close(0); print(\'{"jsonrpc": "2.0", "id": 1, "result": "unread"}\')'
    assert (await ask(forked_skill(source), big)).output == "unread"


async def test_an_output_beyond_its_limit_is_refused(forked_skill: MakeSkill) -> None:
    error = await failure(forked_skill("import sys\nwhile True: sys.stdout.write('x' * 65536)", maxOutputBytes=1000))
    assert isinstance(error, ContractError)
    assert "more than 1,000 bytes (maxOutputBytes)" in str(error)


async def test_p24_the_exit_code_after_an_answer_is_a_remark(forked_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.adapters.process.adapter.LINGER_S", PATIENCE_S)
    response = await ask(forked_skill(ONE_SHOT + "print(reply(1)); sys.exit(3)"))
    assert (response.output, response.metadata, response.logs) == (1, {"exitCode": 3}, "exit code 3 after the answer")


DESCENDANTS = """
import subprocess, sys, time
def descend(**options):
    return subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], **options)
"""


@pytest.mark.slow
@pytest.mark.parametrize("apart", [False, True], ids=["its-session", "a-session-of-its-own"])
async def test_a_time_limit_ends_all_that_was_started(forked_skill: MakeSkill, left_running: Running, apart: bool) -> None:
    skill = forked_skill(f"{DESCENDANTS}print(descend(start_new_session={apart}).pid, flush=True)\ntime.sleep(600)")

    async def attempt(limit_s: float) -> ItemError:
        return await failure(skill, timeout_s=limit_s)

    error = await in_time(attempt, lambda error: bool(error.logs))
    assert isinstance(error, SkillTimeout)
    assert left_running() == []


@pytest.mark.slow
async def test_what_a_finished_process_left_behind_is_ended(forked_skill: MakeSkill, left_running: Running) -> None:
    assert (await ask(forked_skill(DESCENDANTS + ONE_SHOT + "descend()\nprint(reply(1))"))).output == 1
    assert left_running() == []


@pytest.mark.slow
async def test_a_process_that_does_not_end_after_its_answer_is_ended(forked_skill: MakeSkill, left_running: Running) -> None:
    response = await ask(forked_skill(ONE_SHOT + "print(reply(1), flush=True); time.sleep(600)"))
    assert response.output == 1
    assert "after its answer; stopped" in response.logs
    assert left_running() == []


async def test_a_cancelled_call_and_a_closed_adapter_leave_nobody(forked_skill: MakeSkill, left_running: Running) -> None:
    async with SubprocessAdapter(forked_skill("import time\nopen('begun', 'w').close()\ntime.sleep(600)")) as adapter:
        calls = [asyncio.create_task(adapter.call(None, PATIENCE_S)) for _ in range(2)]
        while not Path(adapter.skill.folder or "", "begun").exists():
            await asyncio.sleep(0.01)
        calls[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await calls[0]
    assert isinstance((await asyncio.gather(calls[1], return_exceptions=True))[0], InfraError)
    assert left_running() == []


@pytest.mark.slow
async def test_a_process_whose_fork_is_under_way_when_all_is_closed_is_ended(
    forked_skill: MakeSkill, left_running: Running
) -> None:
    skill = forked_skill("import time\ntime.sleep(600)")
    config = SubprocessConfig.model_validate(skill.adapter_config)
    words = command_words(skill, config)
    servers = Forking(forked_launch(skill, words, config))
    await servers.prepare()
    start = asyncio.create_task(servers.start(launch_of(skill, words, config), lambda _: None))
    while not any(child.children() for child in psutil.Process().children()):
        await asyncio.sleep(0)
    time.sleep(0.3)  # its message that it has started is there, and nobody has read it
    await servers.close()
    await asyncio.gather(start, return_exceptions=True)
    assert left_running() == []


@pytest.mark.slow
@pytest.mark.parametrize("moments", [0, 1, 5, 20])
async def test_a_call_that_is_cancelled_while_the_server_starts_leaves_nobody(
    forked_skill: MakeSkill, left_running: Running, moments: int
) -> None:
    async with SubprocessAdapter(forked_skill(ECHO)) as adapter:
        call = asyncio.create_task(adapter.call(1, PATIENCE_S))
        for _ in range(moments):
            await asyncio.sleep(0.001)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert (await adapter.call(2, PATIENCE_S)).output == 2
    assert left_running() == []
    assert adapter.remarks == []


async def test_neither_latency_nor_time_limit_has_the_imports(forked_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "slow_module.py").write_text("import time\ntime.sleep(1.2)\n")
    async with SubprocessAdapter(forked_skill("import slow_module\n" + ECHO)) as adapter:
        response = await adapter.call(1, 1.1)
    assert response.latency_ms is not None
    assert response.latency_ms < 1100


@pytest.mark.slow
async def test_a_dead_server_ends_its_items_and_is_started_again_once(forked_skill: MakeSkill, left_running: Running) -> None:
    source = ONE_SHOT + "if params == 'kill': os.kill(os.getppid(), 9); time.sleep(600)\nprint(reply(os.getppid()))"
    started_by = []
    async with SubprocessAdapter(forked_skill(source)) as adapter:
        for _ in range(2):
            started_by.append((await adapter.call(None, PATIENCE_S)).output)
            with pytest.raises(SkillUnavailable, match=r"its process was ended .*the server .* has ended \(killed by SIGKILL\)"):
                await adapter.call("kill", PATIENCE_S)
        started_by += [(await adapter.call(None, PATIENCE_S)).output for _ in range(2)]
    first, second, *others = started_by
    assert first != second
    assert others == [os.getpid()] * 2
    assert adapter.remarks == [f"{SPAWNED}its server ended 2 times (the last time: killed by SIGKILL)"]
    assert left_running() == []


async def test_what_an_item_started_elsewhere_ends_with_its_server(forked_skill: MakeSkill, left_running: Running) -> None:
    source = (
        DESCENDANTS
        + "import os\nprint(descend(start_new_session=True).pid, flush=True)\nos.kill(os.getppid(), 9)\ntime.sleep(600)"
    )
    assert isinstance(await failure(forked_skill(source)), SkillUnavailable)
    assert left_running() == []


@pytest.mark.slow
async def test_imports_that_end_the_interpreter_do_so_in_each_item(forked_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "deadly.py").write_text("import os\nos.kill(os.getpid(), 11)\n")
    async with SubprocessAdapter(forked_skill("import deadly\n" + ECHO)) as adapter:
        with pytest.raises(SkillError, match="killed by SIGSEGV"):
            await adapter.call(1, PATIENCE_S)
    assert adapter.remarks == [f"{SPAWNED}its server ended 2 times (the last time: killed by SIGSEGV)"]


async def test_imports_without_end_are_given_up(
    forked_skill: MakeSkill, tmp_path: Path, left_running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forking, "IMPORTS_S", 0.1)
    endless = "import os, time\nif not os.path.exists('begun'):\n    open('begun', 'w').close()\n    time.sleep(600)"
    (tmp_path / "endless.py").write_text(endless)
    async with SubprocessAdapter(forked_skill("import endless\n" + ECHO)) as adapter:
        assert (await adapter.call(1, PATIENCE_S)).output == 1
    assert adapter.remarks == [f"{SPAWNED}its imports took more than 0.1 s"]
    assert left_running() == []


@pytest.mark.slow
async def test_a_server_that_does_not_fork_is_ended(
    forked_skill: MakeSkill, left_running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forking, "FORK_S", 0.1)
    async with SubprocessAdapter(forked_skill(PPID)) as adapter:
        server = (await adapter.call(None, PATIENCE_S)).output
        os.kill(server, signal.SIGSTOP)
        error = (await asyncio.gather(adapter.call(None, PATIENCE_S), return_exceptions=True))[0]
        assert isinstance(error, SkillUnavailable)
        assert (await adapter.call(None, PATIENCE_S)).output not in {server, os.getpid()}
    assert left_running() == []


BUSY_AT_FIRST = """
import os, time
if not os.path.exists("second"):
    open("second", "w").close()
    much = b"x" * 200_000_000
    while time.process_time() < 0.9: pass
"""


@pytest.mark.slow
async def test_a_server_that_has_used_up_its_cpu_time_is_replaced(forked_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(BUSY_AT_FIRST)
    servers: set[int] = set()
    async with SubprocessAdapter(forked_skill("import busy\n" + PPID, limits={"cpuSeconds": 1})) as adapter:
        while len(servers) < 2:
            with suppress(SkillUnavailable):  # the server may be told too late on a busy machine
                servers.add((await adapter.call(None, PATIENCE_S)).output)
    assert os.getpid() not in servers
    assert adapter.remarks == []


@pytest.mark.slow
async def test_the_cpu_time_of_a_server_is_no_items_and_no_reason_to_give_up(forked_skill: MakeSkill, tmp_path: Path) -> None:
    source = ONE_SHOT + "open('server', 'w').write(str(os.getppid()))\nimport time; time.sleep(600)"
    async with SubprocessAdapter(forked_skill(source, limits={"cpuSeconds": 30})) as adapter:
        for _ in range(3):
            call = asyncio.ensure_future(adapter.call(None, PATIENCE_S))
            while not (said := tmp_path / "server").exists() or not said.read_text():
                await asyncio.sleep(0.01)
            os.kill(int(said.read_text()), signal.SIGXCPU)
            said.unlink()
            with pytest.raises(SkillUnavailable, match=r"has ended \(its own CPU time was used up\)"):
                await call
    assert adapter.remarks == []


async def test_a_folder_that_is_gone_is_one_items_error(forked_skill: MakeSkill, tmp_path: Path) -> None:
    skill = forked_skill(ECHO).located_in(tmp_path / "gone")
    async with SubprocessAdapter(skill) as adapter:
        with pytest.raises(InfraError, match=r"its folder .*gone is missing"):
            await adapter.call(None, PATIENCE_S)


async def test_a_conversation_has_a_process_for_each_turn(forked_skill: MakeSkill) -> None:
    source = ONE_SHOT + "print(reply([os.getpid(), len(request['conversation']['history'])]))"
    async with open_adapter(forked_skill(source)) as adapter, adapter.conversation() as conversation:
        first, second = [(await conversation.call(word, PATIENCE_S)).output for word in ("a", "b")]
    assert first[0] != second[0]
    assert first[1] < second[1]


RUN = """
import asyncio, sys
from pathlib import Path
from eval_skills.adapters.process.adapter import SubprocessAdapter
from eval_skills.core.models import Skill
SKILL = {"id": "probe", "name": "Probe", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "{python} skill.py"}
async def main():
    skill = Skill.model_validate(SKILL | {"adapterConfig": {"startMethod": "forkserver"}})
    async with SubprocessAdapter(skill.located_in(Path(sys.argv[1]))) as adapter:
        print((await adapter.call(None, 60)).output, flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.slow
def test_p54_the_server_ends_when_the_run_is_killed(tmp_path: Path) -> None:
    (tmp_path / "skill.py").write_text(textwrap.dedent(PPID))
    with subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        server = psutil.Process(int(run.stdout.readline()))
        run.kill()
    assert server.wait(60) is None
