"""The run behind `skill-effect` in Prefect: a mapped task run for each item, named and tagged by its arm, and the effect."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

import pytest

import eval_skills as es
from eval_skills.core.store import Store
from tests.front_door.test_skill_effect import AGENT

HOSTILE = "harm|<script>"


@pytest.mark.usefixtures("prefect_url")
def test_each_arm_can_be_told_apart_and_the_effect_is_an_artifact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[..., Any]
) -> None:
    check_arms(tmp_path, monkeypatch, ask, "local")


def check_arms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[..., Any], runner: str) -> None:
    """An effect that this task runner evaluates: the task runs say which arm they are of, and the artifact is safe to show."""
    monkeypatch.chdir(tmp_path)
    Path("csv-tools").mkdir()
    Path("csv-tools/SKILL.md").write_text("---\nname: csv-tools\ndescription: Reads tables.\n---\nSay yes.\n")
    Path("agent.py").write_text(AGENT)
    effect = es.skill_effect(
        "csv-tools",
        agent="custom",
        agent_config={"command": f"{sys.executable} {tmp_path / 'agent.py'}"},
        tasks=[{"id": "ask", "input": "Please?", "expected": "yes"}, {"id": HOSTILE, "input": HOSTILE, "expected": "yes"}],
        arms=["with", "without"],
        task_runner=runner,
        prefect=True,
        store="store",
    )
    flow_run = str(Store("store").items(run_id=effect.run_id)["flow_run_id"][0])
    for _ in range(200):  # task runs arrive as events, and their names after them
        found = ask("task_runs/filter", flow_runs={"id": {"any_": [flow_run]}}, limit=200)
        if len([each for each in found if each["tags"] and not each["name"].startswith("evaluate_item")]) == 4:
            break
        sleep(0.1)
    assert {each["name"]: set(each["tags"]) for each in found if each["tags"]} == {
        f"csv-tools-{arm}@1.0.0/{task}#1": {f"arm:{arm}", "skill:csv-tools"}
        for arm in ("with", "without")
        for task in ("ask", HOSTILE)
    }
    key = {"key": {"any_": ["eval-skills-skill-effect-csv-tools"]}, "flow_run_id": {"any_": [flow_run]}}
    [artifact] = ask("artifacts/filter", artifacts=key)
    assert "## with − without: 0.0 pp" in artifact["data"]
    assert "Tasks that got worse" in artifact["data"]
    assert "<script>" not in artifact["data"]
