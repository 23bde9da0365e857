"""One pair of answers, compared: the choices in both orders, by one model or by several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Choice = Literal["a", "b", "tie"]
Outcome = Literal["a", "b", "tie", "error"]

_SIDES: tuple[Choice, Choice] = ("b", "a")
"""The worst for A first."""


@dataclass(frozen=True, slots=True)
class Vote:
    """What a model chose when it was asked about a pair for the `number`-th time, from 1; ``error``: it gave no verdict."""

    model: str
    number: int
    outcome: Outcome
    a_first: Choice | None = None
    b_first: Choice | None = None


@dataclass(frozen=True, slots=True)
class Preference:
    """The verdict about one pair of answers, those of one task and run.

    `a_first` is the choice when A's answer came first, `b_first` when B's did; None where no model was asked, since the answers
    are the same or one is missing, and where several votes make the verdict: then `votes` has each of them.
    `outcome` is ``error`` where there is no verdict; then `between` is what it may come to, the worst for A first. Of a `forfeit`
    a side failed to answer, and lost by that.
    """

    task_id: str
    outcome: Outcome
    a_first: Choice | None = None
    b_first: Choice | None = None
    votes: tuple[Vote, ...] = ()
    between: tuple[Choice, Choice] = _SIDES
    forfeit: bool = False

    @property
    def is_identical(self) -> bool:
        """Whether no model was asked, since both answers are the same."""
        return self.outcome != "error" and self.a_first is None and not self.votes and not self.forfeit

    @property
    def is_split(self) -> bool:
        """Whether it is a tie because no choice has a majority, tie included."""
        counted = counted_votes(self.votes)
        return self.outcome == "tie" and bool(counted) and 2 * counted.count("tie") <= len(counted)

    @property
    def orders_disagree(self) -> bool:
        """Whether it is a tie since the two orders differ: of several votes, those of one that calls it a tie."""
        ties = [vote for vote in self.votes if vote.outcome == "tie"] if self.votes else [self]
        return self.outcome == "tie" and not self.is_split and any(each.a_first != each.b_first for each in ties)

    @property
    def agreement(self) -> float | None:
        """The share of the models (of a single one: of its votes) that say what the verdict is; None of a single vote."""
        return agreement_of(self.votes, self.outcome)


def outcome_of(a_first: Choice, b_first: Choice) -> Choice:
    """The choice that both orders agree on; a disagreement is a tie, for then the position decided, or nothing did."""
    return a_first if a_first == b_first else "tie"


def majority_of(choices: Sequence[Choice]) -> Choice:
    """The side that more than half are for; else a tie."""
    return next((side for side in ("a", "b") if 2 * choices.count(side) > len(choices)), "tie")


def members_of(votes: Iterable[Vote]) -> dict[str, Choice | None]:
    """What each model says, by the majority of its votes. None: it is missing, for not more than half of them were given, or
    what it says depends on the others.
    """
    return {model: _member(outcomes) for model, outcomes in _by_model(votes).items()}


def bounds_of(votes: Iterable[Vote]) -> tuple[Choice, Choice]:
    """What the verdict of these votes may come to, the worst for A first: with all that were not given for B, or for A."""
    asked = _by_model(votes).values()
    worst, best = (majority_of([majority_of(_cast(outcomes, side)) for outcomes in asked]) for side in _SIDES)
    return worst, best


def counted_votes(votes: Sequence[Vote]) -> list[Choice]:
    """The votes that count, one each: the models that are not missing; of a single model the votes that it gave."""
    members = members_of(votes)
    if len(members) == 1:
        return _given([vote.outcome for vote in votes])
    return [choice for choice in members.values() if choice is not None]


def agreement_of(votes: Sequence[Vote], outcome: Outcome) -> float | None:
    """The share of the counted votes for this outcome; see `Preference.agreement`."""
    if len(votes) == 1 or outcome == "error" or not (counted := counted_votes(votes)):
        return None
    return counted.count(outcome) / len(counted)


def _by_model(votes: Iterable[Vote]) -> dict[str, list[Outcome]]:
    asked: dict[str, list[Outcome]] = {}
    for vote in votes:
        asked.setdefault(vote.model, []).append(vote.outcome)
    return asked


def _member(outcomes: Sequence[Outcome]) -> Choice | None:
    worst, best = (majority_of(_cast(outcomes, side)) for side in _SIDES)
    return worst if worst == best and 2 * len(_given(outcomes)) > len(outcomes) else None


def _cast(outcomes: Iterable[Outcome], side: Choice) -> list[Choice]:
    return [side if outcome == "error" else outcome for outcome in outcomes]


def _given(outcomes: Iterable[Outcome]) -> list[Choice]:
    return [outcome for outcome in outcomes if outcome != "error"]
