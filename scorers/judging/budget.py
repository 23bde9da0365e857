"""A limit in USD that is never overdrawn: every request reserves the most it can cost before it is made.

What judging one answer costs, whoever asks the models for it: counted along the call, not handed around.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock

from eval_skills.core.errors import JudgeError

_LOOK_AGAIN_S = 0.05


@dataclass(slots=True)
class Reservation:
    """What one request may cost, in USD; `settle` says what it did cost."""

    usd: float

    def settle(self, usd: float | None) -> None:
        """None: nobody knows, so the whole of it counts as spent."""
        self.usd = self.usd if usd is None else usd


class Budget:
    """`limit_usd` None: no limit. Once a request does not fit into what is left, `exhausted` stays true and no other is made.

    It may be used from several event loops and threads.
    """

    def __init__(self, limit_usd: float | None = None) -> None:
        self.limit_usd, self.spent_usd, self.exhausted = limit_usd, 0.0, False
        self._reserved: list[Reservation] = []
        self._lock = Lock()

    @property
    def told(self) -> str:
        """What is left, where no other request fits into it."""
        limit = self.limit_usd or 0.0
        return f"what is left of {_OPTION} {limit:g} (${max(0.0, limit - self.spent_usd):.4f}) does not pay another request"

    @asynccontextmanager
    async def holding(self, usd: float | None) -> AsyncIterator[Reservation]:
        """Reserve `usd` for what happens inside; what it was settled at is spent, all of it where it was not.

        Waits for requests under way where they might leave enough.

        Raises:
            JudgeError: the budget is spent, or the price is unknown (None) and there is a limit.
        """
        held = Reservation(usd or 0.0)
        if self.limit_usd is not None:
            if usd is None:
                raise JudgeError(f"{_OPTION} is set, and the price of this model is not known", code="JUDGE_BUDGET")
            while not self._fits(held):  # noqa: ASYNC110 - an Event belongs to one loop, and there may be several
                await asyncio.sleep(_LOOK_AGAIN_S)
        try:
            yield held
        finally:
            with self._lock:
                self.spent_usd += held.usd
                self._reserved = [each for each in self._reserved if each is not held]

    def _fits(self, held: Reservation) -> bool:
        """Whether it was reserved; false: ask again, for other requests are under way."""
        limit = self.limit_usd or 0.0
        with self._lock:
            if not self.exhausted and self.spent_usd + sum(each.usd for each in self._reserved) + held.usd <= limit:
                self._reserved.append(held)
                return True
            if self._reserved and not self.exhausted:
                return False
            self.exhausted = True
        message = (
            f"not judged: {_OPTION} {limit:g} does not allow another request "
            f"({self.spent_usd:.4g} USD spent, this one may cost up to {held.usd:.4g})"
        )
        raise JudgeError(message, code="JUDGE_BUDGET")


_OPTION = "--max-judge-cost"


@dataclass(slots=True)
class Spending:
    """Tokens (read and written) and USD; None once a part is unknown. `asked` counts requests, `cached` replies from disk."""

    tokens: int | None = 0
    cost_usd: float | None = 0.0
    asked: int = 0
    cached: int = 0

    @property
    def happened(self) -> bool:
        """Whether any question was put."""
        return bool(self.asked or self.cached)

    def add(self, tokens: int | None, cost_usd: float | None) -> None:
        """One request that was answered, usable or not, or of which nobody knows whether it was (None, None)."""
        self.asked += 1
        self.tokens = None if None in (self.tokens, tokens) else (self.tokens or 0) + (tokens or 0)
        self.cost_usd = None if None in (self.cost_usd, cost_usd) else (self.cost_usd or 0) + (cost_usd or 0)


_spending: ContextVar[Spending | None] = ContextVar("eval_skills_judge_spending", default=None)


@contextmanager
def counted() -> Iterator[Spending]:
    """Count what is spent inside, in tasks and threads that are started there, too. An outer count does not see it."""
    spending = Spending()
    token = _spending.set(spending)
    try:
        yield spending
    finally:
        _spending.reset(token)


def spending_here() -> Spending:
    """What counts the current call; one that nobody reads where nobody counts."""
    return _spending.get() or Spending()
