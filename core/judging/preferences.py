"""Which of two skills' answers are preferred, when every pair is judged in both orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from eval_skills.core.judging.pairs import Outcome, Preference, members_of
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.statistics.agreement import Estimate, share
from eval_skills.core.statistics.paired import sign_test

Verdict = Literal["a", "b", "undecided"]
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
    """The figures of all pairs. Rates are shares of the decided pairs, with the task as the unit; open ones are left out.

    Of the decided pairs, `forfeits_a` are lost by A and `forfeits_b` by B, since it failed to answer; where both did it is a tie.
    The others were judged. `open_pairs` have no verdict: the judge failed (`errors`), or something kept an answer away.
    `disagreements` are those of the ties in which the two orders differ, `identical` those in which both answers are the same,
    `split` those for which a panel has no majority. `agreement` is the mean share of a panel's models (of a single one: of its
    votes) that say what the panel does; None without a panel.
    The sign test is over tasks: one is for A where A won more of its runs than B. `verdict` is ``a`` or ``b`` where p ≤ 0.05
    however the open pairs would have gone, else ``undecided``; `may_decide`: the open pairs alone keep it so.
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
    forfeits_a: int = 0
    forfeits_b: int = 0
    open_pairs: int = 0
    may_decide: bool = False
    win_rate_a: Estimate
    win_rate_b: Estimate
    tie_rate: Estimate
    tasks_for_a: int
    tasks_for_b: int
    p_value: float | None
    p_floor: float
    verdict: Verdict
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


def win_rates(preferences: Sequence[Preference], unanswered: Sequence[Preference] = ()) -> WinRates:
    """The figures of these pairs. Those without a verdict are counted as `errors`; they and the `unanswered` ones are left out.

    Both keep the verdict open at the bounds of what they may come to; the bounds assume nothing of why a verdict is missing.
    Source: Manski 1989, "Anatomy of the selection problem".
    """
    judged = [each for each in preferences if each.outcome != "error"]
    names, task = np.unique([each.task_id for each in judged], return_inverse=True)
    outcomes = np.array([each.outcome for each in judged])
    balance = np.bincount(task, weights=(outcomes == "a") * 1.0 - (outcomes == "b")) if judged else np.zeros(0)
    for_a, for_b = int((balance > 0).sum()), int((balance < 0).sum())
    p_value = sign_test(for_a, for_b) if judged else None
    without = [*(each for each in preferences if each.outcome == "error"), *unanswered]
    at_bounds = {_at_bound(judged, [(each.task_id, each.between[side]) for each in without]) for side in (0, 1)}
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
        forfeits_a=sum(each.forfeit and each.outcome == "b" for each in judged),
        forfeits_b=sum(each.forfeit and each.outcome == "a" for each in judged),
        open_pairs=len(without),
        may_decide=len(at_bounds) > 1,
        win_rate_a=share(outcomes == "a", task),
        win_rate_b=share(outcomes == "b", task),
        tie_rate=share(outcomes == "tie", task),
        tasks_for_a=for_a,
        tasks_for_b=for_b,
        p_value=p_value,
        p_floor=sign_test(for_a + for_b, 0),
        verdict=at_bounds.pop() if len(at_bounds) == 1 else "undecided",
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


def _at_bound(judged: Sequence[Preference], imagined: Sequence[tuple[str, Outcome]]) -> Verdict:
    """What the sign test over the tasks says of the judged pairs, with these outcomes of the open ones."""
    balance: Counter[str] = Counter()
    for task, outcome in [*((each.task_id, each.outcome) for each in judged), *imagined]:
        balance[task] += (outcome == "a") - (outcome == "b")
    for_a, for_b = (sum(each > 0 for each in balance.values()), sum(each < 0 for each in balance.values()))
    if sign_test(for_a, for_b) > SIGNIFICANCE:
        return "undecided"
    return "a" if for_a > for_b else "b"
