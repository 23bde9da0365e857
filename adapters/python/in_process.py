"""Calling skills that are objects of this process: functions, coroutine functions and runnables."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import inspect
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from eval_skills.adapters.answer.envelope import parse_json, partial_response, read_answer, unread_calls, write_json
from eval_skills.adapters.base import Adapter
from eval_skills.adapters.call import Call
from eval_skills.adapters.config import MAX_OUTPUT_BYTES, AdapterConfig, read_config
from eval_skills.adapters.probing import ProbeResult
from eval_skills.adapters.python.host.answer import Pieces, error_data, plain
from eval_skills.adapters.python.host.errors import NotJson, NotLoaded, TooLong, Unfinished, a_type, described
from eval_skills.adapters.python.host.langchain import (
    answer_parts,
    config_of_call,
    given_first,
    identities,
    method_of,
    refuse_waiting,
    state_of,
    takes_config,
)
from eval_skills.adapters.python.host.recorder import current_report, reporting, running
from eval_skills.adapters.python.host.target import CONVERSATION, conversation_argument, signature_of, takes_conversation
from eval_skills.adapters.python.langchain import (
    as_openai,
    graph_input,
    reported_by_callbacks,
    response_of,
    without_earlier,
)
from eval_skills.adapters.python.object_skill import ObjectSkill, has_method, runnable_of
from eval_skills.core.config.values import OutputBytes
from eval_skills.core.errors import ContractError, InputError, ItemError, SkillError
from eval_skills.core.interruption import ctrl_c_behind
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.core.text import one_line, plural
from eval_skills.core.threads import CancelledItself, RaisedInThread, Steps, in_task, in_thread

T = TypeVar("T")

Called = Callable[[Any, "dict[str, Any] | None"], Any]
"""Gets the input, and the data of the conversation (None outside of one)."""

KEPT_S = 0.1
"""A coroutine that keeps the event loop longer at a time, and for more than a tenth of its time limit, is worth a remark."""


class InProcessConfig(AdapterConfig):
    """`max_output_bytes` bounds one answer, as JSON."""

    max_output_bytes: OutputBytes = MAX_OUTPUT_BYTES


@dataclass(slots=True)
class _Ended:
    """How a function ended in its thread, the answer as JSON text or what it raised, and when (`time.perf_counter()`)."""

    outcome: bytes | BaseException | None = None
    at: float | None = None

    def after(self, work: Callable[[], Any]) -> Any:
        """What `work` returns where that is still to be awaited; else None, with its end noted."""
        try:
            result = work()
            if inspect.isawaitable(result) or inspect.isasyncgen(result):
                return result
            outcome: bytes | BaseException = write_json(plain(result))
        except BaseException as error:  # noqa: BLE001 - anybody's code may raise anything
            outcome = error
        self.at = time.perf_counter()
        self.outcome = outcome
        return None


class FunctionAdapter(Adapter):
    """Calls a function of this process with the task's input, or with the input's keys as keyword arguments.

    A coroutine function is called on the event loop of the run and cancelled at its time limit. Any other one is called in a
    thread of its own, which nothing can stop: at its time limit it is left behind, and ends with the process at the latest. A
    generator is closed at the next value that it gives after that, and at once where it gave more than an answer may hold.
    Each call gets a copy of the input, and the answer crosses the same border as that of a process: it is what JSON can say of
    it.

    A function with a parameter `conversation` is told there of the one that its input is a turn of.
    """

    config_model: ClassVar[type[InProcessConfig]] = InProcessConfig
    asks_services: ClassVar[bool] = False

    def __init__(self, skill: Skill) -> None:
        super().__init__(skill)
        if not isinstance(skill, ObjectSkill):
            raise InputError(f"adapter type {skill.adapter_type!r} is for objects of a Python program", source=skill.key)
        if "limits" in skill.adapter_config:
            message = "limits of memory, CPU time and open files hold a process, and this skill is called in that of the run"
            raise InputError(f"{message}; leave them out, or describe the skill with a skill.json", source=skill.key)
        self._kept = list[float]()
        self._parameter: str | None = None
        self._took_it_for_its_key = False
        self._max_bytes = read_config(self.config_model, skill).max_output_bytes
        try:
            self._function, self._is_async = self._callable(skill.name, skill.target)
        except NotLoaded as error:
            raise InputError(str(error), source=skill.key) from None

    @property
    def remarks(self) -> list[str]:
        """How long its coroutines kept the event loop, where that is long; and that it took its input for a part of that."""
        return [*self._on_the_loop(), *self._on_its_parameter()]

    def _on_the_loop(self) -> list[str]:
        if not self._kept:
            return []
        calls, longest = plural(len(self._kept), "call"), f"{max(self._kept):,.1f} s"
        why = "latencies and time limits of other coroutines count that, too"
        advice = "make it a plain function, which is called in a thread, or await what it waits for"
        return [f"{self.skill.key} kept the event loop for up to {longest} in {calls}: {why}; {advice}"]

    def _on_its_parameter(self) -> list[str]:
        if not self._took_it_for_its_key:
            return []
        name = self._parameter
        what = f"{self.skill.key} gets a task's input whole, as {name}, and took it for the value of the input's key {name}"
        return [f"{what}: write {self.skill.name}(*, {name}) to get the keys as arguments"]

    @classmethod
    def check(cls, skill: Skill) -> None:
        """The object can be called with an input, as far as it tells; it is not called."""
        cls(skill)

    def _callable(self, name: str, target: Any) -> tuple[Called, bool]:
        """What a call calls with the input and the data of the conversation, and whether that makes a coroutine or the like."""
        if isinstance(target, type):
            raise NotLoaded(f"{name} is a class; give an instance of it, or a function")
        function = target.call if has_method(target, "call") else target
        if _wants_keywords(name, function):
            return _with_keywords(function), _is_async(function)
        self._parameter = _first_parameter(function)
        return _with_input(function), _is_async(function)

    def _input(self, input_data: Any) -> Any:
        """The task's input as the object takes it."""
        return input_data

    def _read(self, answer: Any, call: Call) -> SkillResponse:
        """What was answered, as a response."""
        return read_answer(answer)

    def _known(self, error: dict[str, Any]) -> SkillResponse | None:
        """What an error reports of the run before it."""
        return partial_response(error)

    async def _probe(self, call: Call) -> ProbeResult:
        """It is here; it is not called."""
        return ProbeResult(f"{self.skill.entrypoint} can be called")

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        call.seen = (
            "" if self._is_async else "a thread cannot be stopped, so the function goes on in it, a generator to its next value"
        )
        given, report, ended = self._input(copy.deepcopy(input_data)), call.progress.add, _Ended()
        try:
            with reporting(report), running(report):
                answer = await in_task(self._answered(given, call, ended))
        except CancelledItself:
            raise SkillError("CancelledError: the coroutine cancelled the task that it was called in") from None
        except asyncio.CancelledError:
            if ended.outcome is None or not call.ended_in_time(ended.at):
                raise
            answer = self._said(ended.outcome)
        call.stop(ended.at)
        if isinstance(answer, ItemError):
            is_key = isinstance(input_data, dict) and self._parameter in input_data
            self._took_it_for_its_key |= is_key and _of_a_dict(str(answer))
            raise answer
        return self._read(self._json(answer), call)

    async def _answered(self, value: Any, call: Call, ended: _Ended) -> bytes | ItemError:
        """The answer as JSON text, or what went wrong: whatever the object raises, even SystemExit, is its answer.

        A function in a thread is on its own clock: whatever keeps the event loop meanwhile, it began and `ended` when it did.

        Raises:
            KeyboardInterrupt: the user pressed Ctrl-C where the event loop runs in the main thread.
        """
        left, pieces = threading.Event(), Pieces(self._max_bytes)
        try:
            conversation = None if call.conversation is None else call.conversation.copied
            answered = functools.partial(self._function, value, conversation)
            if self._is_async:
                result = answered()
            else:
                call.begin()
                result = await in_thread(lambda: ended.after(lambda: _collected(answered(), pieces, left)))
                if ended.outcome is not None:
                    return self._said(ended.outcome)
            if inspect.isawaitable(result):
                result = await self._watched(result, call)
            if inspect.isasyncgen(result):
                result = await self._watched(_gathered(result, pieces), call)
            return await in_thread(lambda: write_json(plain(_collected(result, pieces, left))))
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return self._failure(error)
        except RaisedInThread as raised:
            return self._failure(raised.error)
        except BaseException as error:  # noqa: BLE001 - anybody's code may raise anything
            if (interrupt := ctrl_c_behind(error)) is not None:
                raise interrupt from None
            return self._failure(error)
        finally:
            left.set()

    async def _watched(self, work: Awaitable[Any], call: Call) -> Any:
        steps = Steps(work)
        try:
            return await steps
        finally:
            if steps.longest_s > max(KEPT_S, call.timeout_s / 10):
                self._kept.append(steps.longest_s)

    def _said(self, outcome: bytes | BaseException) -> bytes | ItemError:
        return self._failure(outcome) if isinstance(outcome, BaseException) else outcome

    def _failure(self, error: BaseException) -> ItemError:
        if isinstance(error, NotJson):
            return ContractError(one_line(str(error)))
        if isinstance(error, TooLong):
            return self._too_long()
        content = error_data(error, self._max_bytes)
        known = self._known(content)
        message = str(error) if isinstance(error, Unfinished) else described(error)
        return SkillError(f"{one_line(message)}{unread_calls(content, known)}", known=known)

    def _too_long(self) -> ContractError:
        advice = "raise max_output_bytes if it may be longer, or answer less"
        return ContractError(f"the answer has more than {self._max_bytes:,} bytes; {advice}")

    def _json(self, answer: bytes) -> Any:
        if len(answer) > self._max_bytes:
            raise self._too_long()
        try:
            return parse_json(answer)
        except ValueError as error:
            raise ContractError(f"the answer is {error}") from None


