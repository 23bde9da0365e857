"""What a panel, or a single model, says of a pair of answers: each vote is a verdict in both orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval_skills.core.compared_pair import Outcome, Vote, agreement_of, majority_of, members_of
from eval_skills.core.errors import JudgeError
from eval_skills.scorers.answer import unwrapped
from eval_skills.scorers.judging.ballots import Ballot, Ballots
from eval_skills.scorers.judging.comparison import Compared, Comparing, same_answer
from eval_skills.scorers.judging.panel import Panel

if TYPE_CHECKING:
    from eval_skills.scorers.judging.judges import Judges

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
