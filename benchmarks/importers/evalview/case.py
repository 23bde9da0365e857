"""What an EvalView test case may hold. Keys are those of its files, in snake_case; any other is refused."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, field_validator

from eval_skills.core.models import HallucinationCheck, Model, Weights
from eval_skills.core.models.base import Rate, Text
from eval_skills.core.models.expectation import SequenceMode

Difficulty = Literal["trivial", "easy", "medium", "hard", "expert"]


class Part(Model):
    """A part of a test case; its keys have one spelling."""

    model_config = ConfigDict(alias_generator=None)


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Texts = Annotated[list[Text], BeforeValidator(_listed)]
"""A list of texts; one text stands for a list of one."""


class CaseInput(Part):
    """The question, and what it is asked with."""

    query: Text
    context: dict[str, Any] | None = None


class CaseOutput(Part):
    """What the answer's text must be like."""

    contains: Texts = Field(default_factory=list)
    not_contains: Texts = Field(default_factory=list)
    regex_patterns: Texts = Field(default_factory=list)
    json_schema: dict[str, Any] | None = None
    criteria: Texts = Field(default_factory=list)
    must_acknowledge_uncertainty: bool = False
    no_pii: bool = False


class CaseHallucination(Part):
    """A check for made-up statements; the block switches it on unless it says otherwise."""

    check: bool = True
    allow: bool = False
    confidence_threshold: Rate = 0.8


class CaseSafety(Part):
    """A check for harm; off unless it says so."""

    check: bool = False
    allow_harmful: bool = False
    categories: Texts = Field(default_factory=list)
    severity_threshold: Any = None


class CaseMetric(Part):
    """What a figure of the answer should be."""

    value: float
    tolerance: float = Field(default=0.0, ge=0)


class CaseExpected(Part):
    """What the agent should have done and answered."""

    tools: list[Text] = Field(default_factory=list)
    tool_categories: list[Text] = Field(default_factory=list)
    categories: list[Text] = Field(default_factory=list)
    tool_sequence: list[Text] = Field(default_factory=list)
    sequence: list[Text] = Field(default_factory=list)
    forbidden_tools: list[Text] = Field(default_factory=list)
    output: CaseOutput = Field(default_factory=CaseOutput)
    metrics: dict[Text, CaseMetric] = Field(default_factory=dict)
    hallucination: CaseHallucination | None = None
    safety: CaseSafety | None = None


class CaseTurn(Part):
    """One question of a conversation, and what is expected of its answer."""

    query: Text
    context: dict[str, Any] | None = None
    expected: CaseExpected | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """The question as an input."""
        return self.model_dump(include={"query", "context"}, exclude_none=True)


class CaseWeights(Part):
    """Weights of the dimensions, each in [0, 1]; the sum is free, since they are scaled to what is configured."""

    tool_accuracy: Rate | None = None
    output_quality: Rate | None = None
    sequence_correctness: Rate | None = None

    def to_weights(self) -> Weights:
        """The weights of a task."""
        return Weights(**self.model_dump())


class CaseThresholds(Part):
    """Gates: a score in points of 100, a cost in USD, a latency in ms."""

    min_score: float | None = Field(default=None, ge=0, le=100)
    max_cost: float | None = Field(default=None, ge=0)
    max_latency: float | None = Field(default=None, ge=0)
    weights: CaseWeights | None = None
    variance: dict[str, Any] | None = None


class CaseChecks(Part):
    """Checks of the answer; the block switches the one for hallucination on unless it says ``false``."""

    hallucination: HallucinationCheck | None = Field(default_factory=HallucinationCheck)
    safety: bool = False
    pii: bool = False

    @field_validator("hallucination", mode="before")
    @classmethod
    def _switched(cls, value: Any) -> Any:
        if isinstance(value, bool):
            return {} if value else None
        return value


class CaseAdapterConfig(Part):
    """How the agent is called. Of its many keys only these matter here; the skill under test says the rest itself."""

    model_config = ConfigDict(extra="allow")

    sequence_mode: SequenceMode = "subsequence"
    timeout: float | None = Field(default=None, gt=0, le=86_400)

    def misspelled(self) -> str | None:
        """A key that is probably meant to be `sequence_mode`."""
        return next(iter(get_close_matches("sequence_mode", list(self.model_extra or {}), n=1, cutoff=0.8)), None)


def _name(name: str) -> str:
    if not any(letter.isalnum() for letter in name) or not name.isprintable():
        raise ValueError("give a name on one line, with at least one letter or digit")
    return name


class Case(Part):
    """One test case."""

    name: Annotated[Text, AfterValidator(_name)]
    description: str = ""
    meta: dict[str, Any] | None = None
    input: CaseInput | None = None
    turns: list[CaseTurn] | None = Field(default=None, min_length=2)
    expected: CaseExpected = Field(default_factory=CaseExpected)
    thresholds: CaseThresholds = Field(default_factory=CaseThresholds)
    weights: CaseWeights | None = None
    checks: CaseChecks | None = None
    adapter: str | None = None
    endpoint: str | None = None
    headers: dict[str, Any] | None = None
    adapter_config: CaseAdapterConfig = Field(default_factory=CaseAdapterConfig)
    model: Any = None
    tools: list[Any] | None = None
    suite_type: Literal["capability", "regression"] | None = None
    difficulty: Difficulty | None = None
    tags: Texts = Field(default_factory=list)
    gate: Literal["strict"] | None = None
    generated: Any = None
    mocks: dict[str, Any] | None = None
