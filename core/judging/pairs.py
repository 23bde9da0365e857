"""One pair of answers, compared: the choices in both orders, by one model or by several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Choice = Literal["a", "b", "tie"]
Outcome = Literal["a", "b", "tie", "error"]


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
    between: tuple[Choice, Choice] = ("b", "a")
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
    """What each model says, by the majority of its votes; None where not more than half of them were given: it is missing."""
    asked: dict[str, list[Outcome]] = {}
    for vote in votes:
        asked.setdefault(vote.model, []).append(vote.outcome)
    return {model: _member(outcomes) for model, outcomes in asked.items()}


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


def _member(outcomes: Sequence[Outcome]) -> Choice | None:
    given = _given(outcomes)
    return majority_of(given) if 2 * len(given) > len(outcomes) else None


def _given(outcomes: Iterable[Outcome]) -> list[Choice]:
    return [outcome for outcome in outcomes if outcome != "error"]
