"""Which of two answers is better? Asked in both orders, since the place of an answer sways a model.

What a panel, or a single model, says of a pair of answers: each vote is a verdict in both orders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from eval_skills.core.documents.json_equality import json_equal
from eval_skills.core.errors import JudgeError
from eval_skills.core.judging.pairs import Choice, Outcome, Vote, agreement_of, majority_of, members_of, outcome_of
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.judging.grading import REASONING
from eval_skills.scorers.judging.judges import together
from eval_skills.scorers.judging.panel import Panel
from eval_skills.scorers.judging.prompt import Material, Question
from eval_skills.scorers.judging.reply import Reply
from eval_skills.scorers.judging.votes import Ballot, Ballots

if TYPE_CHECKING:
    from eval_skills.core.models import EvalTask
    from eval_skills.scorers.judging.judge import Judge
    from eval_skills.scorers.judging.judges import Judges
    from eval_skills.scorers.judging.panel import Voter

VERSION = "comparison 1"
"""Of the words below: another version asks again."""

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
    """Two answers compared. The orders are None where the answers are the same, and nobody was asked."""

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
        materials = [Material.of("task", self._asked), Material.of("first answer", first), Material.of("second answer", second)]
        if self.task.expected_output is not None and self.task.expected_output.value is not None:
            materials.insert(1, Material.of("reference answer", self.task.expected_output.value))
        return Question(
            role=_ROLE,
            version=VERSION,
            instructions=f"{_GENERAL}\n{self.criteria}" if self.criteria else _GENERAL,
            materials=tuple(materials),
            reply=Comparison,
        )

    @property
    def _asked(self) -> Any:
        task = self.task
        return {"description": task.description, "input": task.input_data} if task.description else task.input_data


def same_answer(a: Any, b: Any) -> bool:
    """Whether two unwrapped answers are equal, but for the blanks around a text; two without any text are."""
    if isinstance(a, str) and isinstance(b, str):
        return a.strip() == b.strip()
    return json_equal(a, b) or not (text_of(a).strip() or text_of(b).strip())


_ORDERS = ("a_first", "b_first")
_REASONS = ("reasoning_a_first", "reasoning_b_first")


@dataclass(frozen=True, slots=True)
class PreferenceVotes:
    """The votes about one pair; without any, both answers are the same, and nobody was asked."""

    panel: Panel
    ballots: Ballots[Compared]

    @property
    def outcome(self) -> Outcome:
        """The side that more than half of the models are for that are not missing, else a tie; a model's by its votes likewise.

        ``error`` where not more than half of the models are there.
        """
        if self.error is not None:
            return "error"
        return majority_of([choice for choice in members_of(self._votes).values() if choice is not None])

    @property
    def error(self) -> JudgeError | None:
        """Why there is no verdict."""
        return self.ballots.too_few if self.ballots.ballots else None

    def row(self) -> dict[str, Any]:
        """What the table `preferences` has of it."""
        outcome = self.outcome
        telling = next((each for each in self.ballots.counted if each.outcome == outcome), None)
        said: dict[str, Any] = {"outcome": outcome, **_of(telling, _REASONS)}
        if self.panel.is_single or not self.ballots.ballots:
            return said | _of(telling, _ORDERS)
        votes = [
            {"model": vote.model, "number": vote.number, "outcome": vote.outcome, **_of(ballot.given, _ORDERS + _REASONS)}
            | {"error_message": str(ballot.error) if ballot.error else None}
            for vote, ballot in zip(self._votes, self.ballots.ballots, strict=True)
        ]
        return said | {"judge_agreement": agreement_of(self._votes, outcome), "votes": votes}

    @property
    def _votes(self) -> list[Vote]:
        return [_vote(ballot) for ballot in self.ballots.ballots]


async def put_to(panel: Panel, judges: Judges, comparing: Comparing, a: Any, b: Any) -> PreferenceVotes:
    """What the panel says of these answers; about equal ones nobody is asked.

    Raises:
        JudgeError: the only vote was not given; a model cannot be asked at all, or the budget is spent.
    """
    if same_answer(unwrapped(a), unwrapped(b)):
        return PreferenceVotes(panel, Ballots(()))
    return PreferenceVotes(panel, await panel.collect(judges, lambda voter: comparing.compare(a, b, voter)))


def _vote(ballot: Ballot[Compared]) -> Vote:
    outcome: Outcome = ballot.given.outcome if ballot.given else "error"
    return Vote(ballot.member, ballot.vote + 1, outcome)


def _of(compared: Compared | None, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(compared, name, None) for name in names}
