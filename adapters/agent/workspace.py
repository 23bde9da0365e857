"""The folder that one item has to itself: what is put in before the agent starts, and what is different when it has ended.

The agent may have put anything there: links, pipes, files of any length and number, or nothing at all. What is read is bounded,
no link is followed, and the folder is the one that was made, whatever lies at its path by then.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval_skills.agent_skills.fixtures import placed
from eval_skills.agent_skills.folder import AgentSkill
from eval_skills.core.errors import InfraError
from eval_skills.core.models import WorkspaceFile
from eval_skills.core.models.response import LEFT_OUT_FOLDERS
from eval_skills.core.temporary import TemporaryFolder, let_in

MAX_CONTENT_BYTES, MAX_CONTENTS_BYTES = 256 * 1024, 2 * 1024 * 1024
"""How long a file may be whose content is kept, and how long all that are kept together."""

MAX_FILES = 5_000
"""How many files may differ; of more, what differs is unknown."""

MAX_ENTRIES, MAX_DEPTH = 200_000, 64
"""How many entries are looked at, and how deep; of a folder that has more, what differs is unknown."""

MAX_HASHED_BYTES = 512 * 1024 * 1024
"""How much is read in all to tell whether files differ, and for their digests; beyond that length and time of change decide."""

MAX_FIXTURE_BYTES, MAX_FIXTURES = 256 * 1024 * 1024, 20_000
"""How much one item's files, or an installed skill, may hold."""

ANSWERS = "evals"
"""The folder of an Agent Skill that holds what is expected of it: it is never installed."""

SKILLS_FOLDER = ".agents/skills"
"""Where Agent Skills are installed in a workspace, unless an agent looks for them elsewhere."""

_CHUNK = 1024 * 1024
_MAX_LINKS = 8
_UP_FROM_BELOW = re.compile(r"(?:^|/)(?!\.{1,2}/)[^/]+/+(?:\./+)*\.\.(?:/|$)")
_NOT_INSTALLED = (ANSWERS, ".git")


@dataclass(slots=True)
class Workspace:
    """Fresh folders of one item, readable for this user alone: `folder` to work in, `home`, and `tmp`; all below `root`."""

    root: Path
    folder: Path
    home: Path
    tmp: Path
    _made: TemporaryFolder
    _fd: int
    _before: dict[str, _Seen] | None = field(default_factory=dict)

    @classmethod
    def make(cls) -> Workspace:
        """A new one, below the folder for temporary files."""
        made = TemporaryFolder.make("agent")
        root = made.path
        for name in ("workspace", "home", "tmp"):
            (root / name).mkdir(mode=0o700)
        folder = root / "workspace"
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return cls(root, folder, root / "home", root / "tmp", made, fd)

    @property
    def fd(self) -> int:
        """The open folder to work in, whatever has become of its path."""
        return self._fd

    @property
    def whole(self) -> str:
        """A path to all of it, which also holds where the agent moves it, as far as the system has such paths."""
        below = f"/proc/{os.getpid()}/fd/{self._made.fd}/."
        return below if os.path.exists(below) else str(self.root)

    def renew_home(self) -> None:
        """A new home for the next turn: in the old one the agent may have put links where its settings are written."""
        self.home = Path(tempfile.mkdtemp(prefix="home-", dir=self.root))

    def remember(self) -> None:
        """What is there now is not part of the difference."""
        try:
            self._before = {seen.path: seen for seen in _files(self._fd, _Budget(MAX_ENTRIES))}
        except _TooMuch:
            self._before = None
            return
        hashed = _Budget(MAX_HASHED_BYTES)
        for seen in self._before.values():
            seen.sha256, _ = _read(self._fd, seen, hashed)

    def difference(self) -> tuple[list[WorkspaceFile] | None, str]:
        """What is different from what was there when it was remembered, by path; None where there is too much, with a phrase that
        says so. A link to a file of the workspace is that file under its name; other links, pipes and sockets are not files:
        a file that became one counts as deleted."""
        try:
            with suppress(OSError):
                os.fchmod(self._fd, stat.S_IRWXU)
            if self._before is None:
                raise _TooMuch(f"it held more than {MAX_ENTRIES:,} entries from the beginning")
            after = {seen.path: seen for seen in _files(self._fd, _Budget(MAX_ENTRIES))}
            return _compared(self._fd, self._before, after), ""
        except _TooMuch as error:
            return None, f"what the agent changed in its workspace is unknown: {error}"

    def remove(self) -> str:
        """Remove all of it; what is left and why, as a phrase, "" for nothing."""
        os.close(self._fd)
        return self._made.remove()


