"""The reply of a judged evaluator: whether, how far, or which of several numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field, create_model

from eval_skills.core.errors import InputError
from eval_skills.scorers.judging.grading import REASONING
from eval_skills.scorers.judging.reply import Reply

_WHETHER = Field(description="true if the trajectory meets what is asked for, else false")
_HOW_FAR = Field(ge=0, le=1, description="A number from 0 (it meets nothing of what is asked for) to 1 (it meets all of it)")


class JudgedReply(Reply):
    """The subclass of `judged_reply` adds `score`."""

    @property
    def given(self) -> bool | float:
        """The score: true or false, or a number."""
        score: bool | float = getattr(self, "score")  # noqa: B009 - a field of the subclass
        return score

    @property
    def said(self) -> str | None:
        """The reasoning; None where none was asked for."""
        return getattr(self, "reasoning", None)


class Reasoned(JudgedReply):
    """Reasoning first."""

    reasoning: str = REASONING


def judged_reply(*, continuous: bool, choices: Sequence[float] | None, use_reasoning: bool) -> type[JudgedReply]:
    """A reply with a score that is true or false; a number from 0 to 1 if `continuous`; or one of the numbers in `choices`.

    Raises:
        InputError: `continuous` and `choices` at once, or choices that are none.
    """
    if continuous and choices is not None:
        raise InputError("continuous and choices exclude each other; keep one", path="choices")
    score = _one_of(choices) if choices is not None else (float, _HOW_FAR) if continuous else (bool, _WHETHER)
    return create_model("JudgedReply", __base__=Reasoned if use_reasoning else JudgedReply, score=score)


def _one_of(choices: Sequence[float]) -> tuple[Any, Any]:
    numbers = list(choices)
    if any(isinstance(each, bool) or not isinstance(each, int | float) or not math.isfinite(each) for each in numbers):
        raise InputError(f"choices must be numbers, got {numbers!r}", path="choices")
    if len(set(numbers)) < 2:
        raise InputError(f"give at least two different numbers to choose from, got {numbers!r}", path="choices")

    def offered(value: float) -> float:
        if value not in numbers:
            raise ValueError(f"it must be one of {', '.join(f'{each:g}' for each in numbers)}")
        return value

    described = f"The one that fits, of {', '.join(f'{each:g}' for each in numbers)}"
    return Annotated[float, AfterValidator(offered)], Field(description=described, json_schema_extra={"enum": [*numbers]})
