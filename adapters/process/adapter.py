"""A skill that runs as a process: setup, teardown and sessions, whatever it speaks; and one that speaks JSON-RPC 2.0 on its
standard input and output."""

from __future__ import annotations

import asyncio
import itertools
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, ClassVar, Literal, Self

from eval_skills.adapters.answer.envelope import read_answer
from eval_skills.adapters.base import Adapter, Done
from eval_skills.adapters.call import Call, shield_cleanup
from eval_skills.adapters.config import (
    CommandConfig,
    HookCommand,
    ProcessConfig,
    SubprocessConfig,
    read_config,
    source_of,
)
from eval_skills.adapters.conversation import Conversation
from eval_skills.adapters.process.forking import Forking, forked_launch
from eval_skills.adapters.process.jsonrpc import Reply
from eval_skills.adapters.process.launch import launch_of, spawn
from eval_skills.adapters.process.streams import OutputTail, last_lines
from eval_skills.adapters.process.worker import Worker, WorkerPool, closed_during_the_call
from eval_skills.adapters.template.placeholder import has_placeholder
from eval_skills.core.errors import InfraError, InputError
from eval_skills.core.models import Skill, SkillResponse

Scope = Literal["run", "item"]

_OF_THE_WHOLE = ("session", "setup", "teardown")


class Hook:
    """A command of `adapterConfig.setup` or `teardown`, run as the skill's own programs are: in its folder, with the allow-listed
    environment, the limits and the sandbox. What it starts ends with it.

    Raises:
        InputError: when it is made, if it cannot be started so.
    """

    def __init__(self, skill: Skill, config: ProcessConfig, command: HookCommand, name: str) -> None:
        self._name, self._command = name, command
        self._launch = launch_of(skill, tuple(shlex.split(command.command)), config)

    async def run(self) -> None:
        """Run it to its end.

        Raises:
            InfraError: it could not be started, failed, or was not done in time; with its last lines.
        """
        output = OutputTail()
        child = await spawn(self._launch, output.add, stdin=False)
        limit_s = self._command.timeout_ms / 1000
        try:
            await asyncio.wait([child.exited], timeout=limit_s)
            late = not child.exited.done()
        finally:
            await shield_cleanup(child.stop())
        if not late and child.exited.result() == 0:
            return
        how = f"was not done within {limit_s:g} s (timeoutMs)" if late else f"failed ({child.how_it_ended()})"
        said = last_lines(f"{output.text()}\n{child.stderr.text()}")
        words = self._launch.hidden_cause(f"; its last lines: {said}") if said else "; it printed nothing"
        raise InfraError(f"adapterConfig.{self._name} {how}{words}")


class ProcessAdapter(Adapter):
    """An adapter whose skill may have commands around the run and around each item, and a session of its own for each item.

    The commands for items make their items run one at a time: they prepare and clear what the skill finds.
    """

    config_model: ClassVar[type[ProcessConfig]] = ProcessConfig

    def __init__(self, skill: Skill) -> None:
        super().__init__(skill)
        config = read_config(self.config_model, skill)
        self.per_item = getattr(config, "session", "run") == "item"
        self._hooks = hooks_of(skill, config)
        self._turn = asyncio.Lock()
        self._failures: dict[str, int] = {}

    @classmethod
    def warnings(cls, skill: Skill) -> list[str]:
        """That a program gets a placeholder as it is written: only `requestTemplate` is filled in."""
        config = read_config(cls.config_model, skill)
        why = "has a placeholder, which the program gets as it is written: the input of an item is in its request"
        braced = [(place, text) for place, text in _words_of(skill, config).items() if "{{" in text]
        return [f"{skill.key}: {place} {why}" for place, text in braced if has_placeholder(text)]

    @property
    def remarks(self) -> list[str]:
        times = self._failures.items()
        return [f"{self.skill.key}: {said}{f' ({count} times)' if count > 1 else ''}" for said, count in times]

    def _setting(self, scope: Scope) -> AbstractAsyncContextManager[None]:
        return self._one_item() if scope == "item" and self._has(scope) else self._prepared(scope)

    async def _on_session(self, work: Callable[[Self], Awaitable[Done]], call: Call) -> Done:
        if not self.per_item:
            return await work(self)
        call.suspend()  # its start has a limit of its own
        async with self._new_session() as session:
            session.refuse_unusable(call)
            return await work(session)

    @property
    def own_conversations(self) -> bool:
        """Whether a conversation has a session of its own because the skill's process, or server, may remember what was said."""
        return self.per_item

    @asynccontextmanager
    async def _conversing(self, conversation: Conversation) -> AsyncIterator[Self]:
        if not self.own_conversations:
            async with self._joined(conversation):
                yield self
            return
        async with self._new_session() as session, session._joined(conversation):
            yield session

    def _joined(self, conversation: Conversation) -> AbstractAsyncContextManager[None]:
        """What the adapter keeps for a conversation while it lasts."""
        return nullcontext()

    def _new_session(self) -> Self:
        own: dict[str, Any] = {key: value for key, value in self.skill.adapter_config.items() if key not in _OF_THE_WHOLE}
        session = type(self)(self.skill.model_copy(update={"adapter_config": own}))
        if self.asks_services:
            session.services = self.services
        return session

    def _has(self, scope: Scope) -> bool:
        return any(f"{when}.{scope}" in self._hooks for when in ("setup", "teardown"))

    @asynccontextmanager
    async def _one_item(self) -> AsyncIterator[None]:
        async with self._turn, self._prepared("item"):
            yield

    @asynccontextmanager
    async def _prepared(self, scope: Scope) -> AsyncIterator[None]:
        try:
            if (hook := self._hooks.get(f"setup.{scope}")) is not None:
                await hook.run()
            yield
        finally:
            await shield_cleanup(self._tear_down(scope))

    async def _tear_down(self, scope: Scope) -> None:
        if (hook := self._hooks.get(f"teardown.{scope}")) is None:
            return
        try:
            await hook.run()
        except InfraError as error:  # the answer is there: what comes after it changes no result
            self._failures[str(error)] = self._failures.get(str(error), 0) + 1


