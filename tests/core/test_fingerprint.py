from __future__ import annotations

import linecache
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core import fingerprint
from eval_skills.core.errors import InputError
from eval_skills.core.fingerprint import digest_of_folder, digest_of_json, digest_of_passed_over, git_commit, source_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "skill"
    (root / "src").mkdir(parents=True)
    (root / "skill.json").write_text("{}")
    (root / "src" / "main.py").write_text("print(1)")
    return root


def test_a_digest_has_sixteen_hex_digits(folder: Path) -> None:
    kind, _, digits = digest_of_folder(folder).partition(":")
    assert (kind, len(digits)) == ("sha256", 16)
    assert int(digits, 16) >= 0


def test_the_same_content_elsewhere_has_the_same_digest(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "copy"
    (other / "src").mkdir(parents=True)
    (other / "src" / "main.py").write_text("print(1)")
    (other / "skill.json").write_text("{}")
    assert digest_of_folder(other) == digest_of_folder(folder)


def swap(one: Path, other: Path) -> None:
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


CHANGES: list[tuple[str, Callable[[Path], object]]] = [
    ("content", lambda root: (root / "skill.json").write_text("{ }")),
    ("name", lambda root: (root / "skill.json").rename(root / "skill2.json")),
    ("place", lambda root: (root / "skill.json").rename(root / "src" / "skill.json")),
    ("added", lambda root: (root / "empty").touch()),
    ("hidden", lambda root: (root / ".env").write_text("x")),
    ("link", lambda root: (root / "link").symlink_to("skill.json")),
    ("link-to-folder", lambda root: (root / "link").symlink_to("src")),
    ("dangling-link", lambda root: (root / "link").symlink_to("nowhere")),
    ("swapped", lambda root: swap(root / "skill.json", root / "src" / "main.py")),
]


@pytest.mark.parametrize("change", [change for _, change in CHANGES], ids=[name for name, _ in CHANGES])
def test_a_change_changes_the_digest(folder: Path, change: Callable[[Path], object]) -> None:
    before = digest_of_folder(folder)
    change(folder)
    assert digest_of_folder(folder) != before


@pytest.mark.parametrize(
    "name", [".git/HEAD", "__pycache__/a.pyc", "src/a.pyc", "node_modules/x/y.js", ".venv/bin/python", "src/.pytest_cache/v"]
)
def test_what_builds_leave_behind_does_not_count(folder: Path, name: str) -> None:
    before = digest_of_folder(folder)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("x")
    assert digest_of_folder(folder) == before


def test_pipes_are_passed_over(folder: Path) -> None:
    before = digest_of_folder(folder)
    os.mkfifo(folder / "pipe")
    assert digest_of_folder(folder) == before


def test_links_are_known_by_the_text_of_their_target(folder: Path) -> None:
    (folder / "link").symlink_to("skill.json")
    before = digest_of_folder(folder)
    (folder / "link").unlink()
    (folder / "link").write_text("skill.json")
    as_file = digest_of_folder(folder)
    (folder / "link").unlink()
    (folder / "link").symlink_to("./skill.json")
    assert len({before, as_file, digest_of_folder(folder)}) == 3


def test_a_link_in_a_circle_ends(folder: Path) -> None:
    (folder / "src" / "up").symlink_to("..")
    assert digest_of_folder(folder).startswith("sha256:")


def test_a_file_over_the_limit_counts_by_size_and_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprint, "MAX_HASHED_BYTES", 10)
    large = folder / "large.bin"
    large.write_bytes(b"x" * 11)
    os.utime(large, ns=(1, 1))
    before = digest_of_folder(folder)
    large.write_bytes(b"y" * 11)
    os.utime(large, ns=(1, 1))
    assert digest_of_folder(folder) == before
    os.utime(large, ns=(1, 2))
    assert digest_of_folder(folder) != before


def test_a_single_file_has_a_digest(folder: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "skill.json").write_text("{}")
    assert digest_of_folder(folder / "skill.json") == digest_of_folder(alone)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: cannot be read for its digest: No such file"):
        digest_of_folder(tmp_path / "nowhere")


def test_the_order_of_keys_does_not_count_in_json() -> None:
    assert digest_of_json({"a": 1, "b": [1, {"c": "é", "d": None}]}) == digest_of_json({"b": [1, {"d": None, "c": "é"}], "a": 1})
    assert len({digest_of_json(value) for value in (1, 1.0, "1", True, None, [1], {"1": 1}, "\ud800")}) == 8


def test_what_is_not_json_has_no_digest() -> None:
    with pytest.raises(InputError, match="not JSON data"):
        digest_of_json({"a": object()})


def test_the_commit_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.core.fingerprint._GIT_TIMEOUT_S", 60.0)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    assert git_commit(tmp_path) is None
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    commit = git_commit(tmp_path)
    assert commit == subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    assert git_commit(tmp_path / "folder") == git_commit(tmp_path / "folder" / "file") == commit


@pytest.mark.parametrize(
    "program",
    [None, "#!/bin/sh\nexit 1\n", "#!/bin/sh\nexec sleep 20\n", "not a program"],
    ids=["absent", "failing", "hanging", "broken"],
)
def test_a_run_goes_on_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str | None) -> None:
    if program is not None:
        (tmp_path / "git").write_text(program)
        (tmp_path / "git").chmod(0o755)
        monkeypatch.setattr(fingerprint, "_GIT_TIMEOUT_S", 0.2)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    else:
        monkeypatch.setenv("PATH", str(tmp_path))
    assert git_commit(tmp_path) is None


def test_a_missing_folder_has_no_commit(tmp_path: Path) -> None:
    assert git_commit(tmp_path / "no" / "where") is None


class TestWhatAFolderPassesOver:
    @pytest.mark.parametrize(
        ("change", "counts"),
        [
            ("echo 2 > skill/node_modules/pack/index.js", True),
            ("touch -d '2 days ago' skill/node_modules/pack/index.js", True),
            ("echo 2 > elsewhere/deep/file", True),
            ("echo 2 > single", True),
            ("rm -r elsewhere", True),
            ("echo 2 > skill/skill.py", False),
            ("echo 2 > skill/node_modules/.cache/x; echo 2 > skill/node_modules/pack/a.pyc", False),
            ("true", False),
        ],
    )
    def test_another_file_counts_and_a_cache_does_not(self, tmp_path: Path, change: str, counts: bool) -> None:
        made = """mkdir -p skill/node_modules/pack skill/node_modules/.cache elsewhere/deep; echo 1 > single
            ln -s ../elsewhere skill/elsewhere; ln -s ../../skill elsewhere/back; ln -s ../single skill/single; ln -s no skill/no
            for file in skill/skill.py skill/node_modules/pack/index.js elsewhere/deep/file; do echo 1 > $file; done"""
        subprocess.run(["sh", "-c", made], cwd=tmp_path, check=True)
        before = digest_of_passed_over(tmp_path / "skill")
        subprocess.run(["sh", "-c", change], cwd=tmp_path, check=True)
        assert (digest_of_passed_over(tmp_path / "skill") != before) is counts


def test_source_that_is_not_where_it_should_be_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a file that was changed since its import, and of ``python -c`` in Python 3.13."""
    made: dict[str, Any] = {}
    exec(compile("def f(): ...", "changed.py", "exec"), made)
    assert source_of(made["f"]) is None
    monkeypatch.setitem(linecache.cache, "changed.py", (9, None, ["x = ('''\n"], "changed.py"))
    assert source_of(made["f"]) is None
    assert source_of(source_of) is not None
