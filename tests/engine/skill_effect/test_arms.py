from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Benchmark
from eval_skills.core.skill_effect.model import Arm
from eval_skills.engine.skill_effect.arms import Agent, Arms, make_arms
from eval_skills.engine.skill_effect.sham import something_else
from tests.tables import each_row

TEXT = "---\nname: csv-tools\ndescription: Reads CSV files. Use it for tables.\n---\n# How\nRead the header first.\n"


def agent_skill(folder: Path, text: str = TEXT) -> Path:
    (folder / "scripts").mkdir(parents=True)
    (folder / "evals" / "files").mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)
    (folder / "scripts" / "sum.py").write_text("print(1)\n")
    (folder / "evals" / "evals.json").write_text('{"secret": "the expected answer"}')
    (folder / "evals" / "files" / "a.csv").write_text("x\n1\n")
    return folder


def benchmark(*files: str) -> Benchmark:
    task = {"id": "t", "inputData": {"prompt": "Sum x.", "files": list(files)}, "expectedOutput": {"value": "1"}}
    return Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": [task]})


def arms(source: Path, root: Path, which: Sequence[Arm] = ("with", "without"), *files: str, **options: Any) -> Arms:
    return make_arms([source], which, Agent(runtime="custom"), benchmark(*files), files_in=[source], root=root, **options)


def files_of(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_an_arm_holds_the_agent_what_is_installed_and_the_fixtures_and_never_the_expectations(tmp_path: Path) -> None:
    made = arms(agent_skill(tmp_path / "csv-tools"), tmp_path / "root", ("with", "without"), "evals/files/a.csv")
    assert files_of(made.arms["with"]) == [
        "fixtures/evals/files/a.csv", "skill.json", "skills/csv-tools/SKILL.md", "skills/csv-tools/scripts/sum.py",
    ]  # fmt: skip
    assert files_of(made.arms["without"]) == ["fixtures/evals/files/a.csv", "skill.json"]
    skill = json.loads((made.arms["with"] / "skill.json").read_text())
    assert (skill["id"], skill["adapterType"], skill["entrypoint"]) == ("csv-tools-with", "agent", "custom")
    assert skill["adapterConfig"]["skills"] == ["skills/csv-tools"]
    assert "the expected answer" not in "".join(path.read_text() for path in made.folder.rglob("*") if path.is_file())


def test_equal_arms_are_the_same_folder_and_another_text_makes_another(tmp_path: Path) -> None:
    source = agent_skill(tmp_path / "csv-tools")
    first, again = (arms(source, tmp_path / "root").folder for _ in range(2))
    (source / "SKILL.md").write_text(TEXT + "More.\n")
    assert first == again != arms(source, tmp_path / "root").folder
    assert [each.name for each in (tmp_path / "root").iterdir() if each.name.startswith(".new-")] == []


def test_a_sham_has_the_name_the_description_and_the_length_and_nothing_else(tmp_path: Path) -> None:
    made = arms(agent_skill(tmp_path / "csv-tools"), tmp_path / "root", ("with", "sham"))
    assert files_of(made.arms["sham"] / "skills") == ["csv-tools/SKILL.md"]
    real, sham = ((made.arms[arm] / "skills/csv-tools/SKILL.md").read_text() for arm in ("with", "sham"))
    head, _, body = sham.rpartition("---\n")
    assert real.startswith(head + "---\n")
    assert (len(sham), "header" in body) == (len(real), False)


def test_a_sham_of_a_description_alone_is_the_same(tmp_path: Path) -> None:
    source = agent_skill(tmp_path / "csv-tools", "---\nname: csv-tools\ndescription: Reads CSV files.\n---\n")
    (source / "scripts" / "sum.py").unlink()
    made = arms(source, tmp_path / "root", ("with", "without", "sham"))
    assert made.remarks == ["the Agent Skill has no text below its description: the arms sham and with differ by chance alone"]


@each_row("characters", [0, 1, 500, 5_000])
def test_the_text_of_a_sham_has_any_length(characters: int) -> None:
    assert len(something_else(characters)) == characters


def test_links_and_pipes_in_an_agent_skill_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    source = agent_skill(tmp_path / "csv-tools")
    (source / "out").symlink_to(tmp_path / "secret.txt")
    (source / "in").symlink_to("scripts/sum.py")
    os.mkfifo(source / "pipe")
    made = arms(source, tmp_path / "root")
    assert files_of(made.arms["with"] / "skills/csv-tools") == ["SKILL.md", "scripts/sum.py"]


@pytest.mark.parametrize(
    "name", [pytest.param("evals/files/none.csv", id="missing"), pytest.param("../secret.txt", id="outside")]
)
def test_a_file_that_a_task_names_and_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    with pytest.raises(InputError, match="a task names the file"):
        arms(agent_skill(tmp_path / "csv-tools"), tmp_path / "root", ("with", "without"), name)


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
def test_the_arm_old_is_the_agent_skill_of_a_revision(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    source = agent_skill(tmp_path / "skills" / "csv-tools")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    same = arms(source, tmp_path / "root", ("with", "old"), old="HEAD")
    (source / "SKILL.md").write_text(TEXT.replace("first", "last"))
    made = arms(source, tmp_path / "root", ("with", "old"), old="HEAD")
    texts = [(made.arms[arm] / "skills/csv-tools/SKILL.md").read_text() for arm in ("with", "old")]
    assert ["last" in text for text in texts] == [True, False]
    assert ["same in both revisions" in remark for remark in same.remarks] == [True]
    assert made.remarks == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param({"old": "nowhere"}, "'nowhere' is not a revision", id="no-such-revision"),
        pytest.param({"old": "HEAD"}, "has no Agent Skill csv-tools", id="not-there-then"),
        pytest.param({}, "the arm old needs an earlier version", id="no-revision"),
    ],
)
def test_a_revision_that_cannot_be_an_arm(tmp_path: Path, options: dict[str, str], said: str) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-qm", "nothing", "--allow-empty")
    with pytest.raises((InputError, UsageError), match=said):
        arms(agent_skill(tmp_path / "csv-tools"), tmp_path / "root", ("with", "old"), **options)


def test_the_arm_old_may_be_a_folder(tmp_path: Path) -> None:
    earlier = agent_skill(tmp_path / "v1" / "csv-tools", TEXT.replace("first", "last"))
    made = arms(agent_skill(tmp_path / "csv-tools"), tmp_path / "root", ("with", "old"), old=str(earlier))
    assert "last" in (made.arms["old"] / "skills/csv-tools/SKILL.md").read_text()
