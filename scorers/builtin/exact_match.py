"""Is the answer the expected value?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from eval_skills.core.documents.json_equality import json_equal, same_scalar
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.scorers.answer import scalar_text, unwrapped
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score, expected_but_got

_RIGHT = Score(1.0)


@scorer("exact_match", aliases=("exact",))
@dataclass(frozen=True, slots=True, kw_only=True)
class ExactMatch:
    """1 when the answer equals `value`, else 0.

    Two scalars compare as text without outer white space, numbers, true, false and null by their JSON text, so that ``"5"``,
    ``5`` and ``5.0`` are one. Objects and arrays compare by deep JSON equality, types included, and never as text.
    ``caseSensitive`` false ignores the case of letters in texts, not in keys. ``numericTolerance`` is the greatest absolute
    difference at which two numbers (or texts that read as numbers) are one, at every depth. An object answer is unwrapped,
    unless `value` is an object itself.
    """

    value: Any
    case_sensitive: bool = True
    numeric_tolerance: Annotated[float, Field(ge=0)] | None = None

    def score(self, response: SkillResponse) -> Score:
        """1 or 0; the reason of a 0 shows both values."""
        answer = response.output if isinstance(self.value, dict) else unwrapped(response.output)
        if self._equal(self.value, answer):
            return _RIGHT
        mismatch = Reason(code="OUTPUT_MISMATCH", message=expected_but_got(self.value, answer), where="output")
        return Score(0.0, reasons=(mismatch,))

    def _equal(self, expected: Any, answer: Any) -> bool:
        if isinstance(expected, dict | list) or isinstance(answer, dict | list):
            return json_equal(expected, answer, scalars=self._same_inside)
        return self._same_text(scalar_text(expected), scalar_text(answer))

    def _same_text(self, expected: str, answer: str) -> bool:
        expected, answer = expected.strip(), answer.strip()
        if expected == answer or (not self.case_sensitive and expected.casefold() == answer.casefold()):
            return True
        return self.numeric_tolerance is not None and within(_number(expected), _number(answer), self.numeric_tolerance)

    def _same_inside(self, expected: Any, answer: Any) -> bool:
        if isinstance(expected, str) and isinstance(answer, str) and not self.case_sensitive:
            return expected.casefold() == answer.casefold()
        if self.numeric_tolerance is not None and _is_number(expected) and _is_number(answer):
            return within(_number(expected), _number(answer), self.numeric_tolerance)
        return same_scalar(expected, answer)


def within(one: float | None, other: float | None, tolerance: float) -> bool:
    """Whether two known finite numbers differ by at most `tolerance`; rounding errors of binary fractions do not count."""
    if one is None or other is None:
        return False
    slack = 4 * max(math.ulp(one), math.ulp(other), math.ulp(tolerance))
    return abs(one - other) <= tolerance + (slack if tolerance else 0)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
