"""The evaluators of a task: one with its options, or a set of several that make one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from eval_skills.core.models.base import Model, Rate, Text, fields_by_key, known_keys, text_like
from eval_skills.core.text import excerpt, nearest

CostOrder = Literal["free-first", "as-written"]
"""Whether models are asked last, and only as long as the verdict is open; or every evaluator is, in the order written."""

MAX_DEPTH = 5
"""How many sets may lie in each other, the task's own included."""

SET = "set"
"""What stands for the scorer's name where a task has several evaluators."""

RESERVED_NAMES = frozenset({"output_quality", "tool_accuracy", "sequence_correctness", "hallucination"})
"""Dimensions that are something else already."""

EntryName = Annotated[
    str,
    text_like(r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,59}$", "a name of at most 60 letters, digits, - and _"),
]


class Evaluator(Model):
    """The scorer of a task and its options: ``{"type": "exact", "caseSensitive": false}``, or just ``"exact"``.

    Options are checked by the scorer's own fields when the task is loaded, not here.
    """

    model_config = ConfigDict(extra="allow")

    type: Text

    @property
    def options(self) -> dict[str, Any]:
        """What stands beside `type`, as written."""
        return dict(self.model_extra or {})


class AtLeast(Model):
    """So many evaluators of a set must pass: ``{"atLeast": 2}``."""

    at_least: int = Field(ge=1)


def _is_combine(value: Any) -> Any:
    if value is None or value in ("all", "any", "weighted") or isinstance(value, AtLeast):
        return value
    if isinstance(value, dict) and (len(value) == 1 and value.keys() <= known_keys(AtLeast)):
        return value
    raise ValueError(f'give all, any, weighted or {{"atLeast": 2}}; got {excerpt(value)}')


Rule = Literal["all", "any", "weighted"] | AtLeast | None
"""When a set passes; None is ``all``."""

Combine = Annotated[Rule, BeforeValidator(_is_combine)]


def _entry_by_name(value: Any) -> Any:
    if not isinstance(value, str | dict | EvaluatorEntry):
        raise ValueError(f"give a scorer's name, or an object with its type and options; got {excerpt(value)}")
    return {"type": value} if isinstance(value, str) else value


