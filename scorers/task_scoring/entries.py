"""The evaluators of a task as they lie in each other, what is known of each, and which of them may still matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from eval_skills.core.errors import ItemError
from eval_skills.core.models import Reason
from eval_skills.scorers.registry import Scorer, models_of
from eval_skills.scorers.score import OpenValue, Score
from eval_skills.scorers.task_scoring.combining import Combination, Outcome, Part, judged_from


@dataclass(frozen=True, slots=True)
class Found:
    """What a scorer said of an answer: its `score`, or why there is none: its `error`, or that there was `nothing` to judge.

    `by_a_model`: it asked one.
    """

    score: Score | None = None
    error: Exception | None = None
    nothing: Reason | None = None
    by_a_model: bool = False

    @property
    def is_known(self) -> bool:
        """Whether there is a score, all of which could be found out."""
        return self.score is not None and self.score.highest is None

    @property
    def open_value(self) -> OpenValue | None:
        """What missing votes leave open."""
        return self.score.open_value if self.score is not None else None

    @property
    def failure(self) -> Exception | None:
        """What kept it, or a vote of its panel, from a score."""
        return self.open_value.error if self.open_value is not None else self.error

    def as_it_counts(self) -> Found:
        """The same as if the votes that are missing could change nothing."""
        if self.score is None or self.score.open_value is None:
            return self
        return replace(self, score=replace(self.score, open_value=None))


Results = Mapping[str, Found]
"""What was found so far, by the place of the scorer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedScorer:
    """A scorer of a set: its canonical `name`, its place in the task (``evaluators[1]``), and from which value on it passes,
    where that is not its own matter. `prefix` keeps its dimensions apart from those of others."""

    place: str
    name: str
    scorer: Scorer
    threshold: float | None = None
    prefix: str = ""

    @property
    def models(self) -> tuple[str | None, ...]:
        """The judging models that it asks; empty where it asks none."""
        return models_of(self.scorer)

    def outcome(self, results: Results) -> Outcome:
        """What is known of it."""
        score = found.score if (found := results.get(self.place)) is not None else None
        if score is None:
            return Outcome()
        missing = score.open_value
        own = Outcome.scored(
            score.value,
            passed=bool(score.passed),
            gated=bool(score.gates),
            highest=score.highest,
            between=None if missing is None else (missing.low, missing.high),
        )
        return judged_from(own, self.threshold)


class Need(NamedTuple):
    """What of an outcome matters to what lies around it: its verdict, its value, and whether it fails for any value."""

    verdict: bool = False
    value: bool = False
    gate: bool = False

    def is_met(self, outcome: Outcome) -> bool:
        """Whether all that matters is known."""
        return (
            (outcome.passed is not None or not self.verdict)
            and (outcome.is_whole or not self.value)
            and (outcome.gated is not None or not self.gate)
        )


NEEDS_VERDICT = Need(verdict=True)
"""What matters of a set that stands alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a set. `label` is how messages call it; `name` its dimension."""

    evaluator: PlacedScorer | Group
    label: str
    name: str | None = None
    weight: float = 1.0
    required: bool = False
    negated: bool = False

    def outcome(self, results: Results) -> Outcome:
        """What is known of it, as it counts in the set."""
        found = self.evaluator.outcome(results)
        return found.inverted() if self.negated else found

    @property
    def scorers(self) -> tuple[PlacedScorer, ...]:
        """Its scorers, in the order written."""
        return self.evaluator.scorers if isinstance(self.evaluator, Group) else (self.evaluator,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Entries, and the rule that makes one outcome of theirs."""

    entries: tuple[Entry, ...]
    combination: Combination

    @property
    def scorers(self) -> tuple[PlacedScorer, ...]:
        """All scorers in it, in the order written."""
        return tuple(scorer for entry in self.entries for scorer in entry.scorers)

    def outcome(self, results: Results) -> Outcome:
        """What is known of it."""
        return self.combination.outcome([Part(entry.weight, entry.required, entry.outcome(results)) for entry in self.entries])

    def needed(self, need: Need, results: Results) -> Iterator[PlacedScorer]:
        """The scorers without a result that may change what is needed of this set, in the order written."""
        for entry in self.entries:
            inner = self._needed_of(entry, need)
            if not any(inner):
                continue
            if isinstance(entry.evaluator, PlacedScorer):
                if entry.evaluator.place not in results:
                    yield entry.evaluator
            elif not inner.is_met(entry.outcome(results)):
                yield from entry.evaluator.needed(inner, results)

    def _needed_of(self, entry: Entry, need: Need) -> Need:
        by_value, counts = self.combination.decided_by_value, entry.weight > 0
        holds_all = entry.required and (need.verdict or need.gate)
        value = counts and (need.value or (need.verdict and by_value))
        return Need(
            verdict=holds_all or (counts and need.verdict and not by_value),
            value=value,
            gate=(counts and need.gate and not by_value) or (value and self.combination.picks_the_best),
        )


def said_of(found: Found) -> str:
    """Why there is no score, or why a part of it is unknown."""
    if found.score is not None:
        return "; ".join(each.message for each in found.score.reasons) or found.score.reason
    if found.error is None:
        return found.nothing.message if found.nothing is not None else ""
    kind = "" if isinstance(found.error, ItemError) else f"{type(found.error).__name__}: "
    return f"{kind}{found.error}"
