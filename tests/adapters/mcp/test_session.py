"""One session for all items: shared, bounded, replaced when it is lost, and never left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_skills.adapters.mcp.adapter import McpAdapter
from eval_skills.core.errors import InfraError, SkillCrashed, SkillTimeout
from tests.adapters.mcp_probe import PATIENCE_S, Tools, ask, by_hand, mcp_skill

Running = Callable[[], list[str]]

RUN = """
import asyncio, sys
from pathlib import Path
from tests.adapters.mcp_probe import Tools, by_hand, mcp_skill
async def main(folder):
    async with Tools(mcp_skill(folder, by_hand("stubborn"), "state")) as adapter:
        Path(folder, "pid").write_text(str((await adapter.use("state"))["pid"]))
        await asyncio.sleep(600)
asyncio.run(main(Path(sys.argv[1])))
"""


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition: Callable[[], object]) -> bool:
    end = time.monotonic() + 60
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return bool(met)


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(mcp_skill(tmp_path, by_hand(), "echo"))


@pytest.mark.slow
async def test_p18_fifty_items_share_one_process(tools: Tools) -> None:
    async with tools:
        states = await asyncio.gather(*(tools.use("state") for _ in range(50)))
    assert len({state["pid"] for state in states}) == 1
    assert states[-1]["handshakes"] == 1


@pytest.mark.slow
async def test_what_a_masked_error_logged_is_told_where_another_call_ends_first_or_the_log_comes_late(tools: Tools) -> None:
    async with tools:
        both = await asyncio.gather(tools.use("masked"), tools.use("release"), return_exceptions=True)
        late = await asyncio.gather(tools.use("masked_late"), return_exceptions=True)
        await tools.use("echo")
        told = [str(both[0]), str(late[0])]
        silent = await asyncio.gather(tools.use("fail", {"text": "Error executing tool fail"}), return_exceptions=True)
    assert both[1] == "released"
    assert told == [
        "Error executing tool masked; stderr: ValueError: the real reason",
        "Error executing tool masked_late; stderr: ValueError: the late reason",
    ]
    assert str(silent[0]) == "Error executing tool fail", "what another call logged earlier is not its cause"


@pytest.mark.slow
async def test_calls_at_the_same_time_get_their_own_answers(tools: Tools) -> None:
    async with tools:
        answers = await asyncio.gather(*(tools.use("echo", {"n": n}) for n in range(100)))
    assert answers == [{"n": n} for n in range(100)]


async def test_p16_after_a_timeout_the_same_session_still_answers(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.adapters.mcp.adapter.PROBE_S", PATIENCE_S)  # the server may be busy
    async with tools:
        before = await tools.use("state")
        with pytest.raises(SkillTimeout, match=r"no answer within 0\.3 s; the server still answers other requests"):
            await tools.use("slow", {"seconds": 600}, 0.3)
        after = await tools.use("state")
    assert after["pid"] == before["pid"]
    assert len(after["cancelled"]) == 1


@pytest.mark.slow
async def test_a_server_that_answers_nothing_more_is_replaced_and_its_other_calls_made_again(tools: Tools) -> None:
    async with tools:
        before = await tools.use("state")
        stuck = asyncio.create_task(tools.use("block", {"seconds": 600}, 1))
        await asyncio.sleep(0)
        neighbour = asyncio.create_task(tools.use("echo", {"x": 1}))
        with pytest.raises(SkillTimeout, match="the server does not answer other requests either and is replaced"):
            await stuck
        assert await neighbour == {"x": 1}
        assert (await tools.use("state"))["pid"] != before["pid"]
        assert not lives(before["pid"])


@pytest.mark.slow
async def test_a_server_that_ends_itself_after_an_answer_costs_no_item(tmp_path: Path) -> None:
    async with McpAdapter(mcp_skill(tmp_path, by_hand("brief"), "echo")) as adapter:
        assert [(await adapter.call({"n": n}, PATIENCE_S)).output for n in range(3)] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert (tmp_path / "asked").read_text().split() == ["0", "1", "2"]


async def test_a_byte_order_mark_keeps_no_server_from_being_understood(tmp_path: Path) -> None:
    skill = mcp_skill(tmp_path, by_hand("marked"), "echo", protocol="legacy", connectTimeoutMs=20_000)
    assert (await ask(skill, {"n": 1})).output == {"n": 1}


async def test_p19_a_server_that_dies_in_a_call_is_started_again_for_the_next(tools: Tools, tmp_path: Path) -> None:
    async with tools:
        with pytest.raises(SkillCrashed, match=r"ended before it answered \(killed by SIGKILL") as caught:
            await tools.use("die_once", {"note": str(tmp_path / "note")})
        assert caught.value.transient
        assert await tools.use("die_once", {"note": str(tmp_path / "note")}) == "alive"
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0


@pytest.mark.slow
async def test_a_death_fails_every_call_in_flight_and_no_later_one(tools: Tools) -> None:
    async with tools:
        waiting = [asyncio.create_task(tools.use("slow", {"seconds": 600})) for _ in range(3)]
        await asyncio.sleep(0)
        doomed = asyncio.create_task(tools.use("die"))
        outcomes = await asyncio.gather(*waiting, doomed, return_exceptions=True)
        assert [type(outcome).__mro__[1] for outcome in outcomes] == [SkillCrashed] * 4
        assert all("exit code 3); stderr: going down" in str(outcome) for outcome in outcomes)
        assert await tools.use("echo", {"x": 1}) == {"x": 1}


@pytest.mark.slow
async def test_a_server_killed_between_calls_costs_no_item(tools: Tools) -> None:
    async with tools:
        os.kill((await tools.use("state"))["pid"], signal.SIGKILL)
        async with asyncio.timeout(60):
            while not tools.lost:
                await asyncio.sleep(0.01)
        assert await tools.use("echo", {"x": 1}) == {"x": 1}


async def test_a_long_answer_costs_its_own_call_only(tmp_path: Path) -> None:
    async with Tools(mcp_skill(tmp_path, by_hand(), "echo", maxOutputBytes=1000)) as tools:
        before = await tools.use("state")
        answers = await asyncio.gather(
            tools.use("big", {"size": 900_000}), tools.use("big", {"size": 10}), return_exceptions=True
        )
        assert "maxOutputBytes" in str(answers[0])
        assert answers[1] == "x" * 10
        assert (await tools.use("state"))["pid"] == before["pid"]


@pytest.mark.slow
async def test_leaving_the_adapter_ends_calls_in_flight(tools: Tools, left_running: Running) -> None:
    async with tools:
        pid = (await tools.use("state"))["pid"]
        call = asyncio.create_task(tools.use("slow", {"seconds": 600}))
        await asyncio.sleep(0)
    with pytest.raises(InfraError, match="the adapter was closed during the call"):
        await call
    assert not lives(pid)
    assert left_running() == []


@pytest.mark.parametrize("words", ["", "stubborn"])
async def test_nothing_is_left_running_after_the_end(tmp_path: Path, left_running: Running, words: str) -> None:
    async with Tools(mcp_skill(tmp_path, by_hand(words), "echo")) as tools:
        await tools.use("echo")
    assert left_running() == []


@pytest.mark.slow
async def test_cancelling_a_call_or_an_opening_leaves_nothing_running(tmp_path: Path, left_running: Running) -> None:
    async def work() -> None:
        async with Tools(mcp_skill(tmp_path, by_hand("mute"), "echo")) as tools:
            await tools.use("echo")

    task = asyncio.create_task(work())
    await asyncio.wait([task], timeout=1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left_running() == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc, which only Linux has")
def test_the_server_ends_when_its_run_is_killed(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    run = subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path)], cwd=Path(__file__).parents[3])
    try:
        assert wait_for(lambda: note.exists() and note.read_text())
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        assert wait_for(lambda: not lives(int(note.read_text())))
    finally:
        run.kill()
