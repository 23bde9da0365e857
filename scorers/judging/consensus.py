"""What the votes of a panel come to where they may also say that there is nothing to judge: one dimension of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, median_low
from typing import TypeVar

from eval_skills.scorers.judging.ballots import Ballots
from eval_skills.scorers.judging.decision import spread_of, without_dust
from eval_skills.scorers.judging.panel import Aggregate, Panel



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


def consensus_of(panel: Panel, ballots: Ballots[T], share: Callable[[T], float | None]) -> Consensus:
    """The value of a dimension; `share` gives what one vote says of it, None where it says that nothing can be judged.

    It cannot be judged where more than half say so; else those who judged it count: their ``median``, their ``mean``, or with
    ``majority`` the highest value that more than half of them give at least. The same holds for the votes of each member.
    """
    members = {name: _settled([share(each) for each in given], panel.aggregate) for name, given in ballots.present.items()}
    voices = members
    if len(panel.models) == 1:
        voices = {f"vote {each.vote + 1}": share(each.given) for each in ballots.ballots if each.given is not None}
    value = _settled(list(members.values()), panel.aggregate)
    agreement = sum(_same(each, value) for each in voices.values()) / len(voices)
    return Consensus(value, voices, agreement, spread_of([each for each in voices.values() if each is not None]))


def _settled(values: Sequence[float | None], aggregate: Aggregate) -> float | None:
    scored = [value for value in values if value is not None]
    if not scored or 2 * len(scored) < len(values):
        return None
    if aggregate == "mean":
        return without_dust(fmean(scored))
    return without_dust(median(scored)) if aggregate == "median" else median_low(scored)


def _same(one: float | None, other: float | None) -> bool:
    return one == other if one is None or other is None else abs(one - other) <= _TOLERANCE
