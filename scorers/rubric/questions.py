"""What a model is asked about the dimensions of a rubric, and the form of its reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model

from eval_skills.scorers.judging.prompt import Material, Question
from eval_skills.scorers.judging.reply import REASONING, Reply

if TYPE_CHECKING:
    from eval_skills.scorers.rubric.definition import RubricDimension

VERSION = "rubric 1"
"""Of the texts below: another version is asked again."""

_ROLE = """You judge one answer to one task by a rubric. Each dimension is judged by itself: what is good or bad about the answer
counts only in the dimension it belongs to. Choose the level whose description fits best; where two fit, the lower one. How long,
polished or confident the answer is does not count. Where a reference answer is given it is right, and the answer need not be
worded like it; do not hold knowledge of your own against it."""


class DimensionVerdict(Reply):
    """What the model says of one dimension; the subclass of a dimension adds its `level`."""

    quotes: list[str] = Field(
        max_length=10, description="The words of the material that decide, up to 5 short quotations, exactly as they stand there"
    )
    reasoning: str = REASONING

    @property
    def chosen(self) -> str:
        """The level's name, or what stands for a dimension that cannot be judged."""
        return str(getattr(self, "level"))  # noqa: B009 - a field of the subclass


def rubric_question(
    dimensions: Mapping[str, RubricDimension],
    materials: Sequence[Material],
    *,
    not_judged: str,
    criteria: str = "",
) -> Question[Reply]:
    """The question about these dimensions; the reply has an attribute for each, see `verdicts_in`.

    `criteria` is what the benchmark says of this task beside the rubric.
    """
    instructions = [_HEAD, *(_described(name, each, not_judged) for name, each in dimensions.items())]
    if criteria:
        instructions.append(f"Of this task in particular is asked:\n{criteria}")
    return Question(
        role=_ROLE,
        version=VERSION,
        instructions="\n\n".join(instructions),
        materials=tuple(materials),
        reply=_reply(tuple((name, _levels(each, not_judged)) for name, each in dimensions.items())),
        max_tokens=1_000 + 500 * len(dimensions),
    )


def verdicts_in(reply: Reply, dimensions: Mapping[str, RubricDimension]) -> dict[str, DimensionVerdict]:
    """The verdict of each dimension."""
    return {name: getattr(reply, _field(name)) for name in dimensions}


_HEAD = "The rubric. Judge each of these dimensions."


def _described(name: str, dimension: RubricDimension, not_judged: str) -> str:
    lines = [f"{name}: {dimension.description}", *([dimension.guidance] if dimension.guidance else [])]
    lines += [f"- {level}{': ' if each.description else ''}{each.description}" for level, each in dimension.best_first]
    if not dimension.required:
        lines.append(f"- {not_judged}: it does not apply to this task, or the material holds nothing to judge it by")
    return "\n".join(lines)


Levels = tuple[str, ...]


def _levels(dimension: RubricDimension, not_judged: str) -> Levels:
    return (*(name for name, _ in dimension.best_first), *(() if dimension.required else (not_judged,)))


@cache
def _reply(dimensions: tuple[tuple[str, Levels], ...]) -> type[Reply]:
    """One class for equal rubrics: schemas are remembered by it."""
    fields: dict[str, Any] = {_field(name): (_verdict(name, levels), ...) for name, levels in dimensions}
    return create_model("RubricReply", __base__=Reply, **fields)


def _verdict(name: str, levels: Levels) -> type[DimensionVerdict]:
    offered: Any = Literal[levels]
    return create_model(_field(name), __base__=DimensionVerdict, level=(offered, Field(description="The level that fits")))


def _field(name: str) -> str:
    """A key that hides no attribute of a model, for any name of a dimension."""
    return f"{name}_verdict"
