"""What a transcript of Claude Code says of its sub-agents, and of what came before it."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.messages.roles import last_words
from eval_skills.core.models import SkillResponse
from eval_skills.scorers.tools.calls import unknown_calls
from eval_skills.scorers.tools.forbidden import ForbiddenTools
from tests.tables import each_row


def calls(name: str, **line: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"id-{name}", "name": name, "input": {}}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}, **line}


def ended(**result: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "id-Agent", "content": "done"}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": {"agentId": "a", **result}}


OWN = {"isSidechain": True, "agentId": "a"}


@each_row(
    ("lines", "known"),
    [
        pytest.param([ended(totalToolUseCount=0)], True, id="called-nothing"),
        pytest.param([ended(totalToolUseCount=1)], False, id="lines-elsewhere"),
        pytest.param([calls("Read", **OWN), ended(totalToolUseCount=1)], True, id="lines-beside"),
        pytest.param([calls("Read", isSidechain=True), ended(totalToolUseCount=1)], True, id="lines-that-name-no-agent"),
        pytest.param([calls("Read", isSidechain=True, agentId="b"), ended(totalToolUseCount=1)], False, id="of-another"),
        pytest.param([calls("Read", **OWN), ended(totalToolUseCount=2)], False, id="one-is-missing"),
        pytest.param([ended(status="async_launched", isAsync=True)], False, id="in-the-background"),
        pytest.param([ended(status="async_launched"), calls("Read", **OWN)], True, id="in-the-background-beside"),
        pytest.param([ended(stdout="")], True, id="of-another-tool"),
    ],
)
def test_what_a_sub_agent_called_is_known_by_its_own_lines(lines: list[dict[str, Any]], known: bool) -> None:
    assert (unknown_calls(SkillResponse(messages=[calls("Agent"), *lines])) is None) == known


COMPACTED = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": "u1"}


@each_row(
    ("lines", "known"),
    [
        pytest.param([calls("Read", uuid="u1"), COMPACTED], True, id="with-the-lines-before"),
        pytest.param([COMPACTED, calls("Read", uuid="u2")], False, id="without"),
        pytest.param([calls("Read", uuid="u0"), COMPACTED], False, id="others"),
        pytest.param([COMPACTED | {"logicalParentUuid": None}], True, id="of-nothing-before"),
    ],
)
def test_what_was_called_before_a_session_was_compacted_is_known_by_its_lines(lines: list[dict[str, Any]], known: bool) -> None:
    assert (unknown_calls(SkillResponse(messages=lines)) is None) == known


def test_a_forbidden_tool_in_what_is_kept_of_a_result_is_seen() -> None:
    messages = [calls("Agent"), ended(messages=[calls("pay")])]
    [reason] = ForbiddenTools(tools=("pay",)).violations_of(SkillResponse(messages=messages))
    assert reason.where == "messages[1]"


@pytest.mark.parametrize("line", [OWN, {"parent_tool_use_id": "id-Agent"}])
def test_the_words_of_a_sub_agent_are_not_the_answer(line: dict[str, Any]) -> None:
    said = {"type": "assistant", "message": {"role": "assistant", "content": "Done."}}
    helper = {"type": "assistant", "message": {"role": "assistant", "content": "Found."}, **line}
    assert last_words([said, helper]) == "Done."
    assert last_words([helper]) == "Found.", "a run of the sub-agent alone"
