"""What the subject `agent-skill` answers, and with which skills."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.package.agent_skill import AgentSkillAdapter
from eval_skills.adapters.registry import check_skill
from eval_skills.agent_skills.as_skill import as_skill
from eval_skills.agent_skills.linting.rules import RULES
from eval_skills.benchmarks import load_benchmark
from eval_skills.core.errors import InputError, SkillError
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.scorers import score_response_sync
from tests.tables import each_row

TEXT = "---\nname: pdf\ndescription: Reads PDF files.\nversion: 1.0\n---\nBody\n"


def skill(tmp_path: Path, text: str = TEXT) -> Skill:
    (tmp_path / "pdf").mkdir(exist_ok=True)
    (tmp_path / "pdf" / "SKILL.md").write_text(text, encoding="utf-8")
    return as_skill(tmp_path / "pdf" / "SKILL.md")


async def ask(asked: Skill, data: Any) -> dict[str, Any]:
    async with AgentSkillAdapter(asked) as adapter:
        output: dict[str, Any] = (await adapter.call(data, 60)).output
    return output


async def test_only_the_rules_of_the_sources_count(tmp_path: Path) -> None:
    found = await ask(skill(tmp_path), {"sources": ["spec"]})
    assert (found["errors"], found["warnings"], [each["code"] for each in found["findings"]]) == (1, 0, ["unknown-field"])
    assert found["checks"] == sum(rule.source == "spec" for rule in RULES.values())
    ours = await ask(skill(tmp_path), {"sources": ["eval-skills", "claude-code"], "profiles": ["spec"]})
    assert [each["code"] for each in ours["findings"]] == ["description-no-when"]
    assert ours["checks"] == sum(rule.source == "eval-skills" and not rule.of_many for rule in RULES.values())
    assert len((await ask(skill(tmp_path), {}))["findings"]) == 2


@each_row(
    "data",
    [
        pytest.param("spec", id="text"),
        pytest.param({"aspect": "x"}, id="unknown-key"),
        pytest.param({"profiles": []}, id="empty-list"),
        pytest.param({"profiles": ["spek"]}, id="unknown-name"),
    ],
)
async def test_another_question_is_refused(tmp_path: Path, data: Any) -> None:
    with pytest.raises(SkillError):
        await ask(skill(tmp_path), data)


def test_a_folder_without_a_skill_text_is_refused(tmp_path: Path) -> None:
    located = skill(tmp_path).located_in(tmp_path)
    with pytest.raises(InputError, match=r"no SKILL\.md"):
        check_skill(located, "agent-skill")


async def test_the_built_in_benchmark_scores_by_errors_and_warnings(tmp_path: Path) -> None:
    tasks = load_benchmark("agent-skill-package").tasks
    scores = {}
    for task in tasks:
        verdict = score_response_sync(task, SkillResponse(output=await ask(skill(tmp_path), task.input_data)))
        scores[task.id] = verdict.score
        assert not verdict.passed
    of_spec = sum(rule.source == "spec" for rule in RULES.values())
    of_ours = sum(rule.source == "eval-skills" and not rule.of_many for rule in RULES.values())
    assert scores == pytest.approx({"standard": 1 - 1 / of_spec, "practice": 1 - 0.1 / of_ours})
