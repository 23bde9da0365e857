"""Requests to one model: patient with what passes, one at a place, counted, and within the budget."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from eval_skills.scorers.judging.budget import Reservation, spending_here
from eval_skills.scorers.judging.errors import ModelTrouble
from eval_skills.scorers.judging.provider import ModelCall, ModelReply, complete, warm_up

if TYPE_CHECKING:
    from eval_skills.scorers.judging.judges import Judges
    from eval_skills.scorers.judging.model import JudgeModel

ATTEMPTS = 5
"""How often a request is made at most while its failures are passing ones."""

IN_VAIN, REST_S = 20, 60.0
"""After so many questions in a row without an answer the model is left alone for so long: one that is down would keep every item
waiting for as long as an answer may take.
"""

FIRST_WAIT_S = 0.5
_CHARS_PER_TOKEN = 3
"""Of UTF-8 bytes: an estimate from above, in any language."""


@dataclass(slots=True)
class Clock:
    """What is left of a question's time."""

    left_s: float


class Requests:
    """The requests of one `Judge`. After trouble that ends judging (a refused key) none is made any more, and after `IN_VAIN`
    questions that nobody answered none for `REST_S`.
    """

    def __init__(self, judges: Judges, model: JudgeModel) -> None:
        self.judges, self.model = judges, model
        self._ended: ModelTrouble | None = None
        self._in_vain, self._rest_until = 0, 0.0

    async def make(self, call: ModelCall, clock: Clock) -> ModelReply:
        """The reply to one request, which is tried again while its trouble is passing and there is time.

        Raises:
            ModelTrouble: there is no reply.
            JudgeError: the budget is spent.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._once(call, clock)
            except ModelTrouble as trouble:
                wait = _wait_s(attempt, trouble)
                if not trouble.again or attempt == ATTEMPTS or wait >= clock.left_s:
                    self._note_end(trouble)
                    raise self._told(trouble, attempt, wait) from None
            clock.left_s -= wait
            await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _once(self, call: ModelCall, clock: Clock) -> ModelReply:
        """One request, when it is its turn; waiting for that does not count against the time limit."""
        await asyncio.to_thread(warm_up)
        estimate = await asyncio.to_thread(self.model.price, _prompt_tokens(call), call.max_tokens)
        async with self.judges.here().slots:
            if self._ended is not None:
                raise self._ended
            if monotonic() < self._rest_until:
                message = f"{self._in_vain} questions to {call.model} in a row had no answer, so it is not asked for now"
                raise ModelTrouble(message, code="JUDGE_UNAVAILABLE")
            await self.judges.before_request(call.model)
            async with self.judges.budget.holding(estimate) as held:
                began = monotonic()
                try:
                    reply = await complete(call, max(0.001, min(clock.left_s, self.model.attempt_s)))
                except ModelTrouble as trouble:
                    held.settle(None if trouble.billed else 0.0)
                    if trouble.billed:
                        self._count(None, None)
                    self._ended = trouble if trouble.ends_judging else self._ended
                    raise
                finally:
                    clock.left_s -= monotonic() - began
                return self._counted(reply, held)

    def _counted(self, reply: ModelReply, held: Reservation) -> ModelReply:
        self._in_vain = 0
        priced = self.model.priced(reply)
        held.settle(priced.cost_usd)
        self._count(priced.tokens, priced.cost_usd)
        return priced

    def _count(self, tokens: int | None, cost_usd: float | None) -> None:
        for spending in (spending_here(), self.judges.total):
            spending.add(tokens, cost_usd)

    def _note_end(self, trouble: ModelTrouble) -> None:
        """That a question came to nothing; of other trouble than a passing one somebody told us."""
        if not trouble.again:
            return
        self._in_vain += 1
        if self._in_vain >= IN_VAIN:
            self._rest_until = monotonic() + REST_S

    def _told(self, trouble: ModelTrouble, attempts: int, wait: float) -> ModelTrouble:
        """The trouble as people read it: with what was tried, and without the key."""
        tried = f" (after {attempts} attempts)" if attempts > 1 else ""
        if trouble.code == "JUDGE_TIMEOUT":
            tried += f"; llm.timeoutMs is {self.model.timeout_s * 1000:g} for a question with all of its attempts"
        asked = trouble.retry_after_s
        if trouble.again and asked is not None and wait == asked:
            tried += f"; it asks to wait {asked:g} s, which is longer than llm.timeoutMs leaves"
        return ModelTrouble(
            self.judges.clean(f"{trouble}{tried}"), code=trouble.code, again=trouble.again, ends_judging=trouble.ends_judging,
            retry_after_s=asked,
        )  # fmt: skip


def _wait_s(attempt: int, trouble: ModelTrouble) -> float:
    if trouble.retry_after_s is not None:
        return trouble.retry_after_s
    return float(FIRST_WAIT_S * 2 ** (attempt - 1) * random.uniform(0.75, 1.25))  # noqa: S311 - jitter, no secret


def _prompt_tokens(call: ModelCall) -> int:
    size = sum(len(message["content"].encode("utf-8", "replace")) for message in call.messages)
    return size // _CHARS_PER_TOKEN + 50
