"""What a skill says on the side, kept in bounded memory."""

from __future__ import annotations

TAIL_BYTES = 64_000
"""How much of a stream's end is kept."""

EXCERPT_CHARS = 300
"""How much of a foreign text a one-line message may quote."""


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


def excerpt(text: str, limit: int = EXCERPT_CHARS) -> str:
    """The beginning of `text` on one line, blanks collapsed; ``…`` marks a cut."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit and len(text) <= 4 * limit else f"{line[:limit]}…"


def last_lines(text: str, count: int = 6, limit: int = 2 * EXCERPT_CHARS) -> str:
    """The last non-blank lines of `text` on one line, parted by ``|``; ``…`` marks a cut at the front."""
    lines = [" ".join(line.split()) for line in text[-8 * limit :].splitlines() if line.strip()]
    joined = " | ".join(lines[-count:])
    return joined if len(joined) <= limit else f"…{joined[-limit:]}"
