"""Interactions from the records of a production log, whatever names its keys have."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from math import isfinite
from typing import Any

from pydantic import Field, ValidationError

from eval_skills.core.documents.validation_errors import problems_in
from eval_skills.core.messages.blocks import text_in
from eval_skills.core.messages.roles import inner_message, last_words, role_in, unanswered, whole_messages
from eval_skills.core.messages.tool_results import results_of
from eval_skills.core.models import ExpectedOutput, SkillResponse
from eval_skills.core.models.base import Model, Text
from eval_skills.core.models.form import Form
from eval_skills.core.text import nearest

ABSENT = object()
"""The result of `value_at` where there is no such key; None is a value."""

_FINER = 1e11
"""A Unix time beyond this counts milliseconds: in seconds it would be the year 5138. So it is with micro- and nanoseconds."""

_UNIX_TEXT = re.compile(r"[0-9]{10}(?:\.[0-9]+)?|[0-9]{13}|[0-9]{16}|[0-9]{19}")
"""A Unix time that is written as text: seconds, milli-, micro- or nanoseconds of the years 2001 to 2286."""

USUAL = {
    "id": ("id", "interactionId", "interaction_id"),
    "input": ("input", "query"),
    "output": ("output", "response"),
    "messages": ("messages",),
    "tool_calls": ("toolCalls", "tool_calls"),
    "expected": ("expected",),
    "error": ("error",),
    "latency_ms": ("latencyMs", "latency_ms"),
    "cost_usd": ("costUsd", "cost_usd"),
    "finish_reason": ("finishReason", "finish_reason", "stopReason", "stop_reason"),
    "timestamp": ("timestamp", "time", "ts"),
    "skill": ("skillId", "skill_id", "agentId", "agent_id"),
}
"""The keys that are tried, in this order, where no key is named."""

MAX_ID_CHARS = 200
"""A longer id is replaced by its digest, which keeps the window small."""

_EXPECTATIONS = frozenset({"value", "keywords", "patterns", "schema"})
"""The expectations that a log may name: never a scorer or its code."""


class BadRecord(ValueError):
    """A record of the log is not an interaction; the message says why."""


class LogFields(Form):
    """The keys of an interaction, with dots for nested ones (``response.text``). None: the usual keys."""

    id: Text | None = Field(default=None, description="Its id [default: id, interactionId; else a digest of place and content]")
    input: Text | None = Field(default=None, description="What was asked [default: input, query]")
    output: Text | None = Field(default=None, description="What was answered [default: output, response; else the last message]")
    messages: Text | None = Field(default=None, description="OpenAI-style messages [default: messages]")
    tool_calls: Text | None = Field(default=None, description="Tools that were called [default: toolCalls]")
    expected: Text | None = Field(default=None, description="What the answer should have been [default: expected]")
    error: Text | None = Field(default=None, description="Why there is no answer [default: error]")
    latency_ms: Text | None = Field(default=None, description="How long it took, in ms [default: latencyMs]")
    cost_usd: Text | None = Field(default=None, description="What it cost, in USD [default: costUsd]")
    finish_reason: Text | None = Field(
        default=None, description="Why the model stopped [default: finishReason, stopReason; else that of the last message]"
    )
    timestamp: Text | None = Field(
        default=None, description="When it was: ISO 8601, or a Unix time in s, ms, µs or ns [default: timestamp, time, ts]"
    )
    skill: Text | None = Field(default=None, description="Which skill or agent answered [default: skillId, agentId]")


@dataclass(frozen=True, slots=True)
class Interaction:
    """A question and its answer. `error` is why there is no answer; `expected` is what the log says the answer should be.

    `has_id` is false where the log has no id for it: then `id` is a digest of its place and content.
    """

    id: str
    response: SkillResponse
    query: Any = None
    expected: ExpectedOutput | None = None
    error: str | None = None
    skill: str | None = None
    timestamp: datetime | None = None
    source: str = ""
    has_id: bool = True

    def content(self) -> str:
        """A digest of all that is read of it but its place: with the same id, another digest is another interaction. "" without
        an id of its own."""
        if not self.has_id:
            return ""
        said = (plain(self.query), self.response, self.expected, self.error, self.skill, self.timestamp)
        return digest(json.dumps(said, sort_keys=True, default=_given))[:16]


class RecordReader:
    """Reads interactions from records, by the keys that `fields` names or the usual ones.

    `unseen` are the named keys that no record has had so far. Of `undated` records the timestamp is unreadable; `first_undated`
    says where the first of them stands, and what it has. `lacking` says what expectation the log itself must provide; empty:
    none.
    """

    def __init__(self, fields: LogFields, *, lacking: str = "") -> None:
        self._lacking = lacking
        self._named: dict[str, str] = fields.model_dump(exclude_none=True)
        self.unseen = dict(self._named)
        self.undated, self.first_undated = 0, ""

    def interaction(self, record: Any, source: str, place: str = "") -> Interaction:
        """The interaction in a record. `place` says where in the log it stands, which tells records without an id apart.

        An empty id is none.

        Raises:
            BadRecord: it is not an object, has no answer, cannot be scored, lacks the key that was named for ids, or has a value
                of the wrong type.
        """
        if not isinstance(record, dict):
            raise BadRecord(f"expected an object with an answer, got {kind_of(record)}")
        found = {name: value for name in USUAL if (value := self._value(record, name)) is not ABSENT}
        error = error_text(found.get("error"))
        messages = parsed(found.get("messages"))
        if error is None and "output" not in found and not messages:
            is_named = "messages" in self._named and "output" not in self._named
            raise BadRecord(
                f"no answer: {self._missing(record, 'messages' if is_named and 'messages' not in found else 'output')}"
            )
        if error is None and self._lacking and found.get("expected") is None:
            raise BadRecord(f"{self._lacking}, and {self._missing(record, 'expected')}")
        response = _response(found, messages)
        if error is None and "output" not in found and response.output is None:
            raise BadRecord("no answer: no message is from the assistant")
        if error is None and "output" not in found:
            error = unanswered(response.messages or [])
        has_id = not _is_blank(found.get("id"))
        return Interaction(
            id=_id_text(found["id"]) if has_id else self._id_by_place(record, found, place),
            response=response,
            query=found["input"] if "input" in found else asked(messages),
            expected=_expectation(found["expected"]) if found.get("expected") is not None else None,
            error=error,
            skill=None if found.get("skill") is None else plain(str(found["skill"])),
            timestamp=self._moment(found.get("timestamp"), source),
            source=source,
            has_id=has_id,
        )

    @cached_property
    def _keys(self) -> dict[str, tuple[str, ...]]:
        return {name: (self._named[name],) if name in self._named else usual for name, usual in USUAL.items()}

    def _value(self, record: Mapping[str, Any], name: str) -> Any:
        for key in self._keys[name]:
            if (value := value_at(record, key)) is not ABSENT:
                self.unseen.pop(name, None)
                return value
        return ABSENT

    def _moment(self, value: Any, source: str) -> datetime | None:
        moment = moment_of(value)
        if moment is None and not _is_blank(value):
            self.undated += 1
            self.first_undated = self.first_undated or f"{source} ({kind_of(value)})"
        return moment

    def _id_by_place(self, record: Mapping[str, Any], found: Mapping[str, Any], place: str) -> str:
        if "id" in self._named and "id" not in found:
            raise BadRecord(f"no id: {self._missing(record, 'id')}")
        return f"sha256:{digest(place + json_text(record))}"

    def _missing(self, record: Mapping[str, Any], name: str) -> str:
        keys = self._keys[name]
        return f"there is no key {' or '.join(map(repr, keys))}{nearest(keys[0], record)}"


def _response(found: Mapping[str, Any], messages: Any) -> SkillResponse:
    parts = {
        "output": plain(found.get("output")),
        "messages": plain(messages),
        "tool_calls": plain(parsed(found.get("tool_calls"))),
        "cost_usd": known(found.get("cost_usd")),
        "latency_ms": known(found.get("latency_ms")),
    }
    if isinstance(why := found.get("finish_reason"), str):  # else it is not a part of what tells two interactions apart
        parts["finish_reason"] = plain(why)
    try:
        response = SkillResponse.model_validate(parts)
    except ValidationError as error:
        first = problems_in(error, parts)[0]
        raise BadRecord(f"{first.path}: {first.message}") from None
    if not response.messages:
        return response
    whole = whole_messages(response.messages)
    if whole != response.messages:  # else it stays the same, also where it is told by what was given of it
        response = response.model_copy(update={"messages": whole})
    return response if "output" in found else response.model_copy(update={"output": last_words(whole)})


def _expectation(value: Any) -> ExpectedOutput:
    """An object with only `value`, `keywords`, `patterns` and `schema` is read as these; anything else is the expected value."""
    value = plain(value)
    said = value if isinstance(value, dict) and value and value.keys() <= _EXPECTATIONS else {"value": value}
    try:
        return ExpectedOutput.model_validate(said)
    except ValidationError as error:
        first = problems_in(error, said)[0]
        raise BadRecord(f"expected{first.path and f'.{first.path}'}: {first.message}") from None


def _is_blank(identifier: Any) -> bool:
    """Whether what stands where an id belongs names nothing: null, blank text, an empty list or object, a table's NaN."""
    if isinstance(identifier, str):
        return not identifier.strip()
    return identifier is None or identifier in ([], {}, b"") or identifier != identifier


