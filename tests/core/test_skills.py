"""Skills are found wherever they lie; a malformed one never hides its neighbours, and a named one is never skipped."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.skills import discover_skills, load_skill, load_skills


def put(folder: Path, skill_id: str = "s", version: str = "1.0.0", **more: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    data = {"id": skill_id, "name": skill_id, "version": version, "adapterType": "subprocess", "entrypoint": "x", **more}
    (folder / "skill.json").write_text(json.dumps(data))
    return folder


def test_p27_a_skill_knows_its_folder_however_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    for path in (folder, folder / "skill.json", "a", "a/skill.json"):
        assert load_skill(path).folder == folder.resolve()


def test_the_adapter_file_is_merged_key_by_key_and_wins(tmp_path: Path) -> None:
    folder = put(tmp_path, adapterConfig={"persistent": False, "command": "a"})
    (folder / "adapter.config.json").write_text('{"persistent": true, "env": {}}')
    assert load_skill(folder).adapter_config == {"persistent": True, "command": "a", "env": {}}


def test_an_adapter_file_that_is_no_object_is_refused(tmp_path: Path) -> None:
    (put(tmp_path) / "adapter.config.json").write_text("[]")
    with pytest.raises(InputError, match=r"adapter\.config\.json: expected an object"):
        load_skill(tmp_path)


def test_p47_a_malformed_skill_is_listed_beside_the_others(tmp_path: Path) -> None:
    put(tmp_path / "good")
    put(tmp_path / "deep" / "er", "t")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "skill.json").write_text("{}")
    found = discover_skills(tmp_path)
    assert [skill.id for skill in found.skills] == ["s", "t"]
    assert [bad.path for bad in found.invalid] == [tmp_path / "bad" / "skill.json"]
    assert "required and missing" in found.invalid[0].reason


def test_a_folder_whose_name_no_run_could_record_is_refused(tmp_path: Path) -> None:
    put(tmp_path / os.fsdecode(b"s-\xff"))
    (bad,) = discover_skills(tmp_path).invalid
    assert "the path of its folder is not UTF-8" in bad.reason


def test_versions_sort_as_numbers(tmp_path: Path) -> None:
    for version in ("10.0.0", "9.0.0"):
        put(tmp_path / version, version=version)
    assert [skill.version for skill in discover_skills(tmp_path).skills] == ["9.0.0", "10.0.0"]


@pytest.mark.parametrize("folder", [".git", "node_modules", "__pycache__"])
def test_folders_that_are_not_the_users_are_passed_over(tmp_path: Path, folder: str) -> None:
    put(tmp_path / folder / "s")
    assert discover_skills(tmp_path).skills == []


@pytest.mark.parametrize("place", ["venv", "node_modules", "team/venv"])
def test_a_skill_that_only_has_such_a_name_is_found(tmp_path: Path, place: str) -> None:
    put(tmp_path / place)
    put(tmp_path / place / "inner", "t")
    found = discover_skills(tmp_path)
    assert [skill.id for skill in found.skills] == ["s"], "what lies deeper in such a folder is not the user's"
    assert found.remarks == []


@pytest.mark.parametrize(("name", "why"), [(".venv", "hidden folders are"), ("venv", "virtual environments are")])
def test_a_skill_file_in_what_is_passed_over_is_a_remark(tmp_path: Path, name: str, why: str) -> None:
    (put(tmp_path / name) / "pyvenv.cfg").write_text("home = /usr/bin")
    with pytest.raises(InputError, match=f"passed over .*/{re.escape(name)}: {why} not searched"):
        load_skills([tmp_path])
    put(tmp_path / "other", "t")
    found = load_skills([tmp_path, tmp_path / "other", tmp_path])
    assert [skill.id for skill in found.skills] == ["t"]
    assert len(found.remarks) == 1
    assert [skill.id for skill in load_skills([tmp_path / name]).skills] == ["s"], "a folder that is named is never passed over"


def test_dependencies_within_a_skill_are_its_own(tmp_path: Path) -> None:
    put(put(tmp_path / "a") / "node_modules", "t")
    put(tmp_path / "a" / ".cache", "u")
    found = discover_skills(tmp_path)
    assert ([skill.id for skill in found.skills], found.remarks) == (["s"], [])


def test_links_to_folders_are_not_followed_round_in_circles(tmp_path: Path) -> None:
    put(tmp_path / "a")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    assert len(discover_skills(tmp_path).skills) == 1


@pytest.mark.slow
def test_thousands_of_levels_and_links_in_a_circle_are_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    for _ in range(1_200):
        os.mkdir("n")
        os.chdir("n")
    try:
        assert discover_skills(tmp_path).skills == []
    finally:
        os.chdir(tmp_path)
        subprocess.run(["rm", "-rf", "n"], check=True)  # Python's own rmtree, by which pytest tidies up, does not go so deep


def test_one_skill_named_twice_is_one_skill(tmp_path: Path) -> None:
    folder = put(tmp_path / "a")
    assert len(load_skills([folder, folder / "skill.json", tmp_path]).skills) == 1


def test_p32_the_same_id_and_version_in_two_folders_is_refused_with_both(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"s@1\.0\.0 is in two folders, .*/a and .*/b"):
        load_skills([put(tmp_path / "a"), put(tmp_path / "b")])


def test_two_versions_of_one_id_are_two_skills(tmp_path: Path) -> None:
    found = load_skills([put(tmp_path / "a"), put(tmp_path / "b", version="2.0.0")])
    assert [skill.key for skill in found.skills] == ["s@1.0.0", "s@2.0.0"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param("missing", "no such skill file or folder", id="missing"),
        pytest.param("empty", r"no skill here: there is no skill\.json", id="empty-folder"),
        pytest.param("broken", "required and missing", id="named-and-malformed"),
    ],
)
def test_what_holds_no_skill_is_refused(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "skill.json").write_text("{}")
    with pytest.raises(InputError, match=message):
        load_skills([tmp_path / path])


def test_a_folder_of_skills_is_used_without_its_malformed_ones(tmp_path: Path) -> None:
    put(tmp_path / "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "skill.json").write_text("{}")
    found = load_skills([tmp_path])
    assert [skill.id for skill in found.skills] == ["s"]
    assert len(found.invalid) == 1