def _compared(fd: int, before: dict[str, _Seen], after: dict[str, _Seen]) -> list[WorkspaceFile]:
    hashed, kept = _Budget(MAX_HASHED_BYTES), _Budget(MAX_CONTENTS_BYTES)
    found = []
    for path in sorted({*before, *after}):
        if path not in after:
            found.append(WorkspaceFile(path=path, change="deleted"))
        elif (file := _changed(fd, before.get(path), after[path], hashed, kept)) is not None:
            found.append(file)
        if len(found) > MAX_FILES:
            raise _TooMuch(f"more than {MAX_FILES:,} files differ")
    return found


def _changed(fd: int, before: _Seen | None, after: _Seen, hashed: _Budget, kept: _Budget) -> WorkspaceFile | None:
    if before is not None and before.same_place(after):
        return None
    sha256, data = _read(fd, after, hashed)
    if before is not None and before.size == after.size and before.sha256 is not None and before.sha256 == sha256:
        return None
    text, is_text = _as_text(data) if data is not None and kept.take(len(data)) else (None, True)
    return WorkspaceFile(
        path=after.path,
        change="added" if before is None else "changed",
        size=after.size,
        sha256=sha256,
        content=text,
        encoding="utf-8" if is_text else "base64",
    )


@dataclass(slots=True)
class _Seen:
    path: str
    raw: tuple[str, ...]
    size: int
    stamp: tuple[int, int, int, int]
    sha256: str | None = None

    def same_place(self, other: _Seen) -> bool:
        """Whether nothing has written to it: its number, and the time of its last change, which no program can set."""
        return self.size == other.size and self.stamp == other.stamp


class _TooMuch(Exception):
    """More than is looked at."""


class _Budget:
    def __init__(self, amount: int) -> None:
        self._left = amount

    def take(self, amount: int) -> bool:
        if amount > self._left:
            return False
        self._left -= amount
        return True


def _files(fd: int, entries: _Budget) -> Iterator[_Seen]:
    """The ordinary files below an open folder, by its own number: no link is followed on the way. A link that leads to such a
    file is that file under its own name."""
    here = os.path.realpath(f"/proc/self/fd/{fd}")
    pending: list[tuple[str, ...]] = [()]
    while pending:
        parts = pending.pop()
        with suppress(OSError), _listing(fd, parts) as listed:  # a folder may be unreadable, or gone meanwhile
            for entry in listed:
                if not entries.take(1):
                    raise _TooMuch(f"it holds more than {MAX_ENTRIES:,} entries")
                place = (*parts, entry.name)
                if entry.is_dir(follow_symlinks=False) and entry.name not in LEFT_OUT_FOLDERS:
                    pending.append(_not_too_deep(place))
                elif entry.is_file(follow_symlinks=False):
                    yield _seen(place, entry.stat(follow_symlinks=False))
                elif entry.is_symlink() and (led := _led_to(fd, here, place)) is not None:
                    yield led


