"""Did the agent leave the forbidden tools alone? As the gate of a task, `task_scoring.verdict` fails the item by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason, SkillResponse, ToolCall
from eval_skills.core.models.expectation import refuse_pattern
from eval_skills.core.models.result import FORBIDDEN_TOOL_CALLED
from eval_skills.core.text import normalise_tool_name
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score
from eval_skills.scorers.tools.calls import named_in_messages, names_of, nested_calls, results_in_messages, unknown_calls


@scorer("forbidden_tools")
@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenTools:
    """1 when none of `tools` was called, else 0. Failed calls count too.

    Names compare without case, ``-``, ``_``, dots and blanks, so two different tools may collide (`re_write`, `rewrite`): a gate
    errs on the safe side, and the reason shows both spellings. A prefix makes another name. Calls of `tool_calls` and of the
    messages of any role both count, and so do a result under the tool's name, since it ran, and the calls in messages that a
    result holds, as a sub-agent returns them. An answer that does not say what it called is not judged.

    Raises:
        InputError: `tools` is empty, or has a pattern, such as ``mcp__bank__*``.
    """

    tools: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.tools:
            raise InputError("the list is empty, so nothing is forbidden; name at least one tool", path="tools")
        for name in self.tools:
            try:
                refuse_pattern(name)
            except ValueError as error:
                raise InputError(str(error), path="tools") from None

    def score(self, response: SkillResponse) -> Score | None:
        """0 with one reason per forbidden tool that was called, 1 without any; None when the calls are unknown."""
        violations = self.violations_of(response)
        if not violations and unknown_calls(response) is not None:
            return None
        return Score(0.0 if violations else 1.0, reasons=violations)

    def violations_of(self, response: SkillResponse) -> tuple[Reason, ...]:
        """`violations` of an answer. Of a conversation the calls of every turn that reports some count, also where another turn
        reports none, so that the list of all calls is unknown.
        """
        calls = response.tool_calls or []
        listed = {call.name for call in calls}
        in_turns = (call for turn in response.turns or () for call in turn.tool_calls or () if call.name not in listed)
        return self.violations([*calls, *in_turns], response.messages)

    def violations(self, calls: Sequence[ToolCall], messages: list[dict[str, Any]] | None = None) -> tuple[Reason, ...]:
        """One reason per forbidden tool that was called, in any spelling, in the order first called: first those of the calls,
        then those of the messages alone, then those known by a result only, then those in what a result holds. The times called
        are the highest of the four counts.
        """
        forbidden = {normalise_tool_name(name): name for name in reversed(self.tools)}
        reported = [(f"toolCalls[{index}]", name) for index, call in enumerate(calls) for name in names_of(call)]
        in_messages = list(named_in_messages(messages or []))
        answered = list(results_in_messages(messages or []))
        nested = list(nested_calls(calls, messages or []))
        first: dict[str, tuple[str, str]] = {}
        for where, called in [*reported, *in_messages, *answered, *nested]:
            if (name := normalise_tool_name(called)) in forbidden:
                first.setdefault(name, (where, called))
        times = _counted(reported) | _counted(in_messages) | _counted(answered) | _counted(nested)
        return tuple(_violation(where, called, times[name], forbidden[name]) for name, (where, called) in first.items())


def _counted(found: list[tuple[str, str]]) -> Counter[str]:
    return Counter(normalise_tool_name(name) for _, name in found)


def _violation(where: str, called: str, times: int, forbidden: str) -> Reason:
    spelling = "" if called == forbidden else f" (forbidden as {forbidden!r})"
    message = f"forbidden tool {called!r}{spelling} was called {times} time{'s' if times > 1 else ''}"
    return Reason(code=FORBIDDEN_TOOL_CALLED, message=message, where=where)
