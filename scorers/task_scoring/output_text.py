"""Does the answer hold the texts it must, and none that it must not?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eval_skills.core.models import ExpectedText, Reason, SkillResponse
from eval_skills.core.text import comparable, excerpt
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.score import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputText:
    """The checks of `expected.output`: each text of `contains` and `not_contains` is one check, in any case of letters,
    with accents composed or not.

    The value is checks met / checks, in [0, 1], and every check is a gate as well. An empty answer meets none of them, not even
    those of `not_contains`. An object answer is unwrapped, and its decoded values are searched.
    """

    contains: tuple[str, ...] = ()
    not_contains: tuple[str, ...] = ()

    @classmethod
    def of(cls, expected: ExpectedText) -> OutputText | None:
        """The checks of a task; None when it has none."""
        if not expected.contains and not expected.not_contains:
            return None
        return cls(contains=tuple(expected.contains), not_contains=tuple(expected.not_contains))

    def score(self, response: SkillResponse) -> Score:
        """The share of checks met, with one reason per check that is not."""
        text = text_of(unwrapped(response.output))
        reasons = self._failures(text)
        total = len(self.contains) + len(self.not_contains)
        return Score((total - len(reasons)) / total, reasons=tuple(reasons))

    def _failures(self, text: str) -> list[Reason]:
        searched = comparable(text)
        missing = [each for each in self.contains if comparable(each) not in searched]
        reasons = [_reason("OUTPUT_MISSING_TEXT", f"expected {excerpt(each)} in the answer", text) for each in missing]
        if not text.strip():
            return reasons + [
                _reason("OUTPUT_EMPTY", f"expected an answer without {excerpt(each)}", text) for each in self.not_contains
            ]
        present = [each for each in self.not_contains if comparable(each) in searched]
        return reasons + [
            _reason("OUTPUT_FORBIDDEN_TEXT", f"expected no {excerpt(each)} in the answer", text) for each in present
        ]


def _reason(code: str, expectation: str, got: Any) -> Reason:
    return Reason(code=code, message=f"{expectation}, got {excerpt(got)}", where="output")