@contextmanager
def _listing(fd: int, parts: tuple[str, ...]) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder below an open one."""
    folder = _open_below(fd, parts, os.O_DIRECTORY)
    try:
        with os.scandir(folder) as listed:
            yield listed
    finally:
        os.close(folder)


def _not_too_deep(folder: tuple[str, ...]) -> tuple[str, ...]:
    if len(folder) > MAX_DEPTH:
        raise _TooMuch(f"its folders nest deeper than {MAX_DEPTH} levels")
    return folder


def _seen(parts: tuple[str, ...], about: os.stat_result) -> _Seen:
    path = "/".join(parts).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return _Seen(path, parts, about.st_size, (about.st_dev, about.st_ino, about.st_mtime_ns, about.st_ctime_ns))


def _led_to(fd: int, root: str, link: tuple[str, ...]) -> _Seen | None:
    """The ordinary file below an open folder, whose path is `root`, that a link leads to; None for any other link."""
    place = link
    for _ in range(_MAX_LINKS):
        try:
            folder = _open_below(fd, place[:-1], os.O_DIRECTORY)
        except OSError:  # a link leads there, too, or nothing is there
            return None
        try:
            about = os.stat(place[-1], dir_fd=folder, follow_symlinks=False)
            target = os.readlink(place[-1], dir_fd=folder) if stat.S_ISLNK(about.st_mode) else None
        except OSError:
            return None
        finally:
            os.close(folder)
        if target is not None and _UP_FROM_BELOW.search(target):  # what that means depends on the links on its way
            return None
        if target is None:
            is_ours = stat.S_ISREG(about.st_mode) and not LEFT_OUT_FOLDERS.intersection(place[:-1])
            return replace(_seen(place, about), path=_seen(link, about).path) if is_ours else None
        inside = os.path.relpath(os.path.join(root, *place[:-1], target), root)
        place = tuple(inside.split(os.sep))
        if place[0] in (os.pardir, os.curdir):
            return None
    return None


def _open_below(fd: int, parts: Sequence[str], flags: int) -> int:
    """Open what lies below an open folder, part by part, none of which may be a link.

    Raises:
        OSError: one is missing, is a link, or may not be opened.
    """
    here = os.dup(fd)
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        wanted = flags if last else os.O_DIRECTORY
        try:
            below = _open(here, part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | wanted)
        finally:
            os.close(here)
        here = below
    return here


def _open(folder: int, name: str, flags: int) -> int:
    """Open an entry, also where the agent has closed it to us: it has ended, and what it made is ours."""
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        let_in(folder, name)
        return os.open(name, flags, dir_fd=folder)


def _read(fd: int, seen: _Seen, hashed: _Budget) -> tuple[str | None, bytes | None]:
    """The digest of a file, and its content where that is short enough to be kept; None where it is too long, or not a file."""
    if not hashed.take(seen.size):
        return None, None
    try:
        file = _open_below(fd, seen.raw, 0)
    except OSError:
        return None, None
    digest, data, left = hashlib.sha256(), bytearray(), seen.size
    with os.fdopen(file, "rb", buffering=0) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return None, None
        while left > 0 and (chunk := stream.read(min(_CHUNK, left))):
            left -= len(chunk)
            digest.update(chunk)
            if seen.size <= MAX_CONTENT_BYTES:
                data += chunk
    return digest.hexdigest(), bytes(data) if seen.size <= MAX_CONTENT_BYTES else None


def _as_text(data: bytes) -> tuple[str, bool]:
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        return b64encode(data).decode(), False


def copy_fixtures(names: Iterable[str], fixtures: Path, workspace: Path) -> None:
    """Copy the files of a task into the workspace: under the name relative to ``evals/files/`` or ``files/`` where they lie below
    such a folder, else as they are named. A folder is copied whole.

    Raises:
        InfraError: one leaves the folder of fixtures, does not exist, or is neither a file nor a folder; or they are too long
            together.
    """
    root = fixtures.resolve()
    copying = _Copying()
    for name in names:
        plain = os.path.normpath(name)
        source = (root / plain).resolve()
        if os.path.isabs(plain) or plain.split(os.sep)[0] in ("..", ".") or not source.is_relative_to(root):
            raise InfraError(f"inputData.files: {name!r} is not below {fixtures}, where the files of the tasks are")
        if not source.exists():
            raise InfraError(f"inputData.files: there is no {name!r} in {fixtures} (adapterConfig.fixtures)")
        try:
            target = workspace / placed(plain)
        except ValueError as error:
            raise InfraError(f"inputData.files: {error}") from None
        _refuse_links(target, workspace, name)
        copying.copy(source, target, f"inputData.files: {name!r}")


def _refuse_links(target: Path, workspace: Path, name: str) -> None:
    """In a later turn of a conversation the agent may have put a link there, through which we would write elsewhere."""
    for place in (target, *target.parents):
        if place == workspace:
            return
        if place.is_symlink():
            raise InfraError(f"inputData.files: {name!r} cannot be copied, for the agent has put a link in its place")


def install_skills(skills: Iterable[AgentSkill], folder: Path) -> None:
    """Copy Agent Skills into ``folder/<name>/``, without what is expected of them (``evals/``), and no link in them. This folder
    is made in any case.

    Raises:
        InfraError: one is too long.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for skill in skills:
        _Copying(leave_out=_NOT_INSTALLED).copy(skill.folder, folder / skill.name, f"the Agent Skill {skill.name}")


