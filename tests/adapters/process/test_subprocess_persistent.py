"""Warm workers that answer line after line."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from eval_skills.adapters.process.adapter import SubprocessAdapter
from eval_skills.core.errors import SkillCrashed, SkillError, SkillTimeout
from eval_skills.core.models import Skill
from tests.adapters.programs import ECHO, PATIENCE_S, WARM, failure, in_time

MakeSkill = Callable[..., Skill]
Running = Callable[[], list[str]]


async def test_a_warm_worker_answers_line_after_line(program_skill: MakeSkill) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        answers = [(await adapter.call(n, PATIENCE_S)).output for n in range(5)]
    assert [answer["number"] for answer in answers] == [1, 2, 3, 4, 5]
    assert len({answer["pid"] for answer in answers}) == 1


@pytest.mark.parametrize("place", ["after", "before"])
@pytest.mark.parametrize("said", ['"result": "late"', '"error": {"code": -32700, "message": "the line is empty"}'])
async def test_what_names_no_request_is_no_answer_of_a_program_that_names_them(
    program_skill: MakeSkill, said: str, place: str
) -> None:
    line = '{"jsonrpc": "2.0", "id": null, ' + said + "}"
    late = f"print({line!r}, flush=True)"
    answering = WARM.rstrip("\n")
    source = f"{answering}\n    {late}\n" if place == "after" else WARM.replace("    params = ", f"    {late}\n    params = ")
    async with SubprocessAdapter(program_skill(source, persistent=True)) as adapter:
        if place == "before":  # the first request, of which nothing is known yet
            with suppress(SkillError):
                await adapter.call("first", PATIENCE_S)
            await asyncio.sleep(0.2)
        answers = [(await adapter.call(n, PATIENCE_S)).output["params"] for n in range(3)]
    assert answers == [0, 1, 2]


async def test_a_program_that_never_names_a_request_answers_the_one_that_waits(program_skill: MakeSkill) -> None:
    async with SubprocessAdapter(program_skill(WARM.replace('request["id"]', "None"), persistent=True)) as adapter:
        assert [(await adapter.call(n, PATIENCE_S)).output["params"] for n in range(3)] == [0, 1, 2]


@pytest.mark.slow
async def test_the_start_of_a_worker_is_no_part_of_its_latency(program_skill: MakeSkill) -> None:
    skill = program_skill("import time; time.sleep(1.5)\n" + WARM, persistent=True)
    async with SubprocessAdapter(skill) as adapter:
        began = time.perf_counter()
        latency_ms = (await adapter.call(1, PATIENCE_S)).latency_ms
        took_ms = (time.perf_counter() - began) * 1000
    assert latency_ms is not None
    assert took_ms - latency_ms > 750  # half of its start: a busy machine may look away while it begins to read


async def test_what_a_worker_does_with_its_first_request_is_part_of_the_latency(program_skill: MakeSkill) -> None:
    source = WARM.replace("    params = request", "    time.sleep(0.3)\n    params = request")
    async with SubprocessAdapter(program_skill(source, persistent=True)) as adapter:
        first = await adapter.call(1, PATIENCE_S)
    assert first.latency_ms is not None
    assert first.latency_ms >= 295


async def test_the_pool_grows_with_concurrent_calls_and_reuses_the_last(program_skill: MakeSkill, left_running: Running) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        together = await asyncio.gather(*(adapter.call(n, PATIENCE_S) for n in range(3)))
        pids = {response.output["pid"] for response in together}
        alone = {(await adapter.call(n, PATIENCE_S)).output["pid"] for n in range(4)}
    assert len(pids) == 3
    assert len(alone) == 1
    assert alone < pids
    assert [response.output["params"] for response in together] == [0, 1, 2]
    assert left_running() == []


async def test_a_worker_that_dies_is_replaced(program_skill: MakeSkill) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        first = (await adapter.call(1, PATIENCE_S)).output
        with pytest.raises(SkillCrashed, match=r"exit code 9\) after 1 answered request"):
            await adapter.call("die", PATIENCE_S)
        second = (await adapter.call(2, PATIENCE_S)).output
    assert second["number"] == 1
    assert second["pid"] != first["pid"]


@pytest.mark.parametrize("before", [0, 1])
async def test_a_worker_that_has_read_its_request_is_not_a_missing_program(program_skill: MakeSkill, before: int) -> None:
    """127 is how shells and `env` say that there is no such program."""
    async with SubprocessAdapter(program_skill(WARM.replace("sys.exit(9)", "os._exit(127)"), persistent=True)) as adapter:
        for number in range(before):
            await adapter.call(number, PATIENCE_S)
        with pytest.raises(SkillCrashed, match=r"ended without an answer \(exit code 127\)"):
            await adapter.call("die", PATIENCE_S)


async def test_a_worker_that_died_while_idle_is_replaced(program_skill: MakeSkill) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        first = (await adapter.call(1, PATIENCE_S)).output
        os.kill(first["pid"], 9)
        worker = next(iter(adapter._pool._all))
        await asyncio.wait_for(worker._child.ended, PATIENCE_S)
        assert (await adapter.call(2, PATIENCE_S)).output["number"] == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "time.sleep(0.2)"), ("", "os._exit(3)"), ("os.close(0)", "time.sleep(0.2)"), ("os.close(0)", "time.sleep(600)")],
)
async def test_a_worker_that_ends_itself_after_an_answer_costs_no_item(
    program_skill: MakeSkill, tmp_path: Path, left_running: Running, before: str, after: str
) -> None:
    """Whether it has ended when the next one is asked, or is about to, is a matter of luck."""
    source = f"""
