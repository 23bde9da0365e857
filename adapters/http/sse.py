"""Server-sent events out of bytes, by the HTML standard (section 9.2.6, "Interpreting an event stream").

Written here because the libraries for it read a response of their own HTTP client, by its declared charset, and keep a byte-order
mark; a line may be as long as the caller's own limit on bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name (``message`` by default) and its data, the lines of it joined."""

    name: str
    data: bytes


class EventStream:
    """Takes bytes as they come, cut anywhere, and gives each event as soon as the blank line behind it is there.

    Comments, ids and retry times are passed over: a call does not reconnect.
    """

    __slots__ = ("_after_cr", "_begun", "_data", "_name", "_partial")

    def __init__(self) -> None:
        self._partial: list[bytes] = []
        self._begun = self._after_cr = False
        self._name, self._data = b"", list[bytes]()

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that `chunk` completes."""
        for line in self._lines(chunk):
            if line:
                self._field(line)
            elif (event := self._dispatched()) is not None:
                yield event

    @property
    def unfinished(self) -> bool:
        """Whether an event has begun whose end has not come."""
        return bool(self._data or b"".join(self._partial).removeprefix(_BOM))

    def _lines(self, chunk: bytes) -> list[bytes]:
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")  # the carriage return before it has ended the line already
        self._after_cr = chunk.endswith(b"\r")
        first, *others = _LINE_END.split(chunk)
        self._partial.append(first)
        if not others:
            return []
        lines = [b"".join(self._partial), *others[:-1]]
        self._partial = [others[-1]]
        if not self._begun:
            self._begun, lines[0] = True, lines[0].removeprefix(_BOM)
        return lines

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value

    def _dispatched(self) -> Event | None:
        event = Event(self._name.decode(errors="replace") or "message", b"\n".join(self._data)) if self._data else None
        self._name, self._data = b"", []
        return event
