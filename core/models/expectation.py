"""What may be expected of an answer: its output, what an agent did on the way, and how that is judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

from pydantic import Field, SerializerFunctionWrapHandler, ValidationInfo, field_validator, model_serializer, model_validator

from eval_skills.core.models.base import Model, Rate, Text, object_like
from eval_skills.core.models.evaluators import (
    SET,
    Combine,
    CostOrder,
    Evaluator,
    Evaluators,
    PlacedEvaluator,
    combine_of_set,
    refuse_deep_sets,
    refuse_same_names,
    refuse_weightless,
    scorers_in,
    threshold_of_set,
)
from eval_skills.core.models.limits import Thresholds, Weights
from eval_skills.core.text import comparable, excerpt, normalise_tool_name

_OF_A_SET = frozenset({"evaluators", "combine", "threshold", "cost_order", "costOrder"})


class JudgedTask(Model):
    """The base of `EvalTask`, which has the fields that are checked here."""

    @field_validator("evaluator", mode="before", check_fields=False)
    @classmethod
    def _evaluator_by_name(cls, value: Any) -> Any:
        if not isinstance(value, str | dict | Evaluator | None):
            raise ValueError(f"give a scorer's name, or an object with its type and options; got {excerpt(value)}")
        return {"type": value} if isinstance(value, str) else value

    @field_validator("evaluators", mode="before", check_fields=False)
    @classmethod
    def _evaluators_are_not_deep(cls, value: Any) -> Any:
        refuse_deep_sets(value)
        return value

    @field_validator("evaluators", check_fields=False)
    @classmethod
    def _evaluators_differ(cls, value: Evaluators | None, info: ValidationInfo) -> Evaluators | None:
        if value is not None:
            if info.data.get("evaluator") is not None:
                raise ValueError("evaluator and evaluators are both given; keep one of them")
            refuse_weightless(value)
            refuse_same_names(value)
        return value

    @field_validator("combine", check_fields=False)
    @classmethod
    def _combines_a_set(cls, value: Any, info: ValidationInfo) -> Any:
        return combine_of_set(value, info)

    @field_validator("threshold", check_fields=False)
    @classmethod
    def _threshold_of_a_mean(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and info.data.get("evaluators", ...) is None:
            raise ValueError("it is for several evaluators; the limits of a task are its thresholds, such as minScore")
        return threshold_of_set(value, info)

    @field_validator("cost_order", check_fields=False)
    @classmethod
    def _order_of_a_set(cls, value: CostOrder | None, info: ValidationInfo) -> CostOrder | None:
        if value is not None and info.data.get("evaluators", ...) is None:
            raise ValueError("it orders several evaluators, and there is no list of them; give evaluators")
        return value

    @model_serializer(mode="wrap")
    def _one_evaluator_is_no_set(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without the keys of several evaluators where there are none: digests of such tasks are older than these keys."""
        fields: dict[str, Any] = handler(self)
        return {key: value for key, value in fields.items() if value is not None or key not in _OF_A_SET}


SequenceMode = Literal["subsequence", "exact", "unordered"]

ClaimKind = Literal["number", "date", "time", "quote", "url", "email", "identifier", "name"]
CLAIM_KINDS: tuple[ClaimKind, ...] = get_args(ClaimKind)
"""What counts as a claim that can be looked up."""

HallucinationMode = Literal["deterministic", "judged", "both"]
"""Who looks claims up: rules, a model, or the rules first and then the model."""


class HallucinationCheck(Model):
    """A gate: at least `threshold` of the answer's claims occur in a tool result or in the input. Equality passes.

    `kinds` are the kinds of claims that count for the rules. `failed_tools` says whether a tool that failed, and that the answer
    keeps silent about, counts as one more unsupported claim. `model` is asked in place of the run's judging model.
    """

    mode: HallucinationMode = "deterministic"
    threshold: Rate = 0.8
    kinds: list[ClaimKind] = Field(default_factory=lambda: list(CLAIM_KINDS), min_length=1)
    failed_tools: bool = True
    model: Text | None = None