def _id_text(identifier: Any) -> str:
    text = plain(identifier if isinstance(identifier, str) else json_text(identifier))
    return text if len(text) <= MAX_ID_CHARS else f"sha256:{digest(text)}"


def _given(part: Any) -> Any:
    """What was given of a model, so that the digest stays where a later version knows more fields; other objects as text."""
    return {name: value for name, value in part if name in part.model_fields_set} if isinstance(part, Model) else str(part)


def value_at(record: Mapping[str, Any], key: str) -> Any:
    """The value of a key, else of a path of keys with dots between them, else `ABSENT`. The keys of a path may have dots, too, as
    those of OpenTelemetry's attributes do."""
    if key in record:
        return record[key]
    for dot in (place for place, letter in enumerate(key) if letter == "."):
        held = record.get(key[:dot])
        if isinstance(held, dict) and (value := value_at(held, key[dot + 1 :])) is not ABSENT:
            return value
    return ABSENT


def asked(messages: Any) -> Any:
    """The content of the last message of the user."""
    if not isinstance(messages, list):
        return None
    spoken = (inner_message(each) for each in messages if isinstance(each, dict))
    said = [
        each for each in spoken if role_in(each) == "user" and (text_in(each) or not any(True for _ in results_of(each, "user")))
    ]
    return text_in(said[-1]) if said else None


