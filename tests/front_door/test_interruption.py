"""What a skill raises costs its item; Ctrl-C ends the evaluation."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

import eval_skills as es
from tests.warm_command import WarmCommand

TASKS = [{"id": "a", "input": 1, "expected": 1}, {"id": "b", "input": 2, "expected": 1}]


async def interrupts(value: int) -> int:
    if value == 2:
        raise KeyboardInterrupt("mine")
    return value


async def ends_as_a_generator(value: int) -> int:
    if value == 2:
        raise GeneratorExit("mine")
    return value


async def interrupts_in_a_task(value: int) -> int:
    await asyncio.gather(interrupts(value))
    return value


@pytest.mark.parametrize("skill", [interrupts, ends_as_a_generator, interrupts_in_a_task])
def test_what_a_coroutine_raises_costs_its_item_alone(skill: Any) -> None:
    result = es.evaluate(skill, TASKS, retries=0)
    assert [(item.task_id, item.status, item.error_kind) for item in result.items] == [
        ("a", "pass", None),
        ("b", "error", "skill"),
    ]
    assert "mine" in str(result)


async def cancels_its_task(value: int) -> int:
    if value == 2:
        task = asyncio.current_task()
        assert task is not None
        task.cancel("mine")
        await asyncio.sleep(0)
    return value


async def cancels_its_task_at_the_end(value: int) -> int:
    if value == 2:
        task = asyncio.current_task()
        assert task is not None
        task.cancel("mine")
    return value


@pytest.mark.parametrize("skill", [cancels_its_task, cancels_its_task_at_the_end])
@pytest.mark.parametrize("on_own_loop", [True, False])
def test_a_coroutine_that_cancels_its_task_costs_its_item_alone(skill: Any, on_own_loop: bool) -> None:
    skills = {"cancels": skill, "good": lambda _: 1}
    result = es.evaluate(skills, TASKS) if on_own_loop else asyncio.run(es.aevaluate(skills, TASKS))
    assert [(item.skill, item.task_id, item.status, item.error_kind) for item in result.items] == [
        ("cancels@0.0.0", "a", "pass", None),
        ("cancels@0.0.0", "b", "error", "skill"),
        ("good@0.0.0", "a", "pass", None),
        ("good@0.0.0", "b", "pass", None),
    ]
    assert "CancelledError: the coroutine cancelled the task that it was called in" in str(result)


def test_an_evaluator_that_cancels_its_task_costs_its_item_alone() -> None:
    async def judge(output: int) -> bool:
        return await cancels_its_task(output) == 1

    result = es.evaluate(lambda value: value, TASKS, evaluator=judge)
    assert [(item.status, item.error_kind) for item in result.items] == [("pass", None), ("error", "scorer")]
    assert "judge cancelled the task that it was called in" in str(result)


@pytest.mark.parametrize("judges", [False, True])
async def test_a_cancellation_from_outside_ends_the_evaluation(judges: bool) -> None:
    begun, ended = asyncio.Event(), list[str]()

    async def hangs(_: Any) -> int:
        begun.set()
        try:
            await asyncio.sleep(600)
        finally:
            ended.append("cleaned up")
        return 1

    options: dict[str, Any] = {"evaluator": hangs} if judges else {}
    work = asyncio.create_task(es.aevaluate((lambda value: value) if judges else hangs, TASKS[:1], **options))
    async with asyncio.timeout(60):  # work that fails before it begins would be waited for without end
        await begun.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert ended == ["cleaned up"]


def test_a_loop_that_a_skill_stops_goes_on() -> None:
    async def stops(value: int) -> int:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        return value

    assert es.evaluate({"stops": stops, "good": lambda _: 1}, TASKS).completion == 0.75


def test_so_it_does_on_the_callers_own_loop() -> None:
    result = asyncio.run(es.aevaluate(interrupts, TASKS, retries=0))
    assert [(item.status, item.error_kind) for item in result.items] == [("pass", None), ("error", "skill")]


RUN = (
    "import runpy, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "  # asyncio.run replaces no other one
    "runpy.run_path(sys.argv[1], run_name='__main__')"
)
WAITS = "async def skill(_):\n    asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), signal.SIGINT)\n"
ON_OWN_LOOP = "es.evaluate(skill, tasks)"
ON_ASYNCIO_RUN = "asyncio.run(es.aevaluate(skill, tasks))"
ON_A_LOOP = "asyncio.new_event_loop().run_until_complete(es.aevaluate(skill, tasks))"


@pytest.mark.parametrize("called", [ON_OWN_LOOP, ON_ASYNCIO_RUN, ON_A_LOOP], ids=["evaluate", "asyncio.run", "loop"])
@pytest.mark.parametrize(
    "skill",
    [
        pytest.param(f"{WAITS}    await asyncio.sleep(600)", id="waiting-coroutine"),
        pytest.param(
            "def skill(_):\n    os.kill(os.getpid(), signal.SIGINT)\n    threading.Event().wait()", id="function-in-a-thread"
        ),
        pytest.param(
            "async def skill(_):\n    for _ in range(2):\n        os.kill(os.getpid(), signal.SIGINT)\n"
            "        for _ in range(100_000): pass\n    await asyncio.sleep(600)",
            id="busy-coroutine",
        ),
    ],
)
def test_ctrl_c_ends_the_evaluation(tmp_path: Path, warm_command: WarmCommand, skill: str, called: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        f"import asyncio, os, signal, threading, eval_skills as es\n{skill}\n"
        f"tasks = [{{'input': number, 'expected': 1}} for number in range(50)]\n"
        f"try:\n    {called}\nexcept KeyboardInterrupt:\n    os.write(1, b'interrupted')\n    os._exit(0)\n"
    )
    _, out, err = warm_command.python(RUN, str(program), cwd=tmp_path).output(60)
    assert out == "interrupted", err


def test_one_ctrl_c_is_enough_in_a_coroutine_that_does_not_await(tmp_path: Path, warm_command: WarmCommand) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import asyncio, os, signal, threading, eval_skills as es\n"
        "def skill(number):\n    number or os.kill(os.getpid(), signal.SIGINT)\n    threading.Event().wait()\n"
        "tasks = [{'input': number, 'expected': 1} for number in range(3)]\n"
        "async def main():\n    es.evaluate(skill, tasks, timeout_ms=600_000)\n"
        "try:\n    asyncio.run(main())\nexcept KeyboardInterrupt:\n    os.write(1, b'interrupted')\n    os._exit(0)\n"
    )
    _, out, err = warm_command.python(RUN, str(program), cwd=tmp_path).output(60)
    assert out == "interrupted", err


def test_ctrl_c_ends_the_evaluation_whichever_thread_gets_the_signal(tmp_path: Path, warm_command: WarmCommand) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, signal, threading, eval_skills as es\n"
        "def skill(_):\n    signal.pthread_kill(threading.get_ident(), signal.SIGINT)\n    threading.Event().wait()\n"
        "try:\n    es.evaluate(skill, [{'input': 1, 'expected': 1}], timeout_ms=600_000)\n"
        "except KeyboardInterrupt:\n    os.write(1, b'interrupted')\n    os._exit(0)\n"
    )
    _, out, err = warm_command.python(RUN, str(program), cwd=tmp_path).output(60)
    assert out == "interrupted", err


def test_ctrl_c_ends_the_evaluation_while_a_function_judges(tmp_path: Path, warm_command: WarmCommand) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import asyncio, os, signal, eval_skills as es\n"
        "async def judge(output):\n    os.kill(os.getpid(), signal.SIGINT)\n    for _ in range(100_000): pass\n    return True\n"
        "tasks = [{'input': number} for number in range(50)]\n"
        "try:\n    asyncio.new_event_loop().run_until_complete(es.aevaluate(lambda value: value, tasks, evaluator=judge))\n"
        "except KeyboardInterrupt:\n    os.write(1, b'interrupted')\n    os._exit(0)\n"
    )
    _, out, err = warm_command.python(RUN, str(program), cwd=tmp_path).output(60)
    assert out == "interrupted", err


@pytest.mark.parametrize(
    ("skill", "tasks"),
    [
        pytest.param(interrupts, "coding-easy", id="function"),
        pytest.param("examples/skills/calculator", TASKS, id="tasks"),
        pytest.param(interrupts, TASKS, id="both"),
    ],
)
def test_a_run_of_objects_is_not_offered_to_be_continued(
    tmp_path: Path, warm_command: WarmCommand, skill: Any, tasks: Any
) -> None:
    def command(*arguments: str) -> tuple[int, str]:
        call = [*arguments, "--store", str(tmp_path / "store")]
        code, out, err = warm_command.start(call, cwd=tmp_path, environment=dict(os.environ)).output(120)
        return code, " ".join((out + err).split())

    run = es.evaluate(skill, tasks, store=tmp_path / "store", max_duration_s=1e-6).run_id
    code, told = command("history")
    assert (code, "continue with" in told) == (0, False)
    assert f"{run} cannot be continued by a command: its skills or tasks are objects of a Python program" in told
    code, told = command("eval", "--resume", run)
    assert (code, "call es.evaluate there again, with the same store and resume" in told) == (2, True)
