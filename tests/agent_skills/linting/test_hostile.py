"""Folders made to harm whoever looks at them: bounded in time and memory, nothing followed, nothing opened that is no file."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from eval_skills.agent_skills.linting import package
from eval_skills.agent_skills.linting.linting import lint, lint_skill

HEAD = "---\nname: a\ndescription: Use when asked.\n---\n"
SECONDS = 10


def write(root: Path, body: str = "Body") -> Path:
    (root / "a").mkdir(exist_ok=True)
    (root / "a" / "SKILL.md").write_text(HEAD + body, encoding="utf-8")
    return root / "a"


def codes(folder: Path) -> list[str]:
    return [finding.code for finding in lint_skill(folder).findings]


def test_huge_sparse_files_are_not_read(tmp_path: Path) -> None:
    folder = write(tmp_path)
    for name in ("a.md", "a.bin"):
        with (folder / name).open("wb") as file:
            file.truncate(5 * 2**30)
    assert codes(folder) == ["large-file", "large-file"]
    with (folder / "SKILL.md").open("r+b") as file:
        file.truncate(5 * 2**30)
    assert codes(folder)[0] == "skill-file-unreadable"


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    folder = write(tmp_path)
    os.mkfifo(folder / "pipe.md")
    assert codes(folder) == ["special-file"]
    (folder / "SKILL.md").unlink()
    os.mkfifo(folder / "SKILL.md")
    assert "skill-file-unreadable" in codes(folder)


def test_links_are_not_followed_out(tmp_path: Path) -> None:
    secret = tmp_path / "outside" / "key.txt"
    secret.parent.mkdir()
    secret.write_text("AKIA" + "Q3W7RTYU2PLMNB8V")
    folder = write(tmp_path)
    (folder / "references").symlink_to(secret.parent)
    (folder / "key.txt").symlink_to(secret)
    (folder / "loop").symlink_to("loop")
    (folder / "self").symlink_to(".")
    assert codes(folder) == ["link-outside"] * 3
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").symlink_to("/dev/zero")
    assert codes(folder)[0] == "skill-file-unreadable"


def test_many_files_are_not_all_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MAX_FILES", 50)
    folder = write(tmp_path)
    for number in range(200):
        (folder / f"{number}.txt").touch()
    assert codes(folder) == ["many-files"]


def test_deep_folders_are_not_all_listed(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "/".join("n" * 40)).mkdir(parents=True)
    assert codes(folder) == ["many-files"]


def test_only_so_much_text_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MAX_TEXT_BYTES", 2_000)
    folder = write(tmp_path)
    for number in range(4):
        (folder / f"{number}.txt").write_text("x" * 900)
    [note] = lint_skill(folder).findings
    assert (note.code, note.message[:8]) == ("not-read", "2 files ")


@pytest.mark.parametrize(
    "piece",
    ["[a](b ", "[", "[a](x.md)\n", "curl | ", "bash eval ", "eyJ", "sk-", "a://b:", "scripts/", "`", "token: ", "~~~\n"],
)
def test_no_text_takes_long(tmp_path: Path, piece: str) -> None:
    folder = write(tmp_path, piece * (300_000 // len(piece)))
    start = time.process_time()
    lint([folder], profiles=["spec", "anthropic-upload", "claude-code"])
    assert time.process_time() - start < SECONDS


def test_names_that_are_no_text_are_shown(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / os.fsdecode(b"\xff\xfe.key")).touch()
    (folder / "a\n::error::b.pem").touch()
    assert codes(folder) == ["secret-file", "secret-file"]
