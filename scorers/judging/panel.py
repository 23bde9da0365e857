"""Several votes instead of one: of several models, of one model asked again, or both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from eval_skills.core.errors import ConfigError, InputError, JudgeError
from eval_skills.scorers.judging.judges import Judges, together
from eval_skills.scorers.judging.reply import Reply

if TYPE_CHECKING:
    from eval_skills.scorers.judging.judge import Judge, Ruling
    from eval_skills.scorers.judging.prompt import Question

R = TypeVar("R", bound=Reply)
T = TypeVar("T")
U = TypeVar("U")

Aggregate = Literal["median", "majority", "mean"]

VOTE_TEMPERATURE = 0.7
"""Of several votes of one model unless another is set: at 0 they would all be the same."""

MAX_MODELS, MAX_VOTES = 25, 25
_OF_THE_RUN = frozenset({"JUDGE_BUDGET", "JUDGE_CONFIGURATION"})
"""Failures that are not a member's own: with them the others' votes would be taken for the panel's."""


COULD_DECIDE = "and what is missing could decide"
"""Why a panel has no verdict although more than half of its members voted."""


@dataclass(frozen=True, slots=True)
class Vote(Generic[T]):
    """One vote of one member: what it gave, or why there is nothing; `number` counts from 0."""

    member: str
    number: int
    given: T | None = None
    error: JudgeError | None = None


@dataclass(frozen=True, slots=True)
class Votes(Generic[T]):
    """All votes about one answer, in the order of members and votes.

    A member without more than half of its votes is missing: what it did give does not count.
    """

    votes: tuple[Vote[T], ...]

    @property
    def given(self) -> list[T]:
        """What was given, also by members that are missing."""
        return [vote.given for vote in self.votes if vote.given is not None]

    @property
    def members(self) -> tuple[str, ...]:
        """All that were asked."""
        return tuple(dict.fromkeys(vote.member for vote in self.votes))

    @property
    def present(self) -> dict[str, list[T]]:
        """What the members gave that are not missing."""
        return {name: given for name in self.members if 2 * len(given := self._of(name)) > self._asked(name)}

    @property
    def counted(self) -> list[T]:
        """What was given by the members that are not missing: these alone count."""
        return [each for given in self.present.values() for each in given]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The votes that were not given, with the reason."""
        return [
            {"model": vote.member, "vote": vote.number + 1, "error": str(vote.error)}
            for vote in self.votes
            if vote.error is not None
        ]

    def each(self, part: Callable[[T], U]) -> Votes[U]:
        """The same votes, of which only `part` of what was given is looked at."""
        return Votes(
            tuple(
                Vote(vote.member, vote.number, None if vote.given is None else part(vote.given), vote.error)
                for vote in self.votes
            )
        )

    @property
    def too_few(self) -> JudgeError | None:
        """Why there is no verdict: not more than half of the members are there."""
        return None if 2 * len(self.present) > len(self.members) else self.without_verdict("too few for a verdict")

    def without_verdict(self, why: str) -> JudgeError:
        """The error of a panel without a verdict, and `why`. At least one vote must be missing: its error is shown."""
        errors = [vote.error for vote in self.votes if vote.error is not None]
        codes = {error.code for error in errors}
        message = f"only {len(self.given)} of {len(self.votes)} votes of the panel were given, {why}; {errors[0]}"
        return JudgeError(message, code=codes.pop() if len(codes) == 1 else "JUDGE_QUORUM")

    def _of(self, member: str) -> list[T]:
        return [vote.given for vote in self.votes if vote.member == member and vote.given is not None]

    def _asked(self, member: str) -> int:
        return sum(vote.member == member for vote in self.votes)


@dataclass(frozen=True, slots=True)
class Voter:
    """One member of a panel about to vote: its questions go to its model, for this vote, at its temperature."""

    judge: Judge
    vote: int = 0
    temperature: float | None = None

    @classmethod
    def of(cls, judges: Judges, model: str | None, vote: int = 0, temperature: float | None = None) -> Voter:
        """The voter of that model; None is the run's.

        Raises:
            JudgeError: it cannot be asked as things are configured.
        """
        return cls(configured(lambda: judges.judge(model)), vote, temperature)

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


def configured(find: Callable[[], T]) -> T:
    """The model that `find` returns.

    Raises:
        JudgeError: it cannot be asked as things are configured.
    """
    try:
        return find()
    except ConfigError as error:
        raise JudgeError(str(error), code="JUDGE_CONFIGURATION") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Who votes, how often, and how votes become one: see `aggregation`.

    `models` are the members (None is the run's model), `votes` how often each is asked, at `temperature` where that is more than
    once.

    Raises:
        InputError: a model is named twice or with a space around it, or there is none; too many models or votes.
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
        spaced = next((name for name in self.models if name is not None and name != name.strip()), None)
        if spaced is not None and len(self.models) > 1:
            raise InputError(f"{spaced!r} begins or ends with a space; write {spaced.strip()!r}", path="models")
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

    async def ask(self, judges: Judges, question: Question[R]) -> Votes[Ruling[R]]:
        """Every vote on one question; see `poll`, also for its errors."""
        return await self.poll(judges, lambda voter: voter.ask(question))

    async def poll(self, judges: Judges, by: Callable[[Voter], Awaitable[T]]) -> Votes[T]:
        """What `by` returns for every vote; of the whole panel and of each member more than half must be there.

        A member without that is missing, and what it gave does not count. All votes of an answer are asked for at the same time.

        Raises:
            JudgeError: too few votes; a model cannot be asked at all, or the budget is spent.
        """
        votes = await self.collect(judges, by)
        if (error := votes.too_few) is not None:
            raise error
        return votes

    async def collect(self, judges: Judges, by: Callable[[Voter], Awaitable[T]]) -> Votes[T]:
        """The same, also where they are `Votes.too_few`.

        Raises:
            JudgeError: the only vote was not given; a model cannot be asked at all, or the budget is spent.
        """
        voters = [Voter.of(judges, model, each, self._temperature) for model in self.models for each in range(self.votes)]
        votes = Votes(tuple(await together(_vote_of(voter, by) for voter in voters)))
        for vote in votes.votes:
            if vote.error is not None and (self.is_single or vote.error.code in _OF_THE_RUN):
                raise vote.error
        return votes

    @property
    def _temperature(self) -> float | None:
        return None if self.votes == 1 else VOTE_TEMPERATURE if self.temperature is None else self.temperature


async def _vote_of(voter: Voter, by: Callable[[Voter], Awaitable[T]]) -> Vote[T]:
    try:
        return Vote(voter.name, voter.vote, given=await by(voter))
    except JudgeError as error:
        return Vote(voter.name, voter.vote, error=error)
