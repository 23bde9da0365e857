"""What all adapters share: how they open and close, one deadline, one clock, and one family of errors."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, ClassVar, Self, final

from eval_skills.adapters.cancellation import uninterrupted
from eval_skills.adapters.config import AdapterConfig, read_config
from eval_skills.core.errors import InfraError, ItemError, SkillTimeout, UsageError
from eval_skills.core.models import Skill, SkillResponse


class Call:
    """One call in progress: its clock, its deadline, and what the skill said on the side.

    The clock runs from `start` (until then: from the call's beginning) to the first `stop`, which also disarms the
    deadline: an answer that is there is never lost to the tidying up behind it.
    `suspend` lets the deadline rest until then: a start with a limit of its own takes nothing from the call's time.
    `seen` is a phrase about what came instead of an answer, for the message of a timeout.
    """

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self.logs, self.seen = "", ""
        self._started, self._stopped = time.perf_counter(), 0.0
        self._deadline: asyncio.Timeout | None = None
        self._suspended = False

    def limit(self) -> asyncio.Timeout:
        """The deadline, to be entered once, around all the work."""
        self._deadline = asyncio.timeout(self.timeout_s)
        return self._deadline

    def suspend(self) -> None:
        """Let the deadline rest until the next `start`, from which on the whole time is allowed."""
        self._suspended = True
        self._set_deadline(None)

    def start(self, not_before: float | None = None) -> None:
        """Start the clock anew: what came before (a worker's start) is no part of the latency.

        With `not_before`, a `time.perf_counter()` that has passed, a clock that runs is only moved forward to it.
        """
        if self._suspended:
            self._suspended = False
            self._set_deadline(asyncio.get_running_loop().time() + self.timeout_s)
        self._started = time.perf_counter() if not_before is None else max(self._started, not_before)

    def stop(self, at: float | None = None) -> None:
        """Stop the clock, now or at an earlier `time.perf_counter()`; only the first stop counts."""
        if not self._stopped:
            self._stopped = time.perf_counter() if at is None else at
            self._set_deadline(None)

    def _set_deadline(self, at: float | None) -> None:
        if self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(at)

    @property
    def latency_ms(self) -> float:
        """Milliseconds on the clock, to the microsecond."""
        return round(((self._stopped or time.perf_counter()) - self._started) * 1000, 3)


class Adapter(ABC):
    """One way to call a skill: ``async with SomeAdapter(skill) as adapter: await adapter.call(input_data, timeout_s)``.

    An adapter may be called any number of times, also at the same time, on the event loop that opened it. Opening never
    raises for the skill's own trouble (a service that does not start): every call does, so it stays with the items.

    Raises:
        InputError: when it is made, if the skill's `adapterConfig` is wrong.
    """

    config_model: ClassVar[type[AdapterConfig]] = AdapterConfig

    def __init__(self, skill: Skill) -> None:
        self.skill = skill
        self._opened = False
        self._trouble: ItemError | None = None

    @classmethod
    def check(cls, skill: Skill) -> None:
        """Everything that can be known to be wrong before the first call.

        Raises:
            InputError: with the skill's folder, the place inside the skill, and what would be valid.
        """
        read_config(cls.config_model, skill)

    @final
    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except ItemError as error:
            self._trouble = error
        except Exception as error:  # noqa: BLE001 - one skill's failure to open must not end the run of the others
            self._trouble = InfraError(f"{self.skill.key} could not be opened: {type(error).__name__}: {error}")
        except BaseException:
            await uninterrupted(self._close())
            raise
        self._opened = True
        return self

    @final
    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._opened = False
        await uninterrupted(self._close())

    @final
    async def call(self, input_data: Any, timeout_s: float) -> SkillResponse:
        """Call the skill once; at the deadline, or when cancelled, the work is stopped before this returns.

        The response carries `latency_ms` (the call alone) and `logs`; so does every error.

        Raises:
            ItemError: SkillError, ContractError, InfraError, SkillUnavailable or SkillTimeout, and nothing else.
            UsageError: the adapter is not open.
        """
        if not self._opened:
            raise UsageError(f"the adapter of {self.skill.key} is not open; call it inside `async with`")
        call = Call(timeout_s)
        try:
            response = await self._invoke_in_time(input_data, call)
        except ItemError as error:
            error.latency_ms, error.logs = call.latency_ms, call.logs or error.logs
            raise
        return response.model_copy(update={"latency_ms": call.latency_ms, "logs": call.logs})

    async def _invoke_in_time(self, input_data: Any, call: Call) -> SkillResponse:
        limit = call.limit()
        try:
            async with limit:
                try:
                    return await self._invoke_if_usable(input_data, call)
                finally:
                    call.stop()
        except ItemError:
            raise
        except Exception as error:  # one item's failure never leaves its item
            if isinstance(error, TimeoutError) and limit.expired():
                raise SkillTimeout(f"no answer within {call.timeout_s:g} s{call.seen and '; ' + call.seen}") from None
            raise InfraError(f"calling {self.skill.key} failed: {type(error).__name__}: {error}") from error

    async def _invoke_if_usable(self, input_data: Any, call: Call) -> SkillResponse:
        if self._trouble is not None:
            raise type(self._trouble)(str(self._trouble), logs=self._trouble.logs)
        return await self._invoke(input_data, call)

    async def _open(self) -> None:  # noqa: B027 - most adapters have nothing to open
        """Get ready for calls; whatever was started before a failure is stopped by `_close`."""

    async def _close(self) -> None:  # noqa: B027 - and those have nothing to close
        """Stop everything that was started; must cope with an `_open` that got halfway."""

    @abstractmethod
    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        """Call the skill; stop the work if cancelled. The deadline, `latency_ms` and `logs` are added around it."""
