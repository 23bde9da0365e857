"""`init`: a folder in which `run` works at once, and nothing that was there is touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tables import each_row

Run = Callable[..., Any]


@pytest.fixture
def empty(place: Any) -> Any:
    """The same place without the calculator."""
    import shutil

    shutil.rmtree(place.folder / "skills")
    return place


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_second_call_changes_nothing_and_says_so(empty: Any, run_here: Run) -> None:
    first = run_here("init")
    assert (first.code, first.err) == (0, "")
    assert "written   eval-skills.config.yaml\n" in first.out
    assert first.out.endswith("\nnext      eval-skills run\n")
    before = content(empty.folder)
    second = run_here("init")
    assert (second.code, second.err) == (0, "")
    assert "written" not in second.out
    assert "kept      skills/  (already has 1 skill)\n" in second.out
    assert "nothing changed: everything is there already\n" in second.out
    assert content(empty.folder) == before


@pytest.mark.slow
def test_find_benchmarks_and_the_plan_of_a_run_see_the_project(empty: Any, run_here: Run) -> None:
    run_here("init")
    assert [skill["id"] for skill in run_here("find", "--json").json["skills"]] == ["word-facts"]
    assert "words" in [benchmark["id"] for benchmark in run_here("benchmarks", "list", "--json").json["benchmarks"]]
    plan = run_here("run", "--dry-run", "--json")
    assert (plan.code, plan.err) == (0, "")
    assert (plan.json["benchmark"], plan.json["skills"]) == ("words@1.0.0", ["word-facts@0.1.0"])
    assert plan.json["remarks"] == []


@pytest.mark.slow
def test_an_existing_configuration_skill_and_gitignore_stay(place: Any, run_here: Run) -> None:
    config = place.write("eval-skills.config.yaml", "# mine\nruns: 2\n")
    ignored = place.write(".gitignore", "*.log")
    before = content(place.folder)
    result = run_here("init", "--json")
    assert result.code == 0
    states = {str(Path(file["path"]).relative_to(place.folder)): file["state"] for file in result.json["files"]}
    assert states == {
        "eval-skills.config.yaml": "kept", "skills": "kept", "benchmarks/words/benchmark.json": "written", "reports": "written",
        ".gitignore": "extended",
    }  # fmt: skip
    assert config.read_text() == "# mine\nruns: 2\n"
    assert ignored.read_text() == "*.log\n/reports/\n/eval-store/\n"
    assert {name: text for name, text in content(place.folder).items() if name in before and name != ".gitignore"} == {
        name: text for name, text in before.items() if name != ".gitignore"
    }
    [remark] = result.json["remarks"]
    assert remark == "eval-skills.config.yaml was kept; add benchmark: words to it, so that eval-skills run needs no option"
    assert result.json["next"] == "eval-skills run --benchmark words"
    assert run_here("run", "--benchmark", "words", "--dry-run", "--json").json["benchmark"] == "words@1.0.0"
    config.write_text("runs: 2\nbenchmark: coding-easy\n")
    again = run_here("init", "--json").json
    assert (again["remarks"], again["next"]) == ([], "eval-skills run")


@pytest.mark.slow
@each_row(
    ("project", "options"),
    [
        pytest.param(
            "", ["--benchmark", "words", "--skills-dir", "./skills", "--benchmarks-dir", "./benchmarks"], id="says-nothing"
        ),
        pytest.param("skillsDir: skills", ["--benchmark", "words", "--benchmarks-dir", "./benchmarks"], id="says-a-part"),
        pytest.param(
            "benchmarksDir: benchmarks\nrun: {benchmark: words, skillsDir: skills}", [], id="says-all-in-the-group-of-run"
        ),
    ],
)
def test_a_run_beside_a_kept_configuration_is_told_what_the_persons_own_file_would_decide(
    empty: Any, run_here: Run, monkeypatch: pytest.MonkeyPatch, project: str, options: list[str]
) -> None:
    home = empty.write("home/.eval-skills/config.yaml", "skillsDir: /elsewhere\nbenchmarksDir: /elsewhere\nbenchmark: gaia\n")
    monkeypatch.setattr(Path, "home", lambda: home.parents[1])
    empty.write("eval-skills.config.yaml", project)
    assert run_here("init", "--json").json["next"] == " ".join(["eval-skills run", *options])


def test_a_named_configuration_stays_named(empty: Any, run_here: Run) -> None:
    empty.write("eval-skills.config.yaml", "")
    config = empty.write("ci.yaml", "skillsDir: agents\n")
    result = run_here("init", "-c", "ci.yaml", "--json")
    assert result.json["next"] == f"eval-skills run --config {config} --benchmark words"
    assert f"{config} was kept; add benchmark: words" in result.json["remarks"][0]


@pytest.mark.parametrize("folder", ["new", "new/nested", "with spaces/and 'quotes'", "./new/../new", "-dash"])
def test_a_folder_that_is_missing_is_made(empty: Any, run_here: Run, folder: str) -> None:
    result = run_here("init", f"--dir={folder}", "--json")
    assert (result.code, result.err) == (0, "")
    assert (empty.folder / folder / "eval-skills.config.yaml").is_file()
    import subprocess

    command = result.json["next"].replace("eval-skills run", "pwd")
    there = subprocess.run(["sh", "-c", command], cwd=empty.folder, capture_output=True, text=True, check=True)
    assert there.stdout == f"{result.json['folder']}\n"  # the next command can be pasted


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["--dir", "file"], "--dir", id="a-file"),
        pytest.param(["--dir", "file/below"], "--dir", id="below-a-file"),
        pytest.param(["--dir", "/proc/nope"], "--dir /proc/nope: a project cannot be written here", id="unwritable"),
        pytest.param(["--dir", ""], "--dir is blank; give a value", id="blank"),
        pytest.param(["--dir", "a\nb"], "--dir contains the character", id="line-break"),
        pytest.param(["--dir"], "--dir requires an argument", id="no-value"),
        pytest.param(["--ci", "gitlab"], "--ci", id="unknown-ci"),
        pytest.param(["--ci"], "--ci requires an argument", id="no-ci"),
        pytest.param(["--dir", "broken"], "unknown key 'runz'", id="p60-a-configuration-that-cannot-be-used"),
        pytest.param(["--dir", "blocked"], "benchmarks is a file", id="file-in-the-way"),
        pytest.param(["--dir", "blocked-ci", "--ci", "github"], ".github", id="ci-file-in-the-way"),
        pytest.param(["-c", "nope.yaml"], "nope.yaml: no such file", id="missing-config"),
        pytest.param(["extra"], "extra", id="argument"),
    ],
)
def test_p40_bad_input_is_refused_in_a_line_and_nothing_is_written(
    empty: Any, run_here: Run, arguments: list[str], says: str
) -> None:
    empty.write("file", "x")
    empty.write("broken/eval-skills.config.yaml", "runz: 3\n")
    empty.write("blocked/benchmarks", "x")
    empty.write("blocked-ci/.github", "x")
    before = empty.files()
    result = run_here("init", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert says in result.err
    assert empty.files() == before


@pytest.mark.slow
def test_a_workflow_is_written_when_asked_and_at_the_root_of_the_repository(empty: Any, run_here: Run) -> None:
    (empty.folder / ".git").mkdir()
    assert run_here("init").code == 0
    assert not (empty.folder / ".github").exists()
    assert "written   .github/workflows/eval-skills.yaml\n" in run_here("init", "--ci", "github").out
    below = run_here("init", "--dir", "apps/agents", "--ci", "github")
    assert "written   ../../.github/workflows/eval-skills-apps-agents.yaml\n" in below.out
    assert (empty.folder / "apps/agents/.gitignore").is_file()


def test_places_of_a_named_configuration_are_used(empty: Any, run_here: Run) -> None:
    empty.write("ci.yaml", "skillsDir: agents\n")
    assert run_here("init", "-c", "ci.yaml").code == 0
    assert (empty.folder / "agents" / "word-facts" / "skill.json").is_file()
    assert [skill["id"] for skill in run_here("find", "--json").json["skills"]] == ["word-facts"]


@pytest.mark.slow
def test_run_works_right_after_and_prints_a_ranking(empty: Any, server_url: str) -> None:
    environ = {"PREFECT_API_URL": server_url}
    assert empty.call("init", "--dir", "my project").code == 0
    work = empty.folder / "my project"
    result = empty.call("run", cwd=work, environ=environ)
    assert result.code == 0, result.err
    assert "words@1.0.0\n" in result.out
    assert "1  word-facts@0.1.0     100.0 %" in result.out
    assert {path.suffix for path in (work / "reports").iterdir()} == {".json", ".md"}
    assert (work / "eval-store").is_dir()


@pytest.mark.slow
def test_the_workflows_command_passes_and_tells_the_job(empty: Any, server_url: str) -> None:
    from eval_skills.core.documents.loading import read_document

    assert empty.call("init", "--ci", "github").code == 0
    [job] = read_document(empty.folder / ".github" / "workflows" / "eval-skills.yaml")["jobs"].values()
    [command] = [step["run"] for step in job["steps"] if step["name"] == "Evaluate"]
    summary, outputs = empty.folder / "summary.md", empty.folder / "outputs"
    environ = {"PREFECT_API_URL": server_url, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    environ["GITHUB_OUTPUT"] = str(outputs)
    result = empty.call(*command.split()[1:], environ=environ)
    assert result.code == 0, result.err
    assert "gate passed" in result.out
    assert "word-facts" in summary.read_text()
    assert {path.suffix for path in (empty.folder / "reports").iterdir()} == {".html", ".json", ".md", ".xml"}
    named, finished = outputs.read_text().splitlines()
    comment = empty.call("report", "comment", named.removeprefix("run-id="))  # as the workflow's next step does
    assert (comment.code, finished) == (0, "finished=true")
    assert "✔ gate passed · 1 skill, 5 items, without a comparison" in comment.out
    [report] = json.loads(next((empty.folder / "reports").glob("*.json")).read_text())
    assert report["summary"]["completionRate"] == 1