def installed_files(folder: Path) -> list[str]:
    """The files of an Agent Skill's folder that are installed, relative to it, with ``/``, sorted."""
    found = []
    for place, folders, files in os.walk(folder):
        here = Path(place)
        left_out = _NOT_INSTALLED if here == folder else ()
        folders[:] = [name for name in folders if name not in left_out and not (here / name).is_symlink()]
        found += [(here / name).relative_to(folder).as_posix() for name in files if not (here / name).is_symlink()]
    return sorted(found)


class _Copying:
    """Copies files and folders, but no links, pipes and sockets, up to a number and length of all together."""

    def __init__(self, leave_out: Sequence[str] = ()) -> None:
        self._bytes, self._files = _Budget(MAX_FIXTURE_BYTES), _Budget(MAX_FIXTURES)
        self._leave_out = leave_out

    def copy(self, source: Path, target: Path, what: str) -> None:
        """Copy a file, or a folder without the entries that are left out."""
        if source.is_file():
            self._copy_file(source, target, what)
            return
        target.mkdir(parents=True, exist_ok=True)
        for entry in sorted(source.iterdir()):
            if entry.name not in self._leave_out and not entry.is_symlink():
                self._copy_below(entry, target / entry.name, what)

    def _copy_below(self, source: Path, target: Path, what: str) -> None:
        if source.is_file():
            self._copy_file(source, target, what)
        elif source.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            for entry in sorted(source.iterdir()):
                if not entry.is_symlink():
                    self._copy_below(entry, target / entry.name, what)

    def _copy_file(self, source: Path, target: Path, what: str) -> None:
        if not self._files.take(1) or not self._bytes.take(source.stat().st_size):
            most = f"{MAX_FIXTURE_BYTES // 1024**2} MiB or {MAX_FIXTURES:,} files"
            raise InfraError(f"{what} holds more than {most}; give the agent less")
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_symlink():  # below a folder that is copied
            target.unlink()
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def read_task(input_data: object) -> tuple[str, tuple[str, ...]]:
    """The prompt and the files of a task: a text, ``{"prompt": …, "files": […]}``, or any other JSON, whose text is the prompt.

    Raises:
        InfraError: the prompt is not a text, or the files are not a list of names.
    """
    if isinstance(input_data, str):
        return input_data, ()
    if not isinstance(input_data, dict) or "prompt" not in input_data or not input_data.keys() <= {"prompt", "files"}:
        return json.dumps(input_data, ensure_ascii=False), ()
    prompt, files = input_data["prompt"], input_data.get("files") or []
    if not isinstance(prompt, str):
        raise InfraError("inputData.prompt is not a text; write what the agent is asked")
    if not isinstance(files, list) or not all(isinstance(name, str) and name for name in files):
        raise InfraError("inputData.files is not a list of names; list files below adapterConfig.fixtures")
    return prompt, tuple(files)
