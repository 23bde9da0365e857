"""An Agent Skill that was just created: its folder has no findings, its script works, and its evals mean what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eval_skills.agent_skills.linting.linting import lint_skill
from eval_skills.benchmarks.importers.importing import import_tasks
from eval_skills.core.errors import UsageError
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.scaffolding.agent_skill import draft_agent_skill
from eval_skills.scaffolding.draft import write_drafts
from eval_skills.scaffolding.names import skill_name
from eval_skills.scorers import TaskScoring
from tests.tables import each_row


def created(folder: Path, name: str = "CSV totals", **more: Any) -> Path:
    draft = draft_agent_skill(skill_name(name), folder, **more)
    write_drafts([draft])
    return draft.folder


@each_row("profile", ["spec", "anthropic-upload", "claude-code"])
def test_it_lints_clean(tmp_path: Path, profile: str) -> None:
    assert lint_skill(created(tmp_path / profile), (profile,)).findings == ()


@each_row(
    ("name", "folder"),
    [("csv_totals", "csv-totals"), ("__a__b__", "a-b"), ("Überfluß & Co.", "uberfluss-co"), ("n" * 64, "n" * 64)],
)
def test_its_name_follows_the_standard(tmp_path: Path, name: str, folder: str) -> None:
    assert created(tmp_path, name).name == folder
    found = import_tasks(tmp_path / folder)
    assert found.benchmark.id == folder


@each_row(
    "description",
    ['It says "no": --- and\\more <b> {{ id }} # ünï', "x" * 1024],
)
def test_a_description_stays_text(tmp_path: Path, description: str) -> None:
    folder = created(tmp_path / str(len(description)), description=description)
    assert [finding.code for finding in lint_skill(folder).findings if finding.severity == "error"] == []


def test_what_is_too_long_for_the_standard_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at most 64"):
        created(tmp_path, "n" * 65)
    with pytest.raises(UsageError, match="at most 1,024"):
        created(tmp_path, description="x" * 1025)


def test_half_of_the_queries_should_not_load_it(tmp_path: Path) -> None:
    found = import_tasks(created(tmp_path) / "evals" / "eval_queries.json").benchmark
    tags = [tag for task in found.tasks for tag in task.tags]
    assert tags.count("should-trigger") == tags.count("should-not-trigger") >= 8


@pytest.mark.slow
async def test_its_script_passes_what_a_program_checks_of_its_evals(tmp_path: Path) -> None:
    folder = created(tmp_path)
    sums = {"eval-1": ("region", "totals.csv"), "eval-2": ("month", "by_month.csv")}
    for task in import_tasks(folder).benchmark.tasks:
        if task.id in sums:
            column, output = sums[task.id]
            given = folder / "evals" / "files" / "sales.csv"
            words = ["scripts/totals.py", str(given), "--by", column, "--sum", "revenue", "--output", output]
            subprocess.run([sys.executable, *words], cwd=folder, check=True)
            await _hold(task, output, (folder / output).read_bytes().decode())


async def _hold(task: EvalTask, name: str, content: str) -> None:
    """Every assertion that no model judges holds of this file, and none of an empty one."""
    checks = [each for each in task.evaluators or [] if each.type != "llm_judge"]
    scoring = TaskScoring(task.model_copy(update={"evaluators": checks}))
    assert len(checks) >= 4
    for text, passes in ((content, True), ("", False)):
        made = {"path": name, "change": "added", "content": text}
        verdict = await scoring.verdict(SkillResponse.model_validate({"output": "done", "files": [made]}))
        assert verdict.passed is passes, verdict.reasons