import json, os, sys, time
request = json.loads(sys.stdin.readline())
print(request["params"], file=open("asked", "a"))
{before}
print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": request["params"]}}), flush=True)
{after}
"""
    async with SubprocessAdapter(program_skill(source, persistent=True)) as adapter:
        assert [(await adapter.call(n, PATIENCE_S)).output for n in range(4)] == [0, 1, 2, 3]
    assert left_running() == []
    assert (tmp_path / "asked").read_text().split() == ["0", "1", "2", "3"]


async def test_a_worker_is_replaced_after_a_timeout(program_skill: MakeSkill, left_running: Running) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        first = (await adapter.call(1, PATIENCE_S)).output
        with pytest.raises(SkillTimeout, match=r"no answer within 0.2 s; nothing on stdout"):
            await adapter.call("hang", 0.2)
        assert (await adapter.call(2, PATIENCE_S)).output["pid"] != first["pid"]
    assert left_running() == []


async def test_an_error_reply_keeps_the_worker(program_skill: MakeSkill) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        with pytest.raises(SkillError, match="error 7: no"):
            await adapter.call("fail", PATIENCE_S)
        assert (await adapter.call(1, PATIENCE_S)).output["number"] == 2


async def test_a_late_second_answer_is_a_log(program_skill: MakeSkill) -> None:
    async with SubprocessAdapter(program_skill(WARM, persistent=True)) as adapter:
        assert (await adapter.call("twice", PATIENCE_S)).output == "first"
        assert (await adapter.call("x", PATIENCE_S)).output["params"] == "x"


async def test_a_log_without_line_feed_does_not_swallow_the_next_answer(program_skill: MakeSkill) -> None:
    skill = program_skill(WARM.replace('sys.stdout.write("progress 50 %")', "pass"), persistent=True)
    async with SubprocessAdapter(skill) as adapter:
        await adapter.call("unterminated", PATIENCE_S)
        assert (await adapter.call("x", PATIENCE_S)).output["params"] == "x"


async def test_workers_end_by_themselves_at_end_of_file(
    program_skill: MakeSkill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_skills.adapters.process.worker.EXIT_WAIT_S", PATIENCE_S)
    skill = program_skill(WARM + "open('farewell', 'w').close()", persistent=True)
    async with SubprocessAdapter(skill) as adapter:
        await adapter.call(1, PATIENCE_S)
    assert (tmp_path / "farewell").exists()


async def test_a_timeout_says_which_line_was_no_answer(program_skill: MakeSkill) -> None:
    source = 'import sys\nfor line in sys.stdin: print(\'{"jsonrpc":"2.0","id":"1","result":0}\', flush=True)'
    skill = program_skill(source, persistent=True)
    error = await in_time(lambda limit_s: failure(skill, timeout_s=limit_s), lambda error: 'its id is "1"' in str(error))
    assert isinstance(error, SkillTimeout)
    assert 'its id is "1" and 1 was asked' in str(error)


@pytest.mark.slow
async def test_p100_a_warm_worker_costs_a_third_of_a_fresh_process_at_most(program_skill: MakeSkill) -> None:
    async def cpu_s_of_an_item(adapter: SubprocessAdapter, count: int) -> float:
        """The processor's time of ours and of the children that have ended: what else runs does not count."""
        before = os.times()
        async with adapter:
            await asyncio.gather(*(caller(adapter, count // 4) for _ in range(4)))
        return (sum(os.times()[:4]) - sum(before[:4])) / count

    async def caller(adapter: SubprocessAdapter, count: int) -> None:
        for number in range(count):
            await adapter.call(number, PATIENCE_S)

    warm = await cpu_s_of_an_item(SubprocessAdapter(program_skill(WARM, persistent=True)), 400)
    fresh = await cpu_s_of_an_item(SubprocessAdapter(program_skill(ECHO)), 20)
    assert fresh >= 3 * warm
