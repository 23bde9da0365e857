"""Past revisions are checked out without touching the repository, whatever its tags, hooks and settings say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.engine.definition.revisions import Repository, remove_leftovers

Git = Callable[..., str]
HOSTILE = ["rc;touch${IFS}pwned-$(id)", "a'b\"c", "ünïcödé", "v1/{period}", "x%sy"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    return folder


@pytest.fixture
def git(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(*arguments: str, **environment: str) -> str:
        command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main", *arguments]
        done = subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    run("init", "--quiet")
    return run


@pytest.fixture
def commit(folder: Path, git: Git) -> Callable[[str, str], str]:
    """Commits `text` as the content of ``file`` at a moment."""

    def make(text: str, at: str) -> str:
        (folder / "file").write_text(text)
        git("add", "-A")
        git("commit", "--quiet", "--no-verify", "-m", text, GIT_COMMITTER_DATE=at, GIT_AUTHOR_DATE=at)
        return git("rev-parse", "HEAD")

    return make


Commit = Callable[[str, str], str]


def state_of(folder: Path, git: Git) -> tuple[str, ...]:
    files = sorted(f"{path} {path.read_text()}" for path in folder.iterdir() if path.is_file())
    return (git("status", "--porcelain"), git("show-ref"), git("worktree", "list", "--porcelain"), git("stash", "list"), *files)


class TestListing:
    def test_commits_come_oldest_first_with_their_committers_moment(self, folder: Path, commit: Commit) -> None:
        first, second = commit("1", "2026-03-01T23:30:00-02:00"), commit("2", "2026-03-03T00:00:00Z")
        found = Repository(folder).commits(None, None)
        assert [(each.commit, each.moment) for each in found] == [
            (first, datetime(2026, 3, 2, 1, 30, tzinfo=UTC)),
            (second, datetime(2026, 3, 3, tzinfo=UTC)),
        ]

    @pytest.mark.parametrize("second", ["2026-03-01T12:00:00Z", "2026-03-01T11:00:00Z"], ids=["one-second", "clock-set-back"])
    def test_a_commit_comes_after_its_parent(self, folder: Path, commit: Commit, second: str) -> None:
        """Of a day the last is what stood there in the end; a rebase makes many commits in one second."""
        made = [commit("1", "2026-03-01T12:00:00Z"), commit("2", second)]
        assert [each.commit for each in Repository(folder).commits(None, None)] == made

    def test_since_is_inside_and_until_is_not(self, folder: Path, commit: Commit) -> None:
        made = [commit(str(day), f"2026-03-0{day}T00:00:00Z") for day in (1, 2, 3)]
        found = Repository(folder).commits(datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 3, tzinfo=UTC))
        assert [each.commit for each in found] == [made[1]]

    def test_a_side_branch_was_never_what_stood_there(self, folder: Path, git: Git, commit: Commit) -> None:
        first = commit("1", "2026-03-01T00:00:00Z")
        git("checkout", "--quiet", "-b", "side")
        side = commit("2", "2026-03-02T00:00:00Z")
        git("checkout", "--quiet", "main")
        git("merge", "--quiet", "--no-ff", "-m", "merge", "side", GIT_COMMITTER_DATE="2026-03-03T00:00:00Z")
        found = [each.commit for each in Repository(folder).commits(None, None)]
        assert side not in found
        assert found == [first, git("rev-parse", "HEAD")]

    def test_tags_lead_to_commits_also_through_tag_objects(self, folder: Path, git: Git, commit: Commit) -> None:
        first = commit("1", "2026-03-01T00:00:00Z")
        git("tag", "plain"), git("tag", "-a", "noted", "-m", "m", GIT_COMMITTER_DATE="2026-04-01T00:00:00Z")
        git("tag", "a-file", git("rev-parse", "HEAD:file"))
        found = Repository(folder).tags(None, None)
        assert [(each.tag, each.commit, each.moment) for each in found] == [
            (name, first, datetime(2026, 3, 1, tzinfo=UTC)) for name in ("noted", "plain")
        ]

    @pytest.mark.parametrize("name", HOSTILE)
    def test_p70_a_tag_s_name_is_text(self, folder: Path, git: Git, commit: Commit, tmp_path: Path, name: str) -> None:
        commit("1", "2026-03-01T00:00:00Z")
        git("tag", "--", name)
        [found] = Repository(folder).tags(None, None)
        assert found.tag == name
        with Repository(folder).checked_out(found.commit, tmp_path / "below") as tree:
            assert (tree / "file").read_text() == "1"
        assert not list(tmp_path.rglob("pwned*"))

    def test_tags_of_one_second_come_by_their_versions(self, folder: Path, git: Git, commit: Commit) -> None:
        for name in ("v1.10", "v1.9", "v2.0", "v1.2"):
            commit(name, "2026-02-01T12:00:00Z")
            git("tag", name)
        assert [each.tag for each in Repository(folder).tags(None, None)] == ["v1.2", "v1.9", "v1.10", "v2.0"]

    def test_a_tag_that_looks_like_an_option_is_none(self, folder: Path, git: Git, commit: Commit) -> None:
        made = commit("1", "2026-03-01T00:00:00Z")
        git("update-ref", "refs/tags/--upload-pack=x", made)
        assert [each.tag for each in Repository(folder).tags(None, None)] == ["--upload-pack=x"]


class TestRefusals:
    def test_it_says_what_a_revision_holds(self, folder: Path, commit: Commit) -> None:
        made = commit("1", "2026-03-01T00:00:00Z")
        held = [Repository(folder).holds(made, path) for path in (".", "file", "./file", "zz", "--help")]
        assert held == [True, True, True, False, False]

    def test_p40_a_folder_that_is_no_repository(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
        with pytest.raises(InputError, match="not a git repository"):
            Repository(tmp_path)

    def test_p40_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"nowhere: no such folder; name a git repository"):
            Repository(tmp_path / "nowhere")

    def test_p40_a_repository_without_a_commit(self, folder: Path, git: Git) -> None:
        with pytest.raises(InputError, match="git log failed"):
            Repository(folder).commits(None, None)

    def test_no_git(self, folder: Path, git: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(UsageError, match="git is not installed"):
            Repository(folder)

    def test_a_commit_that_a_shallow_repository_does_not_hold(
        self, folder: Path, git: Git, commit: Commit, tmp_path: Path
    ) -> None:
        old, _ = commit("1", "2026-03-01T00:00:00Z"), commit("2", "2026-03-02T00:00:00Z")
        git("clone", "--quiet", "--depth", "1", f"file://{folder}", str(tmp_path / "shallow"))
        shallow = Repository(tmp_path / "shallow")
        assert (shallow.is_shallow, Repository(folder).is_shallow) == (True, False)
        assert len(shallow.commits(None, None)) == 1
        with (
            pytest.raises(InputError, match=f"commit {old[:12]} cannot be checked out"),
            shallow.checked_out(old, tmp_path / "b"),
        ):
            pass


class TestCheckout:
    def test_the_files_of_then_are_there_and_gone_afterwards(
        self, folder: Path, git: Git, commit: Commit, tmp_path: Path
    ) -> None:
        old, _ = commit("old", "2026-03-01T00:00:00Z"), commit("new", "2026-03-02T00:00:00Z")
        before = state_of(folder, git)
        with Repository(folder).checked_out(old, tmp_path / "below") as tree:
            assert (tree / "file").read_text() == "old"
        assert not list((tmp_path / "below").iterdir())
        assert state_of(folder, git) == before

    def test_a_dirty_repository_is_left_as_it_is(self, folder: Path, git: Git, commit: Commit, tmp_path: Path) -> None:
        old, _ = commit("old", "2026-03-01T00:00:00Z"), commit("new", "2026-03-02T00:00:00Z")
        (folder / "file").write_text("dirty"), (folder / "untracked").write_text("u"), (folder / "staged").write_text("s")
        git("add", "staged")
        before = state_of(folder, git)
        with Repository(folder).checked_out(old, tmp_path / "below") as tree:
            assert sorted(path.name for path in tree.iterdir()) == [".git", "file"]
        assert state_of(folder, git) == before

    def test_p70_no_hook_and_no_monitor_of_the_repository_runs(
        self, folder: Path, git: Git, commit: Commit, tmp_path: Path
    ) -> None:
        made = commit("1", "2026-03-01T00:00:00Z")
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
        program.chmod(0o755)
        for hook in ("post-checkout", "reference-transaction", "post-index-change"):
            (folder / ".git" / "hooks" / hook).symlink_to(program)
        git("config", "core.fsmonitor", str(program))
        with Repository(folder).checked_out(made, tmp_path / "below"):
            pass
        assert not (tmp_path / "ran").exists()

    def test_git_variables_of_a_surrounding_hook_do_not_lead_elsewhere(
        self, folder: Path, commit: Commit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = commit("1", "2026-03-01T00:00:00Z")
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
            monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
        with Repository(folder).checked_out(made, tmp_path / "below") as tree:
            assert (tree / "file").read_text() == "1"

    def test_a_bare_repository_will_do(self, folder: Path, git: Git, commit: Commit, tmp_path: Path) -> None:
        made = commit("1", "2026-03-01T00:00:00Z")
        git("clone", "--quiet", "--bare", str(folder), str(tmp_path / "bare.git"))
        with Repository(tmp_path / "bare.git").checked_out(made, tmp_path / "below") as tree:
            assert (tree / "file").read_text() == "1"

    def test_the_same_commit_has_the_same_place_so_that_a_run_can_go_on_there(
        self, folder: Path, commit: Commit, tmp_path: Path
    ) -> None:
        made = commit("1", "2026-03-01T00:00:00Z")
        places = []
        for _ in range(2):
            with Repository(folder).checked_out(made, tmp_path / "below") as tree:
                places.append(tree)
        assert places[0] == places[1]

    def test_two_at_once_do_not_share_a_folder(self, folder: Path, commit: Commit, tmp_path: Path) -> None:
        made, below = commit("1", "2026-03-01T00:00:00Z"), tmp_path / "below"
        with Repository(folder).checked_out(made, below) as tree:
            with pytest.raises(UsageError, match="another backfill is using commit"), Repository(folder).checked_out(made, below):
                pass
            assert remove_leftovers(below) == 0
            assert (tree / "file").exists()


KILLED = """
import os, sys
from pathlib import Path
from eval_skills.engine.definition.revisions import Repository
with Repository(Path(sys.argv[1])).checked_out(sys.argv[2], Path(sys.argv[3])) as tree:
    assert (tree / "file").exists()
    os.kill(os.getpid(), 9)
