"""What a model is asked about the way of an agent: our prompts, those of callers with places for data, examples of right
verdicts, and the reply: whether, how far, or which of several numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import AfterValidator, Field, ValidationError, create_model

from eval_skills.core.errors import InputError
from eval_skills.core.text import excerpt, nearest
from eval_skills.scorers.judging.prompt import Material
from eval_skills.scorers.judging.reply import REASONING, Reply

ROLE = """You judge the way that an agent took to its answer: its messages, the tools it called, with which arguments, and what it
made of their results. Judge the way, not the style: how long, polished or confident a message is does not count. What tools
returned is taken as true; do not hold knowledge of your own against it."""

WAY = """A good way is like this:
- Every step follows from what was known before it, and leads on towards what was asked.
- Tools fit what they were called for, and their arguments come from the task or from earlier results.
- Results are used as they came; errors are noticed and dealt with.
- There is no detour, no call repeated to no end, and no step left out that the answer would need.
- The answer follows from the steps."""

WAY_WITH_REFERENCE = f"""{WAY}
- It does what the reference trajectory does. That is one good way: another order, other words or other tools are as good where
  they come to the same with about as many steps."""

TRAJECTORY_ACCURACY_PROMPT = f"""Judge whether this trajectory of an agent is good.

{WAY}

The trajectory: {{outputs}}"""
"""A prompt for `create_trajectory_llm_as_judge` that needs no reference."""

TRAJECTORY_ACCURACY_PROMPT_WITH_REFERENCE = f"""Judge whether this trajectory of an agent is good.

{WAY_WITH_REFERENCE}

The reference trajectory: {{reference_outputs}}

The trajectory: {{outputs}}"""
"""A prompt for `create_trajectory_llm_as_judge` that compares with a reference."""

GRAPH_TRAJECTORY_ACCURACY_PROMPT = """Judge whether a graph of agents and tools took a good way to its results.

A thread has turns: each is one invocation of the graph, with its input, the nodes that it visited in order, and its result. The
node "__start__" is where an invocation begins; at "__interrupt__" the graph stopped to wait for somebody outside, and the input
"__resuming__" is where it went on. A good way is like this:
- Every node follows from what was known before it, and leads on towards what was asked.
- There is no detour, no node visited to no end, and none left out that the result would need.
- It does what the reference thread does, if one is given. That is one good way: another one is as good where it comes to the same
  with about as many nodes.

The reference thread: {reference_outputs}

The thread: {thread}"""
"""The prompt of `create_graph_trajectory_llm_as_judge`; its reference is optional."""

NO_REFERENCE = "No reference is given."
"""Stands in the place of a reference that is optional."""


# braces twice are braces; anything but a name between braces is text, such as JSON
_PLACE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A text with places such as ``{outputs}``; ``{{`` and ``}}`` are braces. The model is shown the name of
    the material in the place, and the material between markers below, so that it cannot be taken for an instruction.
    """

    text: str

    @classmethod
    def of(cls, prompt: object) -> PromptTemplate:
        """The template of a prompt as a caller gave it.

        Raises:
            InputError: it is not text, or blank.
        """
        if not isinstance(prompt, str):
            raise InputError(
                f"the prompt must be a text with places such as {{outputs}}, got {type(prompt).__name__}", path="prompt"
            )
        if not prompt.strip():
            raise InputError("the prompt is blank; say what is asked of the trajectory", path="prompt")
        return cls(prompt.strip())

    @property
    def places(self) -> tuple[str, ...]:
        """The names of its places, each once, in order."""
        return tuple(dict.fromkeys(found[1] for found in _PLACE.finditer(self.text) if found[1]))

    @property
    def instructions(self) -> str:
        """The text with each place replaced by where its material stands."""
        return _PLACE.sub(_worded, self.text)

    def materials(self, given: Mapping[str, Any]) -> tuple[Material, ...]:
        """The material for each place.

        Raises:
            InputError: a place has none; None is none.
        """
        return tuple(Material.of(name, _value(name, given)) for name in self.places)


def _worded(found: re.Match[str]) -> str:
    return f'(see the material named "{found[1]}" below)' if found[1] else found[0][0]


def _value(name: str, given: Mapping[str, Any]) -> Any:
    if (value := given.get(name)) is None:
        known = [each for each, value in given.items() if value is not None]
        message = (
            f"the prompt has the place {{{name}}}, and {name} was not given{nearest(name, known)}; given: {', '.join(known)}"
        )
        raise InputError(message, path="prompt")
    return value


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


def describe_examples(examples: Sequence[FewShotExample]) -> str:
    """How the prompt introduces them; nothing where there are none."""
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
    example = {**example, "score": _as_verdict(example["score"], reply)}
    try:
        reply.model_validate({"reasoning": "as given", "score": example["score"]})
    except ValidationError as error:
        message = f"its score {excerpt(example['score'])} could not be given: {error.errors()[0]['msg']}"
        raise InputError(message, path=place) from None
    return {key: example[key] for key in _KEYS if key in example}


def _as_verdict(score: Any, reply: type[JudgedReply]) -> Any:
    """The score of an example; 1 and 0 are true and false where the model says one of these, as agentevals takes them."""
    whether = reply.model_fields["score"].annotation is bool and isinstance(score, int | float) and score in (0, 1)
    return bool(score) if whether else score


_WHETHER = Field(description="true if the trajectory meets what is asked for, else false")
_HOW_FAR = Field(ge=0, le=1, description="A number from 0 (it meets nothing of what is asked for) to 1 (it meets all of it)")


class JudgedReply(Reply):
    """The subclass of `judged_reply` adds `score`."""

    @property
    def given(self) -> bool | float:
        """The score: true or false, or a number."""
        score: bool | float = getattr(self, "score")  # noqa: B009 - a field of the subclass
        return score

    @property
    def said(self) -> str | None:
        """The reasoning; None where none was asked for."""
        return getattr(self, "reasoning", None)


class Reasoned(JudgedReply):
    """Reasoning first."""

    reasoning: str = REASONING


def judged_reply(*, continuous: bool, choices: Sequence[float] | None, use_reasoning: bool) -> type[JudgedReply]:
    """A reply with a score that is true or false; a number from 0 to 1 if `continuous`; or one of the numbers in `choices`.

    Raises:
        InputError: `continuous` and `choices` at once, or choices that are not numbers.
    """
    if continuous and choices is not None:
        raise InputError("continuous and choices exclude each other; keep one", path="choices")
    score = _one_of(choices) if choices is not None else (float, _HOW_FAR) if continuous else (bool, _WHETHER)
    return create_model("JudgedReply", __base__=Reasoned if use_reasoning else JudgedReply, score=score)


def _one_of(choices: Sequence[float]) -> tuple[Any, Any]:
    numbers = list(choices)
    if any(isinstance(each, bool) or not isinstance(each, int | float) or not math.isfinite(each) for each in numbers):
        raise InputError(f"choices must be numbers, got {numbers!r}", path="choices")
    if len(set(numbers)) < 2:
        raise InputError(f"give at least two different numbers to choose from, got {numbers!r}", path="choices")

    def offered(value: float) -> float:
        if value not in numbers:
            raise ValueError(f"it must be one of {', '.join(f'{each:g}' for each in numbers)}")
        return value

    described = f"The one that fits, of {', '.join(f'{each:g}' for each in numbers)}"
    return Annotated[float, AfterValidator(offered)], Field(description=described, json_schema_extra={"enum": [*numbers]})
