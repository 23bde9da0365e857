"""What a service answered: whole or in pieces, in our envelope or in a shape of its own."""

from __future__ import annotations

from collections.abc import Callable
from email.message import Message
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from eval_skills.adapters.answer.envelope import parse_json, partial_response_in, read_answer
from eval_skills.adapters.call import Call
from eval_skills.adapters.http.config import HttpConfig, value_at
from eval_skills.adapters.http.errors import partial_error, status_error
from eval_skills.adapters.http.run_paths import RunPaths
from eval_skills.adapters.http.shapes.answer import ShapedAnswer
from eval_skills.adapters.http.streaming import StreamCut, StreamedAnswer
from eval_skills.adapters.http.usage import UsageReader
from eval_skills.core.errors import ContractError, SkillUnavailable
from eval_skills.core.models import SkillResponse
from eval_skills.core.text import MESSAGE_CHARS, one_line

if TYPE_CHECKING:
    from eval_skills.adapters.http.client import HttpReply

T = TypeVar("T")

_OF_UTF_8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
"""Charsets whose texts are read as UTF-8."""

_TEXTS = frozenset({"text/plain", "text/markdown", "text/csv", "text/xml", "text/yaml"})
"""Types of bodies that are texts. HTML is none: it is what a proxy or a page for signing in answers."""


