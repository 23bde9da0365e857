"""Past revisions of skills: what a git repository held then, each checked out into a folder of its own.

Nothing of the repository changes but its list of worktrees, and that only for as long as one is in use: no branch, index or file
of the user's is touched, no hook runs, and a folder that a killed process left behind goes at the next start.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import posixpath
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path

from eval_skills.core.errors import InputError, RunError, UsageError

_GIT_TIMEOUT_S = 600.0
_LOCK, _OWNER, _TREE = "owner.lock", "repository", "eval-skills"
_SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false", "submodule.recurse=false",
    "log.showSignature=false", "advice.detachedHead=false",
)  # fmt: skip
"""Overrides of the repository's own settings: no hook or program that it names runs, and no maintenance."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit, its committer's date in UTC, and the tag through which it was found."""

    commit: str
    moment: datetime
    tag: str | None = None


class Repository:
    """A git repository on this machine: a folder in a working tree, or a bare repository.

    Raises:
        UsageError: git is not installed.
        InputError: `path` is not a folder, or not in a repository that can be read.
    """

    def __init__(self, path: Path) -> None:
        git = shutil.which("git")
        if git is None:
            raise UsageError("git is not installed, and past revisions cannot be checked out without it")
        if not path.is_dir():
            raise InputError("no such folder; name a git repository", source=path)
        self._git, self.path = git, path.resolve()
        answer = self._ask("rev-parse", "--absolute-git-dir", "--is-shallow-repository")
        if answer.returncode != 0:
            raise InputError(f"not a git repository that can be read ({_said(answer)})", source=path)
        folder, shallow = answer.stdout.splitlines()[:2]
        self.is_shallow = shallow == "true"
        common = self._text("rev-parse", "--git-common-dir").strip()
        self._identity = str((self.path / common).resolve()) if common else folder

    def commits(self, since: datetime | None, until: datetime | None) -> list[Revision]:
        """HEAD and its first parents, since ≤ committer's date < until, in the order of the history: each after its parent, also
        where both are of one second, as a rebase makes them, or a clock was set back in between.

        Raises:
            InputError: there is no commit at all.
        """
        listed = self._text("log", "--first-parent", "--format=%H %ct", "HEAD", "--")
        lines = (line.split() for line in reversed(listed.splitlines()))
        return _within([Revision(commit, _moment(seconds)) for commit, seconds in lines], since, until)

    def tags(self, since: datetime | None, until: datetime | None) -> list[Revision]:
        """The commits that have a tag, since ≤ committer's date < until, oldest first, those of one second by the versions
        that their names hold (v1.9 before v1.10); tags of other things are left out.
        """
        fields = ("refname:strip=2", "objecttype", "objectname", "committerdate:unix")
        dereferenced = ("*objecttype", "*objectname", "*committerdate:unix")
        wanted = "%00".join(f"%({name})" for name in (*fields, *dereferenced))
        found = []
        for line in self._text("for-each-ref", "--sort=version:refname", f"--format={wanted}", "refs/tags").splitlines():
            name, kind, commit, seconds, kind_behind, commit_behind, seconds_behind = line.split("\0")
            if kind == "tag":
                kind, commit, seconds = kind_behind, commit_behind, seconds_behind
            if kind == "commit":
                found.append(Revision(commit, _moment(seconds), name))
        return sorted(_within(found, since, until), key=attrgetter("moment"))

    def commit_of(self, revision: str) -> str:
        """The commit that a revision such as ``HEAD~1``, a branch, a tag or an abbreviated id stands for.

        Raises:
            InputError: it stands for none.
        """
        answer = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if answer.returncode != 0:
            message = f"{revision!r} is not a revision of it; give a commit, a tag, a branch, or one before such as HEAD~1"
            raise InputError(message, source=self.path)
        return answer.stdout.strip()

    @property
    def place(self) -> str:
        """Where its folder lies below the root of the working tree; "" for the root itself."""
        return self._text("rev-parse", "--show-prefix").strip().rstrip("/")

    def holds(self, commit: str, path: str) -> bool:
        """Whether a file or folder of that path was there in a revision."""
        inside = posixpath.normpath(path)
        return inside == "." or self._ask("cat-file", "-e", f"{commit}:{inside}").returncode == 0

    @contextmanager
    def checked_out(self, commit: str, below: Path) -> Iterator[Path]:
        """The files of a commit in a folder below `below`, always the same one, which is removed at the end.

        Raises:
            UsageError: another process has the same commit checked out there.
            InputError: git cannot check it out.
        """
        place = below.absolute() / f"{_short(self._identity)}-{commit[:16]}"
        place.mkdir(parents=True, exist_ok=True)
        lock = _lock(place)
        if lock is None:
            raise UsageError(f"another backfill is using commit {commit[:12]}; wait until it ends, then try again")
        try:
            (place / _OWNER).write_text(str(self.path), encoding="utf-8")
            self._remove_tree(place)
            added = self._ask("worktree", "add", "--force", "--detach", "--quiet", "--", str(place / _TREE), commit)
            if added.returncode != 0:
                raise InputError(f"commit {commit[:12]} cannot be checked out ({_said(added)})", source=self.path)
            yield place / _TREE
        finally:
            self._remove_tree(place)
            shutil.rmtree(place, ignore_errors=True)
            os.close(lock)

    def _remove_tree(self, place: Path) -> None:
        self._ask("worktree", "remove", "--force", "--force", "--", str(place / _TREE))
        shutil.rmtree(place / _TREE, ignore_errors=True)

    def _text(self, *arguments: str) -> str:
        answer = self._ask(*arguments)
        if answer.returncode != 0:
            raise InputError(f"git {arguments[0]} failed ({_said(answer)})", source=self.path)
        return answer.stdout

    def _ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        try:
            return subprocess.run(  # noqa: S603 - git itself, an argument list, no shell
                [self._git, *settings, "-C", str(self.path), *arguments],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="surrogateescape",
                timeout=_GIT_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise RunError(f"git {arguments[0]} in {self.path} did not end in {_GIT_TIMEOUT_S:g} s") from None


def remove_leftovers(below: Path) -> int:
    """Remove the checkouts below `below` whose process is gone, also from their repositories' lists; returns how many."""
    removed = 0
    for place in sorted(below.absolute().glob("*-*")) if below.is_dir() else []:
        lock = _lock(place)
        if lock is None:
            continue
        try:
            with suppress(InputError, OSError):  # the repository may be gone; its folder is removed all the same
                Repository(Path((place / _OWNER).read_text(encoding="utf-8")))._remove_tree(place)
            shutil.rmtree(place, ignore_errors=True)
            removed += 1
        finally:
            os.close(lock)
    return removed


def _environment() -> dict[str, str]:
    """Our environment without ``GIT_*``, which may name another repository (as in a hook); no prompt, no translation."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}


def _lock(place: Path) -> int | None:
    """The folder's lock, held until it is closed or the process dies; None where another process holds it, or it is gone."""
    try:
        lock = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), os.stat(place / _LOCK)):
            return lock
    except OSError:  # held by another process, or removed by it just now
        pass
    os.close(lock)
    return None


def _within(found: Sequence[Revision], since: datetime | None, until: datetime | None) -> list[Revision]:
    return [each for each in found if (since is None or each.moment >= since) and (until is None or each.moment < until)]


def _moment(seconds: str) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _said(answer: subprocess.CompletedProcess[str]) -> str:
    lines = answer.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit code {answer.returncode}"
