"""What a scorer returns, and how it says what was expected and what it got."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.errors import ItemError, ScorerError
from eval_skills.core.models import Reason
from eval_skills.core.text import excerpt, nearest

_MAPPING_KEYS = ("score", "passed", "reason")
_ROUNDING = 1e-9
"""What sums of floats are off by: ten tenths are 0.9999999999999999, the cosine of equal vectors may be 1.0000000000000002."""


class InvalidScore(ScorerError, ValueError):
    """A scorer returned something that is not a share in [0, 1]."""


@dataclass(frozen=True, slots=True)
class OpenValue:
    """Between which values a score lies, whatever the votes say that a panel did not get; `error` says which ones are missing."""

    low: float
    high: float
    error: ItemError


@dataclass(frozen=True, slots=True)
class Score:
    """How well one answer did: `value` in [0, 1], never NaN.

    `passed` is the scorer's own verdict; left out, only a value of 1 passes (what rounding left beside it is 1, too). `reason` is
    one sentence for people, `reasons` the machine-readable list (when it is given, `reason` is not shown beside it). `gates` are
    reasons for which the answer fails whatever its value; with them `passed` must be false. `dimensions` are named shares in
    [0, 1] that `value` is made of; `metadata` is any JSON. `highest` is what the value could be at most, where a part of it could
    not be found out, such as whether a pattern occurs that ran out of time: alone such a part counts as missing, in a set of
    evaluators as unknown. `open_value`: a panel lacks votes that leave `passed` as it is, and could change the value.

    Raises:
        InvalidScore: the value, `highest` or a dimension is not a number, is NaN or lies outside [0, 1].
    """

    value: float
    passed: bool | None = None
    reason: str = ""
    reasons: tuple[Reason, ...] = ()
    gates: tuple[Reason, ...] = ()
    dimensions: Mapping[str, float] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    highest: float | None = None
    open_value: OpenValue | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _share(self.value, "score"))
        if self.passed is None:
            object.__setattr__(self, "passed", self.value == 1)
        if self.dimensions:
            shares = {name: _share(value, f"dimension {name!r}") for name, value in self.dimensions.items()}
            object.__setattr__(self, "dimensions", shares)
        if self.highest is not None:
            object.__setattr__(self, "highest", _share(self.highest, "highest"))


def as_score(result: object) -> Score | None:
    """A scorer's result as a Score: a Score or None as it is, true as 1, false as 0, a number as its value; NumPy's, too.

    An object may hold `score` (required), `passed` and `reason`, nothing else.

    Raises:
        InvalidScore: the result is none of these, or out of range.
    """
    if result is None or isinstance(result, Score):
        return result
    if isinstance(result, Mapping):
        return _from_mapping(result)
    return Score(_share(result, "score"))


def _from_mapping(result: Mapping[Any, Any]) -> Score:
    for key in result:
        if key not in _MAPPING_KEYS:
            suggestion = nearest(str(key), _MAPPING_KEYS)
            raise InvalidScore(f"a scorer's answer has the unknown key {key!r}{suggestion}; it may hold score, passed, reason")
    if "score" not in result:
        raise InvalidScore(
            "a scorer's answer has no key 'score'; return a number from 0 to 1, true, false or {score, passed, reason}"
        )
    passed, reason = _bare(result.get("passed")), result.get("reason")
    if not isinstance(passed, bool | None):
        raise InvalidScore(f"a scorer's answer has passed={passed!r}; it must be true or false")
    return Score(_share(result["score"], "score"), passed=passed, reason="" if reason is None else str(reason))


def _share(value: object, name: str) -> float:
    value = _bare(value)
    if not isinstance(value, int | float):
        raise InvalidScore(f"{name} is {str(value)[:80]!r}; it must be a number from 0 to 1")
    if math.isnan(value) or not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise InvalidScore(f"{name} is {value}; it must lie between 0 and 1")
    return 1.0 if value >= 1 - _ROUNDING else max(float(value), 0.0)


def _bare(value: Any) -> Any:
    """A truth value or a number of NumPy as Python's: its comparisons return such."""
    return value.item() if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0 else value


EMPTY_ANSWER = Reason(code="OUTPUT_EMPTY", message="expected an answer, got none", where="output")
"""Why an answer without text gets 0 of a scorer that reads texts; no model is asked about it."""


def remark(code: str, message: str, where: str) -> Reason:
    """A reason that is information only: it did not make the item fail."""
    return Reason(code=code, message=message, where=where, informational=True)


def expected_but_got(expected: Any, got: Any) -> str:
    """The sentence of a mismatch."""
    return f"expected {excerpt(expected)}, got {excerpt(got)}"
