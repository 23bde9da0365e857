"""An answer that comes piece by piece."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from eval_skills.adapters.answer.envelope import parse_json, partial_response_in
from eval_skills.adapters.http.config import StreamConfig, value_at
from eval_skills.adapters.http.errors import TRANSIENT
from eval_skills.adapters.http.sse import Event, EventStream
from eval_skills.adapters.process.streams import LineSplitter
from eval_skills.core.errors import ContractError, ItemError, SkillUnavailable
from eval_skills.core.text import one_line

_NOTHING = object()


class StreamCut(ContractError):
    """A stream ended before its end; only who read it knows whether the service or the connection ended it."""


class Arriving:
    """How much of one response has come, and what its messages say of that."""

    def __init__(self) -> None:
        self.events = self.bytes = 0

    @property
    def seen(self) -> str:
        """What has come, for the message of a timeout."""
        return f"{self.events:,} events in {self.bytes:,} bytes had come"

    def phrase(self, problem: str) -> str:
        """What is wrong with the stream, with how much of it had come."""
        return f"the stream {problem} (after {self.events:,} events in {self.bytes:,} bytes)"

    def reported(self, event: Event, error: Any = None, message: str = "") -> ItemError:
        """The error that an event reports; it may be gone at the next attempt where `is_passing` says so.

        `error` is what is known to be one, where it may lie deeper in the event than an error usually does.
        """
        kind = SkillUnavailable if is_passing(event.data) or reports_passing(error) else ContractError
        message = message or self.phrase(f"reported an error: {shown(event) or 'without a message'}")
        return kind(message, known=partial_response_in(event.data))


class StreamedAnswer(Arriving):
    """Puts together what the events of one response hold.

    `see` is called with the JSON of every event, `first` when the first piece of output has come, and `twice` with each key that
    an object of an event gives twice.

    Raises:
        ContractError: by any method, if an event cannot be read or reports an error, or the stream ended too early (`StreamCut`).
        SkillUnavailable: by any method, if the error that is reported may be gone at the next attempt.
    """

    def __init__(
        self,
        config: StreamConfig,
        *,
        see: Callable[[Any], None],
        first: Callable[[], None],
        twice: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self._config, self._see, self._first, self._twice = config, see, first, twice
        self._pieces: list[Any] = []
        self._ended = False
        # A line may be as long as the whole answer, which the client limits.
        self._source = EventStream() if config.format == "sse" else LineSplitter(sys.maxsize)

    def feed(self, chunk: bytes) -> bool:
        """Take what has come; whether that was the end of the stream."""
        self.bytes += len(chunk)
        for part in self._source.feed(chunk):
            self._take(part if isinstance(part, Event) else Event("", part))
            if self._ended:
                break
        return self._ended

    def finish(self) -> Any:
        """The output, after the last byte."""
        if isinstance(self._source, LineSplitter) and not self._ended and (rest := self._source.flush()):
            self._take_last(Event("", rest))
        if not self._ended:
            self._refuse_early_end()
        if not self._pieces:
            raise self._broken(f"held no output{self._place()}")
        return "".join(self._pieces) if self._config.mode == "concat" else self._pieces[-1]

    def _take_last(self, line: Event) -> None:
        """A last line may lack its end, or be half of one."""
        if not self._is_end(line) and line.data.strip():
            try:
                parse_json(line.data)
            except ValueError as problem:
                half = f"ended in the middle of a line, or with one that cannot be read: {problem}; it was: {shown(line)}"
                raise StreamCut(self.phrase(half)) from None
        self._take(line)

    def _is_end(self, event: Event) -> bool:
        done = self._config.done
        return done is not None and done in (event.name, event.data.decode(errors="replace").strip())

    def _take(self, event: Event) -> None:
        if self._is_end(event):
            self._ended = True
            return
        self.events += 1
        if event.name == "error":
            raise self.reported(event)
        if event.data.strip() and (piece := self._piece(event)) is not _NOTHING:
            self._keep(piece)

    def _piece(self, event: Event) -> Any:
        try:
            if self._config.unread:
                return event.data.decode()
            value = parse_json(event.data, self._twice)
            self._see(value)
        except ValueError as problem:  # a UnicodeDecodeError is one
            raise self._broken(f"has an event that cannot be read: {_unread(problem)}; it was: {shown(event)}") from None
        try:
            return value_at(self._config.path or "", value)
        except LookupError:
            if isinstance(value, dict) and value.get("error"):
                raise self.reported(event) from None
            return _NOTHING

    def _keep(self, piece: Any) -> None:
        if self._config.mode == "last":
            self._pieces = [piece]
        elif piece is None:
            return
        elif isinstance(piece, str):
            self._pieces.append(piece)
        else:
            raise self._broken(f"has a {type(piece).__name__} where a text was to be joined{self._place()}")
        if piece != "":
            self._first()

    def _refuse_early_end(self) -> None:
        if isinstance(self._source, EventStream) and self._source.unfinished:
            raise StreamCut(self.phrase("ended in the middle of an event"))
        if self._config.done is not None:
            raise StreamCut(self.phrase(f"ended without {self._config.done!r} (stream.done)"))

    def _broken(self, problem: str) -> ContractError:
        return ContractError(self.phrase(problem))

    def _place(self) -> str:
        return "" if self._config.path is None else f" at {self._config.path!r} (stream.path)"


def shown(event: Event) -> str:
    """The data of an event, for a message."""
    return one_line(event.data.decode(errors="replace"))


def _unread(problem: ValueError) -> str:
    return f"not UTF-8 (byte {problem.start})" if isinstance(problem, UnicodeDecodeError) else str(problem)


_PASSING = re.compile(
    r"overloaded|rate[ _-]?limit|too[ _-]many[ _-]requests|server[ _-]?error|unavailable|api_error|temporar", re.IGNORECASE
)
_CODES = ("code", "status", "status_code", "statusCode")
_WORDS = ("type", "code", "status", "message")


def is_passing(data: bytes) -> bool:
    """Whether the error in `data` says that the service is overloaded, limits its rate or failed internally (a 5xx)."""
    try:
        report = parse_json(data)
    except ValueError:
        return bool(_PASSING.search(data.decode(errors="replace")))
    return reports_passing(report)


def reports_passing(report: Any) -> bool:
    """`is_passing` of an error that has been read."""
    return any(map(_says_so, _objects(report)))


def _objects(report: Any) -> Iterator[Any]:
    yield report
    if isinstance(report, dict):
        yield report.get("error")


def _says_so(said: Any) -> bool:
    if not isinstance(said, dict):
        return isinstance(said, str) and bool(_PASSING.search(said))
    words = " ".join(said[key] for key in _WORDS if isinstance(said.get(key), str))
    return bool(_PASSING.search(words)) or any(_is_passing_code(said.get(key)) for key in _CODES)


def _is_passing_code(code: Any) -> bool:
    number = int(code) if isinstance(code, str) and re.fullmatch(r"[0-9]{3}", code) else code
    return isinstance(number, int) and not isinstance(number, bool) and (number in TRANSIENT or 500 <= number < 600)
