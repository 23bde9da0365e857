"""What all judging models of a run share: a limit of cost, a count of what was spent, a cache, places."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Literal
from weakref import WeakKeyDictionary, WeakValueDictionary

from eval_skills.core.cache_files import cache_folder
from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.errors import JudgeError
from eval_skills.core.rate_limits.services import Services
from eval_skills.core.redaction import Redaction
from eval_skills.scorers.judging.cache import VerdictCache
from eval_skills.scorers.judging.model import judge_secrets

_LOOK_AGAIN_S = 0.05


@dataclass(slots=True)
class Reservation:
    """What one request may cost, in USD; `settle` says what it did cost."""

    usd: float

    def settle(self, usd: float | None) -> None:
        """None: the cost is not known, so the whole of it counts as spent."""
        self.usd = self.usd if usd is None else usd


class Budget:
    """`limit_usd` None: no limit. A request is reserved at what its prompt and its most tokens cost: only a server that bills
    more exceeds the limit. Once one does not fit into what is left, `exhausted` stays true and no other is made;
    `refused_judging` is true where one of those was to judge, and not to play a user.

    It may be used from several event loops and threads.
    """

    def __init__(self, limit_usd: float | None = None) -> None:
        self.limit_usd, self.spent_usd, self.exhausted = limit_usd, 0.0, False
        self.refused_judging = False
        self._reserved: list[Reservation] = []
        self._lock = Lock()

    @property
    def left_usd(self) -> float | None:
        """What may still be spent, at least 0; None without a limit."""
        return None if self.limit_usd is None else max(0.0, self.limit_usd - self.spent_usd)

    @property
    def shortage(self) -> str:
        """What is left, where no other request fits into it."""
        left, limit = self.left_usd or 0.0, self.limit_usd or 0.0
        return f"what is left of {_OPTION} {limit:g} (${left:.4f}) does not pay for another request"

    @asynccontextmanager
    async def reserving(self, usd: float | None) -> AsyncIterator[Reservation]:
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
            self.refused_judging |= not _playing.get()
        message = (
            f"not {'asked' if _playing.get() else 'judged'}: {_OPTION} {limit:g} does not allow another request "
            f"({self.spent_usd:.4g} USD spent, this one may cost up to {held.usd:.4g})"
        )
        raise JudgeError(message, code="JUDGE_BUDGET")


_OPTION = "--max-judge-cost"


@dataclass(slots=True)
class Spending:
    """Tokens (read and written) and USD; None once a part is unknown. `asked` counts the requests that were sent, those that
    failed too, `cached` replies from disk.
    """

    tokens: int | None = 0
    cost_usd: float | None = 0.0
    asked: int = 0
    cached: int = 0

    @property
    def happened(self) -> bool:
        """Whether any question was asked."""
        return bool(self.asked or self.cached)

    def add(self, tokens: int | None, cost_usd: float | None, asked: int = 1) -> None:
        """Requests that were sent, and what they cost: 0 where they were refused; None where it is not known."""
        self.asked += asked
        self.tokens = None if None in (self.tokens, tokens) else (self.tokens or 0) + (tokens or 0)
        self.cost_usd = None if None in (self.cost_usd, cost_usd) else (self.cost_usd or 0) + (cost_usd or 0)

    def fields(self, payee: Literal["judge", "user"] = "judge") -> dict[str, int | float | None]:
        """What results and rows have of it, as ``judge_requests``, ``judge_tokens`` and ``judge_cost_usd``."""
        return {f"{payee}_requests": self.asked, f"{payee}_tokens": self.tokens, f"{payee}_cost_usd": self.cost_usd}


_spending: ContextVar[Spending | None] = ContextVar("eval_skills_judge_spending", default=None)
_playing: ContextVar[bool] = ContextVar("eval_skills_simulated_user", default=False)
_checking: ContextVar[bool] = ContextVar("eval_skills_judge_checking", default=False)


@contextmanager
def counted() -> Iterator[Spending]:
    """Count what is spent inside, in tasks and threads that are started there, too. An outer count does not see it."""
    spending = Spending()
    token = _spending.set(spending)
    try:
        yield spending
    finally:
        _spending.reset(token)


def questions_so_far() -> int:
    """How many questions the count here has seen, those that were answered from disk, too."""
    spending = _spending.get()
    return 0 if spending is None else spending.asked + spending.cached


@contextmanager
def checking() -> Iterator[None]:
    """What is asked inside is a check before a run: it counts as that, and not among what its items cost."""
    token = _checking.set(True)
    try:
        yield
    finally:
        _checking.reset(token)


@contextmanager
def playing(spending: Spending) -> Iterator[None]:
    """What is asked inside plays a user: it is added to `spending`, and counts apart from judging."""
    tokens = _spending.set(spending), _playing.set(True)
    try:
        yield
    finally:
        _spending.reset(tokens[0])
        _playing.reset(tokens[1])


BeforeRequest = Callable[[str], Awaitable[None]]


async def no_rate_limit(model: str) -> None:
    """What happens before a request to `model` unless a run sets something else: nothing."""


class RunLimits:
    """What the judging models of one run share.

    `redaction` removes the run's secrets from everything that a model is shown, `before_request` is awaited before each request
    (a rate limit's place), `services` are those that the run asks, at their pace, `total` counts what all judging cost, `users`
    what playing users did, `checks` what asking before the run did. It may be used on several event loops, one after the other
    or side by side.
    """

    def __init__(self, options: JudgeOptions) -> None:
        self.options = options
        self.budget = Budget(options.max_judge_cost)
        self.cache = None if options.no_judge_cache else VerdictCache(options.llm.cache_dir or cache_folder("judge"))
        self.redaction = Redaction()
        self.before_request: BeforeRequest = no_rate_limit
        self.services = Services()
        self.total, self.users, self.checks = Spending(), Spending(), Spending()
        self._here: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopLimits] = WeakKeyDictionary()

    def here(self) -> LoopLimits:
        """What the running event loop shares."""
        loop = asyncio.get_running_loop()
        if loop not in self._here:
            self._here[loop] = LoopLimits(self.options.judge_concurrency)
        return self._here[loop]

    def clean(self, text: str) -> str:
        """The text without the run's secrets and the judges' keys."""
        return Redaction(judge_secrets(self.options.llm, os.environ)).text(self.redaction.text(text))

    def spent(self) -> tuple[Spending, Spending]:
        """The two counts that every request adds to: the current call's, and the run's, that of its users or of its checks."""
        of_run = self.users if _playing.get() else self.total
        return _spending.get() or Spending(), self.checks if _checking.get() else of_run


class LoopLimits:
    """What is bound to one event loop: the places for requests, and one lock for each question under way."""

    def __init__(self, concurrency: int) -> None:
        self.slots = asyncio.Semaphore(concurrency)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, key: str) -> asyncio.Lock:
        """Held while a question is asked: the same question waits for the answer."""
        found = self._locks.get(key)
        if found is None:
            found = self._locks[key] = asyncio.Lock()
        return found
