"""A stream of bytes as lines of bounded length.

A stream of bytes as lines, of which one that is too long is skipped and not the end.

What a skill says on the side, kept in bounded memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from eval_skills.core.text import MESSAGE_CHARS


class LineTooLong(Exception):
    """A single line grew beyond the limit."""


class Lines:
    """Splits what it is fed into lines; holds at most one unfinished line of `limit` bytes."""

    __slots__ = ("_limit", "_rest")

    def __init__(self, limit: int) -> None:
        self._rest, self._limit = bytearray(), limit

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their line feeds.

        Raises:
            LineTooLong: a line, finished or not, has more than `limit` bytes; the lines before it are lost.
        """
        if not self._rest and data.count(b"\n") == 1 and data.endswith(b"\n"):
            return [self._bounded(data[:-1])]
        first, *others = data.split(b"\n")
        if len(self._rest) + len(first) > self._limit:
            raise LineTooLong
        self._rest += first
        if not others:
            return []
        lines = [bytes(self._rest), *(self._bounded(line) for line in others[:-1])]
        self._rest = bytearray(self._bounded(others[-1]))
        return lines

    def flush(self) -> bytes:
        """The unfinished line, which is forgotten."""
        rest = bytes(self._rest)
        self._rest.clear()
        return rest

    def peek(self) -> str:
        """The unfinished line as text."""
        return self._rest.decode(errors="replace")

    def _bounded(self, line: bytes) -> bytes:
        if len(line) > self._limit:
            raise LineTooLong
        return line


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


TAIL_BYTES = 64_000
"""How much of a stream's end is kept."""


class Tail:
    """The last bytes of a stream that may never end, and the number of those before them.

    It holds at most twice `limit` bytes at any time.
    """

    __slots__ = ("_buffer", "_dropped", "_limit")

    def __init__(self, limit: int = TAIL_BYTES) -> None:
        self._buffer, self._dropped, self._limit = bytearray(), 0, limit

    def add(self, data: bytes) -> None:
        """Append `data`, forgetting the oldest bytes beyond the limit."""
        kept = data[-self._limit :]
        self._dropped += len(data) - len(kept)
        self._buffer += kept
        if len(self._buffer) > 2 * self._limit:
            self._trim()

    def text(self) -> str:
        """What is kept, led by a remark when something was left out; bytes that are no UTF-8 are replaced."""
        self._trim()
        kept = self._buffer.decode(errors="replace")
        return f"[{self._dropped:,} earlier bytes left out]\n{kept}" if self._dropped else kept

    def take(self) -> str:
        """The text, after which the tail is empty again."""
        text = self.text()
        self._buffer.clear()
        self._dropped = 0
        return text

    def _trim(self) -> None:
        if (excess := len(self._buffer) - self._limit) > 0:
            del self._buffer[:excess]
            self._dropped += excess


def last_lines(text: str, count: int = 6, limit: int = 2 * MESSAGE_CHARS) -> str:
    """The last non-blank lines of `text` on one line, parted by ``|``; ``…`` marks a cut at the front."""
    lines = [" ".join(line.split()) for line in text[-8 * limit :].splitlines() if line.strip()]
    joined = " | ".join(lines[-count:])
    return joined if len(joined) <= limit else f"…{joined[-limit:]}"
