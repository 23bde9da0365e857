"""Does the answer report the right figures?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import regex
from pydantic import Field

from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.models.base import Model, Text
from eval_skills.core.text import excerpt, normalise_tool_name
from eval_skills.scorers.answer import text_of
from eval_skills.scorers.builtin.exact_match import whole_or_float, within
from eval_skills.scorers.builtin.json_schema import spelled_value
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score

_NUMBER = regex.compile(r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\d)")
_REACH = 60
"""How far behind its name a figure may begin in a text, in characters."""


class Figure(Model):
    """What a figure should be: at most `tolerance` away from `value`."""

    value: int | float
    tolerance: float = Field(default=0.0, ge=0)


@scorer("metrics")
@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Share of the named figures of `metrics` that the answer reports right; passes when all are.

    Each has a `value` and a `tolerance` (0 unless set), the greatest absolute difference; whole numbers are compared exactly,
    however large. Of an object answer, or a text that is JSON, the first number under a key of that name counts, at any depth; of
    another text, the first number that begins within 60 characters behind the name. Names compare without case, ``-``, ``_``,
    dots and blanks. Numbers may have commas between thousands, and texts that read as numbers are some. A figure that the answer
    does not report is wrong.

    Raises:
        InputError: `metrics` is empty.
    """

    metrics: dict[Text, Figure]

    def __post_init__(self) -> None:
        if not self.metrics:
            raise InputError("there is none, so any answer would pass; name at least one figure", path="metrics")

    def score(self, response: SkillResponse) -> Score:
        """Right figures / figures, in [0, 1]; one reason per figure that is wrong or missing."""
        answer = _read(response.output)
        got = {name: _figure(name, answer) for name in self.metrics}
        wrong = [name for name, each in self.metrics.items() if not within(each.value, got[name], each.tolerance)]
        reasons = tuple(self._reason(name, got[name], response.output) for name in wrong)
        return Score((len(got) - len(wrong)) / len(got), passed=not wrong, reasons=reasons)

    def _reason(self, name: str, got: float | None, output: Any) -> Reason:
        figure = self.metrics[name]
        wanted = _shown(figure.value) + (f" ± {figure.tolerance:g}" if figure.tolerance else "")
        found = f"got none in {excerpt(output)}" if got is None else f"got {_shown(got)}"
        return Reason(code="METRIC_WRONG", message=f"expected {name} = {wanted}, {found}", where="output")


def _read(output: Any) -> Any:
    if isinstance(output, str):
        try:
            return spelled_value(output)
        except (ValueError, RecursionError):
            return output
    return output


def _figure(name: str, answer: Any) -> float | None:
    held = (_number(value) for key, value in _entries(answer) if normalise_tool_name(key) == normalise_tool_name(name))
    found = next((each for each in held if each is not None), None)
    return _behind(name, text_of(answer)) if found is None else found


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of every object with its value, in document order."""
    rest = [value]
    while rest:  # a stack of its own: an answer may be nested deeper than Python recurses
        part = rest.pop()
        if isinstance(part, dict):
            yield from ((str(key), each) for key, each in part.items())
            rest.extend(reversed(part.values()))
        elif isinstance(part, list | tuple):
            rest.extend(reversed(part))


def _behind(name: str, text: str) -> float | None:
    words = regex.split(r"[-_.\s]+", name.strip())
    pattern = r"(?i)(?<!\w)" + r"[-_.\s]*".join(map(regex.escape, words)) + r"(?!\w)"
    for hit in regex.finditer(pattern, text):
        if (number := _NUMBER.search(text[hit.end() : hit.end() + _REACH])) is not None:
            whole = _NUMBER.match(text[hit.end() + number.start() :])  # the reach may have ended within its digits
            return _number((whole or number).group())
    return None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        return None
    return whole_or_float(value.replace(",", "").replace("−", "-")) if isinstance(value, str) else value


def _shown(number: float) -> str:
    return excerpt(number) if isinstance(number, int) else f"{number:g}"