def _words_of(skill: Skill, config: ProcessConfig) -> dict[str, str]:
    """What is written of the programs that are started, by its place in the skill."""
    command: str | None = getattr(config, "command", None)
    args: list[str] = getattr(config, "args", [])
    return {
        "adapterConfig.command" if command else "entrypoint": command or skill.entrypoint,
        **{f"adapterConfig.args[{index}]": word for index, word in enumerate(args)},
        **{f"adapterConfig.env.{name}": value for name, value in config.env.items()},
    }


def hooks_of(skill: Skill, config: ProcessConfig) -> dict[str, Hook]:
    """The commands around the calls of a skill, by their keys below `adapterConfig`: ``setup.run``, ``teardown.item`` ….

    Raises:
        InputError: one cannot be started as the skill's programs are.
    """
    given = {
        f"{when}.{scope}": command
        for when, hooks in (("setup", config.setup), ("teardown", config.teardown))
        for scope, command in (("run", hooks.run), ("item", hooks.item))
        if command is not None
    }
    return {name: Hook(skill, config, command, name) for name, command in given.items()}


LINGER_S = 0.5
"""How long a one-shot process may take to end after its answer."""


class SubprocessAdapter(ProcessAdapter):
    """Each call is a fresh process that gets one request and end-of-file, or with `persistent` a line for a warm worker.

    The latency of a fresh process holds its start, but not what a server did before it (`start_method`); that of a warm worker
    does not. An answer counts whatever the exit
    code, which is then a remark in `logs` and `metadata["exitCode"]`. In a conversation a warm worker serves no other one, and a
    fresh process has to go by the history that it is told.
    """

    config_model = SubprocessConfig
    asks_services: ClassVar[bool] = False

    def __init__(self, skill: Skill) -> None:
        super().__init__(skill)
        self._config = read_config(SubprocessConfig, skill)
        self.limits = self._config.limits
        words = command_words(skill, self._config)
        self._launch = launch_of(skill, words, self._config)
        self._forking = Forking(forked_launch(skill, words, self._config)) if self._config.start_method == "forkserver" else None
        self._pool = WorkerPool(self._launch, self._config.max_output_bytes)
        self._fresh: set[Worker] = set()
        self._ids = itertools.count(1)

    @property
    def own_conversations(self) -> bool:
        return self.per_item or self._config.persistent

    @classmethod
    def check(cls, skill: Skill) -> None:
        """The configuration, the command's quoting, and the folder it runs in."""
        cls(skill)

    async def _close(self) -> None:
        await asyncio.gather(self._pool.close(), *(worker.stop() for worker in self._fresh))
        if self._forking is not None:
            await self._forking.close()

    @property
    def remarks(self) -> list[str]:
        given_up = self._forking.remark if self._forking is not None else ""
        said = [remark for remark in (given_up, self._pool.remark) if remark]
        return [*super().remarks, *(f"{self.skill.key}: {remark}" for remark in said)]

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        call.not_yet_asked()
        if self._config.persistent:
            warm = await self._pool.answer(next(self._ids), input_data, call, call.conversation_data)
            return read_answer(warm.result())
        reply, exit_code = await self._ask_fresh(input_data, call)
        response = read_answer(reply.result())
        return response.model_copy(update={"metadata": response.metadata | {"exitCode": exit_code}}) if exit_code else response

    async def _ask_fresh(self, input_data: Any, call: Call) -> tuple[Reply, int | None]:
        worker = await self._new_worker(call)
        await worker.start()
        self._fresh.add(worker)
        remark = ""
        try:
            if self._pool.closed:  # while it started: nobody else would end it
                raise closed_during_the_call()
            call.sends()
            reply = await worker.ask(
                next(self._ids), input_data, last=True, progress=call.progress, conversation=call.conversation_data
            )
            call.stop(worker.answered_at)
            remark = await worker.finish(LINGER_S)
        finally:
            call.stop()
            call.seen = worker.seen()
            call.keys_twice(worker.duplicate_keys)
            await shield_cleanup(worker.stop())
            self._fresh.discard(worker)
            call.logs = "\n".join(filter(None, (worker.take_logs(), remark)))
        return reply, None if remark.startswith("still") else worker.exit_code

    async def _new_worker(self, call: Call) -> Worker:
        if self._forking is None:
            call.start()
            return Worker(self._launch, self._config.max_output_bytes)
        call.suspend()  # the server's imports have a limit of their own
        await self._forking.prepare()
        call.start()
        return Worker(self._launch, self._config.max_output_bytes, self._forking.start)


def command_words(skill: Skill, config: CommandConfig) -> tuple[str, ...]:
    """The program and its arguments, as a shell would split them, but nothing expanded and nothing rewritten.

    Raises:
        InputError: the entrypoint's quotes do not match.
    """
    try:
        words = shlex.split(config.command or skill.entrypoint)
    except ValueError as error:
        message = f"cannot be split into words ({str(error).lower()}); check its quotes"
        raise InputError(message, source=source_of(skill), path="entrypoint") from None
    return (*words, *config.args)
