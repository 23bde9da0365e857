"""Which of two answers is better? Each vote is a verdict in both orders, since the place of an answer influences a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from eval_skills.core.documents.json_equality import json_equal
from eval_skills.core.errors import JudgeError
from eval_skills.core.judging.pairs import Choice, Outcome, agreement_of, bounds_of, outcome_of
from eval_skills.core.judging.pairs import Vote as PairVote
from eval_skills.core.models import EvalTask
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.judging.judges import Judges, together
from eval_skills.scorers.judging.panel import COULD_DECIDE, Panel, Vote, Voter, Votes
from eval_skills.scorers.judging.prompt import Material, Question
from eval_skills.scorers.judging.reply import REASONING, Reply

if TYPE_CHECKING:
    from eval_skills.scorers.judging.judge import Judge

VERSION = "comparison 1"
"""Of the texts below: another version is asked again."""

_ROLE = """You compare two answers to one task, the first and the second, and say which one is better. Judge by the instructions
alone. Which answer stands first means nothing: the order was drawn. How long, polished or confident an answer is does not count,
unless the instructions say so. Where a reference answer is given it is right, and an answer need not be worded like it; do not
hold knowledge of your own against it. If neither is better, say tie."""

_GENERAL = "Better is the answer that does more of what the task asks, and gets less of it wrong."

_PICKS: dict[bool, dict[str, Choice]] = {
    True: {"first": "a", "second": "b", "tie": "tie"},
    False: {"first": "b", "second": "a", "tie": "tie"},
}


class Comparison(Reply):
    """What a model says of two answers."""

    reasoning: str = REASONING
    better: Literal["first", "second", "tie"]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two answers compared. The orders are None where the answers are the same, and no model was asked."""

    outcome: Choice
    a_first: Choice | None = None
    b_first: Choice | None = None
    reasoning_a_first: str | None = None
    reasoning_b_first: str | None = None


@dataclass(frozen=True, slots=True)
class Comparing:
    """How the answers to one task are compared; without `criteria` by what the task asks."""

    task: EvalTask
    criteria: str | None = None

    async def compare(self, a: Any, b: Any, judge: Judge | Voter) -> Compared:
        """Which answer is better; a tie where the orders disagree, where the answers are the same, and where both are empty.

        Raises:
            JudgeError: there is no readable verdict in one of the orders.
        """
        a, b = unwrapped(a), unwrapped(b)
        if same_answer(a, b):
            return Compared("tie")
        ahead, behind = await together((judge.ask(self.question(a, b)), judge.ask(self.question(b, a))))
        a_first, b_first = _PICKS[True][ahead.reply.better], _PICKS[False][behind.reply.better]
        return Compared(outcome_of(a_first, b_first), a_first, b_first, ahead.reply.reasoning, behind.reply.reasoning)

    def question(self, first: Any, second: Any) -> Question[Comparison]:
        """What the model is asked about two answers in this order."""
        materials = [Material.of_task(self.task), Material.of("first answer", first), Material.of("second answer", second)]
        if self.task.expected_value is not None:
            materials.insert(1, Material.of("reference answer", self.task.expected_value))
        return Question(
            role=_ROLE,
            version=VERSION,
            instructions=f"{_GENERAL}\n{self.criteria}" if self.criteria else _GENERAL,
            materials=tuple(materials),
            reply=Comparison,
        )


def same_answer(a: Any, b: Any) -> bool:
    """Whether two unwrapped answers are equal, but for the blanks around a text; two without any text are."""
    if isinstance(a, str) and isinstance(b, str):
        return a.strip() == b.strip()
    return json_equal(a, b) or not (text_of(a).strip() or text_of(b).strip())


_ORDERS = ("a_first", "b_first")
_REASONS = ("reasoning_a_first", "reasoning_b_first")


@dataclass(frozen=True, slots=True)
class PreferenceVotes:
    """The votes about one pair; without any, both answers are the same, and no model was asked."""

    panel: Panel
    votes: Votes[Compared]

    @property
    def outcome(self) -> Outcome:
        """The side that more than half of the models prefer, else a tie; a model's by its votes likewise.

        ``error`` where not more than half of the models are there, or where it depends on the votes that were not given.
        """
        return "error" if self.error is not None else bounds_of(self._pair_votes)[0]

    @property
    def error(self) -> JudgeError | None:
        """Why there is no verdict."""
        if not self.votes.votes:
            return None
        worst, best = bounds_of(self._pair_votes)
        undecided = None if worst == best else self.votes.without_verdict(COULD_DECIDE)
        return self.votes.too_few or undecided

    def row(self) -> dict[str, Any]:
        """Its row in the table `preferences`."""
        outcome = self.outcome
        decisive = next((each for each in self.votes.counted if each.outcome == outcome), None)
        said: dict[str, Any] = {"outcome": outcome, **_of(decisive, _REASONS)}
        if self.panel.is_single or not self.votes.votes:
            return said | _of(decisive, _ORDERS)
        votes = [
            {"model": vote.model, "number": vote.number, "outcome": vote.outcome, **_of(each.given, _ORDERS + _REASONS)}
            | {"error_message": str(each.error) if each.error else None}
            for vote, each in zip(self._pair_votes, self.votes.votes, strict=True)
        ]
        return said | {"judge_agreement": agreement_of(self._pair_votes, outcome), "votes": votes}

    @property
    def _pair_votes(self) -> list[PairVote]:
        return [_pair_vote(vote) for vote in self.votes.votes]


async def ask_panel(panel: Panel, judges: Judges, comparing: Comparing, a: Any, b: Any) -> PreferenceVotes:
    """What the panel says of these answers; about equal ones no model is asked.

    Raises:
        JudgeError: the only vote was not given; a model cannot be asked at all, or the budget is spent.
    """
    if same_answer(unwrapped(a), unwrapped(b)):
        return PreferenceVotes(panel, Votes(()))
    return PreferenceVotes(panel, await panel.collect(judges, lambda voter: comparing.compare(a, b, voter)))


def _pair_vote(vote: Vote[Compared]) -> PairVote:
    outcome: Outcome = vote.given.outcome if vote.given else "error"
    return PairVote(vote.member, vote.number + 1, outcome)


def _of(compared: Compared | None, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(compared, name, None) for name in names}
