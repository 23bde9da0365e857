"""Questions put to the scripted model, as the tests of judging ask them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.errors import JudgeError
from eval_skills.scorers import ScoringSettings
from eval_skills.scorers.judging import Judges, Material, Question, Ruling
from eval_skills.scorers.judging.grading import Grade, Grading

Settings = Callable[..., ScoringSettings]
PRICED = {"input_price": 0.0, "output_price": 1_000.0}
"""A reply costs 20 tokens × 0.001 = 0.02 USD; one that may have 100 tokens may cost 0.10."""


def question(answer: str = "42", instructions: str = "Be right.", **more: Any) -> Question[Grade]:
    materials = (Material.of("answer", answer),)
    given = {"version": "1", "reply": Grading.of().reply, "max_tokens": 100, "materials": materials, **more}
    return Question(role="You judge.", instructions=instructions, **given)


async def asked(judges: Judges, answer: str = "42", **how: Any) -> Ruling[Grade]:
    return await judges.judge().ask(question(answer), **how)


async def code_of(judges: Judges, answer: str = "42") -> str:
    with pytest.raises(JudgeError) as caught:
        await asked(judges, answer)
    return caught.value.code
