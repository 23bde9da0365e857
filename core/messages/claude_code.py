"""What transcripts of Claude Code leave out: lines of sub-agents, which are in files of their own, and those before a session was
compacted, which may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eval_skills.core.messages.blocks import first_under
from eval_skills.core.messages.roles import inner_message, is_of_sub_agent
from eval_skills.core.messages.tool_calls import raw_calls

_RESULTS = ("toolUseResult", "tool_use_result")
_LAUNCHED = "_launched"
"""How the status ends of a sub-agent that works on in the background, and of which no count of calls is there."""


def kept_result(line: Mapping[str, Any]) -> Any:
    """What a transcript of Claude Code keeps of a tool's result beside the message that brings it; None for nothing."""
    return first_under(line, _RESULTS)


def unseen_calls(lines: Sequence[Mapping[str, Any]]) -> tuple[int, str] | None:
    """That calls were made which no line shows, with the place of the line that says so; None where none does.

    Either a sub-agent called more tools than its own lines show, or the session was compacted and goes on from a line
    (`logicalParentUuid`) that is not there.
    """
    seen: set[str] = set()
    for place, line in enumerate(lines):
        before = line.get("logicalParentUuid")
        if isinstance(before, str) and before not in seen:
            return place, "expected the lines from before the session was compacted, got none of them; add them"
        if isinstance(own_id := line.get("uuid"), str):
            seen.add(own_id)
        result = kept_result(line)
        if not isinstance(result, Mapping) or not isinstance(agent := result.get("agentId"), str):
            continue
        own = [each for each in lines if is_of_sub_agent(each) and each.get("agentId") in (None, agent)]
        made, shown = result.get("totalToolUseCount"), _calls_in(own)
        if isinstance(made, int) and shown < made:
            return place, f"expected the {made} tool calls of the sub-agent {agent!r}, got {shown}; add its own lines"
        if made is None and not own and str(result.get("status")).endswith(_LAUNCHED):
            return place, f"expected what the sub-agent {agent!r} did in the background, got none of its lines; add them"
    return None


def _calls_in(lines: Iterable[Mapping[str, Any]]) -> int:
    return sum(len(raw_calls(inner_message(line))) for line in lines)
