"""Is the answer the expected value?"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from eval_skills.core.documents.json_equality import json_equal, same_scalar
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.text import excerpt
from eval_skills.scorers.answer import scalar_text, unwrapped
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score, expected_but_got

_RIGHT = Score(1.0)
_SHOWN = 40
"""How many characters of either value are shown from where they differ."""
_SPACE = " "
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@scorer("exact_match", aliases=("exact",))
@dataclass(frozen=True, slots=True, kw_only=True)
class ExactMatch:
    """1 when the answer equals `value`, else 0.

    Two scalars compare as text without outer white space, numbers, true, false and null by their JSON text, so that ``"5"``,
    ``5`` and ``5.0`` are one. Objects and arrays compare by deep JSON equality, types included, and never as text.
    ``caseSensitive`` false ignores the case of letters in texts, not in keys. ``numericTolerance`` is the greatest absolute
    difference at which two numbers (or texts that are one, such as ``"-1.5e3"``) are one, at every depth; whole numbers are
    compared exactly, however large. An object answer is unwrapped, unless `value` is an object itself. Accents count as they are
    written: composed (NFC) or not.
    """

    value: Any
    case_sensitive: bool = True
    numeric_tolerance: Annotated[float, Field(ge=0)] | None = None

    def score(self, response: SkillResponse) -> Score:
        """1 or 0; the reason of a 0 shows both values, and where they differ if that cannot be seen."""
        answer = response.output if isinstance(self.value, dict) else unwrapped(response.output)
        if self._equal(self.value, answer):
            return _RIGHT
        mismatch = Reason(code="OUTPUT_MISMATCH", message=self._mismatch(answer), where="output")
        return Score(0.0, reasons=(mismatch,))

    def _mismatch(self, answer: Any) -> str:
        said = expected_but_got(self.value, answer)
        if self._as_seen(excerpt(self.value)) != self._as_seen(excerpt(answer)):
            return said
        try:
            expected, got = self._whole(self.value), self._whole(answer)
        except RecursionError:  # nested deeper than Python writes as text
            return said
        if expected == got:  # NaN is like no other value, and looks like another NaN
            return said
        if self._as_seen(expected) == self._as_seen(got):
            return f"{said}; {self._unseen(expected, got)}"
        pairs = enumerate(zip(expected, got, strict=False))
        place = next((at for at, (one, other) in pairs if one != other), min(len(expected), len(got)))
        shown = " and ".join(excerpt(text[place:], _SHOWN) for text in (expected, got))
        return f"{said}; they differ from character {place + 1} on: {shown}"

    @staticmethod
    def _unseen(expected: str, got: str) -> str:
        """How texts differ that look alike."""
        pairs = zip(*(unicodedata.normalize("NFC", text) for text in (expected, got)), strict=False)
        spaces = next(([one, other] for one, other in pairs if one != other and _SPACE in {_seen(one), _seen(other)}), [])
        if not spaces:
            return "they differ in how accents are written: as one character (Unicode NFC), or as two"
        return f"they differ in their spaces: {' and '.join(unicodedata.name(each) for each in spaces)}"

    def _as_seen(self, text: str) -> str:
        composed = "".join(map(_seen, unicodedata.normalize("NFC", text)))
        return composed if self.case_sensitive else composed.casefold()

    def _whole(self, value: Any) -> str:
        """What is compared as one text; keys in one order, since theirs does not count."""
        text = json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, dict | list) else scalar_text(value)
        return text.strip() if self.case_sensitive else text.strip().casefold()

    def _equal(self, expected: Any, answer: Any) -> bool:
        if isinstance(expected, dict | list) or isinstance(answer, dict | list):
            return json_equal(expected, answer, scalars=self._same_inside)
        return self._same_text(scalar_text(expected).strip(), scalar_text(answer).strip()) or self._near(expected, answer)

    def _same_text(self, expected: str, answer: str) -> bool:
        return expected == answer or (not self.case_sensitive and expected.casefold() == answer.casefold())

    def _near(self, expected: Any, answer: Any) -> bool:
        tolerance = self.numeric_tolerance
        return tolerance is not None and within(_number(expected), _number(answer), tolerance)

    def _same_inside(self, expected: Any, answer: Any) -> bool:
        if isinstance(expected, str) and isinstance(answer, str) and not self.case_sensitive:
            return expected.casefold() == answer.casefold()
        if isinstance(expected, str) or isinstance(answer, str):
            return same_scalar(expected, answer)
        return same_scalar(expected, answer) or self._near(expected, answer)


def _seen(letter: str) -> str:
    return _SPACE if unicodedata.category(letter) == "Zs" else letter


def within(one: float | None, other: float | None, tolerance: float) -> bool:
    """Whether two known numbers differ by at most `tolerance`.

    Whole numbers of any size are compared exactly. Where either is a float, rounding errors of binary fractions do not count.
    """
    if one is None or other is None:
        return False
    if not tolerance:
        return one == other
    if isinstance(one, int) and isinstance(other, int):
        return abs(one - other) <= tolerance
    try:
        one, other = float(one), float(other)
    except OverflowError:
        return False
    if not (math.isfinite(one) and math.isfinite(other)):
        return False
    slack = 4 * max(math.ulp(one), math.ulp(other), math.ulp(tolerance))
    return abs(one - other) <= tolerance + slack


def whole_or_float(text: str) -> float | None:
    """The number that a text is: one of digits alone stays whole, however large; None for what is not a finite number."""
    try:
        return int(text)
    except ValueError:  # not of digits alone, or of more than Python reads
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return whole_or_float(value) if _NUMBER.fullmatch(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None