class RunnableAdapter(FunctionAdapter):
    """Calls `ainvoke`, or `invoke` if there is no other, as `LangchainAdapter` does in a process of its own. If the skill is
    itself one of these methods, that one is called.
    """

    def _callable(self, name: str, target: Any) -> tuple[Called, bool]:
        method = target if inspect.ismethod(target) else method_of(name, target, None)
        target = runnable_of(target)
        configurable = takes_config(method)

        def options(usages: list[Any], conversation: dict[str, Any] | None) -> dict[str, Any]:
            thread = None if conversation is None else conversation["id"]
            return {"config": config_of_call(target, {}, usages, current_report(), thread)} if configurable else {}

        def said(value: Any, answer: Any, state: Any, usages: list[Any], chosen: dict[str, Any]) -> dict[str, Any]:
            refuse_waiting(answer, state, chosen)
            run = answer_parts(answer, None) | {"ids": identities(answer)}
            return {**run, "usages": plain(usages), "given": given_first(value, run.get("messages"))}

        def called(value: Any, conversation: dict[str, Any] | None) -> dict[str, Any]:
            usages: list[Any] = []
            chosen = options(usages, conversation)
            answer = method(value, **chosen)
            return said(value, answer, state_of(target, method, chosen), usages, chosen)

        async def awaited(value: Any, conversation: dict[str, Any] | None) -> dict[str, Any]:
            usages: list[Any] = []
            chosen = options(usages, conversation)
            try:
                answer = await method(value, **chosen)
            except NotImplementedError as error:
                if "sync" in str(error):
                    error.add_note("(its method invoke, given as the skill in its place, is not asynchronous)")
                raise
            state = state_of(target, method, chosen)
            return said(value, answer, await state if inspect.isawaitable(state) else state, usages, chosen)

        is_async = method.__name__ == "ainvoke"
        return awaited if is_async else called, is_async

    def _input(self, input_data: Any) -> Any:
        return graph_input(input_data, None, self._channels)

    def _read(self, answer: Any, call: Call) -> SkillResponse:
        return response_of(answer if call.conversation is None else without_earlier(answer, call.conversation))

    def _known(self, error: dict[str, Any]) -> SkillResponse | None:
        known = super()._known(error)
        return known and as_openai(known)

    def _reported(self, call: Call) -> SkillResponse | None:
        return reported_by_callbacks(super()._reported(call), of_graph="messages" in self._channels)

    @property
    def _channels(self) -> list[str]:
        asked = runnable_of(cast(ObjectSkill, self.skill).target)
        return sorted(map(str, getattr(asked, "channels", None) or ()))


