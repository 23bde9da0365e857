"""Requests to one model: tried again where that can help, a limited number at a time, counted, and within the budget."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from eval_skills.scorers.judging.budget import Reservation, RunLimits
from eval_skills.scorers.judging.errors import ProviderError
from eval_skills.scorers.judging.provider import ModelCall, ModelReply, complete, warm_up

if TYPE_CHECKING:
    from eval_skills.scorers.judging.model import JudgeModel

ATTEMPTS = 5
"""How often a request is made at most while another attempt can help."""

MAX_UNANSWERED, PAUSE_S = 20, 60.0
"""After so many questions in a row without an answer the model is not asked for so long: one that is down would keep every item
waiting for as long as an answer may take.
"""

FIRST_WAIT_S = 0.5
_CHARS_PER_TOKEN = 3
"""Of UTF-8 bytes: an estimate from above, in any language."""


@dataclass(slots=True)
class TimeBudget:
    """What is left of a question's time."""

    left_s: float


class Requests:
    """The requests of one `Judge`. After an error that ends judging (a refused key) none is made any more, and after
    `MAX_UNANSWERED` questions without an answer none for `PAUSE_S`.
    """

    def __init__(self, limits: RunLimits, model: JudgeModel) -> None:
        self.limits, self.model = limits, model
        self._ended: ProviderError | None = None
        self._unanswered, self._paused_until = 0, 0.0

    async def make(self, call: ModelCall, time: TimeBudget) -> ModelReply:
        """The reply to one request, which is tried again while another attempt can help and there is time.

        Raises:
            ProviderError: there is no reply.
            JudgeError: the budget is spent.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._once(call, time)
            except ProviderError as error:
                wait = _wait_s(attempt, error)
                if not error.again or attempt == ATTEMPTS or wait >= time.left_s:
                    self._note_failure(error)
                    raise self._described(error, attempt, wait) from None
            time.left_s -= wait
            await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _once(self, call: ModelCall, time: TimeBudget) -> ModelReply:
        """One request, when it is its turn; waiting for that does not count against the time limit."""
        await asyncio.to_thread(warm_up)
        estimate = await asyncio.to_thread(self.model.price, _prompt_tokens(call), call.max_tokens)
        async with self.limits.here().slots:
            if self._ended is not None:
                raise self._ended
            if monotonic() < self._paused_until:
                message = f"{self._unanswered} questions to {call.model} in a row had no answer, so it is not asked now"
                raise ProviderError(message, code="JUDGE_UNAVAILABLE")
            await self.limits.before_request(call.model)
            async with self.limits.budget.reserving(estimate) as held:
                began = monotonic()
                try:
                    reply = await complete(call, max(0.001, min(time.left_s, self.model.attempt_s)))
                except ProviderError as error:
                    held.settle(None if error.billed else 0.0)
                    if error.billed:
                        self._count(None, None)
                    self._ended = error if error.ends_judging else self._ended
                    raise
                finally:
                    time.left_s -= monotonic() - began
                return self._counted(reply, held)

    def _counted(self, reply: ModelReply, held: Reservation) -> ModelReply:
        self._unanswered = 0
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
        self._unanswered += 1
        if self._unanswered >= MAX_UNANSWERED:
            self._paused_until = monotonic() + PAUSE_S

    def _described(self, error: ProviderError, attempts: int, wait: float) -> ProviderError:
        """The error as people read it: with the number of attempts, and without the key."""
        tried = f" (after {attempts} attempts)" if attempts > 1 else ""
        if error.code == "JUDGE_TIMEOUT":
            tried += f"; llm.timeoutMs is {self.model.timeout_s * 1000:g} for a question with all of its attempts"
        asked = error.retry_after_s
        if error.again and asked is not None and wait == asked:
            tried += f"; it asks to wait {asked:g} s, which is longer than llm.timeoutMs leaves"
        return ProviderError(
            self.limits.clean(f"{error}{tried}"), code=error.code, again=error.again, ends_judging=error.ends_judging,
            retry_after_s=asked,
        )  # fmt: skip


def _wait_s(attempt: int, error: ProviderError) -> float:
    if error.retry_after_s is not None:
        return error.retry_after_s
    return float(FIRST_WAIT_S * 2 ** (attempt - 1) * random.uniform(0.75, 1.25))  # noqa: S311 - jitter, no secret


def _prompt_tokens(call: ModelCall) -> int:
    size = sum(len(message["content"].encode("utf-8", "replace")) for message in call.messages)
    return size // _CHARS_PER_TOKEN + 50
