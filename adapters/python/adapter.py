"""Skills that are Python objects, loaded into warm workers by a host program of ours and called there: functions and classes."""

from __future__ import annotations

import asyncio
import itertools
import sys
from abc import abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast

from eval_skills.adapters.answer.envelope import partial_response, read_answer, unread_calls
from eval_skills.adapters.call import Call
from eval_skills.adapters.config import CustomConfig, HostedConfig, read_config
from eval_skills.adapters.conversation import Conversation
from eval_skills.adapters.probing import ProbeResult
from eval_skills.adapters.process.adapter import ProcessAdapter
from eval_skills.adapters.process.jsonrpc import Reply
from eval_skills.adapters.process.launch import launch_of
from eval_skills.adapters.process.worker import Worker, WorkerPool
from eval_skills.adapters.python.entrypoint import python_entrypoint
from eval_skills.adapters.python.host import main as host
from eval_skills.adapters.python.host.answer import MESSAGE_CHARS
from eval_skills.adapters.sandbox.limits import too_long
from eval_skills.core.errors import ContractError, InfraError, SkillCrashed, SkillError, SkillNotStarted, SkillUnavailable
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.core.text import one_line

C = TypeVar("C", bound=HostedConfig)

_LOAD_ID = 0
"""The id of the request that loads; calls count from 1."""

_ERROR_BYTES = 12 * MESSAGE_CHARS + 200
"""What an error reply takes at most beside what it reports of the run: a character may become two escapes of six."""


class HostedAdapter(ProcessAdapter, Generic[C]):
    """Calls a Python object in the interpreter of the skill's choice, one item at a time in each warm worker.

    The first worker loads the object when the adapter is opened: what cannot be loaded is found once, and every call says so.
    Loading has a limit of its own (`startTimeoutMs`) and does not count as any item's time.
    """

    config_model = HostedConfig
    asks_services: ClassVar[bool] = False

    def __init__(self, skill: Skill) -> None:
        super().__init__(skill)
        self._entrypoint = python_entrypoint(skill)
        self._config = config = cast(C, read_config(self.config_model, skill))
        self.limits = config.limits
        launch = launch_of(skill, (config.python or sys.executable, "-I", str(Path(host.__file__).resolve())), config)
        self._pool = WorkerPool(launch, config.max_output_bytes, prepare=self._load)
        self._max_reported = max(0, config.max_output_bytes - _ERROR_BYTES)
        self._start_s = config.start_timeout_ms / 1000
        self._ids = itertools.count(_LOAD_ID + 1)
        self._loaded: dict[str, Any] = {}

    @property
    def remarks(self) -> list[str]:
        return [*super().remarks, *([f"{self.skill.key}: {self._pool.remark}"] if self._pool.remark else [])]

    @classmethod
    def check(cls, skill: Skill) -> None:
        """The configuration, the entrypoint's form, and the folder it runs in; nothing of the skill's code is run."""
        cls(skill)

    @abstractmethod
    def _setup(self) -> dict[str, Any]:
        """What the host has to know beside the entrypoint."""

    @abstractmethod
    def _read(self, answer: Any) -> SkillResponse:
        """The host's answer as a response."""

    def _input(self, input_data: Any) -> Any:
        """The task's input as the object takes it."""
        return input_data

    async def _open(self) -> None:
        with suppress(SkillUnavailable, SkillCrashed):  # another attempt, by the first call, may succeed
            self._pool.give_back(await self._pool.take())

    async def _close(self) -> None:
        await self._pool.close()

    async def _probe(self, call: Call) -> ProbeResult:
        """The object is loaded; it is not called."""
        self._pool.give_back(await self._pool.take())
        return ProbeResult(f"{self._entrypoint} is loaded")

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        call.suspend()
        try:
            if call.conversation is None:
                reply = await self._pool.answer(next(self._ids), self._input(input_data), call)
            else:
                reply = await self._answer_in(call.conversation, input_data, call)
        finally:
            call.seen = ""  # a host prints nothing but answers
        return self._read(self._new_in(self._result(reply), call))

    async def _answer_in(self, conversation: Conversation, input_data: Any, call: Call) -> Reply:
        """The reply of the worker that has all turns of a conversation."""
        if conversation.state is None:
            conversation.state = await self._pool.take()
        worker: Worker = conversation.state
        try:
            return await self._pool.ask(worker, next(self._ids), self._input(input_data), call, self._conversation_data(call))
        except BaseException:
            conversation.state = None  # the worker is ended
            raise

    @asynccontextmanager
    async def _joined(self, conversation: Conversation) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if conversation.state is not None:
                self._pool.give_back(conversation.state)

    def _conversation_data(self, call: Call) -> dict[str, Any] | None:
        """What the host is told of a conversation."""
        return call.conversation_data if self._loaded.get("takes_conversation") else None

    def _new_in(self, answer: Any, call: Call) -> Any:
        """The host's answer without what it repeats of the conversation before it."""
        return answer

    def _known(self, error: dict[str, Any]) -> SkillResponse | None:
        """What an error reports of the run before it."""
        return partial_response(error)

    def _result(self, reply: Reply) -> Any:
        if not reply.failed:
            return reply.content
        if reply.content["code"] == host.TOO_LONG:
            raise too_long("the answer", self._config.max_output_bytes)
        message = one_line(reply.content["message"])
        kind = ContractError if reply.content["code"] == host.NOT_JSON else SkillError
        known = self._known(reply.content)
        raise kind(f"{message}{unread_calls(reply.content, known)}", known=known)

    async def _load(self, worker: Worker) -> None:
        where = {"place": self._entrypoint.place, "attribute": self._entrypoint.attribute}
        bounds = {"max_bytes": self._config.max_output_bytes, "max_reported": self._max_reported}
        try:
            async with asyncio.timeout(self._start_s):
                reply = await worker.ask(_LOAD_ID, where | bounds | self._setup())
        except TimeoutError:
            late = f"{self._entrypoint} was not loaded within {self._start_s:g} s (adapterConfig.startTimeoutMs)"
            raise InfraError(f"{late}; import less, or raise the limit", logs=worker.take_logs()) from None
        except (InfraError, SkillCrashed) as error:
            raise type(error)(f"loading {self._entrypoint}: {error}", logs=worker.take_logs()) from None
        if reply.failed:
            raise SkillNotStarted(reply.content["message"], logs=worker.take_logs())
        self._loaded = reply.content


class CustomAdapter(HostedAdapter[CustomConfig]):
    """Calls a function with the task's input, or with the input's keys as keyword arguments (`spread`).

    A class is instantiated once in each worker, with the arguments in `init`. The answer is a bare value or an envelope;
    models, dataclasses, enums and tuples are written out, and a generator's values are collected into a list. A conversation has
    a process of its own; a function with a parameter `conversation` is told of it there.
    """

    config_model = CustomConfig

    @property
    def own_conversations(self) -> bool:
        return True

    def _setup(self) -> dict[str, Any]:
        return {"kind": "custom", "init": self._config.init, "spread": self._config.spread}

    def _read(self, answer: Any) -> SkillResponse:
        return read_answer(answer)
