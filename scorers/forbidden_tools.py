"""Did the agent leave the forbidden tools alone?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason
from eval_skills.core.tool_names import normalise_tool_name
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score
from eval_skills.scorers.tool_calls import with_tool_calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval_skills.core.models import SkillResponse, ToolCall


@scorer("forbidden_tools")
@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenTools:
    """1 when none of `tools` was called, else 0. Failed calls count too.

    Names compare without case, ``-``, ``_``, dots and blanks, so two different tools may collide (`re_write`, `rewrite`): a gate
    errs on the safe side, and the reason shows both spellings. An answer that does not say what it called is not judged.

    Raises:
        InputError: `tools` is empty.
    """

    tools: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.tools:
            raise InputError("the list is empty, so nothing is forbidden; name at least one tool", path="tools")

    def score(self, response: SkillResponse) -> Score | None:
        """0 with one reason per forbidden tool that was called, 1 without any; None when the calls are unknown."""
        calls = with_tool_calls(response).tool_calls
        if calls is None:
            return None
        violations = self.violations(calls)
        return Score(0.0 if violations else 1.0, reasons=violations)

    def violations(self, calls: Sequence[ToolCall]) -> tuple[Reason, ...]:
        """One reason per forbidden tool that was called, whatever its spellings, in the order first called."""
        forbidden = {normalise_tool_name(name): name for name in reversed(self.tools)}
        first: dict[str, int] = {}
        for index, call in enumerate(calls):
            if (name := normalise_tool_name(call.name)) in forbidden:
                first.setdefault(name, index)
        return tuple(_violation(calls, index, forbidden[name]) for name, index in first.items())


def _violation(calls: Sequence[ToolCall], index: int, forbidden: str) -> Reason:
    called = calls[index].name
    times = sum(normalise_tool_name(call.name) == normalise_tool_name(called) for call in calls)
    spelling = "" if called == forbidden else f" (forbidden as {forbidden!r})"
    message = f"forbidden tool {called!r}{spelling} was called {times} time{'s' if times > 1 else ''}"
    return Reason(code="FORBIDDEN_TOOL_CALLED", message=message, where=f"toolCalls[{index}]")
