from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.agent.runtimes import codex_record
from eval_skills.adapters.agent.runtimes.codex import Codex
from eval_skills.adapters.agent.runtimes.codex_record import NO_RECORD
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.scorers.tools.calls import named_in_messages, unknown_calls

THREAD = "01a20e31-1116-7341-9186-51c1837e4b3f"
STARTED = {"type": "thread.started", "thread_id": THREAD}


def told(*events: dict[str, Any]) -> Transcript:
    transcript = Transcript(["greeter"], "/w")
    for event in (STARTED, *events):
        Codex().read(json.dumps(event), transcript)
    return transcript


def command(number: int, script: str) -> dict[str, Any]:
    item = {"id": f"item_{number}", "type": "command_execution", "command": f"/bin/bash -lc '{script}'", "status": "completed"}
    return {"type": "item.completed", "item": {**item, "aggregated_output": f"of {script}", "exit_code": 0}}


def answer(text: str) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": "item_9", "type": "agent_message", "text": text}}


def record(home: Path, *scripts: str, code: int = 0) -> Path:
    """The record of a session in which the model asked for these commands, a turn each, and then answered."""
    entries: list[dict[str, Any]] = []
    for number, script in enumerate(scripts):
        call = {
            "type": "function_call",
            "name": "exec_command",
            "arguments": json.dumps({"cmd": script}),
            "call_id": f"c{number}",
        }
        output = f"Chunk ID: 1\nProcess exited with code {code}\nOutput:\nof {script}"
        ended = {"type": "function_call_output", "call_id": f"c{number}", "output": output}
        entries += [{"type": "response_item", "payload": call}, {"type": "token_usage_record", "payload": {}}]
        entries.append({"type": "response_item", "payload": ended})
    entries.append({"type": "token_usage_record", "payload": {}})
    file = home / ".codex" / "sessions" / "2026" / "11" / "24" / f"rollout-2026-11-24T15-34-09-{THREAD}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("not JSON\n[]\n" + "".join(json.dumps(entry) + "\n" for entry in entries))
    return file


@pytest.mark.parametrize(
    ("lines", "recorded"),
    [
        pytest.param(["a", "b"], ["a", "b"], id="nothing-is-missing"),
        pytest.param(["a"], ["a", "b"], id="the-last"),
        pytest.param(["b"], ["a", "b"], id="the-first"),
        pytest.param(["a", "c"], ["a", "b", "c"], id="one-between"),
        pytest.param([], ["a"], id="all"),
        pytest.param(["a"], ["a", "a"], id="one-of-two-that-are-equal"),
        pytest.param(["b", "a"], ["a", "b"], id="told-in-another-order"),
    ],
)
def test_commands_that_the_lines_leave_out_are_added_in_their_place(
    tmp_path: Path, lines: Sequence[str], recorded: Sequence[str]
) -> None:
    record(tmp_path, *recorded)
    transcript = told(*(command(number, script) for number, script in enumerate(lines)), answer("done"))
    assert Codex().complete(tmp_path, transcript) == ""
    response = transcript.response()
    expected = lines if sorted(lines) == sorted(recorded) else recorded
    assert [call.arguments["command"] for call in response.tool_calls or ()] == list(expected)
    assert [call.result for call in response.tool_calls or ()] == [f"of {script}" for script in expected]
    assert (response.output, response.steps) == ("done", len(recorded) + 1)
    roles = [message["role"] for message in response.messages or ()]
    assert roles == [*["assistant", "tool"] * len(recorded), "assistant"]


def test_a_missed_command_that_opens_a_skill_is_a_load(tmp_path: Path) -> None:
    record(tmp_path, "cat ~/.codex/skills/greeter/SKILL.md", code=3)
    transcript = told(answer("done"))
    Codex().complete(tmp_path, transcript)
    response = transcript.response()
    assert response.skills_loaded == ["greeter"]
    assert response.tool_calls is not None
    assert str(response.tool_calls[0].result).endswith("[exit code 3]")


def test_a_record_never_takes_away_what_was_told(tmp_path: Path) -> None:
    record(tmp_path, "b")
    transcript = told(command(0, "a"), command(1, "b"), answer("done"))
    Codex().complete(tmp_path, transcript)
    assert [call.arguments["command"] for call in transcript.response().tool_calls or ()] == ["a", "b"]


def test_a_call_whose_arguments_nest_too_deeply_has_no_command(tmp_path: Path) -> None:
    file = record(tmp_path, "b")
    file.write_text(file.read_text().replace(json.dumps(json.dumps({"cmd": "b"})), json.dumps("[" * 100_000)))
    transcript = told(command(0, "a"), answer("done"))
    Codex().complete(tmp_path, transcript)
    assert [call.arguments["command"] for call in transcript.response().tool_calls or ()] == ["a"]


@pytest.mark.parametrize(
    ("lines", "loaded"),
    [
        pytest.param([], None, id="nothing-told"),
        pytest.param(["ls"], None, id="no-load-told"),
        pytest.param(["cat ~/.codex/skills/greeter/SKILL.md"], ["greeter"], id="all-that-is-installed"),
    ],
)
def test_without_a_record_it_is_unknown_what_was_called_and_never_not_loaded(
    tmp_path: Path, lines: Sequence[str], loaded: list[str] | None
) -> None:
    transcript = told(*(command(number, script) for number, script in enumerate(lines)), answer("done"))
    assert Codex().complete(tmp_path, transcript) == NO_RECORD
    response = transcript.response()
    assert (response.output, response.tool_calls, response.steps) == ("done", None, None)
    assert response.skills_loaded == loaded
    assert unknown_calls(response) is not None
    assert [name for _, name in named_in_messages(response.messages or [])] == ["command_execution"] * len(lines)


def test_a_record_that_is_too_long_adds_what_was_read_and_leaves_the_rest_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = record(tmp_path, "a", "b")
    monkeypatch.setattr(codex_record, "MAX_BYTES", file.stat().st_size - 10)
    transcript = told(command(0, "a"), answer("done"))
    assert Codex().complete(tmp_path, transcript) == codex_record.TOO_LONG
    response = transcript.response()
    assert (response.tool_calls, response.skills_loaded) == (None, None)
    assert len(list(named_in_messages(response.messages or []))) == 2


def test_a_link_or_a_pipe_in_the_place_of_a_record_is_not_read(tmp_path: Path) -> None:
    file = record(tmp_path, "a")
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    transcript = told(answer("done"))
    assert Codex().complete(tmp_path, transcript) == NO_RECORD
    file.unlink()
    os.mkfifo(file)
    assert Codex().complete(tmp_path, transcript) == NO_RECORD
    assert transcript.response().tool_calls is None
