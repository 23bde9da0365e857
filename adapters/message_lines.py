"""A stream of bytes as lines, of which one that is too long is skipped and not the end."""

from __future__ import annotations

from dataclasses import dataclass

_KEPT = 1_000


@dataclass(frozen=True, slots=True)
class LongLine:
    """The first and the last bytes of a line that was too long to keep."""

    first: bytes
    last: bytes


class MessageLines:
    """Splits what it is fed into lines; holds at most one unfinished line of `limit` bytes."""

    __slots__ = ("_first", "_limit", "_rest", "_skipping")

    def __init__(self, limit: int) -> None:
        self._rest, self._limit = bytearray(), limit
        self._first, self._skipping = b"", False

    def feed(self, data: bytes) -> list[bytes | LongLine]:
        """The lines that `data` completes, without their line feeds."""
        *parts, rest = data.split(b"\n")
        lines: list[bytes | LongLine] = []
        for part in parts:
            self._extend(part)
            lines.append(self._finish())
        self._extend(rest)
        return lines

    def _extend(self, part: bytes) -> None:
        self._rest += part
        if not self._skipping and len(self._rest) > self._limit:
            self._first, self._skipping = bytes(self._rest[:_KEPT]), True
        if self._skipping and len(self._rest) > _KEPT:
            del self._rest[:-_KEPT]

    def _finish(self) -> bytes | LongLine:
        line = LongLine(self._first, bytes(self._rest)) if self._skipping else bytes(self._rest)
        self._rest, self._first, self._skipping = bytearray(), b"", False
        return line
