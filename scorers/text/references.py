"""What all measures of text share: references, a threshold, and the reference that an answer is closest to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import NamedTuple

from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.models.base import Rate
from eval_skills.core.text import LONG_CHARS, beside, exact, excerpt
from eval_skills.scorers.answer import searchable_text
from eval_skills.scorers.score import EMPTY_ANSWER, Score

_TOLERANCE = 1e-9


class Closeness(NamedTuple):
    """How close an answer is to its closest reference, in [0, 1]; `how` lets the number be recomputed."""

    value: float
    reference: str | tuple[str, ...]
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """The base of these scorers: one reference or several in `value`, of which the closest counts.

    Raises:
        InputError: there is no reference, or one is blank.
    """

    value: str | tuple[str, ...]
    threshold: Rate

    def __post_init__(self) -> None:
        if not self.references:
            raise InputError("the list is empty, so there is nothing to compare with; give a reference", path="value")
        for index, each in enumerate(self.references):
            if not each.strip():
                place = "value" if isinstance(self.value, str) else f"value[{index}]"
                raise InputError("blank text, so there is nothing to compare with; give a reference", path=place)

    @property
    def references(self) -> tuple[str, ...]:
        """The references as a list, also where there is one."""
        return (self.value,) if isinstance(self.value, str) else self.value

    async def score(self, response: SkillResponse) -> Score:
        """The closeness to the closest reference, in [0, 1]; an answer without text gets 0."""
        text = await searchable_text(response.output)
        if not text.strip():
            return Score(0.0, passed=False, reasons=(EMPTY_ANSWER,))
        long = len(text) + sum(map(len, self.references)) > LONG_CHARS
        return self.judged(await asyncio.to_thread(self.closest, text) if long else self.closest(text))

    def closest(self, text: str) -> Closeness:
        """The reference that the text is closest to; the first one of several."""
        raise NotImplementedError

    def judged(self, found: Closeness) -> Score:
        """The score of that closeness."""
        passed = found.value >= self.threshold - _TOLERANCE
        got = beside(found.value, self.threshold)
        message = f"expected at least {exact(self.threshold)}, got {got}: {found.how}, beside {excerpt(found.reference)}"
        return Score(found.value, passed=passed, reasons=(Reason(code="TEXT_CLOSENESS", message=message, where="output"),))