class EvaluatorEntry(Model):
    """One of several evaluators: a scorer's `type` with its options, or a set of `evaluators` of its own.

    Options are checked by the scorer's own fields when the task is loaded, not here.
    """

    model_config = ConfigDict(extra="allow")

    type: Text | None = Field(default=None, description="The scorer, whose options stand beside this key")
    evaluators: list[Annotated[EvaluatorEntry, BeforeValidator(_entry_by_name)]] | None = Field(
        default=None, min_length=1, description="In place of a scorer: a set of its own"
    )
    combine: Combine = Field(default=None, description="When that set passes; `all` unless set")
    threshold: Rate | None = Field(
        default=None,
        description="The value from which it passes (equality passes), in place of the scorer's own verdict, and handed to a "
        "scorer that has an option of this name; of a `weighted` set what the mean must reach",
    )
    weight: float = Field(
        default=1.0,
        ge=0,
        le=1_000_000_000,
        description="How much its value counts in a weighted mean; one of weight 0 is shown and decides nothing, unless it is "
        "required",
    )
    required: bool = Field(default=False, description="It must pass, whatever the set combines and `minScore` says")
    name: EntryName | None = Field(default=None, description="The dimension that its value becomes")
    negated: bool = Field(default=False, alias="not", description="Its verdict is inverted, and its value is 1 - value")
    options: dict[str, Any] = Field(
        default_factory=dict, description="Options of the scorer that are called like one of these keys"
    )

    @property
    def written_options(self) -> dict[str, Any]:
        """The scorer's options, as written beside the keys of the entry."""
        return dict(self.model_extra or {})

    @property
    def decides(self) -> bool:
        """Whether the set's rule counts it: one of weight 0 does not count."""
        return self.weight > 0

    @field_validator("combine")
    @classmethod
    def _combines_a_set(cls, value: Any, info: ValidationInfo) -> Any:
        return combine_of_set(value, info)

    @field_validator("threshold")
    @classmethod
    def _threshold_of_a_mean(cls, value: float | None, info: ValidationInfo) -> float | None:
        is_scorer = info.data.get("evaluators") is None
        return value if is_scorer else threshold_of_set(value, info)

    @field_validator("name")
    @classmethod
    def _name_is_free(cls, value: str | None) -> str | None:
        if value in RESERVED_NAMES:
            raise ValueError(f"{value!r} is the name of another dimension; choose another one")
        return value

    @model_validator(mode="after")
    def _scorer_or_set(self) -> EvaluatorEntry:
        if (self.type is None) == (self.evaluators is None):
            given = "both are given" if self.type is not None else "neither is given"
            raise ValueError(f"type names a scorer, and evaluators makes a set: {given}; give one of them")
        if self.evaluators is not None:
            refuse_weightless(self.evaluators)
            if other := next(iter([*self.written_options, *(["options"] if self.options else [])]), None):
                known = sorted(fields_by_key(type(self)))
                raise ValueError(f"a set has no options, and {other!r} is none of its keys{nearest(other, known)}; remove it")
        return self

    @model_serializer(mode="wrap")
    def _as_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what was not given, so that it can be read as it was written."""
        fields: dict[str, Any] = handler(self)
        own = {"weight": 1.0, "required": False, "not": False, "negated": False, "options": {}}
        extra = self.written_options
        return {key: value for key, value in fields.items() if key in extra or (value is not None and own.get(key, ...) != value)}


Evaluators = list[Annotated[EvaluatorEntry, BeforeValidator(_entry_by_name)]]


class PlacedEvaluator(NamedTuple):
    """A scorer that a task names, and where: ``evaluators[1].evaluators[0]``. `negated`: it, or a set around it, is."""

    place: str
    type: str
    options: dict[str, Any]
    negated: bool = False


def scorers_in(entries: Sequence[EvaluatorEntry], place: str = "evaluators", negated: bool = False) -> Iterator[PlacedEvaluator]:
    """The scorers of a set and of those inside it, in the order written."""
    for index, entry in enumerate(entries):
        here, inverted = f"{place}[{index}]", negated != entry.negated
        if entry.evaluators is not None:
            yield from scorers_in(entry.evaluators, f"{here}.evaluators", inverted)
        elif entry.type is not None:
            yield PlacedEvaluator(here, entry.type, entry.written_options | entry.options, inverted)


def described(entries: Sequence[EvaluatorEntry], combine: Rule) -> str:
    """The set in a few words: ``all of contains, llm_judge``."""
    rule = f"at least {combine.at_least}" if isinstance(combine, AtLeast) else combine or "all"
    inner = (entry.type or f"({described(entry.evaluators or (), entry.combine)})" for entry in entries)
    named = (f"not {name}" if entry.negated else name for entry, name in zip(entries, inner, strict=True))
    return f"{rule} of {', '.join(named)}"


def refuse_deep_sets(value: Any) -> None:
    """Raises ValueError where what was given as the evaluators of a task has sets too deep in each other."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"sets lie more than {MAX_DEPTH} deep in each other; flatten them")
        entries = [entry for entries in level if isinstance(entries, list | tuple) for entry in entries]
        inner = [entry.get("evaluators") if isinstance(entry, dict) else getattr(entry, "evaluators", None) for entry in entries]
        level = [each for each in inner if each is not None]


def refuse_same_names(entries: Sequence[EvaluatorEntry]) -> None:
    """Names of evaluators are names of dimensions, so they differ in all sets of a task.

    Raises:
        ValueError: a name is given twice.
    """
    names = Counter(_names_in(entries))
    if twice := next((name for name, count in names.items() if count > 1), None):
        raise ValueError(f"the name {twice!r} is given {names[twice]} times; make it unique")


def _names_in(entries: Sequence[EvaluatorEntry]) -> Iterator[str]:
    for entry in entries:
        if entry.name is not None:
            yield entry.name
        yield from _names_in(entry.evaluators or ())


def refuse_weightless(entries: Sequence[EvaluatorEntry]) -> None:
    """Raises ValueError where every evaluator of a set weighs 0."""
    if not any(entry.decides for entry in entries):
        raise ValueError("every evaluator weighs 0, so none decides; give at least one a weight above 0")


def combine_of_set(value: Any, info: ValidationInfo) -> Any:
    """The rule of a set whose `evaluators` were read before it.

    Raises:
        ValueError: there is no set, or it cannot have so many that pass.
    """
    if "evaluators" not in info.data or value is None:
        return value
    entries = info.data["evaluators"]
    if entries is None:
        raise ValueError("it combines several evaluators, and there is no list of them; give evaluators")
    count = sum(entry.decides for entry in entries)
    if isinstance(value, AtLeast) and value.at_least > count:
        raise ValueError(f"{value.at_least} are to pass, and only {count} of the evaluators count; lower it")
    return value


def threshold_of_set(value: float | None, info: ValidationInfo) -> float | None:
    """What the mean of a set must reach, whose `evaluators` and `combine` were read before it.

    Raises:
        ValueError: it has no effect, or any answer would reach it.
    """
    if not {"evaluators", "combine"} <= info.data.keys() or value is None:
        return value
    if info.data["evaluators"] is None or info.data["combine"] != "weighted":
        raise ValueError("it is what a weighted mean must reach; set combine to weighted, or give it to one of the evaluators")
    if value == 0:
        raise ValueError("any answer reaches 0; give more, or leave it out: then all must pass")
    return value
