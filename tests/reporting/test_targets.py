"""Where documents go: files and folders, and nothing half-written."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.reporting.writing import target_files, write_targets

ONE, TWO = {"junit": "xml"}, {"markdown": "md", "csv": "csv"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("old")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("output", "formats", "files"),
    [
        pytest.param("new.xml", ONE, ["new.xml"], id="file"),
        pytest.param("new.txt", ONE, ["new.txt"], id="another-ending"),
        pytest.param("new", ONE, ["new"], id="no-ending"),
        pytest.param("file", ONE, ["file"], id="file-that-is-there"),
        pytest.param("there", ONE, ["there/run.xml"], id="folder-that-is-there"),
        pytest.param("new/", ONE, ["new/run.xml"], id="slash"),
        pytest.param("new", TWO, ["new/run.md", "new/run.csv"], id="several"),
        pytest.param("2026.11", TWO, ["2026.11/run.md", "2026.11/run.csv"], id="folder-with-a-dot"),
    ],
)
def test_the_files(folder: Path, output: str, formats: dict[str, str], files: list[str]) -> None:
    assert [str(path) for path in target_files(output, formats, "run").values()] == files


@pytest.mark.parametrize(
    ("output", "formats", "says"),
    [
        pytest.param("file", TWO, "one file cannot hold markdown and csv", id="p65-clash-with-a-file"),
        pytest.param("new.md", TWO, "one file cannot hold markdown and csv", id="p65-clash-by-ending"),
        pytest.param("new.html", TWO, "one file cannot hold", id="p65-ending-of-another-format"),
        pytest.param("", ONE, "--output is blank", id="blank"),
        pytest.param("/dev/null", ONE, "this is not a regular file", id="device"),
        pytest.param("given.json", {"json": "json"}, "would replace an input", id="input"),
        pytest.param("./there/../given.json", {"json": "json"}, "would replace an input", id="input-by-another-name"),
    ],
)
def test_p65_what_cannot_be_written_is_refused(folder: Path, output: str, formats: dict[str, str], says: str) -> None:
    (folder / "given.json").write_text("[]")
    with pytest.raises(UsageError, match=says):
        target_files(output, formats, "run", inputs=[Path("given.json")])


def test_files_appear_whole_in_folders_that_are_made(folder: Path) -> None:
    written = write_targets({Path("deep/er/a.md"): "ä", Path("file"): b"new"})
    assert [path.read_bytes() for path in written] == ["ä".encode(), b"new"]
    assert [path.name for path in Path("deep/er").iterdir()] == ["a.md"]


def test_a_failed_write_keeps_what_was_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="No space left on device"):
        write_targets({Path("file"): "new"})
    assert (Path("file").read_text(), sorted(path.name for path in folder.iterdir())) == ("old", ["file", "there"])


def test_a_place_below_a_file_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="--output file/x: this file cannot be written"):
        write_targets({Path("file/x"): ""})
