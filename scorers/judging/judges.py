"""All judging models of one run: one cache, one budget, one limit of how many are asked at a time.

Asking several things at a time.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from eval_skills.core.config.options import JudgeOptions
from eval_skills.core.errors import ConfigError
from eval_skills.core.redaction import Redaction
from eval_skills.scorers.judging.budget import Budget, Spending
from eval_skills.scorers.judging.cache import VerdictCache, default_folder
from eval_skills.scorers.judging.judge import Judge
from eval_skills.scorers.judging.model import JudgeModel, judge_secrets
from eval_skills.scorers.judging.provider import close_clients

if TYPE_CHECKING:
    from eval_skills.core.config import LlmSettings

BeforeRequest = Callable[[str], Awaitable[None]]


async def no_rate_limit(model: str) -> None:
    """What happens before a request to `model` unless a run sets something else: nothing."""


class Judges:
    """The judges of one run; cheap to build, nothing is imported or asked before the first question.

    `redaction` takes the run's secrets out of everything that is put to a model, `before_request` is awaited before each request
    (a rate limit's place). `total` counts what all questions came to. It may be used on several event loops, one after the other
    or side by side.
    """

    def __init__(self, options: JudgeOptions) -> None:
        self.options = options
        self.budget = Budget(options.max_judge_cost)
        self.cache = None if options.no_judge_cache else VerdictCache(options.llm.cache_dir or default_folder())
        self.redaction = Redaction()
        self.before_request: BeforeRequest = no_rate_limit
        self.total = Spending()
        self._judges: dict[JudgeModel, Judge] = {}
        self._here: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopLimits] = WeakKeyDictionary()

    def judge(self, model: str | None = None, llm: LlmSettings | None = None) -> Judge:
        """The judge of that name; None: the run's. `llm` gives it an address, key and prices of its own.

        Raises:
            ConfigError: no model is named, or what the settings name is not there.
        """
        settings = llm or self.options.llm
        name = model or settings.model
        if name is None:
            raise ConfigError("no judging model is named; name one with --judge-model PROVIDER/MODEL or llm.model")
        known = JudgeModel.of(settings, name)
        if known not in self._judges:
            self._judges[known] = Judge(self, known)
        return self._judges[known]

    def here(self) -> LoopLimits:
        """What the running event loop shares."""
        loop = asyncio.get_running_loop()
        if loop not in self._here:
            self._here[loop] = LoopLimits(self.options.judge_concurrency)
        return self._here[loop]

    async def close(self) -> None:
        """Close what is open on the running event loop; to be called before it ends. They may be asked again."""
        await close_clients()

    def clean(self, text: str) -> str:
        """The text without the run's secrets and the judges' keys."""
        return Redaction(judge_secrets(self.options.llm, os.environ)).text(self.redaction.text(text))


class LoopLimits:
    """What is bound to one event loop: the places for requests, and one lock for each question under way."""

    def __init__(self, concurrency: int) -> None:
        self.slots = asyncio.Semaphore(concurrency)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, key: str) -> asyncio.Lock:
        """Whoever asks the same question meanwhile waits for its answer."""
        found = self._locks.get(key)
        if found is None:
            found = self._locks[key] = asyncio.Lock()
        return found


T = TypeVar("T")


async def together(asked: Iterable[Awaitable[T]]) -> list[T]:
    """The results in order; all are waited for, so that nothing is spent behind the back of whoever counts.

    Raises:
        BaseException: the first that was raised, by order of `asked`.
    """
    results = await asyncio.gather(*asked, return_exceptions=True)
    found: list[T] = []
    for each in results:
        if isinstance(each, BaseException):
            raise each
        found.append(each)
    return found
