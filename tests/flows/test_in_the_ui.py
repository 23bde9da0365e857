"""What Prefect's UI shows of a run: its log, name, tags and artifacts, read back from the API."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.viewer_pages import BASE_URL
from eval_skills.engine.definition.request import PipelineRequest
from eval_skills.engine.nightly.request import NightlyRequest
from eval_skills.flows import nightly, pipeline, run_here
from eval_skills.tasks.flow_runs import TAGGED_SKILLS, Caller
from tests.flows.test_evaluate import Ask, describe, run, skill, tasks_file

__all__ = ["skill"]

SECRET = "correct horse battery staple"


def log_of(ask: Ask, flow_run: str) -> list[str]:
    """The lines of a flow run's log, as soon as the API has the last one."""
    from prefect.logging.handlers import APILogHandler

    for handler in logging.getLogger("prefect.flow_runs").handlers:
        if isinstance(handler, APILogHandler):
            handler.flush()
    deadline = time.monotonic() + 60
    while True:
        found = ask("logs/filter", logs={"flow_run_id": {"any_": [flow_run]}}, sort="TIMESTAMP_ASC", limit=200)
        lines = [each["message"] for each in found]
        if any(line.startswith("Finished in state") for line in lines) or time.monotonic() > deadline:
            return lines
        time.sleep(0.1)


def flow_run(ask: Ask, identifier: str) -> dict[str, Any]:
    [found] = ask("flow_runs/filter", flow_runs={"id": {"any_": [identifier]}})
    return dict(found)


@pytest.mark.usefixtures("prefect_url")
def test_the_log_says_what_is_done_what_did_not_pass_and_why_and_what_came_of_it(
    tmp_path: Path, skill: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSPHRASE", SECRET)
    asked = {"ok": "ok", "fails": "not\n" + SECRET, "refuses": "refuse", "retried": "die-once"}
    tasks = [{"id": name, "inputData": {"what": what}, "expectedOutput": {"value": "ok"}} for name, what in asked.items()]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    options = {"secrets": ["PASSPHRASE"], "retries": 1, "exit_on_fail": True, "concurrency": 1}
    summary = run(tmp_path, skill, tasks=str(tmp_path / "tasks.json"), **options)
    lines = log_of(ask, summary.flow_runs[0])
    assert not [line for line in lines if SECRET in line or "\n" in line or "unwrap" in line]
    expected = [
        f"Run {summary.run_id} on tasks@0.0.0: 1 skill × 4 tasks × 1 run = 4 items; 1 item at a time, 1 retry each",
        "Skills: moody@1.0.0",
        "moody@1.0.0/fails#1 failed: ",
        "50 %: 2 of 4 items done, 1 failed, 0 errors",
        "moody@1.0.0/refuses#1 ended in an error: error 1: cannot",
        "moody@1.0.0/retried#1 is tried again: ",
        "100 %: 4 of 4 items done, ",
        f"Landed 4 rows in the store {summary.store}, run {summary.run_id}",
        "moody@1.0.0: ",
        "gate failed: moody@1.0.0 completes 25.0 %, under 70.0 %",
        "Reports: ",
        "Finished in state Completed(",
    ]
    assert [begin for begin in expected if not any(line.startswith(begin) for line in lines)] == []
    (again,) = (line for line in lines if "Retry 1/1 will start" in line)
    assert len(again) < 300, again  # Prefect shows the state, which holds the whole result
    (failed,) = (line for line in lines if "fails#1" in line)
    assert "[redacted:PASSPHRASE]" in failed


@pytest.mark.usefixtures("prefect_url")
def test_tags_say_what_a_run_is_about_and_what_started_it_and_a_pipelines_evaluation_is_its_part(
    tmp_path: Path, skill: Path, ask: Ask
) -> None:
    (tmp_path / "skills").mkdir()
    for number in range(TAGGED_SKILLS + 1):
        folder = tmp_path / "skills" / f"s{number:02}"
        folder.mkdir()
        (folder / "skill.py").write_text((skill / "skill.py").read_text())
        describe(folder, folder.name, "python3 skill.py")
    places: dict[str, Any] = {"store": str(tmp_path / "store"), "output_dir": str(tmp_path / "reports"), "format": []}
    caller = Caller("cli")
    request = PipelineRequest(skills_dir=str(tmp_path / "skills"), tasks=tasks_file(tmp_path, "ok"), **places)
    summary = run_here(pipeline, request, caller=caller)
    part, whole = summary.flow_runs
    assert caller.flow_run == whole
    about = ["benchmark:tasks", *(f"skill:s{number:02}" for number in range(TAGGED_SKILLS)), f"skills:{TAGGED_SKILLS + 1}"]
    assert flow_run(ask, whole)["tags"] == [*about, "trigger:cli"]
    assert flow_run(ask, part)["tags"] == [*about, "trigger:pipeline"]
    assert any(line.startswith("Selected, 1: s") for line in log_of(ask, whole))


@pytest.mark.usefixtures("prefect_url")
def test_a_night_logs_its_verdicts_and_tags_its_parts_and_artifacts_link_to_the_viewer(
    tmp_path: Path, skill: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BASE_URL, "https://evals.example.com/all")
    suites = [
        {
            "name": "in-the-ui",
            "skills": [str(skill)],
            "benchmark": "coding-easy",
            "options": {"tasks": tasks_file(tmp_path, "ok")},
        },
        {"name": "gone", "skills": [str(tmp_path / "nowhere")], "benchmark": "coding-easy"},
    ]
    (tmp_path / "suites.json").write_text(json.dumps({"suites": suites}))
    request = NightlyRequest(suites=str(tmp_path / "suites.json"), store=str(tmp_path / "store"))
    night = run_here(nightly, request)
    whole, part = night.flow_runs
    run_id = night.suites[0].run_id
    lines = log_of(ask, whole)
    assert "in-the-ui: moody@1.0.0: new: nothing to compare with yet" in lines
    assert any(line.startswith("gone: ") and "no such skill" in line for line in lines)
    assert flow_run(ask, whole)["tags"] == ["trigger:python"]
    assert flow_run(ask, part)["tags"] == ["benchmark:tasks", "skill:moody", "suite:in-the-ui", "trigger:nightly"]
    named = {"key": {"any_": ["eval-skills-ranking-in-the-ui"]}, "flow_run_id": {"any_": [whole]}}
    [artifact] = ask("artifacts/filter", artifacts=named)
    assert f"[in the viewer](https://evals.example.com/all/run-{run_id}.html)" in artifact["description"]


@pytest.mark.usefixtures("prefect_url")
def test_what_could_not_be_planned_is_found_by_what_it_was_asked(tmp_path: Path, ask: Ask) -> None:
    tasks = tmp_path / f"{tmp_path.parent.name}-unplanned.json"
    tasks.write_text('[{"id": "ok", "inputData": {}, "expectedOutput": {"value": "ok"}}]')
    with pytest.raises(InputError):
        run(tmp_path, tmp_path / "nowhere", tasks=str(tasks))
    [found] = ask("flow_runs/filter", flow_runs={"name": {"like_": tasks.stem}})
    assert (found["name"], found["state_name"]) == (f"{tasks.stem} · not planned", "Failed")
    assert found["tags"] == [f"benchmark:{tasks.stem}", "trigger:python"]
