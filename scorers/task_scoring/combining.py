"""What several evaluators say together, as far as it is known: whether they pass, and with which value.

A verdict is true, false or None (unknown), as in Kleene's strong three-valued logic: it is known as soon as no answer to what is
unknown could change it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
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


class _Worth(NamedTuple):
    """A value with its weight, and whether a gate of its own fails."""

    weight: float
    value: float
    gated: bool | None


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
        low = self._bound(counted, attrgetter("low"), min)
        high = self._bound(counted, attrgetter("high"), max)
        required = _all(part.outcome.passed for part in parts if part.required)
        if self.decided_by_value:
            by_rule = _reached(low, high, self.threshold or 0.0)
            held = _all(())  # a gate of one of them leaves the mean as it is
        else:
            by_rule = self._passes([part.outcome.passed for part in counted])
            held = self._passes([_not(part.outcome.gated) for part in counted])
        return Outcome(
            passed=_all((required, by_rule)),
            value=self._value(
                _Worth(part.weight, value, part.outcome.gated) for part in counted if (value := part.outcome.value) is not None
            ),
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
    def picks_the_best(self) -> bool:
        """Whether the value is that of the best entries, of those first that no gate of their own failed."""
        return self.rule == "any" or isinstance(self.rule, AtLeast)

    def _bound(self, counted: Sequence[Part], end: Callable[[Outcome], float], pick: Callable[[Iterable[float]], float]) -> float:
        """The least value of all, or the greatest: `pick` is `min` or `max`, and `end` gives that of one.

        A gate that may fail puts its entry behind the others. However many such gates hold, the value is the least where they
        are those of the lowest entries, and the greatest where they are those of the highest.
        """
        worths = [
            _Worth(part.weight, end(part.outcome), part.outcome.gated if self.picks_the_best else False) for part in counted
        ]
        known = [worth for worth in worths if worth.gated is not None]
        unknown = sorted((worth for worth in worths if worth.gated is None), key=attrgetter("value"), reverse=pick is max)
        possible = (
            self._value([*known, *(worth._replace(gated=place >= held) for place, worth in enumerate(unknown))])
            for held in range(len(unknown) + 1)
        )
        return pick(value or 0.0 for value in possible)

    def _value(self, worths: Iterable[_Worth]) -> float | None:
        if not self.picks_the_best:
            return _mean([(worth.weight, worth.value) for worth in worths])
        ranked = sorted(((worth.gated is not True, worth.value) for worth in worths), reverse=True)
        return _mean([(1.0, value) for _, value in ranked[: self._needed(len(ranked))]])


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
