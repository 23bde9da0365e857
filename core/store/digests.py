"""What tells that stored bytes are as they were written: the checksum in a JSON object, the seal of a file with one writer, and
the digests of landed files, a line for each in ``<root>/digests.jsonl``."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import zlib
from typing import TYPE_CHECKING

from eval_skills.core.errors import RunError
from eval_skills.core.store.files import make_folder, sync_folder, sync_open

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from eval_skills.core.store.layout import Layout


_CHUNK_BYTES = 1024 * 1024
DIGESTS_FILE = "digests.jsonl"


def digest_of_file(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, as 64 hex digits."""
    with open(path, "rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def record_digest(layout: Layout, relative: str, digest: str) -> None:
    """Write down the digest of a file that is about to land at `relative`, as one line that is appended whole.

    It is on disk before the file has its name: whatever is stopped in between, a file that is there has its line.
    """
    record_digests(layout, {relative: digest})


def record_digests(layout: Layout, digests: Mapping[str, str]) -> None:
    """The same for several files at once, by where each is about to land."""
    if not digests:
        return
    make_folder(layout.root, layout.mode)
    path = layout.root / DIGESTS_FILE
    lines = b"".join(digest_line(relative, digest) for relative, digest in digests.items())
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, layout.mode & 0o666)
    try:
        lines = lines if _ends_a_line(fd) else b"\n" + lines
        if os.write(fd, lines) < len(lines):  # without its last line, a file that lands again would count as damaged
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        sync_open(fd, path)
    finally:
        os.close(fd)
    sync_folder(layout.root)


def _ends_a_line(fd: int) -> bool:
    """Whether what is appended begins a line: what was cut off by a full disk or a power cut must not spoil the next one."""
    size = os.fstat(fd).st_size
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"


def digest_line(relative: str, digest: str) -> bytes:
    """What `record_digest` appends."""
    return json.dumps({"file": relative, "sha256": digest, "crc32": _checksum(relative, digest)}).encode() + b"\n"


def recorded_digests(layout: Layout) -> dict[str, list[str]]:
    """The digests of every file, by its path below the store; several where it has landed more than once, in that order.

    A line that cannot be read, or whose own checksum does not hold, is passed over: its file counts as one without a digest, for
    damage to the list must not condemn a file that is well. Lines of older versions have no checksum.

    Raises:
        RunError: the file of digests cannot be read, or is a folder.
    """
    found: dict[str, list[str]] = {}
    try:
        lines = (layout.root / DIGESTS_FILE).read_bytes().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return found
    except OSError as error:
        raise RunError(f"{layout.root / DIGESTS_FILE} cannot be read: {error.strerror}; restore it, or move it away") from None
    for line in lines:
        try:
            known = json.loads(line)
            file, digest = str(known["file"]), str(known["sha256"])
            if known.get("crc32", "") in ("", _checksum(file, digest)):
                found.setdefault(file, []).append(digest)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return found


def _checksum(file: str, digest: str) -> str:
    return f"{zlib.crc32(f'{file} {digest}'.encode()):08x}"


KEY = "crc32"

_LAST_KEY = re.compile(rb',\s*"crc32": ?"([0-9a-f]{8})"\s*\}\s*\Z')
_TAIL_BYTES = 64


def with_checksum(text: bytes, *, indent: str = "") -> bytes:
    """The text of an object that has other keys, with the CRC-32 of all before it as its last key; `indent` precedes each key."""
    body = text.rstrip()[:-1].rstrip()
    space, end = (f"\n{indent}".encode(), b"\n}") if indent else (b"", b"}")
    colon = b": " if indent else b":"
    return b"".join((body, b",", space, f'"{KEY}"'.encode(), colon, f'"{zlib.crc32(body):08x}"'.encode(), end))


def without_checksum(text: bytes) -> bytes:
    """The object without its checksum; as it is where it has none, as older versions wrote it.

    Raises:
        ValueError: the checksum does not hold.
    """
    text = text.strip()  # what is before or after the object changes nothing in it
    tail = text[-_TAIL_BYTES:]
    found = _LAST_KEY.search(tail)
    if found is None and f'"{KEY}"'.encode() not in tail:
        return text
    body = text[: len(text) - len(tail) + found.start()] if found else b""
    if found is None or zlib.crc32(body) != int(found[1], 16):
        raise ValueError(f"its checksum does not hold: it is damaged, or was edited by hand (then delete its key {KEY})")
    return body + b"}"


class Seal:
    """The length and the SHA-256 of all that the file should hold: what it held at first, and what was added since."""

    def __init__(self, fd: int) -> None:
        self._digest, self._size = _read(fd)

    def add(self, content: bytes) -> None:
        """Take note of what was appended."""
        self._digest.update(content)
        self._size += len(content)

    def broken(self, path: Path) -> str:
        """What is otherwise about the file at `path`, as a phrase; "" where nothing is."""
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return "is gone"
        try:
            digest, size = _read(fd)
        finally:
            os.close(fd)
        if size != self._size:
            return f"has {size:,} bytes where this run wrote {self._size:,}"
        return "" if digest.digest() == self._digest.digest() else "does not hold what this run wrote"


def _read(fd: int) -> tuple[hashlib._Hash, int]:
    found, size = hashlib.sha256(), 0
    while chunk := os.pread(fd, _CHUNK_BYTES, size):
        found.update(chunk)
        size += len(chunk)
    return found, size
