"""Content digests: has what was evaluated changed since?"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shutil
import stat
import subprocess
import tokenize
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

IGNORED_FOLDERS = frozenset({".git", "__pycache__", "node_modules", ".venv", ".pytest_cache"})
MAX_HASHED_BYTES = 32 * 1024 * 1024
MAX_PASSED_OVER = 200_000
"""So many files `digest_of_passed_over` looks at: more take seconds, as behind a link to a whole disk."""

_INSTALLED = frozenset({"node_modules", ".venv"})
_CACHES = IGNORED_FOLDERS - _INSTALLED | {".cache"}
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)
_CHUNK_BYTES = 1024 * 1024
_GIT_TIMEOUT_S = 2.0


def digest_of_folder(path: Path) -> str:
    """The digest of a folder's content, as ``sha256:<16 hex digits>``.

    It covers the sorted relative paths and the bytes of regular files, and a symbolic link by the text of its target (it is
    not followed). A file over 32 MiB counts by its size and modification time only. Permissions, empty folders, sockets and
    pipes do not count, nor does what builds leave behind: ``.git``, ``__pycache__``, ``*.pyc``, ``node_modules``, ``.venv``,
    ``.pytest_cache``. A `path` that is a file is a folder with that one file, so it has a digest too.

    Raises:
        InputError: `path` is missing, or something in it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for name, entry in sorted(_entries(path)):
            for part in (name.encode("utf-8", "surrogateescape"), _content_of(entry)):
                # the length in front of each part keeps "a" + "bc" apart from "ab" + "c"
                digest.update(len(part).to_bytes(8, "big") + part)
    except OSError as error:
        raise InputError(f"cannot be read for its digest: {error.strerror}", source=error.filename or path) from None
    return _short(digest.hexdigest())


def digest_of_passed_over(path: Path) -> str:
    """A digest of what `digest_of_folder` of `path` passes over and a program in it may read: what is installed in
    ``node_modules`` and ``.venv``, what links lead to, and files over 32 MiB.

    Files count by path, size, inode, and the times of change of their content and of their entry, since packages are unpacked
    with times of their own; so what was installed again has another digest though it is the same. Caches (``.git``,
    ``.cache``, ``__pycache__``) do not count.

    Raises:
        InputError: there are more than `MAX_PASSED_OVER` files, or something cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for part in sorted(_passed_over(path)):
            digest.update(len(part).to_bytes(8, "big") + part)
    except OSError as error:
        raise InputError(f"cannot be read for its digest: {error.strerror}", source=error.filename or path) from None
    return _short(digest.hexdigest())


def digest_of_json(data: Any) -> str:
    """The digest of JSON data, as ``sha256:<16 hex digits>``; the order of keys does not count, ``1`` and ``1.0`` differ.

    Raises:
        InputError: `data` holds something that is not JSON.
    """
    return digest_of_canonical([canonical_json(data)])


def canonical_json(data: Any) -> str:
    """The text of JSON data that its digest is made of: the keys of objects sorted, no blanks, ASCII.

    Raises:
        InputError: `data` holds something that is not JSON.
    """
    try:
        return _CANONICAL.encode(data)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"not JSON data, so it has no digest: {error}") from None


def digest_of_canonical(parts: Iterable[str]) -> str:
    """The digest of JSON data whose `canonical_json` is at hand in `parts`; the same as `digest_of_json` of the data."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("ascii"))
    return _short(digest.hexdigest())


def source_of(target: Any) -> str | None:
    """The source of a function or class; None where Python does not know it, or does not find it where it should be.

    What was typed at a prompt or made by `exec` has none. Of ``python -c`` Python 3.13 reads other lines, and in a file that was
    changed since its import any lines may stand there.
    """
    try:
        return inspect.getsource(target)
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        return None


@cache
def installed_version(package: str) -> str:
    """The version of an installed package, as it was when this process first asked: what it runs is what it imported then.

    Raises:
        importlib.metadata.PackageNotFoundError: it is not installed.
    """
    from importlib.metadata import version  # reads and parses the package's whole description

    return version(package)


def git_commit(path: Path) -> str | None:
    """The commit that is checked out in the working tree around `path`, 40 (or 64) hex digits.

    None where there is no repository, no commit, no git, or no answer from git within 2 s: a run goes on without it.
    """
    git = shutil.which("git")
    if git is None:
        return None
    folder = path if path.is_dir() else path.parent
    try:
        answer = subprocess.run(  # noqa: S603 - a fixed program with fixed arguments, no shell
            [git, "-C", str(folder), "rev-parse", "--verify", "--quiet", "HEAD"],
            capture_output=True,
            text=True,
            timeout=_GIT_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None


def _entries(path: Path) -> Iterator[tuple[str, Path]]:
    if not stat.S_ISDIR(path.stat().st_mode):
        yield path.name, path
        return
    for folder, folders, files in os.walk(path, onerror=_raise):
        here = Path(folder)
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = [name for name in folders if name not in IGNORED_FOLDERS]
        for name in [*links, *files]:
            if name not in IGNORED_FOLDERS and not name.endswith(".pyc") and _counts(here / name):
                yield (here / name).relative_to(path).as_posix(), here / name


def _passed_over(path: Path) -> Iterator[bytes]:
    """A line for each file that counts, in no order."""
    seen: set[tuple[int, int]] = set()
    waiting = [(str(path), False)] if path.is_dir() else []
    looked = 0
    while waiting:
        folder, counts = waiting.pop()
        own = os.stat(folder)
        if (own.st_dev, own.st_ino) in seen:  # a link that leads back
            continue
        seen.add((own.st_dev, own.st_ino))
        with os.scandir(folder) as entries:
            for entry in entries:
                if (looked := looked + 1) > MAX_PASSED_OVER:
                    raise InputError(f"leads to more than {MAX_PASSED_OVER:,} files", source=path)
                if entry.name in _CACHES or entry.name.endswith(".pyc"):
                    continue
                is_link = entry.is_symlink()
                if (about := _stat_of(entry)) is None:
                    yield os.fsencode(f"{entry.path}:gone")
                elif stat.S_ISDIR(about.st_mode):
                    waiting.append((entry.path, counts or is_link or entry.name in _INSTALLED))
                elif stat.S_ISREG(about.st_mode) and (counts or is_link or about.st_size > MAX_HASHED_BYTES):
                    yield os.fsencode(f"{entry.path}:{about.st_size}:{about.st_ino}:{about.st_mtime_ns}:{about.st_ctime_ns}")


def _stat_of(entry: os.DirEntry[str]) -> os.stat_result | None:
    """What an entry, or what it links to, is; None of a link that leads nowhere."""
    try:
        return entry.stat()
    except OSError:
        if not entry.is_symlink():
            raise
        return None


def _raise(error: OSError) -> None:
    raise error


def _counts(path: Path) -> bool:
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _content_of(path: Path) -> bytes:
    """What a file adds to the digest: a tag for its sort, so that a link to ``x`` differs from a file that says ``x``."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return b"link:" + os.fsencode(os.readlink(path))
    if status.st_size > MAX_HASHED_BYTES:
        return f"large:{status.st_size}:{status.st_mtime_ns}".encode()
    content = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            content.update(chunk)
    return b"file:" + content.digest()


def _short(hexadecimal: str) -> str:
    return f"sha256:{hexadecimal[:16]}"
