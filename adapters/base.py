"""What all adapters share: how they open and close, one deadline, and one family of errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar, final

from eval_skills.adapters.answer.envelope import without_echo
from eval_skills.adapters.call import Call, shield_cleanup
from eval_skills.adapters.config import AdapterConfig, Limits, read_config
from eval_skills.adapters.probing import ProbeResult, empty_input
from eval_skills.adapters.sandbox.limits import name_limit
from eval_skills.core.errors import InfraError, ItemError, SkillCrashed, SkillError, SkillNotStarted, SkillTimeout, UsageError
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.core.text import one_line

Done = TypeVar("Done")


class Adapter(ABC):
    """One way to call a skill: ``async with SomeAdapter(skill) as adapter: await adapter.call(input_data, timeout_s)``.

    An adapter may be called any number of times, also at the same time, on the event loop that opened it. Opening never
    raises for an error of the skill (a service that does not start): every call does, so it is recorded for the items.

    `limits` are those of the processes it starts: an error that one of them explains names it.

    Raises:
        InputError: when it is made, if the skill's `adapterConfig` is wrong.
    """

    config_model: ClassVar[type[AdapterConfig]] = AdapterConfig

    def __init__(self, skill: Skill) -> None:
        self.skill = skill
        self.limits = Limits()
        self._opened = False
        self._open_error: ItemError | None = None

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
            await self._open()
        except ItemError as error:
            self._open_error = error
        except Exception as error:  # noqa: BLE001 - one skill's failure to open must not end the run of the others
            self._open_error = InfraError(f"{self.skill.key} could not be opened: {type(error).__name__}: {error}")
        except BaseException:
            await shield_cleanup(self._close())
            raise
        self._opened = True
        return self

    @final
    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._opened = False
        await shield_cleanup(self._close())

    @final
    async def probe(self, timeout_s: float) -> ProbeResult:
        """Whether the skill could be called, found out as cheaply as its kind allows; nothing it says is judged.

        Raises:
            ItemError: it could not; as `call` does.
            UsageError: the adapter is not open.
        """
        return await self._finished(self._probe, Call(timeout_s))

    @final
    async def call(self, input_data: Any, timeout_s: float) -> SkillResponse:
        """Call the skill once; at the deadline, or when cancelled, the work is stopped before this returns.

        The response carries `latency_ms` (the call alone) and `logs`; so does every error.

        Raises:
            ItemError: SkillError, ContractError, InfraError, SkillUnavailable or SkillTimeout, and nothing else.
            UsageError: the adapter is not open.
        """
        call = Call(timeout_s)
        try:
            response = await self._finished(lambda call: self._invoke(input_data, call), call)
        except ItemError as error:
            error.known = without_echo(error.known, input_data)
            raise
        measured = {"latency_ms": call.latency_ms, "time_to_first_token_ms": call.time_to_first_token_ms}
        return response.model_copy(update={**measured, "logs": call.logs})

    async def _finished(self, work: Callable[[Call], Awaitable[Done]], call: Call) -> Done:
        if not self._opened:
            raise UsageError(f"the adapter of {self.skill.key} is not open; call it inside `async with`")
        try:
            return await self._in_time(work, call)
        except ItemError as error:
            problem = name_limit(error, self.limits)
            problem.latency_ms, problem.logs = call.latency_ms, call.logs or error.logs
            raise problem from error.__cause__

    async def _in_time(self, work: Callable[[Call], Awaitable[Done]], call: Call) -> Done:
        limit = call.limit()
        try:
            async with limit:
                try:
                    self._refuse_unusable()
                    return await work(call)
                finally:
                    call.stop()
        except ItemError:
            raise
        except Exception as error:  # one item's failure never leaves its item
            if isinstance(error, TimeoutError) and limit.expired():
                raise SkillTimeout(f"no answer within {call.timeout_s:g} s{call.seen and '; ' + call.seen}") from None
            raise InfraError(f"calling {self.skill.key} failed: {type(error).__name__}: {error}") from error

    def _refuse_unusable(self) -> None:
        if self._open_error is not None:
            raise type(self._open_error)(str(self._open_error), logs=self._open_error.logs)

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
