"""JSON-RPC 2.0, as far as a skill on standard input and output speaks it (https://www.jsonrpc.org/specification)."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from eval_skills.adapters.answer.envelope import parse_json, partial_response, without_partial_response, write_json
from eval_skills.adapters.call import PROGRESS
from eval_skills.core.errors import ContractError, InfraError, SkillError
from eval_skills.core.text import one_line

_EDGE_BYTES = 200
_MAX_DIGITS = 4000


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request: a result, or an error that the skill reported (`failed`)."""

    content: Any
    failed: bool

    def result(self) -> Any:
        """The result.

        Raises:
            SkillError: the skill reported an error; the message has its code and message, and `known` what it reports of the run.
        """
        if self.failed:
            raise SkillError(_describe_error(self.content), known=partial_response(self.content))
        return self.content


def request_line(request_id: int, params: Any, conversation: dict[str, Any] | None = None) -> bytes:
    """The request as one line, line feed included; the data of a conversation go beside the params.

    Raises:
        InfraError: the input cannot be written as JSON.
    """
    try:
        member = b"" if conversation is None else b',"conversation":%b' % write_json(conversation)
        return b'{"jsonrpc":"2.0","method":"invoke","params":%b%b,"id":%d}\n' % (write_json(params), member, request_id)
    except ValueError as error:
        raise InfraError(f"the input cannot be sent: {error}") from None


def read_reply(
    text: bytes, request_id: int, twice: Callable[[str], None] | None = None, *, or_null: bool = False
) -> Reply | None:
    """The reply in `text` to the request `request_id`, or None where `text` is something else (a log line).

    A reply is a JSON-RPC 2.0 object with `result` or `error`, and with that id as a JSON number, `or_null`: of a process that
    names its requests, null may mean an earlier one. `twice` as in `parse_json`.

    Raises:
        ContractError: it is the reply, but holds what JSON does not allow (NaN) or what cannot be stored.
    """
    if not text.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{"):
        return None
    try:
        message = parse_json(text, twice)
    except ValueError as error:
        if _was_meant_as_reply(text, request_id, or_null):
            raise ContractError(f"unreadable answer: {error}; it was: {one_line(text.decode(errors='replace'))}") from None
        return None
    if not _is_reply(message, request_id, or_null):
        return None
    failed = message.get("error") is not None
    return Reply(message["error"] if failed else message.get("result"), failed)


OF_ANOTHER: Final[dict[str, Any]] = {}
"""A report of a request that was answered before."""


def read_progress(line: bytes, request_id: int, twice: Callable[[str], None] | None = None) -> dict[str, Any] | None:
    """What a line reports of the running request; None where the line is not such a notification. `twice` as in `parse_json`.

    The notification names no request, or this one as ``requestId``; one that names another request came too late and is
    `OF_ANOTHER`. A null id is no id. One that is not valid JSON (an argument is NaN) reports a call that cannot be read.
    """
    if b'"jsonrpc"' not in line or PROGRESS.encode() not in line:
        return None
    try:
        message = parse_json(line, twice)
    except ValueError:
        meant = _parse_leniently(line)
        is_report = isinstance(meant, dict) and meant.get("method") == PROGRESS and meant.get("id") is None
        return {"toolCalls": [{}]} if is_report else None
    if not isinstance(message, dict) or message.get("method") != PROGRESS or message.get("id") is not None:
        return None
    params = message.get("params")
    if not isinstance(params, dict):
        return None
    return params if params.get("requestId", request_id) == request_id else OF_ANOTHER


def why_not_reply(text: str, request_id: int, *, or_null: bool = False) -> str:
    """What keeps `text` from being the reply to `request_id`, as a phrase that quotes it; `or_null` as in `read_reply`."""
    message = _parse_leniently(text.encode(errors="replace"))
    quoted = one_line(text)
    if not isinstance(message, dict):
        encoded = " (it has zero bytes, as UTF-16 has them; write UTF-8)" if "\0" in text else ""
        return f"not a JSON object{encoded}: {quoted}"
    if message.get("jsonrpc") != "2.0":
        return f'an object without "jsonrpc": "2.0": {quoted}'
    if not _is_same_id(message.get("id", ...), request_id, or_null):
        return f"its id is {json.dumps(message.get('id', 'missing'))} and {request_id} was asked: {quoted}"
    if _is_reply(message, request_id, or_null):
        return f"it does not end with a line feed: {quoted}"
    return f"neither result nor error in it: {quoted}"


def _is_reply(message: Any, request_id: int, or_null: bool) -> bool:
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and ("result" in message or message.get("error") is not None)
        and _is_same_id(message.get("id", ...), request_id, or_null)
    )


def _was_meant_as_reply(text: bytes, request_id: int, or_null: bool) -> bool:
    """Whether an object that is refused is the reply; of one that no parser reads (too deep) its first and last keys decide."""
    message = _parse_leniently(text)
    if message is not None:
        return _is_reply(message, request_id, or_null)
    if not text.rstrip().endswith(b"}"):
        return False
    edges = re.sub(rb"\s", b"", text[:_EDGE_BYTES] + text[-_EDGE_BYTES:])
    if b'"jsonrpc":"2.0"' not in edges or b'"method":' in edges:
        return False
    ids = b"(?:null|%d)" % request_id if or_null else b"%d" % request_id
    return re.search(rb'"id":%b[,}]' % ids, edges) is not None


def _is_same_id(seen: Any, request_id: int, or_null: bool) -> bool:
    if seen is None:
        return or_null
    return isinstance(seen, int | float) and not isinstance(seen, bool) and seen == request_id  # in Python True equals 1


def _parse_leniently(text: bytes) -> Any:
    """What the text says, wrong bytes and endless numbers let through; None where it cannot be read at all."""
    try:
        return json.loads(text.decode("utf-8-sig", errors="replace"), parse_int=whole_number)
    except (ValueError, RecursionError):
        return None


def whole_number(text: str) -> int | str:
    """The number, or its text where Python would refuse to read so many digits."""
    return int(text) if len(text) < _MAX_DIGITS else text


def _describe_error(error: Any) -> str:
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return f"error reply: {one_line(json.dumps(error))}"
    data = error.get("data")
    if isinstance(data, dict):  # what it reports of the run is kept beside the message
        data = without_partial_response(data) or None
    more = f" ({one_line(json.dumps(data))})" if data is not None else ""
    return f"error {error.get('code')}: {one_line(error['message'])}{more}"