def _wants_keywords(name: str, function: Callable[..., Any]) -> bool:
    """Whether the input's keys are the arguments of `function`: it cannot be called with the input alone.

    Raises:
        NotLoaded: it takes no argument at all.
    """
    if (signature := signature_of(function)) is None:
        return False
    if not signature.parameters:
        raise NotLoaded(f"{name}() takes no argument; a skill is called with the task's input")
    try:
        signature.bind(None, **conversation_argument(function, None))
    except TypeError:
        return True
    return False


def _of_a_dict(error: str) -> bool:
    """Whether Python refused a dict where a text, a number or a key belongs: such errors name the type."""
    return error.startswith(("TypeError", "AttributeError")) and "dict" in error


def _first_parameter(function: Callable[..., Any]) -> str | None:
    """The name of the parameter that gets the input, where there is a signature."""
    signature = signature_of(function)
    return None if signature is None else next(iter(signature.parameters))


def _with_input(function: Callable[..., Any]) -> Called:
    """A call with the input. One that has to be given a `conversation` finds its arguments in an input that has one, too."""
    if not takes_conversation(function):
        return lambda value, conversation: function(value)
    by_keywords = _with_keywords(function)
    needs_it = bool(conversation_argument(function, None))

    def called(value: Any, conversation: dict[str, Any] | None) -> Any:
        if needs_it and conversation is None and isinstance(value, dict) and CONVERSATION in value:
            return by_keywords(value, None)
        return function(value, **conversation_argument(function, conversation))

    return called


