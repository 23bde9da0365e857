"""The workflow that ``init --ci github`` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.documents.loading import read_document
from eval_skills.scaffolding.project_files import workflow


def loaded(folder: Path, reports: Path) -> tuple[Path, Any]:
    """Where the workflow belongs, and what a YAML parser reads in it."""
    path, text = workflow(folder, reports)
    copy = folder / "copy.yaml"
    copy.write_text(text)
    return path, read_document(copy)


def test_its_structure_is_a_workflows(tmp_path: Path) -> None:
    path, document = loaded(tmp_path, tmp_path / "reports")
    assert path == tmp_path / ".github" / "workflows" / "eval-skills.yaml"
    assert document.keys() == {"name", "on", "permissions", "jobs"}  # `on` as text: unquoted it is true to YAML 1.1
    assert document["on"].keys() == {"push", "pull_request", "workflow_dispatch"}
    assert document["permissions"] == {"contents": "read"}
    [job] = document["jobs"].values()
    assert job["runs-on"]
    assert job["timeout-minutes"] > 0
    assert job["defaults"]["run"]["working-directory"] == "."
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])


def test_its_steps_check_out_install_evaluate_and_keep_the_reports(tmp_path: Path) -> None:
    _, document = loaded(tmp_path, tmp_path / "reports")
    [job] = document["jobs"].values()
    checkout, python, install, evaluate, upload = job["steps"]
    assert [step["uses"].partition("@")[0] for step in (checkout, python, upload)] == [
        "actions/checkout", "actions/setup-python", "actions/upload-artifact",
    ]  # fmt: skip
    assert all(step["uses"].partition("@")[2].strip("v").isdigit() for step in (checkout, python, upload))  # a major version
    assert python["with"] == {"python-version": "3.12"}  # as text: 3.10 would be the number 3.1
    assert install["run"] == "pip install eval-skills"
    assert evaluate["run"] == "eval-skills run --exit-on-fail --format junit markdown json"
    assert upload["if"] == "always()"  # the reports of a failed gate are the interesting ones
    assert upload["with"]["path"] == "reports/"


def test_the_nightly_run_is_there_to_be_switched_on(tmp_path: Path) -> None:
    _, text = workflow(tmp_path, tmp_path / "reports")
    file = tmp_path / "nightly.yaml"
    file.write_text(text.replace("  #schedule:", "  schedule:").replace("  #  - cron", "    - cron"))
    assert read_document(file)["on"]["schedule"] == [{"cron": "17 3 * * *"}]


@pytest.mark.parametrize("kind", ["folder", "worktree"])
def test_below_a_repository_it_belongs_to_the_repositorys_root(tmp_path: Path, kind: str) -> None:
    (tmp_path / ".git").mkdir() if kind == "folder" else (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    project = tmp_path / "apps" / "Été: agents & <co>"
    project.mkdir(parents=True)
    path, document = loaded(project, project / "out")
    assert path == tmp_path / ".github" / "workflows" / "eval-skills-apps-t-agents-co.yaml"
    [job] = document["jobs"].values()
    assert job["defaults"]["run"]["working-directory"] == "apps/Été: agents & <co>"
    assert job["steps"][-1]["with"]["path"] == "apps/Été: agents & <co>/out/"
    assert document["name"] == path.stem
