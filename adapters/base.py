"""What all adapters share: how they open and close, one deadline, and one family of errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from time import monotonic
from types import TracebackType
from typing import Any, ClassVar, Literal, Self, TypeVar, final

from eval_skills.adapters.answer.envelope import without_echo
from eval_skills.adapters.call import CALLED_NOTHING, Call, shield_cleanup, with_progress, with_whole_messages
from eval_skills.adapters.config import AdapterConfig, Limits, read_config
from eval_skills.adapters.conversation import Conversation
from eval_skills.adapters.probing import ProbeResult, empty_input
from eval_skills.adapters.sandbox.limits import name_limit
from eval_skills.core.errors import (
    InfraError,
    ItemError,
    SkillCrashed,
    SkillError,
    SkillNotStarted,
    SkillThrottled,
    SkillTimeout,
    UsageError,
)
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.core.rate_limits.services import MAX_THROTTLED_S, Services
from eval_skills.core.text import one_line

Done = TypeVar("Done")


class Adapter(ABC):
    """One way to call a skill: ``async with SomeAdapter(skill) as adapter: await adapter.call(input_data, timeout_s)``.

    An adapter may be called any number of times, also at the same time, on the event loop that opened it. Opening never
    raises for an error of the skill (a service that does not start): every call does, so it is recorded for the items.

    `limits` are those of the processes it starts: an error that one of them explains names it. `services` are those of the run:
    where the skill is behind one, each call waits for its turn there. An adapter that `asks_services` has them.

    Raises:
        InputError: when it is made, if the skill's `adapterConfig` is wrong.
    """

    config_model: ClassVar[type[AdapterConfig]] = AdapterConfig
    asks_services: ClassVar[bool] = True
    """Whether its skills may be behind services, which can ask for fewer requests; not where they are processes or code here."""
    services: Services
    per_item = False
    """Whether each item opens an adapter of its own, and this one is only the frame around them."""

    def __init__(self, skill: Skill) -> None:
        self.skill = skill
        self.limits = Limits()
        if self.asks_services:
            self.services = Services()
        self._opened = False
        self._open_error: ItemError | None = None
        self._around = AsyncExitStack()

    @property
    def remarks(self) -> list[str]:
        """What went wrong and changed no result, each as one line; known once the adapter is closed."""
        return []

    @classmethod
    def check(cls, skill: Skill) -> None:
        """Everything that can be known to be wrong before the first call.

        Raises:
            InputError: with the skill's folder, the place inside the skill, and what would be valid.
        """
        read_config(cls.config_model, skill)

    @classmethod
    def warnings(cls, skill: Skill) -> list[str]:
        """What is valid in a checked skill but probably not intended, each as one line to show before the first call."""
        return []

    @final
    async def __aenter__(self) -> Self:
        try:
            await self._around.enter_async_context(self._setting("run"))
            if not self.per_item:
                await self._open()
        except ItemError as error:
            self._open_error = error
        except Exception as error:  # noqa: BLE001 - one skill's failure to open must not end the run of the others
            self._open_error = InfraError(f"{self.skill.key} could not be opened: {type(error).__name__}: {error}")
        except BaseException:
            await shield_cleanup(self._end())
            raise
        self._opened = True
        return self

    @final
    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._opened = False
        await shield_cleanup(self._end())

    async def _end(self) -> None:
        async with self._around:
            await self._close()

    @final
    async def probe(self, timeout_s: float) -> ProbeResult:
        """Whether the skill could be called, found out as cheaply as its kind allows; nothing it says is judged.

        Raises:
            ItemError: it could not; as `call` does.
            UsageError: the adapter is not open.
        """
        call = Call(timeout_s)
        return await self._set(lambda call: self._on_session(lambda session: session._probe(call), call), call)

    @final
    async def call(self, input_data: Any, timeout_s: float) -> SkillResponse:
        """Call the skill once; at the deadline, or when cancelled, the work is stopped before this returns.

        The response carries `latency_ms` (the call alone) and `logs`; so does every error. What the skill reported while it
        worked is part of both, however the call ended; `known` of an error is None where nothing is known of what it did.

        Raises:
            ItemError: SkillError, ContractError, InfraError, SkillUnavailable or SkillTimeout, and nothing else.
            UsageError: the adapter is not open.
        """
        call = Call(timeout_s)
        invoking = self._set(lambda call: self._on_session(lambda session: session._invoke(input_data, call), call), call)
        return await self._measured(invoking, call, input_data)

    @asynccontextmanager
    async def conversation(self) -> AsyncIterator[ConversationSession]:
        """A conversation: its turns are calls of one session of the skill, which no other conversation shares, and what surrounds
        an item surrounds all of them.

        Raises:
            ItemError: the session, or what surrounds it, could not be prepared.
            UsageError: the adapter is not open.
        """
        if not self._opened:
            raise UsageError(f"the adapter of {self.skill.key} is not open; call it inside `async with`")
        conversation = Conversation()
        if self._open_error is not None:  # every call says so
            yield ConversationSession(self, conversation)
            return
        async with AsyncExitStack() as around:
            try:
                await around.enter_async_context(self._setting("item"))
                session = await around.enter_async_context(self._conversing(conversation))
            except ItemError as error:
                error.known = error.known or CALLED_NOTHING
                raise
            yield ConversationSession(session, conversation)

    @final
    async def _turn_of(self, conversation: Conversation, input_data: Any, timeout_s: float) -> SkillResponse:
        call = Call(timeout_s, conversation)
        return await self._measured(self._finished(lambda call: self._invoke(input_data, call), call), call, input_data)

    async def _measured(self, invoking: Awaitable[SkillResponse], call: Call, input_data: Any) -> SkillResponse:
        try:
            response = await invoking
        except ItemError as error:
            error.known = without_echo(self._known_after(call, error), input_data)
            raise
        measured = {"latency_ms": call.latency_ms, "time_to_first_token_ms": call.time_to_first_token_ms}
        said = {**measured, "logs": call.logs, "duplicate_keys": call.duplicate_keys}
        return with_whole_messages(with_progress(response, self._reported(call))).model_copy(update=said)

    def _known_after(self, call: Call, error: ItemError) -> SkillResponse | None:
        if not call.asked:
            return error.known or CALLED_NOTHING
        reported = self._reported(call)
        return reported if error.known is None else with_progress(error.known, reported)

    def _reported(self, call: Call) -> SkillResponse | None:
        """What was reported during the call, in our own form."""
        known = call.progress.known
        return None if known is None else with_whole_messages(known)

    async def _set(self, work: Callable[[Call], Awaitable[Done]], call: Call) -> Done:
        """`_finished` within the setting of one item, which takes nothing from its time."""
        if not self._opened:
            raise UsageError(f"the adapter of {self.skill.key} is not open; call it inside `async with`")
        call.not_yet_asked()
        if self._open_error is not None:  # there is nothing to prepare for
            return await self._finished(work, call)
        async with self._setting("item"):
            call.restart()
            return await self._finished(work, call)

    async def _finished(self, work: Callable[[Call], Awaitable[Done]], call: Call) -> Done:
        try:
            return await self._in_time(work, call)
        except ItemError as error:
            problem = name_limit(error, self.limits)
            problem.latency_ms, problem.logs = call.latency_ms, call.logs or error.logs
            problem.duplicate_keys = call.duplicate_keys
            raise problem from error.__cause__

    async def _in_time(self, work: Callable[[Call], Awaitable[Done]], call: Call) -> Done:
        limit = call.limit()
        try:
            async with limit:
                try:
                    self.refuse_unusable(call)
                    return await work(call)
                finally:
                    call.stop()
        except ItemError:
            raise
        except Exception as error:  # one item's failure never leaves its item
            if isinstance(error, TimeoutError) and limit.expired():
                raise SkillTimeout(f"no answer within {call.timeout_s:g} s{call.seen and '; ' + call.seen}") from None
            raise InfraError(f"calling {self.skill.key} failed: {type(error).__name__}: {error}") from error

    def refuse_unusable(self, call: Call) -> None:
        """Raise what kept the adapter from opening, if anything did."""
        if self._open_error is not None:
            call.not_yet_asked()
            raise type(self._open_error)(str(self._open_error), logs=self._open_error.logs)

    def _setting(self, scope: Literal["run", "item"]) -> AbstractAsyncContextManager[None]:
        """What surrounds a run (before `_open`, after `_close`) or an item; entering it raises an ItemError where it fails."""
        return nullcontext()

    async def _on_session(self, work: Callable[[Self], Awaitable[Done]], call: Call) -> Done:
        """Do `work` with the adapter whose session this call uses: by default this one, for all items."""
        return await work(self)

    def _conversing(self, conversation: Conversation) -> AbstractAsyncContextManager[Self]:
        """The adapter whose session a whole conversation uses: by default this one, which is told of it with every call."""
        return nullcontext(self)

    async def _open(self) -> None:  # noqa: B027 - most adapters have nothing to open
        """Get ready for calls; whatever was started before a failure is stopped by `_close`."""

    async def _close(self) -> None:  # noqa: B027 - and those have nothing to close
        """Stop everything that was started; must cope with an `_open` that got halfway."""

    async def _probe(self, call: Call) -> ProbeResult:
        """What `probe` finds out: by default the answer to an empty input, which may well be an error."""
        try:
            await self._invoke(empty_input(self.skill.input_schema), call)
        except (SkillCrashed, SkillNotStarted):
            raise
        except SkillError as error:
            return ProbeResult(f"answers an empty request, with an error: {one_line(str(error), 120)}")
        return ProbeResult("answers an empty request")

    @abstractmethod
    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        """Call the skill; stop the work if cancelled. The deadline, `latency_ms` and `logs` are added around it."""


class ConversationSession:
    """A conversation with the skill of an open adapter, one turn after the other."""

    def __init__(self, adapter: Adapter, conversation: Conversation) -> None:
        self._adapter, self._conversation = adapter, conversation

    @property
    def id(self) -> str:
        """What the skill is told as the conversation's id; no other conversation has it."""
        return self._conversation.id

    async def call(self, input_data: Any, timeout_s: float) -> SkillResponse:
        """The answer of the next turn, as that of `Adapter.call`; of its messages only those that are new. A turn that the
        service refuses because there are too many requests is said again: what was said before need not be.

        Raises:
            ItemError: as `Adapter.call`; the conversation is over then.
        """
        self._conversation.begin_turn()
        response = await self._answer(input_data, timeout_s)
        self._conversation.note(input_data, response.output)
        return self._conversation.own(response)

    async def _answer(self, input_data: Any, timeout_s: float) -> SkillResponse:
        until = monotonic() + MAX_THROTTLED_S
        while True:
            try:
                return await self._adapter._turn_of(self._conversation, input_data, timeout_s)
            except SkillThrottled as refusal:
                if refusal.throttled is None or monotonic() > until:
                    refusal.throttled = None
                    raise
