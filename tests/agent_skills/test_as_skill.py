"""Folders with a SKILL.md as skills that can be inspected and found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_skills.agent_skills.as_skill import as_skill, is_agent_skill, load_inspected
from eval_skills.core.errors import InputError, UsageError
from eval_skills.engine.evaluation.plan import folders_at, skills_at

CALLABLE = {"id": "both", "name": "Both", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "python3 x.py"}


def write(folder: Path, *fields: str, text: str | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(["---", *fields, "description: d", "---", ""]) if text is None else text
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        pytest.param(["name: pdf"], "pdf@0.0.0", id="no-version"),
        pytest.param(["name: pdf", "metadata:", "  version: 1.2"], "pdf@1.2.0", id="two-numbers"),
        pytest.param(["name: pdf", "metadata:", "  version: v01.2.3"], "pdf@1.2.3", id="leading-zero"),
        pytest.param(["name: pdf", "metadata:", "  version: beta"], "pdf@0.0.0", id="no-number"),
        pytest.param(["name: PDF Tools"], "pdf-tools@0.0.0", id="not-an-id"),
        pytest.param(["license: x"], "folder@0.0.0", id="no-name"),
    ],
)
def test_identity(tmp_path: Path, fields: list[str], key: str) -> None:
    skill = as_skill(write(tmp_path / "folder", *fields) / "SKILL.md")
    assert (skill.key, skill.folder, is_agent_skill(skill)) == (key, (tmp_path / "folder").resolve(), True)


def test_other_letters_get_an_id_and_dead_files_are_skills_too(tmp_path: Path) -> None:
    assert as_skill(write(tmp_path / "x", "name: 技能") / "SKILL.md").id.startswith("skill-")
    assert as_skill(write(tmp_path / "dead", text="nothing") / "SKILL.md").id == "dead"


def test_a_skill_json_wins(tmp_path: Path) -> None:
    write(tmp_path / "one", "name: one")
    (write(tmp_path / "both", "name: other") / "skill.json").write_text(json.dumps(CALLABLE))
    found = load_inspected([str(tmp_path), str(tmp_path / "one" / "SKILL.md")])
    assert [(skill.key, is_agent_skill(skill)) for skill in found.skills] == [("both@1.0.0", False), ("one@0.0.0", True)]
    assert [skill.key for skill in skills_at([str(tmp_path)], "call").skills] == ["both@1.0.0"]
    assert folders_at([str(tmp_path)]) == {str((tmp_path / name).resolve()) for name in ("one", "both")}


def test_what_is_no_skill_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError, match=r"no such file|no SKILL\.md"):
            skills_at([str(path)], "agent-skill")
    write(tmp_path / "a", "name: x")
    write(tmp_path / "b", "name: x")
    with pytest.raises(UsageError, match=r"x@0\.0\.0 is in two folders"):
        skills_at([str(tmp_path)], "agent-skill")
