"""Does the answer match the expected patterns?"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

import regex
from pydantic import Field

from eval_skills.core.documents.patterns import compiled_pattern
from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.text import LONG_CHARS, excerpt
from eval_skills.scorers.answer import searchable_text
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score

QUICK_S = 0.005
"""How long a match may block the event loop before it is started again in a thread."""


@scorer("regex")
@dataclass(frozen=True, slots=True, kw_only=True)
class Regex:
    """Share of the `patterns` found anywhere in the answer's text; passes when all are.

    The patterns are those of the ``regex`` library, which reads all of Python's. Each match has ``timeoutMs`` of the process's
    CPU time, in any thread; a pattern that needs longer counts as not found, and the reason says so; in a set of evaluators it is
    unknown. ``caseSensitive`` is true by default. In objects and arrays the decoded values are searched, one a line. An object
    answer is unwrapped first.

    Raises:
        InputError: `patterns` is empty, or a pattern is, or one is invalid.
    """

    patterns: tuple[str, ...]
    case_sensitive: bool = True
    timeout_ms: Annotated[int, Field(gt=0, le=600_000)] = 1_000
    _compiled: tuple[regex.Pattern[str], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.patterns:
            raise InputError("the list is empty, so there is nothing to match; name at least one pattern", path="patterns")
        if "" in self.patterns:
            place = f"patterns[{self.patterns.index('')}]"
            raise InputError("an empty pattern matches every answer; remove it, or write ^$ for an empty one", path=place)
        flags = 0 if self.case_sensitive else regex.IGNORECASE
        compiled = tuple(compiled_pattern(each, f"patterns[{index}]", flags) for index, each in enumerate(self.patterns))
        object.__setattr__(self, "_compiled", compiled)

    async def score(self, response: SkillResponse) -> Score:
        """Matched patterns / patterns, in [0, 1]; one reason per pattern that was not found."""
        text = await searchable_text(response.output)
        found = [await self._found(pattern, text) for pattern in self._compiled]
        reasons = tuple(self._reason(pattern, text, hit) for pattern, hit in zip(self.patterns, found, strict=True) if not hit)
        highest = sum(hit is not False for hit in found) / len(found) if None in found else None
        return Score(sum(map(bool, found)) / len(found), passed=not reasons, reasons=reasons, highest=highest)

    async def _found(self, pattern: regex.Pattern[str], text: str) -> bool | None:
        if len(text) <= LONG_CHARS:
            quick = search(pattern, text, min(QUICK_S, self.timeout_ms / 1000))
            if quick is not None:
                return quick
        return await asyncio.to_thread(search, pattern, text, self.timeout_ms / 1000)

    def _reason(self, pattern: str, text: str, hit: bool | None) -> Reason:
        if hit is None:
            given_up = f"pattern {excerpt(pattern)} was stopped after {self.timeout_ms} ms on {excerpt(text)}"
            return Reason(code="OUTPUT_REGEX_TIMEOUT", message=f"{given_up}; simplify it or raise timeoutMs", where="output")
        return Reason(code="OUTPUT_REGEX", message=f"expected a match of {excerpt(pattern)}, got {excerpt(text)}", where="output")


def search(pattern: regex.Pattern[str], text: str, timeout_s: float) -> bool | None:
    """Whether the pattern occurs in the text; None when the time was not enough. Other threads run meanwhile."""
    try:
        return pattern.search(text, timeout=timeout_s, concurrent=True) is not None
    except TimeoutError:
        return None
