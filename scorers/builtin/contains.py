"""Does the answer hold the expected words?"""

from __future__ import annotations

from dataclasses import dataclass

from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.text import comparable, excerpt
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score


@scorer("contains")
@dataclass(frozen=True, slots=True, kw_only=True)
class Contains:
    """Share of the `keywords` that the answer's text holds; passes when it holds all of them and nothing of `notContains`.

    A text of `notContains` makes the value 0. Letters compare without case unless ``caseSensitive``, and with
    their accents composed (NFC). In objects and arrays
    the decoded values are searched, never keys, quotes or escapes. An object answer is unwrapped first.

    Raises:
        InputError: `keywords` is empty, or a text is.
    """

    keywords: tuple[str, ...]
    not_contains: tuple[str, ...] = ()
    case_sensitive: bool = False

    def __post_init__(self) -> None:
        if not self.keywords:
            raise InputError("the list is empty, so any answer would pass; name at least one keyword", path="keywords")
        for name, texts in (("keywords", self.keywords), ("notContains", self.not_contains)):
            if "" in texts:
                raise InputError("an empty text is found in every answer; remove it", path=f"{name}[{texts.index('')}]")

    def score(self, response: SkillResponse) -> Score:
        """Found keywords / keywords, in [0, 1]; one reason per text that is missing or must not be there."""
        answer = text_of(unwrapped(response.output))
        text = self._folded(answer)
        missing = [each for each in self.keywords if self._folded(each) not in text]
        present = [each for each in self.not_contains if self._folded(each) in text]
        reasons = [_reason("KEYWORD_MISSING", f"expected {excerpt(each)}", answer) for each in missing]
        reasons += [_reason("KEYWORD_FORBIDDEN", f"expected no {excerpt(each)}", answer) for each in present]
        share = 0.0 if present else (len(self.keywords) - len(missing)) / len(self.keywords)
        return Score(share, passed=not reasons, reasons=tuple(reasons))

    def _folded(self, text: str) -> str:
        return comparable(text, case_sensitive=self.case_sensitive)


def _reason(code: str, expectation: str, answer: str) -> Reason:
    return Reason(code=code, message=f"{expectation} in the answer, got {excerpt(answer)}", where="output")
