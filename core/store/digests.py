"""The digests of landed files, as they were when they landed: one line per file in ``<root>/digests.jsonl``."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from typing import TYPE_CHECKING

from eval_skills.core.errors import RunError
from eval_skills.core.store.files import make_folder, sync_folder

if TYPE_CHECKING:
    from pyarrow import fs

    from eval_skills.core.store.layout import Layout

_CHUNK_BYTES = 1024 * 1024
DIGESTS_FILE = "digests.jsonl"


def digest_of_file(filesystem: fs.FileSystem, path: str) -> str:
    """The SHA-256 of a file's bytes, as 64 hex digits."""
    found = hashlib.sha256()
    with filesystem.open_input_stream(path) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            found.update(chunk)
    return found.hexdigest()


def record_digest(layout: Layout, relative: str, digest: str) -> None:
    """Write down the digest of a file that is about to land at `relative` (to the tables), as one line that is appended whole.

    It is on disk before the file has its name: whatever is stopped in between, a file that is there has its line.
    """
    make_folder(layout.root, layout.mode)
    fd = os.open(layout.root / DIGESTS_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, layout.mode & 0o666)
    try:
        os.write(fd, json.dumps({"file": relative, "sha256": digest, "crc32": _checksum(relative, digest)}).encode() + b"\n")
        os.fsync(fd)
    finally:
        os.close(fd)
    sync_folder(layout.root)


def recorded_digests(layout: Layout) -> dict[str, set[str]]:
    """The digests of every file, by its path relative to the tables; several where it has landed more than once.

    A line that cannot be read, or whose own checksum does not hold, is passed over: its file counts as one without a digest, for
    damage to the list must not condemn a file that is well. Lines of older versions have no checksum.

    Raises:
        RunError: the file of digests cannot be read, or is a folder.
    """
    found: dict[str, set[str]] = {}
    try:
        lines = (layout.root / DIGESTS_FILE).read_bytes().splitlines()
    except FileNotFoundError:
        return found
    except OSError as error:
        raise RunError(f"{layout.root / DIGESTS_FILE} cannot be read: {error.strerror}; restore it, or move it away") from None
    for line in lines:
        try:
            known = json.loads(line)
            file, digest = str(known["file"]), str(known["sha256"])
            if known.get("crc32", "") in ("", _checksum(file, digest)):
                found.setdefault(file, set()).add(digest)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return found


def _checksum(file: str, digest: str) -> str:
    return f"{zlib.crc32(f'{file} {digest}'.encode()):08x}"
