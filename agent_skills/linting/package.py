"""What lies in a skill's folder: a list of its files, and the text of those that hold some, both within bounds."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from eval_skills.agent_skills.reading import Unreadable, read_inside

MAX_FILES = 10_000
MAX_LEVELS = 16
MAX_FILE_BYTES = 1_000_000
MAX_TEXT_BYTES = 2_000_000
"""So much text of one skill is read; of all skills, `MAX_ALL_BYTES`."""

MAX_ALL_BYTES = 50_000_000

_PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, by its path relative to the skill's folder; nothing was opened for it."""

    path: str
    size: int
    is_executable: bool


@dataclass(slots=True)
class Allowance:
    """How many bytes of text may still be read."""

    left: int = MAX_ALL_BYTES


@dataclass(frozen=True, slots=True)
class Package:
    """The files of a folder, sorted, and the folders below it; `links` lead out of it, `special` are FIFOs and the like.

    `is_complete` is False where there were too many files or levels to list them all; `closed` are folders that could not be
    listed.
    """

    root: Path
    files: dict[str, Entry]
    folders: frozenset[str]
    links: tuple[str, ...]
    special: tuple[str, ...]
    is_complete: bool
    closed: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)

    def read_texts(self, allowance: Allowance) -> None:
        """Read every file that is text, as far as the bounds allow; `unread` names those that they did not."""
        left = min(MAX_TEXT_BYTES, allowance.left)
        for path, entry in self.files.items():
            if entry.size > MAX_FILE_BYTES:
                continue  # large-file says so
            if entry.size > left:
                self.unread.append(path)
                continue
            left -= entry.size
            allowance.left -= entry.size
            text = self._text(path)
            if text is not None:
                self.texts[path] = text

    def _text(self, path: str) -> str | None:
        try:
            data = read_inside(self.root / path, self.root, MAX_FILE_BYTES)
        except Unreadable:
            self.unread.append(path)
            return None
        return None if b"\0" in data[:8_000] else data.decode(errors="replace").replace("\r\n", "\n")


def list_package(root: Path) -> Package:
    """What lies below `root`; no link is followed, and nothing is opened."""
    files: dict[str, Entry] = {}
    folders, links, special, closed = set[str](), list[str](), list[str](), list[str]()
    complete = True
    left = [("", 0)]
    seen = 0
    while left:
        below, level = left.pop()
        try:
            entries, whole = _some(root / below, MAX_FILES - seen)
        except OSError:
            closed.append(below)
            continue
        seen += len(entries)
        complete = complete and whole and level <= MAX_LEVELS
        if level > MAX_LEVELS:
            continue
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if entry.is_symlink():
                _add_link(root, path, files, folders, links)
            elif entry.is_dir(follow_symlinks=False):
                if entry.name not in _PASSED_OVER:
                    folders.add(path)
                    left.append((path, level + 1))
            elif entry.is_file(follow_symlinks=False):
                files[path] = _entry(entry, path)
            else:
                special.append(path)
    return Package(
        root,
        dict(sorted(files.items())),
        frozenset(folders),
        tuple(sorted(links)),
        tuple(sorted(special)),
        complete,
        tuple(sorted(closed)),
    )


def _entry(entry: os.DirEntry[str], path: str) -> Entry:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:  # the folder may be listed and not entered: reading says so
        return Entry(path, 0, False)
    return Entry(path, found.st_size, bool(found.st_mode & 0o111))


def _some(folder: Path, most: int) -> tuple[list[os.DirEntry[str]], bool]:
    """The entries of a folder by name, at most so many, and whether these are all: a folder may hold millions."""
    found: list[os.DirEntry[str]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(found) >= most:
                return sorted(found, key=lambda each: each.name), False
            found.append(entry)
    return sorted(found, key=lambda each: each.name), True


def _add_link(root: Path, path: str, files: dict[str, Entry], folders: set[str], links: list[str]) -> None:
    try:
        real = os.path.realpath(root / path, strict=True)
        found = os.stat(real)
    except OSError:
        links.append(path)  # it leads nowhere, or in a circle
        return
    if not Path(real).is_relative_to(os.path.realpath(root)):
        links.append(path)
    elif stat.S_ISREG(found.st_mode):
        files[path] = Entry(path, found.st_size, bool(found.st_mode & 0o111))
    elif stat.S_ISDIR(found.st_mode):
        folders.add(path)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text, each with its number from 1."""
    return enumerate(text.split("\n"), 1)
