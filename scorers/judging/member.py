"""A model of a run, and what is checked of it before the run."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from eval_skills.core.errors import ConfigError
from eval_skills.scorers.judging.budget import RunLimits, checking
from eval_skills.scorers.judging.errors import ProviderError, no_provider
from eval_skills.scorers.judging.provider import LITELLM, EmbeddingCall, ModelCall, Transport
from eval_skills.scorers.judging.requests import Requests, TimeBudget

if TYPE_CHECKING:
    from eval_skills.scorers.judging.model import JudgeModel

CHECK_S = 10.0
"""How long the check before a run is tried again: whoever started the run may be waiting, and may have typed a wrong address."""

_UNDERSTOOD = frozenset({"JUDGE_REQUEST", "JUDGE_REFUSED", "JUDGE_CONTEXT"})
"""The provider knows us and the model, and does not like the question: some refuse a reply of one token."""


class Member(ABC):
    """One model of a run, with the limits that it shares with the others."""

    PRICES = "llm.inputPrice and llm.outputPrice"
    """The options that give its price."""

    def __init__(self, limits: RunLimits, model: JudgeModel, transport: Transport = LITELLM) -> None:
        self.limits, self.model = limits, model
        self._requests = Requests(limits, model, transport)

    def check_name(self) -> None:
        """Refuse a model whose name does not say which provider is asked; no request is made for that.

        Raises:
            ConfigError: that is so.
        """
        if not self.model.names_its_provider:
            raise ConfigError(no_provider(self.model.name))

    async def check_price(self) -> None:
        """Refuse a model whose price is not known: no limit of cost could hold.

        Raises:
            ConfigError: the price is neither configured nor listed.
        """
        if await asyncio.to_thread(self.model.price, 1, 1) is None:
            raise ConfigError(
                f"--max-judge-cost needs a price, and that of {self.model.name} is not known; give {self.PRICES}, "
                "in USD per million tokens"
            )

    async def check_answers(self) -> None:
        """Ask for as little as possible, before anything else is paid for; a model without an answer is left alone for a while.

        Raises:
            ProviderError: the model cannot be asked; `again` says whether it might be later.
        """
        try:
            with checking():
                await self._requests.make(self.probe(), TimeBudget.of(self.model.timeout_s, CHECK_S))
        except ProviderError as error:
            if error.code in _UNDERSTOOD:
                return
            if error.again and error.code != "JUDGE_RATE_LIMIT":
                self._requests.leave_alone(error)
            raise

    @abstractmethod
    def probe(self) -> ModelCall | EmbeddingCall:
        """The smallest question that shows whether the model answers."""
