"""Agent Skills on disk: read leniently, found within bounds, and never left by a link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eval_skills.agent_skills import folder as module
from eval_skills.agent_skills.folder import find_agent_skills, read_agent_skill
from eval_skills.core.errors import InputError


def write(folder: Path, text: str | None = None, name: str = "SKILL.md") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = text if text is not None else f"---\nname: {folder.name}\ndescription: Does it. Use when asked.\n---\nBody\n"
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_skill_is_read_by_its_folder_or_file(tmp_path: Path) -> None:
    write(tmp_path / "pdf", "---\nname: pdf\ndescription: ' Reads. '\nversion: 1.0\n---\nBody\n")
    skill = read_agent_skill(tmp_path / "pdf")
    assert (skill.name, skill.description, skill.body, skill.text("version")) == ("pdf", "Reads.", "Body\n", "1.0")
    assert (skill.folder, skill.remarks) == (tmp_path / "pdf", ())
    assert read_agent_skill(tmp_path / "pdf" / "SKILL.md") == skill


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("---\nname: Not_Valid\ndescription: d\n---\n", "Not_Valid", id="against-the-standard"),
        pytest.param("---\ndescription: d\n---\n", "folder", id="none"),
        pytest.param("---\nname: ../../etc\ndescription: d\n---\n", "folder", id="a-path"),
        pytest.param("---\nname: ..\ndescription: d\n---\n", "folder", id="dots"),
        pytest.param('---\nname: "a\\nb"\ndescription: d\n---\n', "folder", id="two-lines"),
        pytest.param("---\nname: [a]\ndescription: d\n---\n", "folder", id="a-list"),
        pytest.param("---\nname: 技能\ndescription: d\n---\n", "技能", id="other-letters"),
    ],
)
def test_a_name_can_always_be_a_folders(tmp_path: Path, text: str, name: str) -> None:
    assert read_agent_skill(write(tmp_path / "folder", text)).name == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("---\nname: a\n---\n", "no description", id="no-description"),
        pytest.param("---\nname: a\ndescription: ' '\n---\n", "no description", id="blank-description"),
        pytest.param("---\nname: 'a\n---\n", "not valid YAML", id="dead-yaml"),
        pytest.param("# A\n", "no frontmatter", id="no-frontmatter"),
        pytest.param("---\n" + "x" * 1_000_001, "1,000,005 bytes", id="too-large"),
    ],
)
def test_what_no_client_loads_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_agent_skill(write(tmp_path / "a", text))


@pytest.mark.parametrize("path", ["missing", "other.md", "."])
def test_where_there_is_none(tmp_path: Path, path: str) -> None:
    (tmp_path / "other.md").write_text("x")
    with pytest.raises(InputError, match=r"no such file|not a SKILL\.md|has no SKILL\.md"):
        read_agent_skill(tmp_path / path)


def test_upper_case_is_preferred(tmp_path: Path) -> None:
    write(tmp_path / "a", "---\nname: lower\ndescription: d\n---\n", "skill.md")
    assert read_agent_skill(tmp_path / "a").name == "lower"
    write(tmp_path / "a", "---\nname: upper\ndescription: d\n---\n")
    assert read_agent_skill(tmp_path / "a").name == "upper"


def test_a_link_out_of_the_folder_and_a_fifo_are_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("---\nname: a\ndescription: d\n---\n")
    for name in ("linked", "fifo", "inside"):
        (tmp_path / name).mkdir()
    (tmp_path / "linked" / "SKILL.md").symlink_to(outside)
    os.mkfifo(tmp_path / "fifo" / "SKILL.md")
    write(tmp_path / "inside", name="real.md")
    (tmp_path / "inside" / "SKILL.md").symlink_to("real.md")
    found = find_agent_skills(tmp_path)
    assert [skill.name for skill in found.skills] == ["inside"]
    assert [bad.path.parent.name for bad in found.invalid] == ["fifo", "linked"]
    assert "not a regular file" in found.invalid[0].reason
    assert "leads out of the folder" in found.invalid[1].reason


def test_what_is_searched(tmp_path: Path) -> None:
    for place in (
        ".agents/skills/one", ".claude/skills/two", "skills/three", "skills/three/evals/files/inner", ".git/four",
        "node_modules/five", "venv/six", "1/2/3/4/5/six-deep", "1/2/3/4/5/6/seven-deep",
    ):  # fmt: skip
        write(tmp_path / place)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    (tmp_path / "linked").symlink_to(tmp_path / "skills")
    found = find_agent_skills(tmp_path)
    assert [skill.name for skill in found.skills] == ["one", "two", "six-deep", "three"]
    assert found.remarks == [
        f"not searched deeper than 6 levels: {tmp_path}/1/2/3/4/5/6",
        f"links to folders are not followed: {tmp_path}/linked",
    ]
    assert [skill.name for skill in find_agent_skills(tmp_path / "skills" / "three").skills] == ["three"]


def test_a_folder_that_is_called_like_the_file_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    write(tmp_path / "pdf")
    found = find_agent_skills(tmp_path)
    assert ([skill.name for skill in found.skills], [each.path for each in found.invalid]) == (["pdf"], [tmp_path / "SKILL.md"])


def test_many_folders_are_not_all_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FOLDERS", 5)
    for number in range(9):
        write(tmp_path / f"s{number}")
    found = find_agent_skills(tmp_path)
    assert [skill.name for skill in found.skills] == ["s0", "s1", "s2", "s3"]
    assert "only the first 5 folders" in found.remarks[0]


def test_one_name_in_two_folders_is_named(tmp_path: Path) -> None:
    write(tmp_path / ".agents/skills/pdf")
    write(tmp_path / ".claude/skills/pdf")
    found = find_agent_skills(tmp_path)
    assert len(found.skills) == 2
    assert found.remarks[0].startswith(f"pdf is in two folders, {tmp_path}/.agents/skills/pdf and {tmp_path}/.claude/skills/pdf")


def test_a_malformed_skill_does_not_hide_the_others(tmp_path: Path) -> None:
    write(tmp_path / "bad", "nothing")
    write(tmp_path / "good")
    found = find_agent_skills(tmp_path)
    assert ([skill.name for skill in found.skills], len(found.invalid)) == (["good"], 1)
    assert f"{tmp_path}/bad/SKILL.md:1: there is no frontmatter" in found.invalid[0].reason


def test_a_missing_root_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        find_agent_skills(tmp_path / "none")
