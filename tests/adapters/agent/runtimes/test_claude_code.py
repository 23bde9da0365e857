"""Claude Code, by streams and settings as its documentation describes them: no program of it is at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.runtimes.base import AgentRun
from eval_skills.adapters.agent.runtimes.claude_code import ClaudeCode
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.agent_skills.folder import read_agent_skill
from eval_skills.core.models import Usage
from tests.tables import each_row

RUNTIME = ClaudeCode()
INIT = {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash", "Read", "Skill"], "model": "m", "cwd": "/w"}
DONE = {
    "type": "result", "subtype": "success", "is_error": False, "duration_ms": 4210, "num_turns": 3, "result": "Good day, Ada.",
    "session_id": "s", "total_cost_usd": 0.0213, "permission_denials": [],
    "usage": {"input_tokens": 12, "cache_creation_input_tokens": 2000, "cache_read_input_tokens": 3000, "output_tokens": 150},
}  # fmt: skip


def said(number: int, *blocks: dict[str, Any], parent: str | None = None) -> dict[str, Any]:
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": list(blocks)}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent, "session_id": "s"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}


def result(number: int, content: Any, *, error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content, "is_error": error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": None, "session_id": "s"}


def read(*events: dict[str, Any]) -> Transcript:
    transcript = Transcript(["greeter"], "/w")
    for event in events:
        assert RUNTIME.read(json.dumps(event), transcript)
    return transcript


def test_a_stream_becomes_messages_calls_turns_tokens_and_a_cost() -> None:
    response = read(
        INIT,
        said(1, text("I greet.")),
        said(1, use(1, "Skill", skill="greeter")),
        result(1, "Launching skill: greeter"),
        said(2, use(2, "Bash", command="cat a.csv"), use(3, "Read", file_path="/w/b.csv")),
        result(2, [{"type": "text", "text": "name"}, {"type": "image"}]),
        result(3, "File does not exist.", error=True),
        said(3, text("Good day, Ada.")),
        DONE,
    ).response()
    assert response.output == "Good day, Ada."
    assert [(call.name, call.result, call.error) for call in response.tool_calls or ()] == [
        ("Skill", "Launching skill: greeter", None),
        ("Bash", "name", None),
        ("Read", "File does not exist.", "File does not exist."),
    ]
    assert response.skills_loaded == ["greeter"]
    assert response.steps == 3
    assert (response.usage, response.cost_usd) == (Usage(prompt_tokens=5012, completion_tokens=150), 0.0213)


@each_row(
    ("event", "loaded"),
    [
        pytest.param(said(1, use(1, "Read", file_path="/h/.claude/skills/greeter/SKILL.md")), ["greeter"], id="read"),
        pytest.param(said(1, use(1, "Bash", command="cat ~/.claude/skills/greeter/SKILL.md")), ["greeter"], id="shell"),
        pytest.param(said(1, use(1, "Skill", skill="greeter"), parent="toolu_0"), ["greeter"], id="by-a-helper-of-its-own"),
        pytest.param(said(1, use(1, "Skill", skill="other")), [], id="another-skill"),
        pytest.param(said(1, text("I use greeter/SKILL.md")), [], id="words"),
    ],
)
def test_loads(event: dict[str, Any], loaded: list[str]) -> None:
    assert read(event).response().skills_loaded == loaded


def test_a_helper_of_its_own_takes_no_turn_and_says_nothing() -> None:
    response = read(
        said(1, use(1, "Task", prompt="look")), said(9, text("I look."), use(2, "Bash", command="ls"), parent="toolu_1")
    ).response()
    assert response.steps == 1
    assert response.output is None
    assert [call.name for call in response.tool_calls or ()] == ["Task", "Bash"]


@each_row(
    ("end", "error", "transient"),
    [
        pytest.param(
            {"subtype": "error_max_budget_usd", "errors": ["Reached maximum budget ($0.5)"]}, "budget", False, id="budget"
        ),
        pytest.param({"subtype": "error_during_execution"}, "error_during_execution", False, id="no-words"),
        pytest.param({"is_error": True, "result": "Invalid API key"}, "Invalid API key", False, id="key"),
        pytest.param({"is_error": True, "result": "API Error: 529 overloaded_error"}, "529", True, id="overloaded"),
    ],
)
def test_an_error_at_the_end_is_that_of_the_item_and_its_cost_stays_known(
    end: dict[str, Any], error: str, transient: bool
) -> None:
    transcript = read({key: value for key, value in DONE.items() if key != "result"} | end)
    assert error in transcript.error
    assert transcript.transient is transient
    assert transcript.cost_usd == 0.0213


@each_row("line", ["", "npm warn", "[1]", '{"no": "type"}', '{"type": 1}'])
def test_what_is_not_an_event_is_a_line_of_its_log(line: str) -> None:
    transcript = Transcript()
    assert not RUNTIME.read(line, transcript)
    assert transcript.response().tool_calls is None


def test_the_key_the_skill_and_the_limits_are_where_it_looks_for_them(tmp_path: Path) -> None:
    skill = tmp_path / "greeter"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: greeter\ndescription: Greets. Use when greeted.\n---\nHi.\n")
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    home.mkdir()
    workspace.mkdir()
    config = AgentConfig(model="m", api_key_env="MY_KEY", max_cost_usd=0.5)
    command = RUNTIME.prepare(AgentRun("-p is this", workspace, home, (read_agent_skill(skill),), config, "k-1", ("claude",)))
    assert [path.name for path in (home / ".claude/skills/greeter").iterdir()] == ["SKILL.md"]
    assert list(workspace.iterdir()) == []
    assert command.stdin == "-p is this"
    assert command.env["ANTHROPIC_API_KEY"] == "k-1"
    assert command.argv[:5] == ("claude", "-p", "--output-format", "stream-json", "--verbose")
    assert command.argv[-4:] == ("--model", "m", "--max-budget-usd", "0.500000")
