"""The result of a comparison of answers, and its verdict in a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.judging.preferences import SIGNIFICANCE, MemberRates, PositionBias, WinRates
from eval_skills.core.text import p_is, plural
from eval_skills.reporting.numbers import rate
from eval_skills.scorers.judging.budget import Spending

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ComparisonSummary:
    """The result of a comparison. `unanswered` pairs are open, since something else than the skill kept an answer away.

    `judged_before` pairs have the verdict that landed when the same comparison was made before; no model was asked about them.
    `judging` holds lines on requests and cost. `out_of_budget`: the cost limit was reached, pairs were left unjudged, and nothing
    landed. `members` are the models of a panel; empty where one vote of one model is the verdict. `unrecorded` says why Prefect
    does not have all of it.
    """

    comparison_id: str
    run_a: str
    run_b: str
    skill_a: str
    skill_b: str
    benchmark: str
    model: str
    prompt: str
    figures: WinRates
    unanswered: int
    store: str
    spent: Spending
    rows: list[Row]
    members: list[MemberRates] = field(default_factory=list)
    judged_before: int = 0
    out_of_budget: bool = False
    judging: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    flow_runs: tuple[str, ...] = ()
    task_runs: int = 0
    unrecorded: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every pair with both answers has a verdict, and all of it has landed."""
        return not (self.out_of_budget or self.figures.errors)

    @property
    def has_landed(self) -> bool:
        """Whether the pairs that were judged are in the store; not where a missing answer decided every pair."""
        return bool(self.rows) and not self.out_of_budget

    @property
    def noun(self) -> str:
        """What is asked in both orders: about a pair, or for a panel's vote on one."""
        return "vote" if self.members else "pair"

    @property
    def line(self) -> str:
        """The verdict in a sentence."""
        found = self.figures
        if found.p_value is None:
            return "nothing was judged"
        counts = f"{plural(found.tasks_for_a, 'task')} for A, {found.tasks_for_b:,} for B, {p_is(found.p_value, 3)}"
        if found.verdict != "undecided":
            better = self.skill_a if found.verdict == "a" else self.skill_b
            return f"{found.verdict.upper()} ({better}) is preferred: {counts}"
        if found.may_decide:
            what = "run it" if found.open_pairs == 1 else "run them"
            again = f"{what} again with eval --resume RUN --retry-errors" if self.unanswered else "the same call asks again"
            return f"undecided: {plural(found.open_pairs, 'pair')} without a verdict may decide it; {again}"
        if found.position_bias is not None and found.position_bias.decides:
            who = "these judges" if len(self.members) > 1 else "this judge"
            return f"undecided: {who} chose by position: {_agreement(found.position_bias, self.noun)}"
        return f"undecided: {counts}{self._why_not}"

    @property
    def _why_not(self) -> str:
        """What prevented a decision, where that is known."""
        found = self.figures
        if found.p_floor <= SIGNIFICANCE:
            return ""
        if found.position_bias is not None and found.disagreements > found.pairs / 2:
            return f" ({_agreement(found.position_bias, self.noun)})"
        return " (too few tasks differ for any split to decide)"


def _agreement(bias: PositionBias, noun: str) -> str:
    return f"both orders agree on {rate(bias.consistent_share.value)} of {plural(bias.pairs, noun)}"
