"""A JSON object that carries the checksum of its own text under its last key, so that a bit that turned over is seen."""

from __future__ import annotations

import re
import zlib

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
