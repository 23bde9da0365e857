"""What a skill reports of its run while it works: what stands when it then fails, hangs or dies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eval_skills.adapters.answer.envelope import partial_response
from eval_skills.core.models import SkillResponse, ToolCall, Usage
from eval_skills.core.text import normalise_tool_name

PROGRESS = "progress"
"""The method of the JSON-RPC notification that carries a report; its params have parts of an envelope, as an error's data do."""

CALLED_NOTHING = SkillResponse(tool_calls=[])
"""What is known of a run whose request never left us."""


class Progress:
    """Everything that was reported of one run so far, by any number of reports, from any thread.

    Calls and messages are appended, tokens and costs added up. `known` is None until there is a report: what was called is
    unknown then. A report of no calls (``{"toolCalls": []}``) says that calls will be reported when they are made.
    """

    def __init__(self) -> None:
        self._parts: list[SkillResponse] = []
        self._sources: list[Callable[[], SkillResponse | None]] = []

    def follow(self, source: Callable[[], SkillResponse | None]) -> None:
        """Count what `source` returns, whenever it is asked, as one more report: an answer that is coming in piece by piece."""
        self._sources.append(source)

    def add(self, report: Any) -> None:
        """Take a report. A call in it that cannot be read is one without a name: what was called is unknown then."""
        part = partial_response(report)
        listed = report.get("toolCalls") if isinstance(report, dict) else None
        read = len(part.tool_calls or ()) if part is not None else 0
        unread = max(0, len(listed) - read) if isinstance(listed, list) else int(listed is not None)
        if unread:
            part = part or SkillResponse()
            part = part.model_copy(update={"tool_calls": [*(part.tool_calls or ()), *[ToolCall(name="")] * unread]})
        if part is not None:
            self._parts.append(part)

    @property
    def known(self) -> SkillResponse | None:
        """All reports as one."""
        parts = [*self._parts, *(part for source in self._sources if (part := source()) is not None)]
        if not parts:
            return None
        costs = [part.cost_usd for part in parts if part.cost_usd is not None]
        return SkillResponse(
            tool_calls=_joined([part.tool_calls for part in parts]),
            messages=_joined([part.messages for part in parts]),
            usage=_sum([part.usage for part in parts if part.usage is not None]),
            cost_usd=sum(costs) if costs else None,
            files=next((part.files for part in reversed(parts) if part.files is not None), None),
            skills_loaded=_joined([part.skills_loaded for part in parts]),
            steps=next((part.steps for part in reversed(parts) if part.steps is not None), None),
        )


def with_progress(said: SkillResponse, reported: SkillResponse | None) -> SkillResponse:
    """What an answer or an error says of its run, completed by what was `reported` before.

    What it says itself counts. A tool that was reported and does not stand among its `tool_calls` is appended to them: what was
    called does not become undone by an answer that is silent about it.
    """
    if reported is None:
        return said
    calls = said.tool_calls
    if reported.tool_calls is not None:
        named = {normalise_tool_name(call.name) for call in calls or ()}
        calls = [*(calls or ()), *(call for call in reported.tool_calls if normalise_tool_name(call.name) not in named)]
    update: dict[str, Any] = {"tool_calls": calls}
    for part in ("messages", "usage", "cost_usd", "files", "skills_loaded", "steps"):
        if getattr(said, part) is None:
            update[part] = getattr(reported, part)
    return said.model_copy(update=update)


def _joined(lists: list[list[Any] | None]) -> list[Any] | None:
    given = [each for each in lists if each is not None]
    return [part for each in given for part in each] if given else None


def _sum(usages: list[Usage]) -> Usage | None:
    def total(counts: list[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    if not usages:
        return None
    return Usage(
        prompt_tokens=total([usage.prompt_tokens for usage in usages]),
        completion_tokens=total([usage.completion_tokens for usage in usages]),
    )
