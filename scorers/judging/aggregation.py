"""What the votes of a panel amount to: a `Decision` whether an answer passes, or a `Consensus` on one dimension of several, where
a vote may also be that there is nothing to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median, median_low, stdev
from typing import Any, TypeVar

from eval_skills.core.text import exact
from eval_skills.scorers.judging.panel import Aggregate, Panel, Votes

T = TypeVar("T")

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Decision:
    """What a panel says of an answer that passes or fails.

    `value` is in [0, 1]; with ``majority`` it is the share of the members that pass the answer. `members` are the members' own
    values by model, and None for a member that failed. `agreement` is the share of the members (of a single one: of its votes)
    that pass or fail as the panel does, `spread` the sample standard deviation of their values; None for a single vote.
    """

    value: float
    passed: bool
    members: dict[str, float | None]
    votes: dict[str, list[float]]
    agreement: float | None
    spread: float | None


def decide(panel: Panel, cast: Votes[T], share: Callable[[T], float], threshold: float) -> Decision:
    """Whether an answer passes, and with which value; `share` gives what one vote is worth in [0, 1].

    A member's value is its votes', the panel's the members', both by `aggregate`: ``median`` (of an even number the mean of the
    middle two), ``mean``, or ``majority``: more than half must pass the answer, and a tie does not.
    """
    votes = {name: [share(each) for each in given] for name, given in cast.present.items()}
    of_votes = _floor(panel, threshold, several=panel.votes > 1)
    values = {name: _together(panel, given, threshold) for name, given in votes.items()}
    value = next(iter(values.values())) if len(panel.models) == 1 else _together(panel, list(values.values()), of_votes)
    passed = passes(value, _floor(panel, threshold, several=not panel.is_single))
    members: dict[str, float | None] = {name: values.get(name) for name in cast.members}
    if panel.is_single:
        return Decision(value, passed, members, votes, None, None)
    voices, bar = (next(iter(votes.values())), threshold) if len(panel.models) == 1 else (list(values.values()), of_votes)
    agreement = sum(passes(each, bar) == passed for each in voices) / len(voices)
    return Decision(value, passed, members, votes, agreement, spread_of(voices))


def extremes(panel: Panel, cast: Votes[T], share: Callable[[T], float], threshold: float) -> list[Decision]:
    """What the panel could say with the votes that were not given: the lowest and the highest decision; none where all were.

    Never of a ``mean``, which hardly any two of three votes settle: it is that of the votes there are.
    """
    if panel.aggregate == "mean" or all(vote.given is not None for vote in cast.votes):
        return []
    given = cast.each(share).votes
    whole = (Votes(tuple(replace(vote, given=end) if vote.given is None else vote for vote in given)) for end in (0.0, 1.0))
    return [decide(panel, votes, float, threshold) for votes in whole]


def describe_decision(panel: Panel, decision: Decision) -> str:
    """The decision in words: ``a: 0.6, b: 0.8, c: no verdict (median of 3 models, agreement 1, spread 0.14)``."""
    single = len(panel.models) == 1
    given = {name: _listed(votes if single else [decision.members[name]]) for name, votes in decision.votes.items()}
    members = ", ".join(f"{name}: {given.get(name, 'no verdict')}" for name in decision.members)
    return f"{members} ({describe_agreement(panel, decision.agreement, decision.spread)})"


def describe_agreement(panel: Panel, agreement: float | None, spread: float | None) -> str:
    """How it voted, and how far it agreed: ``median of 3 models, agreement 0.67, spread 0.25``."""
    facts = [panel.described]
    facts += [] if agreement is None else [f"agreement {agreement:.2g}"]
    facts += [] if spread is None else [f"spread {spread:.2g}"]
    return ", ".join(facts)


def facts_of(panel: Panel, votes: Votes[Any], decision: Decision) -> dict[str, Any]:
    """A panel in the metadata of a score; nothing of a single vote."""
    if panel.is_single:
        return {}
    return {
        "panel": {
            "aggregate": panel.aggregate,
            "members": decision.members,
            "votes": decision.votes,
            "agreement": decision.agreement,
            "spread": decision.spread,
            "failed": votes.failed,
        }
    }


def wanted(panel: Panel, threshold: float) -> str:
    """What a passing answer needs."""
    if panel.aggregate == "majority" and not panel.is_single:
        return f"more than half to give at least {exact(threshold)}"
    return f"a score of at least {exact(threshold)}"


def passes(value: float, threshold: float) -> bool:
    """Whether a value reaches the threshold; equality does, and the last binary digit does not matter."""
    return value >= threshold - _TOLERANCE


def spread_of(values: Sequence[float]) -> float | None:
    """The sample standard deviation; None for fewer than two."""
    return stdev(values) if len(values) > 1 else None


def rounded(value: float) -> float:
    """The value to twelve places: the mean of three times 0.8 is 0.8."""
    return round(value, 12)


def _together(panel: Panel, values: Sequence[float], bar: float) -> float:
    if len(values) == 1 and panel.votes == 1:
        return values[0]
    if panel.aggregate == "majority":
        return sum(passes(value, bar) for value in values) / len(values)
    return rounded(median(values) if panel.aggregate == "median" else fmean(values))


def _floor(panel: Panel, threshold: float, *, several: bool) -> float:
    """From where on a value passes: one of a majority is a share of votes, and half of them is not a majority."""
    return 0.5 + 2 * _TOLERANCE if several and panel.aggregate == "majority" else threshold


def _listed(values: Sequence[float | None]) -> str:
    return ", ".join("no verdict" if value is None else f"{value:.4g}" for value in values)


@dataclass(frozen=True, slots=True)
class Consensus:
    """What a panel says of one dimension, in [0, 1], or None where it cannot be judged.

    `voices` are the values of the members, or of the votes of a single one; `agreement` is the share of them that says what the
    panel does, `spread` the sample standard deviation of those that are a number; None for one.
    """

    value: float | None
    voices: dict[str, float | None]
    agreement: float
    spread: float | None


def consensus_of(panel: Panel, votes: Votes[T], share: Callable[[T], float | None]) -> Consensus:
    """The value of a dimension; `share` gives what one vote says of it, None where it says that nothing can be judged.

    It cannot be judged where more than half say so; else those who judged it count: their ``median``, their ``mean``, or with
    ``majority`` the highest value that more than half of them give at least. The same holds for the votes of each member.
    """
    members = {name: _settled([share(each) for each in given], panel.aggregate) for name, given in votes.present.items()}
    voices = members
    if len(panel.models) == 1:
        voices = {f"vote {each.number + 1}": share(each.given) for each in votes.votes if each.given is not None}
    value = _settled(list(members.values()), panel.aggregate)
    agreement = sum(_same(each, value) for each in voices.values()) / len(voices)
    return Consensus(value, voices, agreement, spread_of([each for each in voices.values() if each is not None]))


def _settled(values: Sequence[float | None], aggregate: Aggregate) -> float | None:
    scored = [value for value in values if value is not None]
    if not scored or 2 * len(scored) < len(values):
        return None
    if aggregate == "mean":
        return rounded(fmean(scored))
    return rounded(median(scored)) if aggregate == "median" else median_low(scored)


def _same(one: float | None, other: float | None) -> bool:
    return one == other if one is None or other is None else abs(one - other) <= _TOLERANCE
