"""Which of two skills' answers are preferred, when every pair is judged in both orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from eval_skills.core.judging.pairs import Preference, members_of
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.statistics.agreement import Estimate, share
from eval_skills.core.statistics.paired import p_floor, sign_test

SIGNIFICANCE = 0.05
HALF = 0.5


class PositionBias(Model):
    """How much the position of an answer decides. None: unknown.

    `first_place_share` is the share of verdicts for the answer that stood first, of those that were for one; `consistent_share`
    that of the pairs whose orders agree (above 0.9 is good, above 0.8 acceptable). `both_first` and `both_second` count the pairs
    in which the same position won twice; `p_value` is that of the exact sign test over the tasks that favour one. Each vote
    of a panel counts as a pair.
    """

    pairs: int
    first_place_share: Estimate
    consistent_share: Estimate
    both_first: int
    both_second: int
    p_value: float | None

    @property
    def decides(self) -> bool:
        """Whether the judge chose by position: most pairs do, and more of them for one position than chance explains."""
        agree = self.consistent_share.value
        return agree is not None and agree < HALF and self.p_value is not None and self.p_value <= SIGNIFICANCE


class WinRates(Model):
    """The figures of all pairs. Rates are shares of the judged pairs, with the task as the unit; errors are left out.

    `disagreements` are those of the ties in which the two orders differ, `identical` those in which both answers are the same,
    `split` those for which a panel has no majority. `agreement` is the mean share of a panel's models (of a single one: of its
    votes) that say what the panel does; None without a panel.
    The sign test is over tasks: one is for A where A won more of its runs than B. `verdict` is ``a`` or ``b`` where p ≤ 0.05,
    else ``undecided``.
    """

    pairs: int
    tasks: int
    wins_a: int
    wins_b: int
    ties: int
    disagreements: int
    identical: int
    split: int
    errors: int
    win_rate_a: Estimate
    win_rate_b: Estimate
    tie_rate: Estimate
    tasks_for_a: int
    tasks_for_b: int
    p_value: float | None
    p_floor: float
    verdict: Literal["a", "b", "undecided"]
    agreement: Rate | None
    position_bias: PositionBias | None


class MemberRates(Model):
    """The figures of one model of a panel over all pairs. Pairs without a verdict of it are its errors.

    `agreement` is the share, in [0, 1], of the pairs on which it says what the panel does, of those that both have a verdict on;
    None: there are none.
    """

    model: str
    agreement: Rate | None
    figures: WinRates


def win_rates(preferences: Sequence[Preference]) -> WinRates:
    """The figures of these pairs. Those without a verdict are counted as `errors` and left out."""
    judged = [each for each in preferences if each.outcome != "error"]
    names, task = np.unique([each.task_id for each in judged], return_inverse=True)
    outcomes = np.array([each.outcome for each in judged])
    balance = np.bincount(task, weights=(outcomes == "a") * 1.0 - (outcomes == "b")) if judged else np.zeros(0)
    for_a, for_b = int((balance > 0).sum()), int((balance < 0).sum())
    p_value = sign_test(for_a, for_b) if judged else None
    return WinRates(
        pairs=len(judged),
        tasks=len(names),
        wins_a=int((outcomes == "a").sum()),
        wins_b=int((outcomes == "b").sum()),
        ties=int((outcomes == "tie").sum()),
        disagreements=sum(each.orders_disagree for each in judged),
        identical=sum(each.is_identical for each in judged),
        split=sum(each.is_split for each in judged),
        errors=len(preferences) - len(judged),
        win_rate_a=share(outcomes == "a", task),
        win_rate_b=share(outcomes == "b", task),
        tie_rate=share(outcomes == "tie", task),
        tasks_for_a=for_a,
        tasks_for_b=for_b,
        p_value=p_value,
        p_floor=p_floor(for_a + for_b),
        verdict=_verdict(p_value, for_a, for_b),
        agreement=_mean([each.agreement for each in judged]),
        position_bias=position_bias(preferences),
    )


def member_rates(models: Sequence[str], preferences: Sequence[Preference]) -> list[MemberRates]:
    """The figures of each of these models of a panel; of equal answers each would say that they are a tie."""
    return [_member_rates(model, preferences) for model in models]


def position_bias(preferences: Sequence[Preference]) -> PositionBias | None:
    """The position bias of the judge, or of all models of a panel; None where it was asked about no pair."""
    asked = [each for each in _votes(preferences) if each.a_first is not None and each.b_first is not None]
    if not asked:
        return None
    _, task = np.unique([each.task_id for each in asked], return_inverse=True)
    first = [(each.a_first == "a", each.b_first == "b") for each in asked]
    second = [(each.a_first == "b", each.b_first == "a") for each in asked]
    verdicts = [
        (index, was_first)
        for index, (firsts, seconds) in enumerate(zip(first, second, strict=True))
        for was_first, was_second in zip(firsts, seconds, strict=True)
        if was_first or was_second
    ]
    favoured = np.array([all(firsts) - all(seconds) for firsts, seconds in zip(first, second, strict=True)])
    balance = np.bincount(task, weights=favoured)
    return PositionBias(
        pairs=len(asked),
        first_place_share=share(np.array([hit for _, hit in verdicts], dtype=bool), task[[index for index, _ in verdicts]]),
        consistent_share=share(np.array([each.a_first == each.b_first for each in asked]), task),
        both_first=int((favoured > 0).sum()),
        both_second=int((favoured < 0).sum()),
        p_value=sign_test(int((balance > 0).sum()), int((balance < 0).sum())),
    )


def _member_rates(model: str, preferences: Sequence[Preference]) -> MemberRates:
    own = [(each, _votes_of(model, each)) for each in preferences if each.votes or each.is_identical]
    both = [(panel.outcome, its.outcome) for panel, its in own if its.votes and "error" not in (panel.outcome, its.outcome)]
    agreement = _mean([float(one == other) for one, other in both])
    return MemberRates(model=model, agreement=agreement, figures=win_rates([its for _, its in own]))


def _votes_of(model: str, preference: Preference) -> Preference:
    """The same pair with the votes of one model of the panel alone."""
    votes = tuple(vote for vote in preference.votes if vote.model == model)
    return Preference(preference.task_id, (members_of(votes).get(model) or "error") if votes else "tie", votes=votes)


def _votes(preferences: Sequence[Preference]) -> Iterator[Preference]:
    """Every vote as if it were the only one."""
    for each in preferences:
        if each.votes:
            yield from (Preference(each.task_id, vote.outcome, vote.a_first, vote.b_first) for vote in each.votes)
        else:
            yield each


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [each for each in shares if each is not None]
    return min(1.0, sum(known) / len(known)) if known else None


def _verdict(p_value: float | None, for_a: int, for_b: int) -> Literal["a", "b", "undecided"]:
    if p_value is None or p_value > SIGNIFICANCE:
        return "undecided"
    return "a" if for_a > for_b else "b"
