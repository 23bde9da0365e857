"""Streams of agents that break off, or that say of their calls what cannot all be read: what was called is unknown then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.agent.runtimes.registry import runtime as runtime_of
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.core.models import SkillResponse
from tests.adapters.agent.agents import answered
from tests.adapters.skills import make_skill

Line = dict[str, Any] | str

TEXT = {"type": "text", "text": "done"}
RESULT: dict[str, Any] = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}


def claude_said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": list(blocks)}, "parent_tool_use_id": None}


def claude_got(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": list(blocks)}}


def use(kind: str = "tool_use", **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": "t1", "input": {}, **more}


CLAUDE_END = {"type": "result", "subtype": "success", "is_error": False, "result": "done"}
CLAUDE_DONE = [claude_said(TEXT), CLAUDE_END]
GEMINI_USE = {"type": "tool_use", "tool_name": "pay", "tool_id": "t1", "parameters": {}}
GEMINI_TEXT = {"type": "message", "role": "assistant", "content": "done", "delta": True}


def gemini_end(calls: int) -> dict[str, Any]:
    stats = {"total_tokens": 30, "input_tokens": 20, "output_tokens": 10, "tool_calls": calls}
    return {"type": "result", "status": "success", "stats": stats}


async def told(folder: Path, runtime: str, lines: list[Line]) -> SkillResponse:
    """The answer of an agent that prints these lines."""
    printed = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "printed").write_text("".join(f"{line}\n" for line in printed))
    (folder / "agent.sh").write_text('[ "$1" = --version ] && echo 1 || cat "${0%/*}/printed"\n')
    config = {"command": f"sh {folder / 'agent.sh'}", "baseUrl": "http://127.0.0.1:9", "model": "m"}
    return await answered(make_skill("agent", runtime, config, folder))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runtime", "lines"),
    [
        pytest.param("claude-code", [claude_said(TEXT)], id="claude-without-its-end"),
        pytest.param("claude-code", [claude_said(use()), *CLAUDE_DONE], id="claude-call-without-a-name"),
        pytest.param("claude-code", [claude_got(RESULT), *CLAUDE_DONE], id="claude-result-of-no-call"),
        pytest.param("claude-code", ['{"type": "assistant", "message": {', *CLAUDE_DONE], id="claude-line-cut-off"),
        pytest.param("claude-code", [{"type": "assistant"}, *CLAUDE_DONE], id="claude-event-of-another-shape"),
        pytest.param("gemini", [GEMINI_TEXT], id="gemini-without-its-end"),
        pytest.param("gemini", [GEMINI_TEXT, gemini_end(1)], id="gemini-counts-more-calls"),
        pytest.param("gemini", [json.dumps(GEMINI_USE)[:-1], GEMINI_TEXT, gemini_end(0)], id="gemini-line-cut-off"),
        pytest.param(
            "gemini", [{"type": "tool_use", "tool_id": "t1"}, GEMINI_TEXT, gemini_end(0)], id="gemini-call-without-a-name"
        ),
        pytest.param(
            "gemini", [{"type": "tool_result", "tool_id": "t9"}, GEMINI_TEXT, gemini_end(0)], id="gemini-result-of-no-call"
        ),
        pytest.param("opencode", ['{"type": "tool_use", "part', {"type": "text", "part": TEXT}], id="opencode-line-cut-off"),
    ],
)
async def test_what_was_called_is_unknown(tmp_path: Path, runtime: str, lines: list[Line]) -> None:
    response = await told(tmp_path, runtime, lines)
    assert (response.output, response.tool_calls, response.steps) == ("done", None, None)
    assert response.messages is not None
    assert response.messages[-1]["role"] == "unread"


@pytest.mark.parametrize(
    ("runtime", "lines"),
    [
        pytest.param("opencode", [{"type": "text", "part": TEXT}, '{"type": "text", "part": {"text": "\\ud83d'], id="opencode"),
        pytest.param("claude-code", [claude_said(TEXT), json.dumps(CLAUDE_END)[:-5]], id="claude-code"),
        pytest.param("gemini", [GEMINI_TEXT, '{"type": "message", "rol', GEMINI_TEXT, gemini_end(0)], id="gemini-in-the-middle"),
    ],
)
def test_what_was_said_before_a_broken_line_is_not_taken_for_the_answer(runtime: str, lines: list[Line]) -> None:
    transcript = Transcript()
    for line in lines:
        runtime_of(runtime).read(line if isinstance(line, str) else json.dumps(line), transcript)
    assert "expected an event on a line of its own, got {" in transcript.unread


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runtime", "lines", "names"),
    [
        pytest.param("claude-code", CLAUDE_DONE, [], id="claude-no-call"),
        pytest.param("claude-code", [claude_said(use(name="pay")), claude_got(RESULT), *CLAUDE_DONE], ["pay"], id="claude"),
        pytest.param("claude-code", ["npm warn {x}", '{"a": 1}', *CLAUDE_DONE], [], id="claude-other-lines"),
        pytest.param(
            "claude-code",
            [claude_said(use("server_tool_use", name="pay"), {**RESULT, "type": "web_search_tool_result"}), *CLAUDE_DONE],
            ["pay"],
            id="claude-at-its-provider",
        ),
        pytest.param("gemini", [GEMINI_TEXT, gemini_end(0)], [], id="gemini-no-call"),
        pytest.param(
            "gemini",
            [GEMINI_USE, {"type": "tool_result", "tool_id": "t1", "output": "ok"}, GEMINI_TEXT, gemini_end(1)],
            ["pay"],
            id="gemini",
        ),
    ],
)
async def test_a_whole_stream_tells_what_was_called(tmp_path: Path, runtime: str, lines: list[Line], names: list[str]) -> None:
    response = await told(tmp_path, runtime, lines)
    assert response.tool_calls is not None
    assert [call.name for call in response.tool_calls] == names
    assert response.output == "done"
