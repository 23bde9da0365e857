"""The two questions by which a model verifies an answer: what does it claim, and what of that does the material say?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from eval_skills.scorers.judging.prompt import Material, Question
from eval_skills.scorers.judging.reply import Reply

VERSION = "claims 2"
"""Of the texts below: another version is asked again."""

MAX_CLAIMS = 50
"""How many claims of one answer are verified."""

QUESTIONS_ABOUT_CLAIMS = 2
"""How many questions the claims of an answer take, where there are some and not many: what they are, and whether they hold."""

BATCH = 20
"""How many claims are verified by one question."""

_EXTRACTING = """You list what one answer claims, so that others can verify it. A claim is one fact that is right or wrong: a
figure, a name, a date, an event, a cause, a property. Split sentences that hold several. Leave out questions, offers, opinions,
advice, what the answer only asks for, and what it says of itself or of its own work; a refusal claims nothing. Add nothing,
judge nothing, and leave out no fact because it looks right, or wrong."""

_LISTING = f"""List the claims of the answer, each as one sentence that can be understood without the answer: put names in place
of pronouns, and keep figures, units and hedges ("about", "may") as they are. "major": the answer would be another one without
it. "minor": any other. If there are more than {MAX_CLAIMS}, list the {MAX_CLAIMS} that matter most."""

_VERIFYING = """You verify claims against material. The material alone decides: what you know yourself does not count, for or
against. The claims were written by somebody who may be wrong, and their wording proves nothing."""

_LOOKING_UP = """Look up each of the numbered claims in the other material. "supported": the material says so, or it follows
from it by a step that nobody would dispute (a sum, a rounding, another spelling or unit). "contradicted": the material says
otherwise. "not_found": anything else, and whenever you are not sure. A claim that holds only in part is not supported. As
evidence quote the words of the material that decide, exactly as they stand there and nothing else: a quotation that stands
nowhere in it counts as not_found."""


class Statement(Reply):
    """One claim, as the model words it."""

    claim: str = Field(description="The claim, in one sentence")
    importance: Literal["major", "minor"]

    @field_validator("claim")
    @classmethod
    def _said(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("a claim must not be blank")
        return value


class Statements(Reply):
    """The claims of an answer; an empty list where it claims nothing."""

    reasoning: str = Field(description="Which parts of the answer claim something, and which do not")
    claims: list[Statement] = Field(
        max_length=MAX_CLAIMS, description="All claims, in the order of the answer; empty if it has none"
    )


class Lookup(Reply):
    """What the material says of one claim."""

    number: int = Field(description="The claim's number")
    evidence: str = Field(description="Words quoted from the material; empty for not_found")
    verdict: Literal["supported", "contradicted", "not_found"]

    @model_validator(mode="after")
    def _proved(self) -> Self:
        if self.verdict == "supported" and not self.evidence.strip():
            raise ValueError(f"claim {self.number} is called supported, and no evidence is quoted")
        return self


class Lookups(Reply):
    """One lookup for each claim; the subclass of `lookups` knows how many there are."""

    lookups: list[Lookup] = Field(description="One for each claim, in the order of their numbers")


@cache
def lookups(count: int) -> type[Lookups]:
    """The reply for so many claims: a missing, doubled or made-up number makes it unreadable."""

    class Counted(Lookups):
        @model_validator(mode="after")
        def _all_of_them(self) -> Self:
            if sorted(each.number for each in self.lookups) != list(range(1, count + 1)):
                raise ValueError(f"each of the claims 1 to {count} must be looked up exactly once")
            return self

    return Counted


def extraction(answer: str, asked: Any) -> Question[Statements]:
    """What does the answer claim? `asked` is what it answers."""
    materials = (Material.of("task", asked), Material.of("answer", answer))
    return Question(
        role=_EXTRACTING, version=VERSION, instructions=_LISTING, materials=materials, reply=Statements, max_tokens=6_000,
        wanted="list of claims",
    )  # fmt: skip


def verification(claims: Sequence[str], sources: Sequence[Material]) -> Question[Lookups]:
    """Which of the claims, numbered from 1, do the sources support?"""
    numbered = [{"number": number, "claim": claim} for number, claim in enumerate(claims, 1)]
    return Question(
        role=_VERIFYING,
        version=VERSION,
        instructions=_LOOKING_UP,
        materials=(*sources, Material.of("claims", numbered)),
        reply=lookups(len(claims)),
        max_tokens=500 + 200 * len(claims),
    )
