"""What programs did to a folder for temporary files: all of it is removed, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_skills.core.temporary import TemporaryFolder, sweep


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def dug(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=fd)
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)


def closed(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "c").write_text("x")
    for each in (folder / "a" / "b", folder / "a", folder):
        each.chmod(0)


def odd(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "to-root").symlink_to("/")
    (folder / "new\nline").mkdir()
    os.mkdir(os.fsencode(folder) + b"/caf\xe9")


def many(folder: Path) -> None:
    for number in range(3000):
        (folder / f"{number}").touch()


@pytest.mark.slow
@pytest.mark.parametrize("do", [dug, closed, odd, many])
def test_all_of_it_is_removed(temporary: Path, do: Callable[[Path], None]) -> None:
    made = TemporaryFolder.make("agent")
    do(made.path)
    assert made.remove() == ""
    assert list(temporary.iterdir()) == []


def test_a_link_in_its_place_leads_nowhere(tmp_path: Path, temporary: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    (precious / "file").chmod(0o440)
    made = TemporaryFolder.make("agent")
    (made.path / "own").write_text("x")
    made.path.rename(tmp_path / "moved")
    made.path.symlink_to(precious)
    assert made.remove() == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["precious", "tmp"]
    assert list(temporary.iterdir()) == []
    assert (precious / "file").stat().st_mode & 0o777 == 0o440


def test_a_folder_of_somebody_in_its_place_stays(tmp_path: Path) -> None:
    made = TemporaryFolder.make("agent")
    made.path.rename(tmp_path / "moved")
    made.path.mkdir()
    (made.path / "mine").write_text("x")
    assert str(made.path) in made.remove()
    assert (made.path / "mine").exists()


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can")


@as_root
def test_what_is_mounted_in_it_is_not_touched(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    made = TemporaryFolder.make("agent")
    point = made.path / "a b"
    point.mkdir()
    if subprocess.run(["mount", "--bind", tmp_path / "precious", point], check=False, capture_output=True).returncode:
        made.remove()
        pytest.skip("nothing can be mounted here")
    assert made.remove() == ""
    assert list(temporary.iterdir()) == []
    assert (tmp_path / "precious" / "file").exists()


@as_root
def test_files_that_cannot_be_changed_are_removed(temporary: Path) -> None:
    made = TemporaryFolder.make("agent")
    (made.path / "d").mkdir()
    (made.path / "d" / "file").write_text("x")
    for each, flag in (("d/file", "+i"), ("d", "+a")):
        if subprocess.run(["chattr", flag, made.path / each], check=False, capture_output=True).returncode:
            pytest.skip("this file system has no such flags")
    assert made.remove() == ""
    assert list(temporary.iterdir()) == []


DIES = """
import os, sys, tempfile
from eval_skills.core.temporary import TemporaryFolder
tempfile.tempdir = sys.argv[1]
made = TemporaryFolder.make("agent")
(made.path / "file").write_text("x")
print(made.path, flush=True)
sys.stdin.read()
"""


def test_what_a_killed_process_left_is_swept_and_nothing_else(temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    own = TemporaryFolder.make("agent")
    others = ["eval-skills-agent-abcdefgh", "eval-skills-agent-1-abcdefgh-x", "something"]
    for name in others:
        (temporary / name).mkdir()
    (temporary / "eval-skills-agent-1-abcdefgh").symlink_to(tmp_path / "precious")
    process = subprocess.Popen([sys.executable, "-c", DIES, temporary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        sweep()
        assert (left / "file").exists()  # its owner lives
        process.kill()
    sweep()
    assert sorted(path.name for path in temporary.iterdir()) == sorted([*others, "eval-skills-agent-1-abcdefgh", own.path.name])
    assert (tmp_path / "precious" / "file").exists()
    assert own.remove() == ""


@as_root
def test_what_another_user_left_is_not_swept(temporary: Path) -> None:
    planted = temporary / "eval-skills-agent-1-abcdefgh"
    planted.mkdir()
    os.chown(planted, 12345, 12345)
    sweep()
    assert planted.exists()


def test_the_path_has_the_same_length_in_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for process in (7, 4_194_304):
        monkeypatch.setattr(os, "getpid", lambda process=process: process)
        made.append(TemporaryFolder.make("agent"))
    assert len({len(str(folder.path)) for folder in made}) == 1
    assert [folder.remove() for folder in made] == ["", ""]
