"""Events of the agents that a run against a scripted model does not show."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.runtimes.base import AgentRun
from eval_skills.adapters.agent.runtimes.events import another_attempt_helps
from eval_skills.adapters.agent.runtimes.registry import program_runtimes, runtime
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.core.models import Usage
from tests.tables import each_row


def read(name: str, *events: dict[str, Any]) -> Transcript:
    transcript = Transcript(["greeter"], "/w")
    for event in events:
        assert runtime(name).read(json.dumps(event), transcript)
    return transcript


def item(number: int, kind: str, *, ended: bool = True, **fields: Any) -> dict[str, Any]:
    return {"type": "item.completed" if ended else "item.started", "item": {"id": f"item_{number}", "type": kind, **fields}}


def shell(number: int, command: str, code: int | None = 0, *, ended: bool = True, status: str = "completed") -> dict[str, Any]:
    words = f"/bin/bash -lc '{command}'"
    return item(number, "command_execution", ended=ended, command=words, aggregated_output="out\n", exit_code=code, status=status)


def test_gemini_s_answer_is_joined_from_its_last_message_alone() -> None:
    def words(text: str) -> dict[str, Any]:
        return {"type": "message", "role": "assistant", "content": text, "delta": True}

    call = {"type": "tool_use", "tool_name": "read", "tool_id": "t1", "parameters": {}}
    result = {"type": "tool_result", "tool_id": "t1", "output": "ok", "status": "success"}
    half = "x" * 80_000
    found = read("gemini", words("I look."), call, result, {**call, "tool_id": "t2"}, words(half), words(half), words("2 rows"))
    assert found.output == f"{half}{half}2 rows"


def test_codex_calls_that_run_side_by_side_are_one_turn() -> None:
    response = read(
        "codex",
        item(0, "error", message="Model metadata not found."),
        item(1, "reasoning", text="Hm."),
        shell(2, "ls", ended=False),
        shell(3, "cat x", ended=False),
        shell(3, "cat x", 1, status="failed"),
        shell(2, "ls"),
        item(4, "file_change", changes=[{"path": "/w/a.txt", "kind": "add"}], status="completed"),
        shell(5, "rm -r /", None, status="declined"),
        item(6, "agent_message", text="Done."),
    ).response()
    assert response.steps == 4
    assert [(call.name, call.arguments, call.result, call.error) for call in response.tool_calls or ()] == [
        ("command_execution", {"command": "ls"}, "out\n", None),
        ("command_execution", {"command": "cat x"}, "out\n\n[exit code 1]", None),
        ("file_change", {"changes": [{"path": "/w/a.txt", "kind": "add"}]}, "completed", None),
        ("command_execution", {"command": "rm -r /"}, "out\n", "not run: declined"),
    ]


def test_opencode_tokens_of_caches_and_thoughts_and_its_prices_count() -> None:
    tokens = {"input": 10, "output": 5, "reasoning": 7, "cache": {"read": 100, "write": 1}}
    finish = {"type": "step_finish", "part": {"reason": "stop", "tokens": tokens, "cost": 0.25}}
    response = read("opencode", finish, finish).response()
    assert (response.usage, response.cost_usd) == (Usage(prompt_tokens=222, completion_tokens=24), 0.5)


def test_opencode_a_turn_of_an_unknown_price_leaves_the_cost_unknown() -> None:
    finish = {"type": "step_finish", "part": {"tokens": {"input": 10, "output": 5}, "cost": 0.25}}
    free = {"type": "step_finish", "part": {"tokens": {"input": 10}, "cost": 0}}
    response = read("opencode", finish, free).response()
    assert (response.usage, response.cost_usd) == (Usage(prompt_tokens=20, completion_tokens=None), None)


def test_gemini_messages_come_in_parts_and_thoughts_are_in_the_total_alone() -> None:
    stats = {"total_tokens": 160, "input_tokens": 100, "output_tokens": 20}
    parts = [{"type": "message", "role": "assistant", "content": part, "delta": True} for part in ("Good ", "day", ".")]
    user = {"type": "message", "role": "user", "content": "Greet."}
    response = read("gemini", {"type": "init"}, user, *parts, {"type": "result", "status": "success", "stats": stats}).response()
    assert response.output == "Good day."
    assert [message["content"] for message in response.messages or ()] == ["Good day."]
    assert (response.steps, response.usage) == (1, Usage(prompt_tokens=100, completion_tokens=60))


@each_row(
    ("message", "helps"),
    [
        pytest.param("exceeded retry limit, last status: 429 Too Many Requests", True, id="429"),
        pytest.param("We're currently experiencing high demand, which may cause temporary errors.", True, id="words"),
        pytest.param("stream disconnected before completion", True, id="connection"),
        pytest.param("unexpected status 401 Unauthorized: invalid key", False, id="401"),
        pytest.param("the model made 15003 mistakes", False, id="another-number"),
    ],
)
def test_errors_that_pass(message: str, helps: bool) -> None:
    assert another_attempt_helps(message) is helps


@each_row(
    ("tokens", "usd", "known"),
    [
        pytest.param((-5, 20), 0.1, (None, 20, 0.1), id="tokens-below-zero"),
        pytest.param((100, 20), -0.1, (100, 20, None), id="a-cost-below-zero"),
        pytest.param((10**20, 20), 1e300, (None, 20, None), id="more-than-can-be"),
        pytest.param((100, 20), math.nan, (100, 20, None), id="not-a-number"),
    ],
)
def test_a_figure_that_cannot_be_right_is_unknown_and_no_answer_is_lost_for_it(
    tokens: tuple[int, int], usd: float, known: tuple[int | None, int | None, float | None]
) -> None:
    transcript = Transcript()
    transcript.usage(*tokens)
    transcript.cost(usd)
    transcript.answer("done")
    response = transcript.response()
    assert response.output == "done"
    assert response.usage is not None
    assert (response.usage.prompt_tokens, response.usage.completion_tokens, response.cost_usd) == known


@pytest.mark.parametrize("sandbox", ["none", "bwrap"])
def test_every_agent_keeps_out_of_the_workspace_and_gives_way_to_our_sandbox(sandbox: str, tmp_path: Path) -> None:
    config = AgentConfig.model_validate({"model": 'a/"m"', "apiKeyEnv": "MY_KEY", "sandbox": sandbox, "network": True})
    written = {}
    for each in program_runtimes():
        home, workspace = tmp_path / each.name / "home", tmp_path / each.name / "workspace"
        home.mkdir(parents=True)
        workspace.mkdir()
        assert each.check(config) == ""
        command = each.prepare(AgentRun("Greet.", workspace, home, (), config, "k-1", ("agent",)))
        assert list(workspace.iterdir()) == []
        assert [name for name, value in command.env.items() if value == "k-1"]
        files = [path for path in home.rglob("*") if path.suffix in (".json", ".toml") and path.name != "package-lock.json"]
        written[each.name] = files[0].read_text()
        assert "k-1" not in written[each.name]
    within = sandbox == "bwrap"
    assert tomllib.loads(written["codex"])["sandbox_mode"] == ("danger-full-access" if within else "workspace-write")
    assert json.loads(written["opencode"])["permission"]["external_directory"]["*"] == ("allow" if within else "deny")
    assert json.loads(written["claude-code"])["sandbox"]["enabled"] is not within


@each_row(
    ("name", "config", "says"),
    [
        pytest.param("opencode", {}, "adapterConfig.model", id="opencode-without-a-model"),
        pytest.param("opencode", {"model": "gpt"}, "PROVIDER/MODEL", id="opencode-without-a-provider"),
        pytest.param("codex", {"model": "m"}, "adapterConfig.apiKeyEnv, such as OPENAI_API_KEY", id="codex-without-a-key"),
        pytest.param("gemini", {"model": "m"}, "adapterConfig.apiKeyEnv, such as GEMINI_API_KEY", id="gemini-without-a-key"),
        pytest.param(
            "claude-code", {"model": "m"}, "adapterConfig.apiKeyEnv, such as ANTHROPIC_API_KEY", id="claude-code-without-a-key"
        ),
        pytest.param("claude-code", {"passEnv": ["CLAUDE_CODE_OAUTH_TOKEN"]}, "", id="claude-code-with-a-token-of-its-own"),
        pytest.param("codex", {"baseUrl": "http://127.0.0.1:1/v1"}, "", id="codex-with-a-server-that-wants-no-key"),
    ],
)
def test_what_is_missing_is_named(name: str, config: dict[str, Any], says: str) -> None:
    problem = runtime(name).check(AgentConfig.model_validate(config))
    assert says in problem
    assert bool(problem) is bool(says)
