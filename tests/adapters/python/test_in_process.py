"""Objects of this process as skills: what they answer, raise and do to the time limit."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import copy_context
from typing import Any

import pytest

import eval_skills
from eval_skills.adapters import Confinement, check_skill, open_adapter
from eval_skills.adapters.python.object_skill import ObjectSkill
from eval_skills.core import threads
from eval_skills.core.errors import ContractError, InputError, SkillError, SkillTimeout
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.scorers.tools.calls import unknown_calls
from tests.tables import each_row


async def call(target: Any, value: Any = 1, timeout_s: float = 60.0, **fields: Any) -> SkillResponse:
    async with open_adapter(ObjectSkill.of(target, "it", **fields)) as adapter:
        return await adapter.call(value, timeout_s)


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


class ToldError(Exception):
    tool_calls = [{"name": "rm"}]  # noqa: RUF012 - as anybody writes it


async def cancels(_: Any) -> None:
    raise asyncio.CancelledError("mine")


async def leaves(_: Any) -> None:
    sys.exit(3)


def later(error: BaseException) -> Callable[[Any], Any]:
    async def raises(_: Any) -> Any:
        await asyncio.sleep(0)
        raise error

    return raises


def after_a_piece(error: BaseException) -> Callable[[Any], Any]:
    def raises(_: Any) -> Iterator[int]:
        yield 1
        raise error

    return raises


def after_an_asynchronous_piece(error: BaseException) -> Callable[[Any], Any]:
    async def raises(_: Any) -> AsyncIterator[int]:
        yield 1
        raise error

    return raises


GROUP = ExceptionGroup("g", [ExceptionGroup("inner", [ValueError("a")]), KeyError("b")])


def raising(error: BaseException) -> Callable[[Any], Any]:
    def raises(_: Any) -> Any:
        raise error

    return raises


@each_row(
    ("target", "message"),
    [
        pytest.param(raising(ValueError("bad\nthing")), "ValueError: bad thing", id="exception"),
        pytest.param(raising(SystemExit(2)), "SystemExit: 2", id="exit"),
        pytest.param(raising(StopIteration("s")), "StopIteration: s", id="stop-iteration"),
        pytest.param(raising(KeyboardInterrupt()), "KeyboardInterrupt", id="interrupt"),
        pytest.param(raising(GROUP), r"^ExceptionGroup: g \(2 sub-exceptions\): ValueError: a; KeyError: 'b'$", id="group"),
        pytest.param(raising(Unreadable()), "exception str\\(\\) failed", id="hostile-exception"),
        pytest.param(cancels, "CancelledError: mine", id="coroutine-cancels-itself"),
        pytest.param(leaves, "SystemExit: 3", id="coroutine-exits"),
        pytest.param(later(KeyboardInterrupt("k")), "KeyboardInterrupt: k", id="coroutine-interrupts"),
        pytest.param(later(GeneratorExit("g")), "GeneratorExit: g", id="coroutine-ends-as-a-generator"),
        pytest.param(later(StopIteration("s")), "coroutine raised StopIteration", id="coroutine-stops"),
        pytest.param(after_a_piece(KeyboardInterrupt("k")), "KeyboardInterrupt: k", id="generator-interrupts"),
        pytest.param(after_a_piece(GeneratorExit("g")), "GeneratorExit: g", id="generator-exits"),
        pytest.param(after_a_piece(SystemExit(3)), "SystemExit: 3", id="generator-leaves"),
        pytest.param(after_an_asynchronous_piece(KeyboardInterrupt("k")), "KeyboardInterrupt: k", id="pieces-interrupt"),
        pytest.param(after_an_asynchronous_piece(GeneratorExit("g")), "GeneratorExit: g", id="pieces-exit"),
        pytest.param(after_an_asynchronous_piece(asyncio.CancelledError("c")), "CancelledError: c", id="pieces-cancel"),
    ],
)
async def test_what_it_raises_is_its_answer(target: Any, message: str) -> None:
    with pytest.raises(SkillError, match=message):
        await call(target)


async def test_an_exception_tells_what_was_called_before() -> None:
    with pytest.raises(SkillError) as raised:
        await call(raising(ToldError("no")))
    assert raised.value.known is not None
    assert [each.name for each in raised.value.known.tool_calls or []] == ["rm"]


def nested(_: Any) -> Any:
    value: Any = 1
    for _level in range(300):
        value = [value]
    return value


def endless(_: Any) -> Any:
    value: list[Any] = []
    value.append(value)
    return value


@each_row(
    ("target", "message"),
    [
        pytest.param(lambda _: {1}, "the answer is a set", id="set"),
        pytest.param(lambda _: float("nan"), "the answer is nan", id="nan"),
        pytest.param(lambda _: "\ud800", "half of a surrogate pair", id="surrogate"),
        pytest.param(lambda _: object(), "the answer is an object", id="object"),
        pytest.param(nested, "nested deeper than 200 levels", id="deep"),
        pytest.param(endless, "contains itself", id="endless"),
        pytest.param(lambda _: "x" * 101, "more than 100 bytes; raise max_output_bytes", id="huge"),
        pytest.param(lambda _: {"output": 1, "toolCalls": 3}, "malformed envelope: toolCalls", id="envelope"),
    ],
)
async def test_what_json_cannot_say_breaks_the_contract(target: Any, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        await call(target, max_output_bytes=100 if message.startswith("more") else None)


def gives_for_ever(_: Any) -> Iterator[str]:
    while True:
        yield "x" * 9


async def gives_for_ever_later(_: Any) -> AsyncIterator[str]:
    while True:
        yield "x" * 9


async def returns_what_gives_for_ever(_: Any) -> Iterator[str]:
    return gives_for_ever(_)


ENDLESS = [
    pytest.param(gives_for_ever, id="generator"),
    pytest.param(gives_for_ever_later, id="asynchronous-generator"),
    pytest.param(returns_what_gives_for_ever, id="coroutine-that-returns-a-generator"),
]


@pytest.mark.parametrize("target", ENDLESS)
async def test_a_generator_that_gives_too_much_is_closed(target: Any) -> None:
    with pytest.raises(ContractError, match="more than 1,000 bytes; raise max_output_bytes"):
        await call(target, max_output_bytes=1000)


@pytest.mark.parametrize("target", ENDLESS)
async def test_a_generator_that_never_ends_ends_at_its_time_limit(target: Any) -> None:
    before = threads_of_calls()  # other tests leave calls behind that never end
    with pytest.raises(SkillTimeout, match=r"no answer within 0.05 s"):
        await call(target, timeout_s=0.05, max_output_bytes=2**40)
    assert await have_ended(before)


def threads_of_calls() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "eval-skills-call"}


async def have_ended(before: set[threading.Thread]) -> bool:
    """Whether no thread of a call but those of `before` is left after a while."""
    until = time.monotonic() + 60
    while threads_of_calls() - before:
        if time.monotonic() > until:
            return False
        await asyncio.sleep(0.01)
    return True


async def test_a_generator_that_gives_just_enough_is_an_answer() -> None:
    assert (await call(lambda _: (each for each in (1, 22, "x")), max_output_bytes=len('[1, 22, "x"]'))).output == [1, 22, "x"]


async def test_an_asynchronous_generator_that_refuses_to_end_is_closed() -> None:
    closed = asyncio.Event()

    async def refuses(_: Any) -> AsyncIterator[int]:
        try:
            for _piece in range(2):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(600)
                yield 1
        finally:
            closed.set()

    with pytest.raises(SkillTimeout):
        await call(refuses, timeout_s=0.05)
    assert closed.is_set()


async def test_a_function_at_its_time_limit_is_left_behind() -> None:
    release = threading.Event()
    with pytest.raises(SkillTimeout, match=r"no answer within 0.05 s; a thread cannot be stopped"):
        await call(lambda _: release.wait(60), timeout_s=0.05)
    release.set()


async def test_a_coroutine_at_its_time_limit_is_cancelled() -> None:
    ended: list[str] = []

    async def waits(_: Any) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    with pytest.raises(SkillTimeout, match=r"^no answer within 0.05 s$"):
        await call(waits, timeout_s=0.05)
    assert ended == ["cancelled"]


async def test_a_coroutine_that_refuses_to_end_keeps_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "GRACE_S", 0.05)
    released = asyncio.Event()

    async def refuses(_: Any) -> None:
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue

    with pytest.raises(SkillTimeout):
        await call(refuses, timeout_s=0.05)
    released.set()
    await asyncio.sleep(0)


async def test_a_coroutine_that_blocks_the_loop_is_late_all_the_same() -> None:
    async def blocks(_: Any) -> str:
        time.sleep(0.2)
        return "late"

    with pytest.raises(SkillTimeout, match=r"no answer within 0.05 s"):
        await call(blocks, timeout_s=0.05)


async def test_calls_side_by_side_do_not_wait_for_each_other() -> None:
    together = threading.Barrier(4, timeout=60)

    def meets(value: Any) -> Any:
        together.wait()
        return value

    async with open_adapter(ObjectSkill.of(meets)) as adapter:
        answers = await asyncio.gather(*(adapter.call(number, 60) for number in range(4)))
    assert [answer.output for answer in answers] == [0, 1, 2, 3]


async def test_a_probe_calls_nothing() -> None:
    async with open_adapter(ObjectSkill.of(raising(AssertionError()), "it")) as adapter:
        assert (await adapter.probe(60)).seen.endswith("can be called")


@pytest.mark.parametrize(
    ("confinement", "message"),
    [
        pytest.param(Confinement(cpu_seconds=1), "hold a process", id="limit"),
        pytest.param(Confinement(sandbox="bwrap"), "runs inside this process, where no sandbox holds it", id="sandbox"),
    ],
)
def test_it_cannot_be_confined(confinement: Confinement, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_skill(ObjectSkill.of(raising(AssertionError()), "it"), confinement=confinement)


def test_only_a_program_can_name_it() -> None:
    written: dict[str, Any] = {"id": "a", "name": "A", "version": "1.0.0", "adapterType": "custom", "entrypoint": "a:b"}
    with pytest.raises(ValueError, match="adapterType"):
        Skill.model_validate({**written, "adapterType": "function"})
    with pytest.raises(InputError, match="is for objects of a Python program"):
        check_skill(Skill.model_validate(written).model_copy(update={"adapter_type": "function"}))


def in_a_thread_of_its_own(work: Callable[[], Any]) -> None:
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()


async def test_what_a_thread_without_the_context_records_makes_the_calls_of_every_running_item_unknown() -> None:
    begun, recorded = threading.Event(), threading.Event()

    def careless(_: Any) -> Any:
        begun.wait(10)
        in_a_thread_of_its_own(lambda: eval_skills.record_tool_call("pay"))
        recorded.set()
        return {"output": "x", "toolCalls": []}

    def neighbour(_: Any) -> Any:
        begun.set()
        recorded.wait(10)
        return {"output": "x", "toolCalls": []}

    found = await asyncio.gather(call(careless), call(neighbour))
    for each in found:
        unknown = unknown_calls(each)
        assert unknown is not None
        assert "'pay' was recorded in a thread that belongs to no item" in unknown.message
        assert "copy_context().run" in unknown.message
    later = await call(lambda _: {"output": "x", "toolCalls": []})
    assert later.tool_calls == []


async def test_what_a_thread_in_a_copy_of_the_context_records_is_its_items() -> None:
    def careful(_: Any) -> Any:
        in_a_thread_of_its_own(functools.partial(copy_context().run, eval_skills.record_tool_call, "pay"))
        return "done"

    found = await call(careful)
    assert [each.name for each in found.tool_calls or ()] == ["pay"]
    assert unknown_calls(found) is None
