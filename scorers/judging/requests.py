"""Requests to one model: tried again where that can help, a limited number at a time, counted, and within the budget."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from eval_skills.core.rate_limits.services import NoTurn, Turn
from eval_skills.scorers.judging.budget import Reservation, RunLimits
from eval_skills.scorers.judging.errors import NOT_ASKED, ProviderError, number
from eval_skills.scorers.judging.provider import LITELLM, EmbeddingCall, ModelCall, ModelReply, Transport
from eval_skills.scorers.judging.tracing import request_span

if TYPE_CHECKING:
    from eval_skills.scorers.judging.model import JudgeModel

FIRST_WAIT_S, MAX_WAIT_S = 0.5, 8.0
"""Our own waits between attempts: the first, which doubles from one to the next, and the longest."""

LAST_SHARE = 0.1
"""No attempt begins when less than this share of a question's time is left: it would be cut off, and might be paid for."""

MAX_UNANSWERED, PAUSE_S = 5, 60.0
"""After so many questions in a row without an answer the model is not asked for so long: one that is down would keep every item
waiting for as long as an answer may take.
"""

MAX_PAGES = 3
"""How often a model that has answered nothing else is asked, where a web page comes: that is a proxy, or a wrong address."""

_jitter = random.Random()  # noqa: S311 - spreads load; the program's own generator is left to it and its skills

_CHARS_PER_TOKEN = 3
"""Of UTF-8 bytes: an estimate from above, in any language."""


@dataclass(slots=True)
class TimeBudget:
    """A question's time, and what it took so far.

    `left_s` is left of `all_s`, waits between attempts included; another attempt begins while more than `spare_s` is left.
    `attempts` counts the requests that were made.
    """

    all_s: float
    spare_s: float
    left_s: float
    attempts: int = 0

    @classmethod
    def of(cls, timeout_s: float, retried_s: float | None = None) -> TimeBudget:
        """All of `timeout_s`, of which attempts begin in the first `retried_s` (None: in all but a last share)."""
        spare_s = LAST_SHARE * timeout_s
        return cls(timeout_s, spare_s if retried_s is None else max(spare_s, timeout_s - retried_s), timeout_s)

    def wait_s(self, failures: int, asked_s: float | None) -> float | None:
        """How long to wait before the next attempt after so many failures, `asked_s` where that was asked; None: no time."""
        room = self.left_s - self.spare_s
        if asked_s is not None and asked_s >= FIRST_WAIT_S:
            return asked_s if asked_s <= room else None
        own = min(MAX_WAIT_S, FIRST_WAIT_S * 2.0 ** min(failures - 1, 30)) * _jitter.uniform(0.75, 1.25)
        return min(own, room) if room >= FIRST_WAIT_S else None

    @property
    def is_all_of_it(self) -> bool:
        """Whether attempts begin as long as there is time, and not for a while only."""
        return self.spare_s <= LAST_SHARE * self.all_s

    @property
    def described(self) -> str:
        """`` (after 9 attempts in 108 s)``; nothing after one attempt."""
        return f" (after {self.attempts} attempts in {number(self.all_s - self.left_s)} s)" if self.attempts > 1 else ""