def error_text(value: Any) -> str | None:
    """Why there is no answer, as text; None where the log's value is empty."""
    if value in (None, False, "", [], {}):
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return str(plain(text))


def parsed(value: Any) -> Any:
    """Lists that a table holds as JSON text, as lists."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def known(value: Any) -> Any:
    """A number as in JSON: the decimals of a table become floats."""
    return plain(float(value) if isinstance(value, Decimal) else value)


def moment_of(value: Any) -> datetime | None:
    """A moment in UTC, from ISO 8601 or a Unix time in s, ms, µs or ns; None where the log's is unreadable. One without a time
    zone is taken as UTC."""
    try:
        if isinstance(value, str):
            text = value.strip()
            value = float(text) if _UNIX_TEXT.fullmatch(text) else datetime.fromisoformat(text)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = datetime.fromtimestamp(_in_seconds(value), UTC)
        if not isinstance(value, datetime):
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _in_seconds(unix: float) -> float:
    for _ in range(3):
        unix = unix / 1000 if abs(unix) > _FINER else unix
    return unix


def plain(value: Any) -> Any:
    """The value as JSON data: a lone surrogate becomes U+FFFD, NaN null, what JSON does not have its text."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {plain(str(key)): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int) else plain(str(value))


def json_text(value: Any) -> str:
    """The value as JSON text, the keys of objects sorted; what JSON does not have is its text, also as a key."""
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except TypeError:  # a map of a table has keys of any type
        return json.dumps(plain(value), sort_keys=True)


def digest(text: str) -> str:
    """The first 32 hex digits of a text's SHA-256."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def kind_of(value: Any) -> str:
    """A short description of a value, for a message."""
    if value is None:
        return "null"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:60]}…"