"""


class TestAfterACrash:
    @pytest.fixture
    def left(self, folder: Path, commit: Commit, tmp_path: Path) -> tuple[str, Path]:
        """A commit and the folder where a killed process had it checked out."""
        made, below = commit("1", "2026-03-01T00:00:00Z"), tmp_path / "below"
        done = subprocess.run([sys.executable, "-c", KILLED, str(folder), made, str(below)], timeout=120)
        assert done.returncode == -9
        assert list(below.iterdir())
        return made, below

    @pytest.mark.slow
    def test_p25_what_it_left_is_removed_and_the_repository_forgets_it(
        self, folder: Path, git: Git, left: tuple[str, Path]
    ) -> None:
        assert git("worktree", "list", "--porcelain").count("worktree ") == 2
        assert remove_leftovers(left[1]) == 1
        assert not list(left[1].iterdir())
        assert git("worktree", "list", "--porcelain").count("worktree ") == 1

    @pytest.mark.slow
    def test_the_same_commit_can_be_checked_out_over_it(self, folder: Path, git: Git, left: tuple[str, Path]) -> None:
        made, below = left
        with Repository(folder).checked_out(made, below) as tree:
            assert (tree / "file").read_text() == "1"
        assert git("worktree", "list", "--porcelain").count("worktree ") == 1

    @pytest.mark.slow
    def test_also_where_the_repository_is_gone(self, folder: Path, left: tuple[str, Path]) -> None:
        folder.rename(folder.with_name("moved"))
        assert remove_leftovers(left[1]) == 1
        assert not list(left[1].iterdir())

    @pytest.mark.slow
    def test_a_worktree_of_the_user_s_own_stays_known(
        self, folder: Path, git: Git, left: tuple[str, Path], tmp_path: Path
    ) -> None:
        git("worktree", "add", "--quiet", "--detach", str(tmp_path / "own"))
        (tmp_path / "own").rename(tmp_path / "unmounted")
        remove_leftovers(left[1])
        assert str(tmp_path / "own") in git("worktree", "list", "--porcelain")
