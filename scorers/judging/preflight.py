"""Can a judge be asked at all? One token tells, before anything else is paid for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from eval_skills.core.errors import ConfigError
from eval_skills.scorers.judging.errors import ModelTrouble, no_provider
from eval_skills.scorers.judging.provider import ModelCall

if TYPE_CHECKING:
    from eval_skills.scorers.judging.judge import Judge

_TALKED = frozenset({"JUDGE_REQUEST", "JUDGE_REFUSED", "JUDGE_CONTEXT"})
"""The provider knows us and the model, and does not like the question: some refuse a reply of one token."""


def check_name(judge: Judge) -> None:
    """Refuse a model whose name does not say which provider is to be asked; nobody is asked for that.

    Raises:
        ConfigError: that is so.
    """
    if not judge.model.names_its_provider:
        raise ConfigError(no_provider(judge.model.name))


async def one_token(judge: Judge) -> None:
    """Ask for a reply of one token.

    Raises:
        ModelTrouble: the model cannot be asked; `again` says whether it might be later.
    """
    model = judge.model
    call = ModelCall(
        model=model.name, api_base=model.api_base, key=model.key, messages=[{"role": "user", "content": "Reply with: OK"}],
        schema={}, form="text", temperature=model.temperature, seed=0, max_tokens=1,
    )  # fmt: skip
    try:
        await judge.request(call)
    except ModelTrouble as trouble:
        if trouble.code not in _TALKED:
            raise


async def check_price(judge: Judge) -> None:
    """Refuse a model whose price nobody knows: no limit of cost could hold.

    Raises:
        ConfigError: the price is neither configured nor listed.
    """
    if await asyncio.to_thread(judge.model.price, 1, 1) is None:
        raise ConfigError(
            f"--max-judge-cost needs a price, and that of {judge.model.name} is not known; give llm.inputPrice and "
            "llm.outputPrice, in USD per million tokens"
        )