class HttpAnswer:
    """One answer, from its first byte to the response that it makes."""

    def __init__(self, config: HttpConfig, call: Call) -> None:
        self._config, self._call = config, call
        self._usage = UsageReader(config)
        self._paths = RunPaths(config, call.progress)
        self._listed: dict[str, list[Any]] = {}
        self._stream = (
            StreamedAnswer(config.stream, see=self._see, first=call.first_token, twice=call.key_twice)
            if config.stream is not None
            else None
        )
        self._shaped: ShapedAnswer | None = None
        if config.response_shape is not None:
            self._shaped = ShapedAnswer(
                config.response_shape, see=self._usage.read_body, first=call.first_token, twice=call.key_twice
            )
            call.progress.follow(self._known)
        self._bare = config.own_shape or (config.stream is not None and not config.stream.is_whole)

    def _known(self) -> SkillResponse | None:
        """What has come so far of an answer in the shape of an API."""
        known = self._shaped.shape.known if self._shaped is not None else None
        return known and known.model_copy(update=self._usage.known())

    def _see(self, event: Any) -> None:
        """Every event may say what it costs, and report what was called."""
        self._usage.read_body(event)
        self._paths.read_body(event)
        for key in ("toolCalls", "messages"):
            if isinstance(event, dict) and isinstance(listed := event.get(key), list):
                before = self._listed.get(key, [])
                goes_on = before and listed[: len(before)] == before  # many a service repeats the whole list in every event
                self._call.progress.add({key: listed[len(before) :] if goes_on else listed})
                self._listed[key] = listed

    def takes(self, piece: bytes) -> bool:
        """Take a piece of a successful response; whether it was the last that matters.

        Raises:
            ContractError: it cannot be read, or reports an error.
            SkillUnavailable: it reports an error that may be gone at the next attempt.
        """
        stream = self._shaped or self._stream
        if stream is None:
            return False
        is_whole = stream.feed(piece)
        self._call.seen = stream.seen
        return is_whole

    def response(self, reply: HttpReply) -> SkillResponse:
        """The response behind `reply`, all of which has come.

        Raises:
            ItemError: its status is not a success, or says that the body is a part; `known` is what the body reports of the run.
            ContractError: its body cannot be read, or has no output; with the body's beginning. Usage that cannot be read
                is reported in the call's logs.
        """
        if reply.beyond:
            self._call.logs = f"{reply.beyond:,} bytes came behind the answer; is its Content-Length too short?"
        error = status_error(reply.status, reply.headers, _text(reply), reply.address) or self._partial(reply)
        if error is not None:
            error.known = partial_response_in(reply.body, self._call.key_twice)
            self._paths.read_error(reply.body)
            raise error
        try:
            response = self._read(reply)
            self._paths.end()
            self._usage.read_headers(reply.headers)
        except ValueError as problem:
            kind = reply.headers.get("content-type", "no content type")
            seen = one_line(_text(reply)) or "an empty body"
            raise ContractError(f"HTTP {reply.status} with an unreadable body ({kind}): {problem}; it was: {seen}") from None
        self._call.logs = "\n".join(filter(None, [self._call.logs, *self._usage.problems, *self._paths.problems]))
        return response.model_copy(update=self._usage.known())

    def _partial(self, reply: HttpReply) -> ContractError | None:
        """A part is an error where the whole was asked for (RFC 9110, section 15.3.7); a skill's own header may ask for it."""
        template = self._config.request_template
        sent = [*self._config.headers, *(template.headers if template is not None else ())]
        if reply.status != HTTPStatus.PARTIAL_CONTENT or "range" in map(str.lower, sent):
            return None
        return partial_error(reply.headers, _text(reply).encode(), reply.address)

    def _read(self, reply: HttpReply) -> SkillResponse:
        if (shaped := self._shaped) is not None:
            return self._finished(shaped, lambda: shaped.finish(reply.body), reply)
        if (stream := self._stream) is not None:
            output = self._finished(stream, stream.finish, reply)
            return SkillResponse(output=output) if self._bare else read_answer(output)
        return self._whole(reply)

    def _finished(self, stream: StreamedAnswer | ShapedAnswer, finish: Callable[[], T], reply: HttpReply) -> T:
        try:
            return finish()
        except ContractError as problem:
            kind = reply.headers.get("content-type", "no content type")
            seen = one_line(_text(reply)) or "an empty body"
            message = f"HTTP {reply.status} with {kind}: {problem}; it began: {seen}"
            was_cut = isinstance(problem, StreamCut) and _ends_with_the_connection(reply) and (stream.events or not stream.bytes)
            if was_cut:
                raise SkillUnavailable(f"the connection was closed: {message}") from None
            raise ContractError(message, known=problem.known) from None

    def _whole(self, reply: HttpReply) -> SkillResponse:
        if not self._config.own_shape:
            answer = parse_json(reply.body, self._call.key_twice)
            self._usage.read_body(answer)
            self._paths.read_whole(answer)
            return read_answer(answer)
        answer = _own_json(reply, self._call.key_twice)
        self._usage.read_body(answer)
        self._paths.read_whole(answer)
        path = self._config.output_path or ""
        try:
            return SkillResponse(output=value_at(path, answer))
        except LookupError as error:
            seen = one_line(_text(reply))
            message = f"nothing at outputPath {path} in the body: there is no {error.args[0]!r}"
            raise ContractError(f"HTTP {reply.status}: {message}; it was: {seen}") from None


def _own_json(reply: HttpReply, twice: Callable[[str], None]) -> Any:
    """An empty body is null (a DELETE has nothing to say); a body of the type ``text/plain`` or the like is a text, in UTF-8
    unless it says otherwise.
    """
    kind = reply.headers.get("content-type", "")
    if kind.partition(";")[0].strip().lower() in _TEXTS:
        return _decoded(reply.body, kind)
    return parse_json(reply.body, twice) if reply.body.strip() else None


def _decoded(body: bytes, kind: str) -> str:
    content = Message()
    content["content-type"] = kind
    charset = content.get_content_charset("utf-8")
    try:
        return body.decode("utf-8-sig" if charset in _OF_UTF_8 else charset)
    except LookupError:
        raise ValueError(f"the charset {charset!r} is not known") from None


def _ends_with_the_connection(reply: HttpReply) -> bool:
    """Whether nothing but the closing of the connection says that the body is over (RFC 9112, section 6.3)."""
    return "content-length" not in reply.headers and "chunked" not in reply.headers.get("transfer-encoding", "").lower()


def _text(reply: HttpReply) -> str:
    return reply.body[: 8 * MESSAGE_CHARS].decode(errors="replace")
