"""The votes of a panel about one answer, as they came in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from eval_skills.core.errors import JudgeError

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Ballot(Generic[T]):
    """One vote of one member: what it gave, or why there is nothing."""

    member: str
    vote: int
    given: T | None = None
    error: JudgeError | None = None


@dataclass(frozen=True, slots=True)
class Ballots(Generic[T]):
    """All votes about one answer, in the order of members and votes.

    A member without more than half of its votes is missing: what it did give is no vote of the panel's.
    """

    ballots: tuple[Ballot[T], ...]

    @property
    def given(self) -> list[T]:
        """What was given, also by members that are missing."""
        return [ballot.given for ballot in self.ballots if ballot.given is not None]

    @property
    def members(self) -> tuple[str, ...]:
        """All that were asked."""
        return tuple(dict.fromkeys(ballot.member for ballot in self.ballots))

    @property
    def present(self) -> dict[str, list[T]]:
        """What the members gave that are not missing."""
        return {name: given for name in self.members if 2 * len(given := self._of(name)) > self._asked(name)}

    @property
    def counted(self) -> list[T]:
        """What was given by the members that are not missing: these alone speak for the panel."""
        return [each for given in self.present.values() for each in given]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The votes that were not given, with the reason."""
        return [
            {"model": ballot.member, "vote": ballot.vote + 1, "error": str(ballot.error)}
            for ballot in self.ballots
            if ballot.error is not None
        ]

    def each(self, part: Callable[[T], U]) -> Ballots[U]:
        """The same votes, of which only `part` of what was given is looked at."""
        return Ballots(
            tuple(
                Ballot(ballot.member, ballot.vote, None if ballot.given is None else part(ballot.given), ballot.error)
                for ballot in self.ballots
            )
        )

    @property
    def too_few(self) -> JudgeError | None:
        """Why these are no verdict: not more than half of the members are there."""
        if 2 * len(self.present) > len(self.members):
            return None
        errors = [ballot.error for ballot in self.ballots if ballot.error is not None]
        codes = {error.code for error in errors}
        given = f"only {len(self.given)} of {len(self.ballots)} votes of the panel were given"
        message = f"{given}, too few for a verdict; {errors[0]}"
        return JudgeError(message, code=codes.pop() if len(codes) == 1 else "JUDGE_QUORUM")

    def _of(self, member: str) -> list[T]:
        return [ballot.given for ballot in self.ballots if ballot.member == member and ballot.given is not None]

    def _asked(self, member: str) -> int:
        return sum(ballot.member == member for ballot in self.ballots)
