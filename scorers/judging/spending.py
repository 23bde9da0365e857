"""What judging one answer costs, whoever asks the models for it: counted along the call, not handed around."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


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
