"""A conversation with a skill: its turns one after the other in one session, as one answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from eval_skills.adapters import Adapter
from eval_skills.core.errors import ItemError, SimulatorError
from eval_skills.core.models import EvalTask, SkillResponse, TurnResponse


@dataclass(frozen=True, slots=True)
class Line:
    """What the skill is told next, and how long it may take to answer."""

    input: Any
    timeout_s: float


NextLine = Callable[[Sequence[TurnResponse]], Awaitable[Line | None]]
"""What the skill is told after all that was said so far; None ends the conversation."""


def scripted(task: EvalTask, timeout_s: Callable[[int | None], float]) -> NextLine:
    """The turns of a task as they are written; `timeout_s` gives the limit of a turn that has this one of its own, or none."""
    turns = task.turns or []

    async def next_line(said: Sequence[TurnResponse]) -> Line | None:
        if len(said) == len(turns):
            return None
        turn = turns[len(said)]
        return Line(turn.input, timeout_s(turn.timeout_ms))

    return next_line


async def converse(adapter: Adapter, next_line: NextLine, planned: int | None = None) -> SkillResponse:
    """Tell the skill what `next_line` says, in one session, until it says nothing more; `planned` is the number of turns,
    where it is known.

    Raises:
        ItemError: a turn ended without an answer, or nobody knows what to say next. The message names the turn; `known` has the
            turns so far, one that ended without an answer as far as is known; `latency_ms` is that of all of them.
    """
    answers: list[TurnResponse] = []
    async with adapter.conversation() as session:
        while (line := await _next(next_line, answers)) is not None:
            try:
                response = await session.call(line.input, line.timeout_s)
            except ItemError as error:
                raise _ended(error, answers, line, planned) from error.__cause__
            answers.append(_turn(line.input, response))
    return SkillResponse.of_turns(answers)


async def _next(next_line: NextLine, answers: Sequence[TurnResponse]) -> Line | None:
    try:
        return await next_line(answers)
    except SimulatorError as error:
        error.args = (f"turn {len(answers) + 1}: {error}", *error.args[1:])
        error.known = SkillResponse.of_turns(answers, ended=False)
        error.latency_ms = error.known.latency_ms
        raise


def _turn(said: Any, response: SkillResponse) -> TurnResponse:
    return TurnResponse.model_construct(**{name: getattr(response, name) for name in SkillResponse.model_fields}, input=said)


def _ended(error: ItemError, answers: Sequence[TurnResponse], line: Line, planned: int | None) -> ItemError:
    """The same error as that of the whole conversation."""
    number = f"turn {len(answers) + 1}{f' of {planned}' if planned is not None else ''}"
    known = (error.known or SkillResponse()).model_copy(update={"latency_ms": error.latency_ms})
    conversation = SkillResponse.of_turns([*answers, _turn(line.input, known)], ended=False)
    error.args = (f"{number}: {error}", *error.args[1:])
    error.known, error.latency_ms = conversation, conversation.latency_ms
    return error
