"""Several votes instead of one: of several models, of one model asked again, or both."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from eval_skills.core.errors import ConfigError, InputError, JudgeError
from eval_skills.scorers.judging.reply import Reply

if TYPE_CHECKING:
    from eval_skills.scorers.judging.judge import Ruling
    from eval_skills.scorers.judging.judges import Judges
    from eval_skills.scorers.judging.question import Question

R = TypeVar("R", bound=Reply)

Aggregate = Literal["median", "majority", "mean"]

VOTE_TEMPERATURE = 0.7
"""Of several votes of one model where nothing else is said: at 0 they would all be the first one again."""

MAX_VOTES = 25
_TOLERANCE = 1e-9
_OF_THE_RUN = frozenset({"JUDGE_BUDGET", "JUDGE_CONFIGURATION"})
"""Failures that say nothing about a member: with them the others' votes would pass for the panel's."""


@dataclass(frozen=True, slots=True)
class Ballot(Generic[R]):
    """One vote of one member: its ruling, or why there is none. `model` None is the run's."""

    model: str | None
    vote: int
    ruling: Ruling[R] | None = None
    error: JudgeError | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a panel's votes come to.

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


@dataclass(frozen=True, slots=True)
class Ballots(Generic[R]):
    """All votes about one answer, in the order of members and votes."""

    ballots: tuple[Ballot[R], ...]

    @property
    def rulings(self) -> list[Ruling[R]]:
        """Those that were given."""
        return [ballot.ruling for ballot in self.ballots if ballot.ruling is not None]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Those that were not, with the reason."""
        return [
            {"model": ballot.model, "vote": ballot.vote + 1, "error": str(ballot.error)}
            for ballot in self.ballots
            if ballot.error is not None
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Who votes, how often, and how votes become a value.

    `models` are the members (None is the run's model), `votes` how often each is asked, at `temperature` where that is more than
    once. A member's value is its votes', the panel's the members', both by `aggregate`: ``median`` (of an even number the mean of
    the middle two), ``mean``, or ``majority``: more than half must pass the answer, and a tie does not.

    Raises:
        InputError: a model is named twice, or there is none; too many votes.
    """

    models: tuple[str | None, ...] = (None,)
    votes: int = 1
    temperature: float | None = None
    aggregate: Aggregate = "median"

    def __post_init__(self) -> None:
        if not self.models:
            raise InputError("the list is empty; name the models that vote", path="models")
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

    async def ask(self, judges: Judges, question: Question[R]) -> Ballots[R]:
        """Every vote there is to have; of the whole panel and of each member more than half must be there.

        A member without that is missing and no vote. All votes of an answer are asked for at the same time.

        Raises:
            JudgeError: too few votes; a model cannot be asked at all, or the budget is spent.
        """
        asked = [(model, vote) for model in self.models for vote in range(self.votes)]
        ballots = Ballots(tuple(await asyncio.gather(*(self._vote(judges, question, model, vote) for model, vote in asked))))
        for ballot in ballots.ballots:
            if ballot.error is not None and (self.is_single or ballot.error.code in _OF_THE_RUN):
                raise ballot.error
        if 2 * len(self._present(ballots)) <= len(self.models):
            raise self._too_few(ballots)
        return ballots

    def decide(self, ballots: Ballots[R], share: Callable[[R], float], threshold: float) -> Decision:
        """The panel's value, with `share` giving what one reply is worth in [0, 1]."""
        present = self._present(ballots)
        names = {model: model or next(ruling.model for ruling in rulings) for model, rulings in present.items()}
        votes = {names[model]: [share(ruling.reply) for ruling in rulings] for model, rulings in present.items()}
        values = {name: self._together(given, threshold) for name, given in votes.items()}
        floor = self._floor(threshold, several=self.votes > 1)
        value = next(iter(values.values())) if len(self.models) == 1 else self._together(list(values.values()), threshold, floor)
        passed = passes(value, self._floor(threshold, several=not self.is_single))
        members: dict[str, float | None] = {names.get(model) or str(model or "the run's"): None for model in self.models}
        members.update(values)
        return Decision(value, passed, members, votes, *self._unity(votes, values, passed, threshold, floor))

    def told(self, decision: Decision) -> str:
        """The decision in words: ``a: 0.6, b: 0.8, c: no verdict (median of 3 models, agreement 1, spread 0.14)``."""
        single = len(self.models) == 1
        given = {name: _listed(votes) if single else f"{decision.members[name]:.4g}" for name, votes in decision.votes.items()}
        members = ", ".join(f"{name}: {given.get(name, 'no verdict')}" for name in decision.members)
        facts = [self.described]
        facts += [] if decision.agreement is None else [f"agreement {decision.agreement:.2g}"]
        facts += [] if decision.spread is None else [f"spread {decision.spread:.2g}"]
        return f"{members} ({', '.join(facts)})"

    def wanted(self, threshold: float) -> str:
        """What a passing answer needs."""
        if self.aggregate == "majority" and not self.is_single:
            return f"more than half to give at least {threshold:g}"
        return f"a score of at least {threshold:g}"

    def facts(self, ballots: Ballots[R], decision: Decision) -> dict[str, Any]:
        """What the metadata of a score tell of a panel; nothing of a single vote."""
        if self.is_single:
            return {}
        return {
            "panel": {
                "aggregate": self.aggregate,
                "members": decision.members,
                "votes": decision.votes,
                "agreement": decision.agreement,
                "spread": decision.spread,
                "failed": ballots.failed,
            }
        }

    def _unity(
        self, votes: dict[str, list[float]], values: dict[str, float], passed: bool, threshold: float, floor: float
    ) -> tuple[float | None, float | None]:
        if self.is_single:
            return None, None
        several, bar = (next(iter(votes.values())), threshold) if len(self.models) == 1 else (list(values.values()), floor)
        agreeing = sum(passes(value, bar) == passed for value in several)
        return agreeing / len(several), stdev(several) if len(several) > 1 else None

    def _together(self, values: Sequence[float], threshold: float, floor: float | None = None) -> float:
        if len(values) == 1 and self.votes == 1:
            return values[0]
        if self.aggregate == "majority":
            return sum(passes(value, threshold if floor is None else floor) for value in values) / len(values)
        return median(values) if self.aggregate == "median" else fmean(values)

    def _floor(self, threshold: float, *, several: bool) -> float:
        """From where on a value passes: one of a majority is a share of votes, and half of them is no majority."""
        return 0.5 + 2 * _TOLERANCE if several and self.aggregate == "majority" else threshold

    def _present(self, ballots: Ballots[R]) -> dict[str | None, list[Ruling[R]]]:
        """The members with more than half of their votes."""
        found: dict[str | None, list[Ruling[R]]] = {}
        for ballot in ballots.ballots:
            if ballot.ruling is not None:
                found.setdefault(ballot.model, []).append(ballot.ruling)
        return {model: rulings for model, rulings in found.items() if 2 * len(rulings) > self.votes}

    async def _vote(self, judges: Judges, question: Question[R], model: str | None, vote: int) -> Ballot[R]:
        try:
            judge = judges.judge(model)
        except ConfigError as error:
            return Ballot(model, vote, error=JudgeError(str(error), code="JUDGE_CONFIGURATION"))
        heat = None if self.votes == 1 else self.temperature if self.temperature is not None else VOTE_TEMPERATURE
        try:
            return Ballot(model, vote, ruling=await judge.ask(question, vote=vote, temperature=heat))
        except JudgeError as error:
            return Ballot(model, vote, error=error)

    def _too_few(self, ballots: Ballots[R]) -> JudgeError:
        errors = [ballot.error for ballot in ballots.ballots if ballot.error is not None]
        codes = {error.code for error in errors}
        got, wanted = len(ballots.rulings), len(ballots.ballots)
        message = f"only {got} of {wanted} votes of the panel were given, too few for a verdict; {errors[0]}"
        return JudgeError(message, code=codes.pop() if len(codes) == 1 else "JUDGE_QUORUM")


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)


def passes(value: float, threshold: float) -> bool:
    """Whether a value reaches the threshold; equality does, and the last binary digit decides nothing."""
    return value >= threshold - _TOLERANCE
