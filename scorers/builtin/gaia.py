"""Is the answer the one that GAIA's published rule accepts?"""

from __future__ import annotations

import json
import re
import string
from dataclasses import dataclass
from typing import Any, Literal

from eval_skills.core.models import Reason, SkillResponse
from eval_skills.scorers.answer import unwrapped
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score, expected_but_got

MatchKind = Literal["number", "list", "string"]

_SEPARATOR = re.compile(r"[,;]")
_FINAL_ANSWER = re.compile(r"FINAL ANSWER[ \t]*:[ \t]*(.*)", re.IGNORECASE)
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_NO_UNITS = str.maketrans("", "", "$%,")


@scorer("gaia")
@dataclass(frozen=True, slots=True, kw_only=True)
class Gaia:
    """1 when the answer matches `value` by the rule that GAIA's leaderboard publishes, else 0; no partial credit.

    The gold text alone chooses the comparison. ``number`` (Python's ``float`` reads it): the answer without ``$``, ``%`` and
    ``,`` is the same float, and one that is not a number counts as infinity. ``list`` (it holds ``,`` or ``;``): as many
    elements, each in its place, a number as above, a text without white space and case. ``string``: without white space, case and
    ASCII punctuation. The rule is kept with its oddities, so that figures can be compared: an answer of 1000 does not match
    ``1,000``, which is a list, and anything that is not a number matches ``inf``.

    No answer is the text ``None``; the elements of an array are joined by ``, ``. An object answer is unwrapped. With
    ``finalAnswer`` only what follows the last ``FINAL ANSWER:`` on its line is compared, where there is one; that is not part of
    the published rule. Source: Mialon et al. 2023, arXiv:2311.12983, and the scorer published with the leaderboard.
    """

    value: str | int | float
    final_answer: bool = False

    def score(self, response: SkillResponse) -> Score:
        """1 or 0; the reason says which comparison was made, and so does `match` in the metadata."""
        answer = answer_text(unwrapped(response.output))
        if self.final_answer and (lines := _FINAL_ANSWER.findall(answer)):
            answer = lines[-1].strip()
        gold = answer_text(self.value)
        kind = match_kind(gold)
        if matches(answer, gold):
            return Score(1.0, reason=f"match: {kind}", metadata={"match": kind})
        message = f"{expected_but_got(gold, answer)} (match: {kind})"
        return Score(0.0, reasons=(Reason(code="OUTPUT_MISMATCH", message=message, where="output"),), metadata={"match": kind})


def match_kind(gold: str) -> MatchKind:
    """Which comparison the gold text asks for."""
    if _is_number(gold):
        return "number"
    return "list" if _SEPARATOR.search(gold) else "string"


def matches(answer: str, gold: str) -> bool:
    """Whether the published rule accepts the answer."""
    kind = match_kind(gold)
    if kind == "number":
        return _number(answer) == float(gold)
    if kind == "string":
        return _letters(answer).translate(_NO_PUNCTUATION) == _letters(gold).translate(_NO_PUNCTUATION)
    given, wanted = _SEPARATOR.split(answer), _SEPARATOR.split(gold)
    return len(given) == len(wanted) and all(map(_element_matches, given, wanted))


def answer_text(value: Any) -> str:
    """The text of an answer: text as it is, numbers and None as Python writes them, arrays joined by ``, ``, objects as JSON."""
    if isinstance(value, list | tuple):
        return ", ".join(map(answer_text, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value if isinstance(value, str) else repr(value)


def _element_matches(answer: str, gold: str) -> bool:
    return _number(answer) == float(gold) if _is_number(gold) else _letters(answer) == _letters(gold)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str) -> float:
    try:
        return float(text.translate(_NO_UNITS))
    except ValueError:
        return float("inf")


def _letters(text: str) -> str:
    return re.sub(r"\s", "", text).lower()