class Requests:
    """The requests of one `Judge`. After an error that ends judging (a refused key) none is made any more, and after
    `MAX_UNANSWERED` questions without an answer none for `PAUSE_S`. Where the model asks to wait, all its questions do.
    """

    def __init__(self, limits: RunLimits, model: JudgeModel, transport: Transport = LITELLM) -> None:
        self.limits, self.model, self.transport = limits, model, transport
        self._ended: ProviderError | None = None
        self._last: ProviderError | None = None
        self._unanswered, self._paused_until, self._not_before = 0, 0.0, 0.0
        self._has_answered = False

    async def make(self, call: ModelCall | EmbeddingCall, time: TimeBudget) -> ModelReply:
        """The reply to one request, which is tried again while another attempt can help and there is time.

        Raises:
            ProviderError: there is no reply.
            JudgeError: the budget is spent.
        """
        failures, telling = 0, None
        while True:
            is_cut_short = time.left_s < self.model.attempt_s
            try:
                return await self._once(call, time, is_again=telling is not None)
            except NoTurn:
                assert telling is not None, "only who was refused before does not wait any longer"
                self._note_failure(telling)
                raise self._described(telling, time) from None
            except ProviderError as failed:
                failures += 1
                # That a rest of the time was too short tells less than what the model said before.
                error = telling = telling if telling and is_cut_short and failed.code == "JUDGE_TIMEOUT" else failed
                error.again &= self._has_answered or not error.is_page or failures < MAX_PAGES
                again = error.again and self._unanswered < MAX_UNANSWERED
                wait = time.wait_s(failures, error.retry_after_s) if again else None
                if wait is None:
                    self._note_failure(error)
                    raise self._described(error, time) from None
            time.left_s -= wait
            await asyncio.sleep(wait)

    async def _once(self, call: ModelCall | EmbeddingCall, time: TimeBudget, *, is_again: bool) -> ModelReply:
        """One request, when it is its turn; waiting for that does not count against the time limit."""
        await asyncio.to_thread(self.transport.warm_up)
        estimate = await asyncio.to_thread(self.model.price, _prompt_tokens(call), call.max_tokens)
        async with self._turn(time):
            await self.limits.before_request(call.model)
            turn = await self._service_turn(time, is_again=is_again)
            async with self.limits.budget.reserving(estimate) as held:
                time.attempts += 1
                began = monotonic()
                try:
                    limit_s = max(0.001, min(time.left_s, self.model.attempt_s))
                    with request_span(call, self.limits) as replies:
                        reply = await self.transport.answer(call, limit_s)
                        replies.append(self.model.priced(reply))
                except ProviderError as error:
                    self._note_error(error, held)
                    if error.asks_for_less:
                        turn.refused(error.retry_after_s)
                    raise
                finally:
                    time.left_s -= monotonic() - began
                self._unanswered, self._has_answered = 0, True
                turn.answered(reply.headers)
                return self._counted(reply, held)

    async def _service_turn(self, time: TimeBudget, *, is_again: bool) -> Turn:
        """The turn at the pace of the model's service. Waiting for it is the question's own once this request has failed, and not
        after a reply to another request of the question, such as one that could not be read.

        Raises:
            NoTurn: no time is left for another attempt then.
        """
        caller = self.limits.services.caller(self.model.service, self.model.name)
        if not is_again:
            return await caller.turn()
        began = monotonic()
        until = began + time.left_s - time.spare_s
        turn = await caller.turn(lambda: monotonic() > until)
        time.left_s -= monotonic() - began
        return turn

    @asynccontextmanager
    async def _turn(self, time: TimeBudget) -> AsyncIterator[None]:
        """A place among the requests under way, not before the model wants to be asked again: that wait is the question's own.

        Raises:
            ProviderError: the model is not asked any more, or not in this question's time.
        """
        slots = self.limits.here().slots
        while True:
            async with slots:
                if (refused := self._refusal(time)) is not None:
                    raise refused
                if (wait := self._not_before - monotonic()) <= 0:
                    yield
                    return
            time.left_s -= wait
            await asyncio.sleep(wait)

    def _refusal(self, time: TimeBudget) -> ProviderError | None:
        """Why the model is not asked, where something that other questions met forbids it."""
        wait = self._not_before - monotonic()
        if self._ended is not None:
            why = str(self._ended)
        elif monotonic() < self._paused_until:
            why = f"{self.model.name} did not answer before: {self._last}"
        elif wait > time.left_s - time.spare_s:
            why = f"{self.model.name} asks to wait {number(wait)} s more, and llm.timeoutMs is {self._timeout_ms}"
        else:
            return None
        again = " again" if time.attempts else ""
        return ProviderError(f"{NOT_ASKED}{again}, because {why}", code="JUDGE_NOT_ASKED", ends_judging=self._ended is not None)

    def _note_error(self, error: ProviderError, held: Reservation) -> None:
        """What a failed request cost, and what it means for others."""
        if error.reply is not None:
            self._counted(error.reply, held)
        else:
            held.settle(None if error.billed else 0.0)
            if error.sent:
                self._count(*(None, None) if error.billed else (0, 0.0))
        self._ended = error if error.ends_judging else self._ended
        if error.retry_after_s is not None:
            self._not_before = max(self._not_before, monotonic() + error.retry_after_s)

    def _counted(self, reply: ModelReply, held: Reservation) -> ModelReply:
        priced = self.model.priced(reply)
        held.settle(priced.cost_usd)
        self._count(priced.tokens, priced.cost_usd)
        return priced

    def _count(self, tokens: int | None, cost_usd: float | None) -> None:
        for spending in self.limits.spent():
            spending.add(tokens, cost_usd)

    def _note_failure(self, error: ProviderError) -> None:
        """Count a question without an answer; an error that another attempt cannot help is an answer of the provider."""
        if not error.again:
            return
        self._unanswered, self._last = self._unanswered + 1, error
        if self._unanswered >= MAX_UNANSWERED:
            self.leave_alone(error)

    def leave_alone(self, error: ProviderError) -> None:
        """Ask nothing for a while; then one failure is enough for the next while, until there is an answer."""
        self._unanswered, self._last = max(self._unanswered, MAX_UNANSWERED), error
        self._paused_until = monotonic() + PAUSE_S

    @property
    def _timeout_ms(self) -> str:
        return number(self.model.timeout_s * 1000)

    def _described(self, error: ProviderError, time: TimeBudget) -> ProviderError:
        """The error as people read it: with the number of attempts, why there was none more, and without the key."""
        tried, timeout_ms = time.described, self._timeout_ms
        asked = error.retry_after_s
        if error.again and asked is not None and asked > time.left_s:
            left = number(max(0.0, time.left_s))
            tried += f"; it asks to wait {number(asked)} s, and {left} s are left of llm.timeoutMs, {timeout_ms}"
        elif error.again and time.is_all_of_it:
            tried += f"; llm.timeoutMs is {timeout_ms} for a question with all of its attempts"
        return ProviderError(
            self.limits.clean(f"{error}{tried}"), code=error.code, again=error.again, ends_judging=error.ends_judging,
            retry_after_s=asked,
        )  # fmt: skip


def _prompt_tokens(call: ModelCall | EmbeddingCall) -> int:
    size = sum(len(text.encode("utf-8", "replace")) for text in call.texts)
    return size // _CHARS_PER_TOKEN + 50
