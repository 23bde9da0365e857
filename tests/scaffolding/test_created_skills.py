"""A skill that was just created passes its own tests, unedited: called by the real adapters, in the real flow."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.benchmarks import load_benchmark
from eval_skills.core.errors import SkillError
from eval_skills.core.skills import load_skill
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.scaffolding.draft import write_drafts
from eval_skills.scaffolding.names import skill_name
from eval_skills.scaffolding.skill_templates import TEMPLATES, TESTS_FILE, draft_skill
from eval_skills.scorers import score_response

PATIENCE_S = 60.0
QUICK_FIRST = [pytest.param(name, marks=[pytest.mark.slow] * (name in ("mcp_tool", "langchain"))) for name in TEMPLATES]
"""The templates; those whose start takes seconds are for the slow sweeps."""


def created(template: str, parent: Path) -> Path:
    draft = draft_skill(skill_name("Weather Lookup"), template, parent)
    write_drafts([draft])
    return draft.folder


@pytest.mark.usefixtures("prefect_url")
@pytest.mark.parametrize("template", QUICK_FIRST)
def test_p64_a_created_skill_passes_its_own_tests_unedited(template: str, tmp_path: Path) -> None:
    from eval_skills.flows import evaluate  # brings Prefect, for this test alone

    folder = created(template, tmp_path / "my skills")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    store, reports = str(tmp_path / "store"), str(tmp_path / "reports")
    asked = {"skills": [str(folder)], "tasks": str(folder / TESTS_FILE), "runs": 2, "store": store, "outputDir": reports}
    asked["concurrency"] = 1  # each place has a process of its own, whose imports take most of a second
    [report] = evaluate(EvaluateRequest.model_validate(asked)).reports
    assert {
        each.task_id: (each.status, each.error_message, each.reasons) for each in report.task_results if each.status != "pass"
    } == {}
    assert (report.summary.completion_rate, report.summary.error_rate) == (1.0, 0.0)
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
@pytest.mark.parametrize("template", QUICK_FIRST)
async def test_an_input_that_it_cannot_answer_is_its_error_and_not_its_end_and_its_tests_fail_once_it_answers_something_else(
    template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = created(template, tmp_path / "skills")
    program = next(folder.glob("*.py"))
    right, wrong = '{"words": len(words), "longest": max', '{"words": len(text), "longest": min'
    assert right in program.read_text()
    program.write_text(program.read_text().replace(right, wrong))
    if template in {"mcp_tool", "langchain", "custom"}:  # these run where no interpreter is on the path
        monkeypatch.setenv("PATH", str(tmp_path))
        assert shutil.which("python3") is shutil.which("python") is None
    async with open_adapter(load_skill(folder)) as adapter:
        with pytest.raises(SkillError, match="text"):
            await adapter.call({"txt": "a"}, PATIENCE_S)
        assert (await adapter.call({"text": "a bb"}, PATIENCE_S)).output == {"words": 4, "longest": "a"}
        assert {
            (await score_response(task, await adapter.call(task.input_data, PATIENCE_S))).status
            for task in load_benchmark(folder / TESTS_FILE).tasks
        } == {"fail"}
