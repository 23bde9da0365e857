"""Writing what is new: whole or not at all, and never over what is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.scaffolding.draft import Draft, write_drafts

FILES = {"skill.json": "{}\n", "tests/basic.eval.json": "é\n"}


def tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_files_are_written_below_folders_that_did_not_exist(tmp_path: Path) -> None:
    draft = Draft(tmp_path / "a b" / "skill", FILES)
    assert write_drafts([draft]) == draft.paths() == [draft.folder / "skill.json", draft.folder / "tests" / "basic.eval.json"]
    assert tree(draft.folder) == FILES
    assert {path.name for path in draft.folder.iterdir()} == {"skill.json", "tests"}  # no scratch file stays


def test_p64_what_exists_stays_unless_forced_and_then_only_the_drafts_files_change(tmp_path: Path) -> None:
    (tmp_path / "skill.json").write_text("mine")
    (tmp_path / "notes.md").write_text("mine too")
    with pytest.raises(UsageError, match=r"skill\.json exists; .* --force"):
        write_drafts([Draft(tmp_path, FILES)])
    assert tree(tmp_path) == {"skill.json": "mine", "notes.md": "mine too"}
    write_drafts([Draft(tmp_path, FILES)], force=True)
    assert tree(tmp_path) == {**FILES, "notes.md": "mine too"}


def test_one_draft_in_the_way_keeps_all_of_them_from_being_written(tmp_path: Path) -> None:
    (tmp_path / "two" / "tests").mkdir(parents=True)
    (tmp_path / "two" / "tests" / "basic.eval.json").write_text("mine")
    with pytest.raises(UsageError, match="exists"):
        write_drafts([Draft(tmp_path / "one", FILES), Draft(tmp_path / "two", FILES)])
    assert tree(tmp_path) == {"two/tests/basic.eval.json": "mine"}
    assert not (tmp_path / "one").exists()


def test_a_link_to_nowhere_is_something_that_exists(tmp_path: Path) -> None:
    (tmp_path / "skill.json").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="exists"):
        write_drafts([Draft(tmp_path, FILES)])
    assert os.readlink(tmp_path / "skill.json") == str(tmp_path / "nowhere")


@pytest.mark.parametrize("force", [False, True])
def test_folders_and_files_in_each_others_place_are_refused(tmp_path: Path, force: bool) -> None:
    (tmp_path / "skill.json").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        write_drafts([Draft(tmp_path, FILES)], force=force)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match=r"file is a file; a folder of this name is needed"):
        write_drafts([Draft(tmp_path / "file" / "skill", FILES)], force=force)


def test_two_drafts_of_one_place_are_refused(tmp_path: Path) -> None:
    draft = Draft(tmp_path / "skill", FILES)
    with pytest.raises(UsageError, match="written twice"):
        write_drafts([draft, draft], force=True)
    assert not draft.folder.exists()


def test_what_cannot_be_written_to_the_end_leaves_nothing_behind(tmp_path: Path) -> None:
    too_long = "x" * 300  # longer than any file system allows
    (tmp_path / "mine").mkdir()
    with pytest.raises(UsageError, match=r"cannot be written: File name too long"):
        write_drafts([Draft(tmp_path / "new" / "one", FILES), Draft(tmp_path / "mine" / "two", {"ok": "", too_long: ""})])
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")} == {"mine"}


def test_a_place_where_nobody_may_write_is_refused() -> None:
    with pytest.raises(UsageError, match=r"/proc/nope/skill\.json cannot be written"):
        write_drafts([Draft(Path("/proc/nope"), FILES)])


def test_a_folder_with_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be written: File name too long"):
        write_drafts([Draft(tmp_path / ("x" * 300), FILES)])
    assert list(tmp_path.iterdir()) == []
