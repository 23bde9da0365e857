"""What an agent did in its workspace is part of its result: in the journal, in the table and when it is judged again."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import Confinement
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Attempt, Benchmark, ItemResult
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import results_of, table_of
from eval_skills.core.store.journal import line_of, result_of
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.executor import LocalExecutor
from eval_skills.engine.evaluation.plan import make_plan
from tests.adapters.agent.agents import SAYS, agent_skill, program_agent

KEY = "sk-of-the-agent-0123456789"
AGENT = (
    SAYS
    + """
say("tool_call", id="c1", name="skill" if prompt != "look" else "ls", arguments={"name": "csv"})
say("tool_result", id="c1", result=os.environ["AGENT_KEY"])
say("step")
open("out.txt", "w").write("key: " + os.environ["AGENT_KEY"])
if prompt == "look":
    say("answer", content="done")
    sys.exit()
if prompt == "hang":
    time.sleep(600)
if prompt == "pay":
    say("tool_call", id="c2", name="pay", arguments={})
    sys.exit(3)
say("answer", content="done with " + os.environ["AGENT_KEY"])
"""
)


async def result_for(folder: Path, asked: str, earlier: Sequence[Attempt] = (), **task: Any) -> tuple[ItemResult, Redaction]:
    skill = folder / "agent"
    skill.mkdir()
    agent_skill(skill / "skills")
    (skill / "agent.py").write_text(AGENT)
    config = {"command": f"{shlex.quote(sys.executable)} -S -E agent.py", "skills": ["skills/csv"], "apiKeyEnv": "AGENT_KEY"}
    made = {
        "id": "agent",
        "name": "A",
        "version": "1.0.0",
        "adapterType": "agent",
        "entrypoint": "custom",
        "adapterConfig": config,
    }
    (skill / "skill.json").write_text(json.dumps(made))
    (folder / "tasks.json").write_text(
        json.dumps([{"id": "t1", "inputData": asked, "expected": {"forbiddenTools": ["pay"]}, **task}])
    )
    places = {"store": str(folder / "store"), "output_dir": str(folder / "reports"), "tasks": str(folder / "tasks.json")}
    plan = make_plan(EvaluateRequest.model_validate({"skills": [str(skill)], **places}))
    async with LocalExecutor(plan) as here:
        outcome = await here.execute(plan.items[0], earlier)
    return outcome.result, Redaction(plan.secrets())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "task", "status"),
    [
        pytest.param("work", {}, "pass", id="answer"),
        pytest.param("hang", {"timeoutMs": 2000}, "timeout", id="timeout"),
        pytest.param("pay", {}, "fail", id="forbidden-tool-and-a-crash"),
    ],
)
async def test_what_it_did_is_kept_without_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, task: dict[str, Any], status: str
) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    result, redaction = await result_for(tmp_path, asked, **task)
    assert result.status == status, result
    assert (result.skills_loaded, result.steps) == (["csv"], 1)
    assert [(file.path, file.content) for file in result.files or []] == [("out.txt", f"key: {KEY}")]
    line = line_of(result, redaction)
    assert KEY.encode() not in line
    kept = result_of(line, source=tmp_path, number=1)
    assert [file.content for file in kept.files or []] == ["key: [redacted:AGENT_KEY]"]
    assert results_of(table_of([kept])) == [kept]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "status", "loaded"),
    [pytest.param("pay", "fail", ["csv"], id="loaded-before"), pytest.param("look", "pass", [], id="never-loaded")],
)
async def test_what_an_attempt_loaded_that_broke_off_was_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, status: str, loaded: list[str]
) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    asked: dict[str, Any] = {"expected": {}, "evaluator": {"type": "skill_loaded", "skill": "csv", "loaded": False}}
    for place in (tmp_path / "first", tmp_path / "second"):
        place.mkdir()
    first, _ = await result_for(tmp_path / "first", before, **asked)
    second, _ = await result_for(tmp_path / "second", "look", first.attempts, **asked)
    assert (second.status, second.skills_loaded, len(second.attempts)) == (status, loaded, 2)


def test_the_paths_that_a_run_hides_are_hidden_from_agents_without_a_sandbox_too(tmp_path: Path) -> None:
    """Our own agent's commands have a sandbox in any case."""
    confined = Confinement(hidden=("/where/the/answers/are",)).of(program_agent(tmp_path, ""))
    assert confined.adapter_config["hiddenPaths"] == ["/where/the/answers/are"]


@pytest.mark.slow
async def test_a_report_says_which_files_differ_and_leaves_their_contents_to_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    result, _ = await result_for(tmp_path, "work")
    frame = table_of([result]).to_pandas(maps_as_pydicts="strict")
    task = {"id": "t1", "inputData": "work", "expected": {"forbiddenTools": ["pay"]}}
    benchmark = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": [task]})
    [report] = skill_reports(frame, benchmark, 60_000)
    item = report.to_json()["taskResults"][0]
    assert (item["skillsLoaded"], item["steps"]) == (["csv"], 1)
    assert [(file["path"], file["change"], file["content"]) for file in item["files"]] == [("out.txt", "added", None)]
