"""How a model grades: a number within a scale, or one of several choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from pydantic import Field, create_model

from eval_skills.core.errors import InputError
from eval_skills.scorers.judging.reply import Reply

REASONING = Field(min_length=1, description="Why: what in the material speaks for and against, before the score is decided")


MAX_CHOICES = 50


class Grade(Reply):
    """Reasoning first; the subclass of a `Grading` adds what follows from it: `score` or `choice`."""

    reasoning: str = REASONING


@dataclass(frozen=True, slots=True)
class Grading:
    """The form of a grade (`reply`, a subclass of `Grade`) and what each one is worth in [0, 1].

    Without `choices` it is a number from `low` to `high`.
    """

    reply: type[Grade]
    low: float
    high: float
    choices: Mapping[str, float] | None = None

    @classmethod
    def of(cls, scale: Sequence[float] | None = None, choices: Mapping[str, float] | None = None) -> Grading:
        """A number from scale[0] to scale[1] (None: from 0 to 1), or one of the names of `choices`.

        Raises:
            InputError: both are given, the scale has no extent, or there are fewer than two choices, too many, or all are worth
                the same.
        """
        if scale is not None and choices is not None:
            raise InputError("a scale and choices exclude each other; keep one", path="scale")
        if choices is not None:
            return cls(_choosing(choices), 0.0, 1.0, dict(choices))
        low, high = scale or (0.0, 1.0)
        if not isfinite(high - low):
            raise InputError(f"give two finite numbers that are not worlds apart, got {low:g} to {high:g}", path="scale")
        if not low < high:
            raise InputError(f"the lower end comes first and lies below the upper one, got {low:g} to {high:g}", path="scale")
        return cls(_scoring(low, high), low, high)

    def share(self, grade: Grade) -> float:
        """What a grade is worth, in [0, 1]."""
        if self.choices is not None:
            return self.choices[_value(grade, "choice")]
        share = (float(_value(grade, "score")) - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))  # it was checked; only the last binary digit can lie outside

    def given(self, grade: Grade) -> str:
        """The grade as the model gave it: ``4 of 1 to 5``, ``'partly'``."""
        if self.choices is not None:
            return repr(_value(grade, "choice"))
        ends = "" if (self.low, self.high) == (0, 1) else f" of {self.low:g} to {self.high:g}"
        return f"{_value(grade, 'score'):g}{ends}"


def _scoring(low: float, high: float) -> type[Grade]:
    described = f"A number from {low:g} (nothing of what was asked) to {high:g} (all of it)"
    return create_model("Grade", __base__=Grade, score=(float, Field(ge=low, le=high, description=described)))


def _choosing(choices: Mapping[str, float]) -> type[Grade]:
    if len(choices) < 2 or any(not name.strip() for name in choices):
        raise InputError("give at least two choices, each with a name and a score from 0 to 1", path="choices")
    if len(choices) > MAX_CHOICES:
        raise InputError(f"at most {MAX_CHOICES} choices can be told apart, got {len(choices):,}", path="choices")
    if len(set(choices.values())) < 2:
        raise InputError("all choices have the same score; give at least two scores", path="choices")
    described = f"The one that fits, of {', '.join(map(repr, choices))}"
    one_of: Any = Literal[tuple(choices)]
    return create_model("Grade", __base__=Grade, choice=(one_of, Field(description=described)))


def _value(grade: Grade, name: str) -> Any:
    return getattr(grade, name)
