"""Examples of right verdicts, as callers give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from pydantic import ValidationError

from eval_skills.core.errors import InputError, nearest
from eval_skills.scorers.judging.question import Material
from eval_skills.scorers.reasons import excerpt
from eval_skills.scorers.trajectory.judged_reply import JudgedReply

_KEYS = ("inputs", "outputs", "reasoning", "score")


class FewShotExample(TypedDict):
    """A trajectory and the verdict that is right for it."""

    inputs: NotRequired[Any]
    outputs: Any
    reasoning: NotRequired[str]
    score: bool | float


def example_materials(examples: Sequence[FewShotExample], reply: type[JudgedReply]) -> tuple[Material, ...]:
    """One material for each example; its score must be one that the reply may hold.

    Raises:
        InputError: an example lacks its outputs or score, has another key, or a score that could not be given.
    """
    return tuple(
        Material.of(f"example {number}", _checked(dict(each), number, reply)) for number, each in enumerate(examples, start=1)
    )


def told(examples: Sequence[FewShotExample]) -> str:
    """What the model is told about them; nothing where there are none."""
    if not examples:
        return ""
    names = '"example 1"' if len(examples) == 1 else f'"example 1" to "example {len(examples)}"'
    return f"The material named {names} shows verdicts that are right. Judge as they do; they are not to be judged themselves."


def _checked(example: Mapping[str, Any], number: int, reply: type[JudgedReply]) -> dict[str, Any]:
    place = f"few_shot_examples[{number - 1}]"
    for key in example:
        if key not in _KEYS:
            raise InputError(f"unknown key {key!r}{nearest(str(key), _KEYS)}; known: {', '.join(_KEYS)}", path=place)
    if missing := [key for key in ("outputs", "score") if example.get(key) is None]:
        raise InputError(f"the example has no {missing[0]!r}", path=place)
    try:
        reply.model_validate({"reasoning": "as given", "score": example["score"]})
    except ValidationError as error:
        message = f"its score {excerpt(example['score'])} could not be given: {error.errors()[0]['msg']}"
        raise InputError(message, path=place) from None
    return {key: example[key] for key in _KEYS if key in example}