class Checks(Model):
    """Checks beside the evaluator: ``{"hallucination": {"threshold": 0.9}}``.

    ``true`` stands for the check with its defaults, and ``false`` or null for none: a block that is there switches its check on.
    """

    hallucination: HallucinationCheck | None = None

    @field_validator("hallucination", mode="before")
    @classmethod
    def _switched(cls, value: Any) -> Any:
        if isinstance(value, bool):
            return {} if value else None
        if not isinstance(value, dict | HallucinationCheck | None):
            raise ValueError(f"give true, false or an object with mode, threshold, kinds …; got {excerpt(value)}")
        return value

    @property
    def is_empty(self) -> bool:
        """Whether nothing is checked."""
        return self.hallucination is None


class ExpectedOutput(Model):
    """What the answer is compared with. Which fields count depends on the evaluator.

    `value` may be any JSON, null included: `has_value` tells a null from an absent value.
    """

    type: Text | None = None
    value: Any = None
    keywords: list[str] | None = None
    json_schema: dict[str, Any] | bool | None = Field(default=None, alias="schema")
    patterns: list[str] | None = None
    criteria: str | list[str] | None = None
    judge_prompt: str | None = None
    custom_scorer_path: str | None = None

    @property
    def has_value(self) -> bool:
        """Whether a value was given, be it null."""
        return "value" in self.model_fields_set

    @model_serializer(mode="wrap")
    def _absent_is_not_null(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        if not self.has_value:
            fields.pop("value", None)
        return fields


class ExpectedText(Model):
    """Texts that the answer must (or must not) hold, as `comparable` compares them: in any case of letters. Each is a gate."""

    contains: list[Text] = Field(default_factory=list)
    not_contains: list[Text] = Field(default_factory=list)

    @model_validator(mode="after")
    def _wanted_is_not_refused(self) -> ExpectedText:
        refused = {comparable(text) for text in self.not_contains}
        if (clash := next((text for text in self.contains if comparable(text) in refused), None)) is not None:
            raise ValueError(f"{clash!r} is in contains and in notContains, so no answer can pass; remove it from one list")
        return self


class Expected(Model):
    """What an agent run should have done: tools, their order, forbidden ones, texts of the answer, and a whole trajectory.

    `trajectory` is a list of messages, ``{"messages": [...]}`` or one message, which the scorer `trajectory_match` compares with
    those of the answer; an empty list expects none. `sequence_gate` fails the item when the sequence is not kept in full,
    whatever its score. `shell_needs_command` lets a call of a shell satisfy only the categories that its command belongs to.
    """

    tools: list[Text] = Field(default_factory=list)
    tool_sequence: list[Text] = Field(default_factory=list)
    sequence_mode: SequenceMode = "subsequence"
    sequence_gate: bool = False
    tool_categories: list[Text] = Field(default_factory=list)
    shell_needs_command: bool = False
    forbidden_tools: list[Text] = Field(default_factory=list)
    output: ExpectedText = Field(default_factory=ExpectedText)
    trajectory: list[dict[str, Any]] | dict[str, Any] | None = None

    @field_validator("forbidden_tools")
    @classmethod
    def _names_of_tools(cls, value: list[str]) -> list[str]:
        for name in value:
            refuse_pattern(name)
        return value

    @model_validator(mode="after")
    def _forbidden_is_not_expected(self) -> Expected:
        self.refuse_forbidden([*self.tools, *self.tool_sequence])
        return self

    def refuse_forbidden(self, expected: Iterable[str]) -> None:
        """Refuse tools that are expected, also beside this model, and forbidden here.

        Raises:
            ValueError: there is one; names match as the gate on forbidden tools matches them.
        """
        forbidden = {normalise_tool_name(name): name for name in self.forbidden_tools}
        for name in expected:
            if (clash := forbidden.get(normalise_tool_name(name))) is not None:
                raise ValueError(f"tool {name!r} is expected and forbidden (as {clash!r}) at once; remove it from one list")

    @model_validator(mode="after")
    def _options_have_something_to_act_on(self) -> Expected:
        if self.sequence_gate and not self.tool_sequence:
            raise ValueError("sequenceGate is set and toolSequence is empty; name the sequence, or remove the gate")
        if "sequence_mode" in self.model_fields_set and "tool_sequence" not in self.model_fields_set:
            raise ValueError("sequenceMode is set and toolSequence is missing; name the sequence, or remove the mode")
        if self.shell_needs_command and not self.tool_categories:
            raise ValueError("shellNeedsCommand is set and toolCategories is empty; name categories, or remove the option")
        return self

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is expected."""
        output = self.output
        return self.trajectory is None and not any(
            (self.tools, self.tool_sequence, self.tool_categories, self.forbidden_tools, output.contains, output.not_contains)
        )


object_like("ExpectedOutput", 'an object such as {"value": "Bern"}')
object_like(
    "Expected", 'an object of what an agent does, such as {"tools": ["search"]} (an answer belongs under expectedOutput.value)'
)


class Expecting(JudgedTask):
    """What a task, or one turn of it, may expect of an answer. `timeout_ms` beats the limit of whatever it is part of.

    `evaluators` are several in place of one `evaluator`; `combine`, `threshold` and `cost_order` belong to them.
    """

    expected_output: ExpectedOutput | None = None
    evaluator: Evaluator | None = None
    evaluators: Evaluators | None = Field(default=None, min_length=1, description="In place of `evaluator`: several of them")
    combine: Combine = Field(default=None, description="When they pass together; `all` unless set")
    threshold: Rate | None = Field(default=None, description="What the mean must reach where they are `weighted`")
    cost_order: CostOrder | None = Field(
        default=None, description="Whether models come last, and only as long as the verdict is open; `free-first` unless set"
    )
    timeout_ms: int | None = Field(default=None, gt=0, le=86_400_000)
    expected: Expected | None = None
    thresholds: Thresholds | None = None
    weights: Weights | None = None
    checks: Checks | None = None

    @property
    def expects_nothing(self) -> bool:
        """Whether any answer would do."""
        nothing_expected = self.expected is None or self.expected.is_empty
        nothing_limited = self.thresholds is None or not self.thresholds.model_dump(exclude_none=True)
        nothing_checked = self.checks is None or self.checks.is_empty
        nothing_judged = self.expected_output is None and self.evaluator is None and self.evaluators is None and nothing_checked
        return nothing_judged and nothing_expected and nothing_limited

    @property
    def expected_value(self) -> Any:
        """`expectedOutput.value`; None without one."""
        return None if self.expected_output is None else self.expected_output.value

    @property
    def evaluator_type(self) -> str | None:
        """The scorer that is named: `evaluator.type`, else `expectedOutput.type`, else None; ``set`` for several evaluators.

        Where there is neither an evaluator nor an expected output, an expected trajectory stands for `trajectory_match`.
        """
        if self.evaluators is not None:
            return SET
        if self.evaluator is not None:
            return self.evaluator.type
        if self.expected_output is not None:
            return self.expected_output.type
        return "trajectory_match" if self.expected is not None and self.expected.trajectory is not None else None

    @property
    def named_scorers(self) -> tuple[PlacedEvaluator, ...]:
        """The scorers that are named, each with its options and its place; the default one is not named."""
        if self.evaluators is not None:
            return tuple(scorers_in(self.evaluators))
        options = self.evaluator.options if self.evaluator is not None else {}
        return () if self.evaluator_type is None else (PlacedEvaluator("evaluator", self.evaluator_type, options),)


def refuse_pattern(name: str) -> None:
    """Refuse a pattern in place of a forbidden tool's name: it would match none, so nothing would be forbidden.

    Raises:
        ValueError: it has a ``*`` or a ``?``, which no name of a tool has.
    """
    if "*" in name or "?" in name:
        raise ValueError(f"{name!r} is a pattern, and forbidden tools are compared by their whole names; name each of them")
