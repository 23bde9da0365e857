"""What several evaluators say together, as far as it is known: whether they pass, and with which value.

A verdict is true, false or None (unknown), as in Kleene's strong three-valued logic: it is known as soon as no answer to what is
unknown could change it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from eval_skills.core.models import AtLeast
from eval_skills.core.models.evaluators import Rule

_TOLERANCE = 1e-9
"""The share of a threshold that float arithmetic may lose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What is known of one evaluator, or of a set: nothing, unless it is given.

    `value` is that of what was scored, None where nothing was; the value of everything lies between `low` and `high`. `gated`
    says whether it fails for a reason that holds for any value.
    """

    passed: bool | None = None
    value: float | None = None
    low: float = 0.0
    high: float = 1.0
    gated: bool | None = None

    @classmethod
    def scored(
        cls,
        value: float,
        *,
        passed: bool,
        gated: bool = False,
        highest: float | None = None,
        between: tuple[float, float] | None = None,
    ) -> Outcome:
        """That of a score; `highest` is what it may be at most, where that is not known.

        Such a score has no value, and it fails for certain only where it could not be 1 either. One that lies `between` two
        values has its own, and its verdict.
        """
        if highest is None:
            low, high = between or (value, value)
            return cls(passed=passed and not gated, value=value, low=low, high=high, gated=gated)
        verdict = None if highest == 1 and not passed else passed
        return cls(passed=_all((verdict, not gated)), low=value, high=highest, gated=gated)

    @property
    def is_whole(self) -> bool:
        """Whether nothing that is unknown could change the value."""
        return self.low == self.high

    def inverted(self) -> Outcome:
        """The opposite verdict, and 1 - value. What failed for any value passes then."""
        value = None if self.value is None else 1 - self.value
        return Outcome(passed=_not(self.passed), value=value, low=1 - self.high, high=1 - self.low, gated=False)


class Part(NamedTuple):
    """One entry of a set: one of weight 0 decides nothing, unless it is required."""

    weight: float
    required: bool
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Combination:
    """The rule of a set; `threshold` is what a weighted mean must reach. Without it, ``weighted`` passes where all do."""

    rule: Rule = None
    threshold: float | None = None

    @property
    def decided_by_value(self) -> bool:
        """Whether the values of its entries make the verdict, and not their own verdicts."""
        return self.rule == "weighted" and self.threshold is not None

    def outcome(self, parts: Sequence[Part]) -> Outcome:
        """What is known of the set, whatever the order of its parts.

        The value is the weighted mean of all; under ``any`` the highest, and under ``atLeast`` the mean of as many of the
        highest as must pass, of those first that no gate of their own failed. What is unknown is left out of it.
        """
        counted = [part for part in parts if part.weight > 0]
        low = self._value([(part, self._at_least_worth(part.outcome)) for part in counted]) or 0.0
        high = self._value([(part, part.outcome.high) for part in counted]) or 0.0
        required = _all(part.outcome.passed for part in parts if part.required)
        if self.decided_by_value:
            by_rule = _reached(low, high, self.threshold or 0.0)
            held = _all(())  # a gate of one of them leaves the mean as it is
        else:
            by_rule = self._passes([part.outcome.passed for part in counted])
            held = self._passes([_not(part.outcome.gated) for part in counted])
        return Outcome(
            passed=_all((required, by_rule)),
            value=self._value([(part, value) for part in counted if (value := part.outcome.value) is not None]),
            low=low,
            high=high,
            gated=_not(_all((required, held))),
        )

    def _passes(self, verdicts: list[bool | None]) -> bool | None:
        return _at_least(self._needed(len(verdicts)), verdicts)

    def _needed(self, count: int) -> int:
        if isinstance(self.rule, AtLeast):
            return self.rule.at_least
        return 1 if self.rule == "any" else count

    @property
    def _picks_the_best(self) -> bool:
        return self.rule == "any" or isinstance(self.rule, AtLeast)

    def _at_least_worth(self, outcome: Outcome) -> float:
        """What it counts for at least: nothing where its gate may fail, so that another one is picked."""
        return 0.0 if outcome.gated is None and self._picks_the_best else outcome.low

    def _value(self, valued: list[tuple[Part, float]]) -> float | None:
        if not self._picks_the_best:
            return _mean([(part.weight, value) for part, value in valued])
        ranked = sorted(((part.outcome.gated is not True, value) for part, value in valued), reverse=True)
        return _mean([(1.0, value) for _, value in ranked[: self._needed(len(valued))]])


def _mean(weighted: list[tuple[float, float]]) -> float | None:
    """Σ weight · value / Σ weight; exact sums, so that the order of the parts does not matter."""
    largest = max((weight for weight, _ in weighted), default=0.0)
    if not largest:
        return None
    exponent = -math.frexp(largest)[1]  # a power of two: no digit is lost, and no product vanishes
    scaled = [(math.ldexp(weight, exponent), value) for weight, value in weighted]
    mean = math.fsum(weight * value for weight, value in scaled) / math.fsum(weight for weight, _ in scaled)
    return min(1.0, max(0.0, mean))


def reaches_share(value: float, threshold: float) -> bool:
    """Whether a value in [0, 1] reaches a threshold; equality passes."""
    return value >= threshold * (1 - _TOLERANCE)


def _reached(low: float, high: float, threshold: float) -> bool | None:
    if reaches_share(low, threshold):
        return True
    return None if reaches_share(high, threshold) else False


def judged_from(outcome: Outcome, threshold: float | None) -> Outcome:
    """The outcome of a score that passes from `threshold` on, if one is given; a gate holds all the same."""
    if threshold is None:
        return outcome
    return replace(outcome, passed=_all((_reached(outcome.low, outcome.high, threshold), _not(outcome.gated))))


def _not(verdict: bool | None) -> bool | None:
    return None if verdict is None else not verdict


def _all(verdicts: Iterable[bool | None]) -> bool | None:
    given = list(verdicts)
    return _at_least(len(given), given)


def _at_least(needed: int, verdicts: Sequence[bool | None]) -> bool | None:
    """Whether so many are true: known as soon as enough are, or too few can be."""
    if sum(verdict is True for verdict in verdicts) >= needed:
        return True
    return None if sum(verdict is not False for verdict in verdicts) >= needed else False
