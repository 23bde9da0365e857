"""A program's output as lines of bounded length, and its end in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eval_skills.core.text import MESSAGE_CHARS

_KEPT = 1_000
"""How many bytes are kept of either end of a line that is skipped."""


class LineTooLong(Exception):
    """A single line grew beyond the limit."""


@dataclass(frozen=True, slots=True)
class LongLine:
    """The first and the last bytes of a line that was too long to keep."""

    first: bytes
    last: bytes


class LineSplitter:
    """Splits what it is fed into lines, however it is cut; holds at most one unfinished line of `limit` bytes."""

    __slots__ = ("_first", "_limit", "_rest", "_skipping")

    def __init__(self, limit: int) -> None:
        self._rest, self._limit = bytearray(), limit
        self._first, self._skipping = b"", False

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their line feeds.

        Raises:
            LineTooLong: a line, finished or not, has more than `limit` bytes; all of `data` is lost.
        """
        first, *others = parts = data.split(b"\n")
        if len(self._rest) + len(first) > self._limit or max(map(len, others), default=0) > self._limit:
            raise LineTooLong
        return [line for line in self._lines(parts) if isinstance(line, bytes)]

    def feed_skipping(self, data: bytes) -> list[bytes | LongLine]:
        """The lines that `data` completes; of one that has more than `limit` bytes only both ends."""
        return list(self._lines(data.split(b"\n")))

    def flush(self) -> bytes:
        """The unfinished line, which is forgotten."""
        rest = bytes(self._rest)
        self._rest.clear()
        return rest

    def flush_skipping(self) -> bytes | LongLine:
        """The unfinished line, which is forgotten; of one that has more than `limit` bytes only both ends."""
        return self._finish()

    def peek(self) -> str:
        """The unfinished line as text."""
        return self._rest.decode(errors="replace")

    def _lines(self, parts: Iterable[bytes]) -> Iterator[bytes | LongLine]:
        *finished, rest = parts
        for part in finished:
            self._extend(part)
            yield self._finish()
        self._extend(rest)

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


class OutputTail:
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
        """What is kept, led by a remark when something was left out; bytes that are not UTF-8 are replaced."""
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


_HEADLINE = re.compile(
    r"(?:Uncaught |Unhandled |Caused by: |Exception in thread \S+ )*(?:[\w.$]*(?:Error|Exception)|panic)(?: \[\w+\])?:"
)
"""How a line begins that names an error: ``TypeError [ERR_X]: …``, ``java.lang.IllegalStateException: …``."""


def last_lines(text: str, count: int = 6, limit: int = 2 * MESSAGE_CHARS) -> str:
    """The last non-blank lines of `text` on one line, separated by ``|``; ``…`` marks a cut at the front.

    The last line that names an error is never cut away: many runtimes print the stack below it. It then comes first, before
    the ``…``, and itself takes up half of `limit` characters at most.
    """
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    joined = " | ".join(lines[-count:])
    shown = joined if len(joined) <= limit else f"…{joined[-limit:]}"
    error = next((line for line in reversed(lines) if _HEADLINE.match(line)), "")
    if error in shown:
        return shown
    first = error if len(error) <= limit // 2 else f"{error[: limit // 2]}…"
    return f"{first} | …{joined[-(limit - len(first)) :]}"
