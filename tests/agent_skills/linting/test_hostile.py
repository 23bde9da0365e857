"""Folders made to harm whoever looks at them: bounded in time and memory, nothing followed, nothing opened that is no file."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eval_skills.agent_skills.folder import MAX_FOLDERS, find_agent_skills
from eval_skills.agent_skills.linting import package
from eval_skills.agent_skills.linting.linting import lint, lint_skill
from eval_skills.core.errors import InputError

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


def test_a_folder_in_the_place_of_the_file_is_not_passed_over(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "other" / "SKILL.md").mkdir(parents=True)
    (tmp_path / "docs" / "skill.md").mkdir(parents=True)
    found = lint([tmp_path]).skills
    assert [skill.folder.name for skill in found if "skill-file-unreadable" in [each.code for each in skill.findings]] == [
        "other"
    ]
    assert len(found) == 2


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["[a](b ", "[", "[a](x.md)\n", "curl | ", "bash eval ", "eyJ", "sk-", "a://b:", "scripts/", "`", "token: ", "~~~\n"],
)
def test_no_text_takes_long(tmp_path: Path, piece: str) -> None:
    folder = write(tmp_path, piece * (300_000 // len(piece)))
    start = time.process_time()
    lint([folder], profiles=["spec", "anthropic-upload", "claude-code"])
    assert time.process_time() - start < SECONDS


@contextmanager
def somebody_else(root: Path) -> Iterator[None]:
    """Root may read everything: the rights of files hold for somebody else."""
    was_root = os.geteuid() == 0
    root.chmod(0o755)
    if was_root:
        os.seteuid(65_534)
    try:
        yield
    finally:
        if was_root:
            os.seteuid(0)


def test_what_may_not_be_read_is_named_and_hides_nothing_else() -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        closed = {"skills/closed": 0o000, "skills/a/references": 0o444, "skills/a/scripts": 0o000, "skills/b/SKILL.md": 0o000}
        for name in ("a", "b", "closed"):
            (root / "skills" / name).mkdir(parents=True)
            (root / "skills" / name / "SKILL.md").write_text(HEAD.replace("name: a", f"name: {name}") + "[b](references/b.md)")
        for name in ("references", "scripts"):
            (root / "skills" / "a" / name).mkdir()
            (root / "skills" / "a" / name / "b.md").touch()
        for name, mode in closed.items():
            (root / name).chmod(mode)
        try:
            lint([root / "skills"])  # imports what it needs, which somebody else may not be allowed to read
            with somebody_else(root):
                found = lint([root / "skills"])
                both = [(each.code, each.file) for skill in found.skills for each in skill.findings]
                with pytest.raises(InputError, match="Permission denied"):
                    lint([root / "skills" / "closed" / "SKILL.md"])
                with pytest.raises(InputError, match="cannot be read were not searched"):
                    lint([root / "skills" / "closed"])
                assert [skill.name for skill in find_agent_skills(root).skills] == ["a"]
        finally:
            for name in closed:
                (root / name).chmod(0o755)
    assert both == [("not-read", ""), ("not-read", "scripts"), ("skill-file-unreadable", "SKILL.md")]
    assert found.remarks == [f"folders that cannot be read were not searched: {root / 'skills' / 'closed'}"]


@pytest.mark.slow
def test_more_folders_are_linted_than_a_client_searches(tmp_path: Path) -> None:
    for number in range(MAX_FOLDERS + 1):
        (tmp_path / f"s{number}").mkdir()
    (tmp_path / "sz").mkdir()
    (tmp_path / "sz" / "SKILL.md").write_text(HEAD.replace("name: a", "name: sz"))
    assert ([skill.name for skill in lint([tmp_path]).skills], lint([tmp_path]).remarks) == (["sz"], [])
    assert find_agent_skills(tmp_path).skills == []


def test_names_that_are_no_text_are_shown(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / os.fsdecode(b"\xff\xfe.key")).touch()
    (folder / "a\n::error::b.pem").touch()
    assert codes(folder) == ["secret-file", "secret-file"]


def test_of_a_value_of_thousands_of_digits_the_beginning_is_shown(tmp_path: Path) -> None:
    folder = write(tmp_path)
    text = (folder / "SKILL.md").read_text()
    (folder / "SKILL.md").write_text(text.replace("description:", f"metadata:\n  size: 1{'0' * 5_000}\ndescription:", 1))
    found = next(each for each in lint_skill(folder).findings if each.code == "metadata-not-text")
    shown = f"1{'0' * 39}…"
    assert found.message.endswith(f": {shown}")
    assert found.fix == f'put it in quotes: "{shown}"'
