"""A project's files: what is planned, what is written, and what is kept to the letter."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.config import load_config
from eval_skills.core.errors import UserError
from eval_skills.scaffolding.project import Ci, plan_project, write_project
from eval_skills.scaffolding.project_files import ProjectFolders

Files = dict[str, bytes]
WRITTEN = {
    "eval-skills.config.yaml", "skills/word-facts/skill.json", "skills/word-facts/skill.py", "benchmarks/words/benchmark.json",
    ".gitignore", "reports",
}  # fmt: skip


def places_in(folder: Path, **environ: str) -> ProjectFolders:
    """The places of a project, as a person sees them whose own configuration is in ``home``."""
    home = folder.parent / "home"
    return ProjectFolders.of(folder, load_config({}, environ=environ, cwd=folder, home=home), home)


def project(folder: Path, *, ci: Ci | None = None, **environ: str) -> dict[str, str]:
    """Write the project; the state of each of its parts."""
    parts = plan_project(places_in(folder, **environ), ci=ci)
    write_project(parts)
    return {os.path.relpath(part.path, folder): part.state for part in parts}


def content(folder: Path) -> Files:
    """Every file below the folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder; names with spaces are ordinary."""
    folder = tmp_path / "my project"
    folder.mkdir()
    return folder


def test_an_empty_folder_gets_everything(folder: Path) -> None:
    states = project(folder)
    assert states.keys() >= WRITTEN
    assert set(states.values()) == {"written"}
    assert all((folder / name).exists() for name in states)


def test_a_second_time_nothing_is_written(folder: Path) -> None:
    project(folder, ci="github")
    before = content(folder)
    assert set(project(folder, ci="github").values()) == {"kept"}
    assert content(folder) == before


def test_of_two_that_begin_at_once_the_second_is_told_to_call_again(folder: Path) -> None:
    first, second = (plan_project(places_in(folder)) for _ in range(2))
    write_project(first)
    before = content(folder)
    with pytest.raises(UserError, match=r"config\.yaml exists; it was created meanwhile; run the command again, which keeps it$"):
        write_project(second)
    assert content(folder) == before


def test_no_file_names_the_folder_that_it_was_written_in(folder: Path) -> None:
    project(folder, ci="github")
    assert [name for name, text in content(folder).items() if folder.name in text.decode()] == []
    assert b"--skills skills/word-facts --tasks" in content(folder)["skills/word-facts/README.md"]


def test_planning_writes_nothing(folder: Path) -> None:
    plan_project(places_in(folder), ci="github")
    assert list(folder.iterdir()) == []


def test_what_a_person_wrote_is_kept_to_the_letter(folder: Path, examples: Path) -> None:
    own = {"eval-skills.config.yaml": b"# mine\r\nruns: 3", "benchmarks/own.yaml": b"not: [checked", "notes.md": b"\xff"}
    own["skills/mine/skill.json"] = (examples / "calculator" / "skill.json").read_bytes()
    for name, text in own.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)
    states = project(folder)
    assert states == {
        "eval-skills.config.yaml": "kept", "skills": "kept", "benchmarks": "kept", "reports": "written", ".gitignore": "written",
    }  # fmt: skip
    assert content(folder).items() >= own.items()


def test_a_malformed_skill_is_no_example_so_one_is_written_beside_it(folder: Path) -> None:
    (folder / "skills" / "broken").mkdir(parents=True)
    (folder / "skills" / "broken" / "skill.json").write_text("{")
    assert project(folder)["skills/word-facts/skill.json"] == "written"
    assert (folder / "skills" / "broken" / "skill.json").read_text() == "{"


def test_the_first_own_benchmark_is_the_one_that_the_configuration_names(folder: Path) -> None:
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "own.json").write_text("{}")
    project(folder)
    assert load_config({}, environ={}, cwd=folder, home=folder).config.benchmark == "own"


def test_folders_of_a_kept_configuration_are_used(folder: Path) -> None:
    (folder / "eval-skills.config.yaml").write_text("skillsDir: agents\noutputDir: out/html\nstore: kept.db\n")
    states = project(folder)
    assert states["agents/word-facts/skill.json"] == states["out/html"] == "written"
    assert (folder / ".gitignore").read_text() == "/out/html/\n/kept.db\n/kept.store/\n"
    assert not (folder / "skills").exists()


def test_folders_of_a_variable_go_into_the_configuration(folder: Path) -> None:
    assert project(folder, EVAL_SKILLS_SKILLS_DIR="agents")["agents/word-facts/skill.py"] == "written"
    assert "\nskillsDir: ./agents\n" in (folder / "eval-skills.config.yaml").read_text()


def test_a_persons_own_settings_lead_no_project_elsewhere(folder: Path) -> None:
    own = folder.parent / "home" / ".eval-skills" / "config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("skillsDir: ~/all-skills\nstore: ~/results\nbenchmark: coding-easy\n")
    assert project(folder)["skills/word-facts/skill.json"] == "written"
    config = load_config({}, environ={}, cwd=folder, home=folder.parent / "home").config
    assert (config.skills_dir, config.store, config.benchmark) == (f"{folder}/skills", f"{folder}/eval-store", "words")
    assert content(folder.parent / "home").keys() == {".eval-skills/config.yaml"}


def test_nothing_is_written_outside_of_the_project(folder: Path) -> None:
    text = "skillsDir: ../s\nbenchmarksDir: ../b\noutputDir: ../r\nstore: s3://bucket/store\n"
    (folder / "eval-skills.config.yaml").write_text(text)
    states = project(folder)
    assert states == {"eval-skills.config.yaml": "kept", "../s": "kept", "../b": "kept", "../r": "kept", ".gitignore": "written"}
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    assert (folder / ".gitignore").read_text() == ""


@pytest.mark.parametrize(
    "name", ["skills", "benchmarks", "reports", ".gitignore", "skills/word-facts", "eval-skills.config.yaml", "eval-store"]
)
def test_what_is_in_the_way_is_refused_before_anything_is_written(folder: Path, name: str) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    is_file_expected = name in {".gitignore", "eval-skills.config.yaml"}
    path.mkdir() if is_file_expected else path.write_text("in the way")
    if name == "eval-store":  # the store is not made here; a run refuses it
        assert project(folder)[".gitignore"] == "written"
        return
    before = content(folder)
    with pytest.raises(UserError, match=path.name.replace(".", r"\.")):
        project(folder)
    assert content(folder) == before


LINES = "/reports/\n/eval-store/\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", LINES, id="empty"),
        pytest.param("*.log\n", f"*.log\n{LINES}", id="other-lines"),
        pytest.param("*.log", f"*.log\n{LINES}", id="no-last-newline"),
        pytest.param("*.log\r\nx", "*.log\r\nx\r\n/reports/\r\n/eval-store/\r\n", id="crlf"),
        pytest.param("*.log\r\n", "*.log\r\n/reports/\r\n/eval-store/\r\n", id="crlf-at-the-end"),
        pytest.param("/eval-store/\n", "/eval-store/\n/reports/\n", id="one-is-there"),
        pytest.param("reports\neval-store/**", None, id="other-spellings"),
        pytest.param("**/reports/\r\n eval-store/ \r\n", None, id="spellings-in-crlf"),
        pytest.param("!reports/\n/eval-store", None, id="somebody-keeps-the-reports"),
        pytest.param("#reports/\n", f"#reports/\n{LINES}", id="comment"),
        pytest.param("reports-old/\nmy/reports/\n", f"reports-old/\nmy/reports/\n{LINES}", id="similar-names"),
    ],
)
def test_gitignore_gets_the_missing_lines_and_never_twice(folder: Path, before: str, after: str | None) -> None:
    file = folder / ".gitignore"
    file.write_bytes(before.encode())
    assert project(folder)[".gitignore"] == ("kept" if after is None else "extended")
    assert file.read_bytes().decode() == (before if after is None else after)
    assert project(folder)[".gitignore"] == "kept"


def test_gitignore_keeps_its_bytes_its_mode_and_its_link(folder: Path) -> None:
    shared = folder.parent / "shared-ignore"
    shared.write_bytes(b"caf\xe9/\n")
    shared.chmod(0o640)
    (folder / ".gitignore").symlink_to(shared)
    assert project(folder)[".gitignore"] == "extended"
    assert shared.read_bytes() == b"caf\xe9/\n" + LINES.encode()
    assert (folder / ".gitignore").is_symlink()
    assert shared.stat().st_mode & 0o777 == 0o640


def test_signs_of_gitignore_in_a_folders_name_are_escaped(folder: Path) -> None:
    (folder / "eval-skills.config.yaml").write_text("outputDir: 'r[1]*'\n")
    project(folder)
    assert (folder / ".gitignore").read_text() == "/r\\[1\\]\\*/\n/eval-store/\n"


def test_the_example_skill_passes_the_example_benchmark_in_every_task(folder: Path) -> None:
    import asyncio

    from eval_skills.adapters import open_adapter
    from eval_skills.benchmarks import load_benchmark
    from eval_skills.core.skills import load_skill
    from eval_skills.scorers import score_response

    project(folder)
    benchmark = load_benchmark("words", benchmarks_dir=folder / "benchmarks")

    async def statuses() -> list[str]:
        async with open_adapter(load_skill(folder / "skills" / "word-facts"), subject=benchmark.subject) as adapter:
            return [(await score_response(task, await adapter.call(task.input_data, 60.0))).status for task in benchmark.tasks]

    assert asyncio.run(statuses()) == ["pass"] * len(benchmark.tasks)
    assert 4 <= len(benchmark.tasks) <= 6
    assert all(task.tags for task in benchmark.tasks)
    kinds: set[Any] = {task.evaluator_type for task in benchmark.tasks}
    assert kinds == {"exact_match", "contains", "regex", "json_schema"}
