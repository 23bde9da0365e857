"""Several votes instead of one: of several models, of one model asked again, or both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from eval_skills.core.errors import ConfigError, InputError, JudgeError
from eval_skills.scorers.judging.judges import together
from eval_skills.scorers.judging.reply import Reply
from eval_skills.scorers.judging.votes import Ballot, Ballots

if TYPE_CHECKING:
    from eval_skills.scorers.judging.judge import Judge, Ruling
    from eval_skills.scorers.judging.judges import Judges
    from eval_skills.scorers.judging.prompt import Question

R = TypeVar("R", bound=Reply)
T = TypeVar("T")

Aggregate = Literal["median", "majority", "mean"]

VOTE_TEMPERATURE = 0.7
"""Of several votes of one model where nothing else is said: at 0 they would all be the first one again."""

MAX_MODELS, MAX_VOTES = 25, 25
_OF_THE_RUN = frozenset({"JUDGE_BUDGET", "JUDGE_CONFIGURATION"})
"""Failures that say nothing about a member: with them the others' votes would pass for the panel's."""


@dataclass(frozen=True, slots=True)
class Voter:
    """One member of a panel about to vote: whatever it is asked is asked of its model, for this vote, at its temperature."""

    judge: Judge
    vote: int = 0
    temperature: float | None = None

    @classmethod
    def of(cls, judges: Judges, model: str | None, vote: int = 0, temperature: float | None = None) -> Voter:
        """The voter of that model; None is the run's.

        Raises:
            JudgeError: it cannot be asked as things are configured.
        """
        try:
            return cls(judges.judge(model), vote, temperature)
        except ConfigError as error:
            raise JudgeError(str(error), code="JUDGE_CONFIGURATION") from None

    @property
    def name(self) -> str:
        """Its model's."""
        return self.judge.model.name

    async def ask(self, question: Question[R]) -> Ruling[R]:
        """The model's reply; see `Judge.ask`.

        Raises:
            JudgeError: there is none.
        """
        return await self.judge.ask(question, vote=self.vote, temperature=self.temperature)


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Who votes, how often, and how votes become one: `judging.decision` says what that comes to.

    `models` are the members (None is the run's model), `votes` how often each is asked, at `temperature` where that is more than
    once.

    Raises:
        InputError: a model is named twice, or there is none; too many models or votes.
    """

    models: tuple[str | None, ...] = (None,)
    votes: int = 1
    temperature: float | None = None
    aggregate: Aggregate = "median"

    def __post_init__(self) -> None:
        if not self.models:
            raise InputError("the list is empty; name the models that vote", path="models")
        if len(self.models) > MAX_MODELS:
            raise InputError(f"at most {MAX_MODELS} models vote, got {len(self.models):,}", path="models")
        if twice := next((name for name, often in Counter(self.models).items() if often > 1), None):
            raise InputError(f"{twice!r} is named twice; give it more votes with votes instead", path="models")
        if not 1 <= self.votes <= MAX_VOTES:
            raise InputError(f"from 1 to {MAX_VOTES} votes of each model, got {self.votes}", path="votes")

    @property
    def is_single(self) -> bool:
        """Whether there is one vote only, of the one member."""
        return len(self.models) * self.votes == 1

    @property
    def described(self) -> str:
        """How it votes: ``median of 3 votes each``."""
        each = f"{self.votes} votes each" if len(self.models) > 1 else f"{self.votes} votes"
        return f"{self.aggregate} of {each if self.votes > 1 else f'{len(self.models)} models'}"

    async def ask(self, judges: Judges, question: Question[R]) -> Ballots[Ruling[R]]:
        """Every vote on one question; see `poll`.

        Raises:
            JudgeError: as there.
        """
        return await self.poll(judges, lambda voter: voter.ask(question))

    async def poll(self, judges: Judges, by: Callable[[Voter], Awaitable[T]]) -> Ballots[T]:
        """What `by` comes to for every vote; of the whole panel and of each member more than half must be there.

        A member without that is missing and no vote. All votes of an answer are asked for at the same time.

        Raises:
            JudgeError: too few votes; a model cannot be asked at all, or the budget is spent.
        """
        ballots = await self.collect(judges, by)
        if (error := ballots.too_few) is not None:
            raise error
        return ballots

    async def collect(self, judges: Judges, by: Callable[[Voter], Awaitable[T]]) -> Ballots[T]:
        """The same, also where they are `Ballots.too_few`.

        Raises:
            JudgeError: the only vote was not given; a model cannot be asked at all, or the budget is spent.
        """
        voters = [Voter.of(judges, model, vote, self._heat) for model in self.models for vote in range(self.votes)]
        ballots = Ballots(tuple(await together(_ballot(voter, by) for voter in voters)))
        for ballot in ballots.ballots:
            if ballot.error is not None and (self.is_single or ballot.error.code in _OF_THE_RUN):
                raise ballot.error
        return ballots

    @property
    def _heat(self) -> float | None:
        return None if self.votes == 1 else VOTE_TEMPERATURE if self.temperature is None else self.temperature


async def _ballot(voter: Voter, by: Callable[[Voter], Awaitable[T]]) -> Ballot[T]:
    try:
        return Ballot(voter.name, voter.vote, given=await by(voter))
    except JudgeError as error:
        return Ballot(voter.name, voter.vote, error=error)
