"""All judging models of one run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.errors import ConfigError
from eval_skills.core.llm import close_clients
from eval_skills.scorers.judging.budget import RunLimits
from eval_skills.scorers.judging.embedding import Embedder
from eval_skills.scorers.judging.judge import Judge
from eval_skills.scorers.judging.model import EmbeddingModel, JudgeModel

if TYPE_CHECKING:
    from eval_skills.core.config import LlmSettings

T = TypeVar("T")


class Judges(RunLimits):
    """The judges of one run by their models; cheap to build, nothing is imported or asked before the first question."""

    def __init__(self, options: JudgeOptions) -> None:
        super().__init__(options)
        self._judges: dict[JudgeModel, Judge] = {}
        self._embedders: dict[JudgeModel, Embedder] = {}

    def member(self, model: str | None) -> Judge | Embedder:
        """The judge of that name, or the embedder where it is an `EmbeddingModel`.

        Raises:
            ConfigError: no model is named, or what the settings name is not there.
        """
        return self.embedder(model) if isinstance(model, EmbeddingModel) else self.judge(model)

    def embedder(self, model: str) -> Embedder:
        """The embedder of that name.

        Raises:
            ConfigError: the name is empty, or what the settings name is not there.
        """
        if not model:
            raise ConfigError("no embedding model is named; name one with llm.embeddingModel, or model in the evaluator")
        price = self.options.llm.embedding_price
        known = JudgeModel.of(self.options.llm, str(model))
        known = replace(known, input_price=price, output_price=None if price is None else 0.0)
        if known not in self._embedders:
            self._embedders[known] = Embedder(self, known)
        return self._embedders[known]

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

    async def close(self) -> None:
        """Close what is open on the running event loop; to be called before it ends. The judges may be asked again."""
        await close_clients()


async def together(asked: Iterable[Awaitable[T]]) -> list[T]:
    """The results in order; all are waited for, so that nothing is spent after the count has ended.

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