def _with_keywords(function: Callable[..., Any]) -> Called:
    @functools.wraps(function)
    def called(value: Any, conversation: dict[str, Any] | None) -> Any:
        if not isinstance(value, dict):
            raise TypeError(
                f"the input is {a_type(value)}; a function of several parameters needs a dict with their names as keys"
            )
        return function(**{**conversation_argument(function, conversation), **value})

    return called


def _is_async(function: Callable[..., Any]) -> bool:
    """Whether a call only makes a coroutine or an asynchronous generator, and does no work yet."""
    candidates = (function, inspect.getattr_static(type(function), "__call__", None))
    return any(inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each) for each in candidates)


def _collected(result: Any, pieces: Pieces, left: threading.Event) -> Any:
    """`result`, or the list of what a generator gives, which is closed where nobody waits for it any more (`left`)."""
    if not inspect.isgenerator(result):
        return result
    with contextlib.closing(result):
        for piece in result:
            if left.is_set():
                break
            pieces.add(piece)
    return pieces.values


async def _gathered(given: AsyncGenerator[Any, Any], pieces: Pieces) -> list[Any]:
    """What an asynchronous generator gives. One that waits for nothing still lets the others go on, and its time limit strike."""
    task = asyncio.current_task()
    async with contextlib.aclosing(given):
        async for piece in given:
            pieces.add(piece)
            await asyncio.sleep(0)
            if task is not None and task.cancelling():  # and the generator went on
                raise asyncio.CancelledError
    return pieces.values
