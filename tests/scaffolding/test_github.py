"""The workflow that ``init --ci github`` writes."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.documents.loading import read_document
from eval_skills.scaffolding.project_files import action, workflow


def loaded(folder: Path, reports: Path, store: str | None = None) -> tuple[Path, Any]:
    """Where the workflow belongs, and what a YAML parser reads in it."""
    path, text = workflow(folder, reports, store or str(folder / "eval-store"))
    copy = folder / "copy.yaml"
    copy.write_text(text)
    return path, read_document(copy)


def test_its_structure_is_a_workflows(tmp_path: Path) -> None:
    path, document = loaded(tmp_path, tmp_path / "reports")
    assert path == tmp_path / ".github" / "workflows" / "eval-skills.yaml"
    assert document.keys() == {"name", "on", "permissions", "jobs"}  # `on` as text: unquoted it is true to YAML 1.1
    assert document["on"].keys() == {"push", "pull_request", "workflow_dispatch"}
    assert document["permissions"] == {"contents": "read", "pull-requests": "write", "checks": "write"}
    [job] = document["jobs"].values()
    assert job["runs-on"]
    assert job["timeout-minutes"] > 0
    assert job["defaults"]["run"]["working-directory"] == "."
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])


def test_its_steps_check_out_install_evaluate_and_keep_the_reports(tmp_path: Path) -> None:
    _, document = loaded(tmp_path, tmp_path / "reports")
    [job] = document["jobs"].values()
    checkout, python, install, back, baseline, evaluate, keep, say, note, keep_baseline, tests, upload = job["steps"]
    used = [checkout, python, back, baseline, keep, say, keep_baseline, tests, upload]
    assert [step["uses"].partition("@")[0] for step in used] == [
        "actions/checkout", "actions/setup-python", "actions/cache/restore", "actions/cache/restore", "actions/cache/save",
        "./.github/actions/eval-skills", "actions/cache/save", "mikepenz/action-junit-report", "actions/upload-artifact",
    ]  # fmt: skip
    versions = [step["uses"].partition("@")[2] for step in used if step is not say]
    assert all(version.strip("v").isdigit() for version in versions)  # a major version
    assert python["with"] == {"python-version": "3.12"}  # as text: 3.10 would be the number 3.1
    assert install["run"] == f'pip install "eval-skills=={version("eval-skills")}"'
    assert evaluate["run"] == "eval-skills run --exit-on-fail --format junit html markdown json"
    assert keep["if"] == tests["if"] == upload["if"] == "always()"  # the reports of a failed gate are the interesting ones
    assert (back["with"]["path"], keep["with"]["path"], tests["with"]["report_paths"]) == (
        "eval-store",
        "eval-store",
        "reports/*.xml",
    )
    for restored, saved in ((back, keep), (baseline, keep_baseline)):
        assert restored["with"]["key"] == saved["with"]["key"]
        assert restored["with"]["key"].startswith(restored["with"]["restore-keys"])
    assert upload["with"]["path"] == "reports/"
    assert say["with"]["source"] == note["env"]["RUN_ID"] == "${{ steps.evaluate.outputs.run-id }}"  # which the run sets
    assert say["with"]["baseline"].removeprefix("${{ github.workspace }}") in note["run"]
    assert "github.event.repository.default_branch" in note["if"]
    assert keep_baseline["if"] == "${{ !cancelled() && steps.note.outcome == 'success' }}"


def test_what_the_workflow_gives_its_action_is_an_input_of_it(tmp_path: Path) -> None:
    _, document = loaded(tmp_path, tmp_path / "reports")
    [job] = document["jobs"].values()
    [given] = [step["with"] for step in job["steps"] if step.get("uses", "").startswith("./")]
    files = {path.relative_to(tmp_path).as_posix(): text for path, text in action(tmp_path)}
    assert files.keys() == {".github/actions/eval-skills/action.yaml", ".github/actions/eval-skills/post.py"}
    copy = tmp_path / "action.yaml"
    copy.write_text(files[".github/actions/eval-skills/action.yaml"])
    assert given.keys() <= read_document(copy)["inputs"].keys()
    ours = Path(__file__).parents[2]
    assert {name: (ours / name).read_text() for name in files} == files  # what this repository offers is the same action


def test_the_judge_s_key_has_a_place(tmp_path: Path) -> None:
    _, text = workflow(tmp_path, tmp_path / "reports", str(tmp_path / "eval-store"))
    file = tmp_path / "judged.yaml"
    file.write_text(text.replace("        #env:", "        env:").replace("        #  OPENAI", "          OPENAI"))
    [job] = read_document(file)["jobs"].values()
    assert [step.get("env") for step in job["steps"] if step["name"] == "Evaluate"] == [
        {"OPENAI_API_KEY": "${{ secrets.OPENAI_API_KEY }}"}
    ]


@pytest.mark.parametrize(("store", "kept"), [("s3://bucket/store", []), ("out/x.db", ["out/x.db\nout/x.store"] * 2)])
def test_the_store_is_kept_where_it_lies(tmp_path: Path, store: str, kept: list[str]) -> None:
    _, document = loaded(tmp_path, tmp_path / "reports", store if "://" in store else str(tmp_path / store))
    [job] = document["jobs"].values()
    assert [step["with"]["path"] for step in job["steps"] if step["name"].endswith("the store")] == kept


def test_the_nightly_run_is_there_to_be_switched_on(tmp_path: Path) -> None:
    _, text = workflow(tmp_path, tmp_path / "reports", str(tmp_path / "eval-store"))
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
