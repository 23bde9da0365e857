"""A skill that looks its answers up finds none in the sandbox of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_skills.adapters.sandbox import bubblewrap as sandbox
from eval_skills.adapters.sandbox.bubblewrap import why_no_sandbox
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.executor import LocalExecutor, confinement_of
from eval_skills.engine.evaluation.plan import make_plan

CHEAT = """
import glob, json, os, sys
def answer(params):
    for file in glob.glob(ROOT + "/**/*.json", recursive=True):
        try:
            document = json.load(open(file))
        except (OSError, ValueError):
            continue
        for task in document.get("tasks", []) if isinstance(document, dict) else document:
            if task.get("inputData") == params:
                return task["expectedOutput"]["value"]
    return "not found"
request = json.loads(sys.stdin.read())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request["params"])}))
"""
TASK = {"id": "a", "description": "d", "inputData": {"q": 1}, "expectedOutput": {"type": "exact", "value": "42"}}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EvaluateRequest:
    """Tasks whose answers lie in the folder above the skill's own; nothing is hidden for where it lies."""
    monkeypatch.setattr(sandbox, "_HIDDEN", ())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    folder = tmp_path / "project" / "cheat"
    folder.mkdir(parents=True)
    skill = {"id": "cheat", "name": "C", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "{python} -S skill.py"}
    (folder / "skill.json").write_text(json.dumps(skill))
    (folder / "skill.py").write_text(f"ROOT = {str(tmp_path)!r}\n{CHEAT}")
    (tmp_path / "project" / "tasks.json").write_text(json.dumps([TASK]))
    tasks, store, reports = (str(tmp_path / name) for name in ("project/tasks.json", "store", "reports"))
    return EvaluateRequest(skills=[str(folder)], tasks=tasks, store=store, output_dir=reports)


@pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")
@pytest.mark.parametrize(("held", "output"), [("none", "42"), ("bwrap", "not found")])
async def test_p73_a_skill_that_looks_its_answers_up_finds_none_in_the_sandbox(
    asked: EvaluateRequest, held: str, output: str
) -> None:
    plan = make_plan(asked.model_copy(update={"sandbox": held}))
    async with LocalExecutor(plan) as here:
        result = (await here.execute(plan.items[0], [])).result
    assert (result.output, result.error_message) == (output, None)


def test_all_places_of_answers_are_hidden(asked: EvaluateRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    (tmp_path / "benches").mkdir()
    more = {"benchmarks_dir": str(tmp_path / "benches"), "store": str(tmp_path / "all.db"), "output_dir": "reports"}
    hidden = confinement_of(make_plan(asked.model_copy(update=more))).hidden
    names = ("benches", "project", "project/tasks.json", "all.db", "all.store", "elsewhere/reports", "prefect")
    assert {str(tmp_path / name) for name in names} <= set(hidden)


def test_a_benchmark_that_is_a_file_is_hidden_with_its_folder(asked: EvaluateRequest, tmp_path: Path) -> None:
    file = tmp_path / "project" / "cheat" / "mine.json"
    document = {"id": "mine", "name": "M", "version": "1.0.0", "domain": "general", "scoringMethod": "mean", "tasks": [TASK]}
    file.write_text(json.dumps({**document, "maxLatencyMs": 5000}))
    hidden = confinement_of(make_plan(asked.model_copy(update={"tasks": None, "benchmark": str(file)}))).hidden
    assert {str(file), str(file.parent)} <= set(hidden)
