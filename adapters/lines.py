"""A stream of bytes as lines of bounded length."""

from __future__ import annotations


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
