"""One interaction of a production log, whatever its log calls things."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic import Field, ValidationError

from eval_skills.core.documents.validation_errors import problems_in
from eval_skills.core.messages.roles import last_words
from eval_skills.core.models import ExpectedOutput, Model, SkillResponse
from eval_skills.core.models.base import Text
from eval_skills.core.text import nearest
from eval_skills.engine.monitor.log.fields import (
    ABSENT,
    BadRecord,
    asked,
    digest,
    error_text,
    kind_of,
    known,
    moment_of,
    parsed,
    plain,
    value_at,
)

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
    "timestamp": ("timestamp", "time", "ts"),
    "skill": ("skillId", "skill_id", "agentId", "agent_id"),
}
"""The spellings that are tried, in this order, where nobody says which key it is."""

MAX_ID_CHARS = 200
"""A longer id is replaced by its digest, so that a window of ids stays small."""

_EXPECTATIONS = frozenset({"value", "keywords", "patterns", "schema"})
"""What a log may say about its own answers: never which scorer or whose code judges them."""


class LogFields(Model):
    """Where an interaction keeps what: a key, or keys with dots between them (``response.text``). None: the usual spellings."""

    id: Text | None = Field(default=None, description="Its id [default: id, interactionId; else a digest of its content]")
    input: Text | None = Field(default=None, description="What was asked [default: input, query]")
    output: Text | None = Field(default=None, description="What was answered [default: output, response; else the last message]")
    messages: Text | None = Field(default=None, description="OpenAI-style messages [default: messages]")
    tool_calls: Text | None = Field(default=None, description="Tools that were called [default: toolCalls]")
    expected: Text | None = Field(default=None, description="What the answer should have been [default: expected]")
    error: Text | None = Field(default=None, description="Why there is no answer [default: error]")
    latency_ms: Text | None = Field(default=None, description="How long it took, in ms [default: latencyMs]")
    cost_usd: Text | None = Field(default=None, description="What it cost, in USD [default: costUsd]")
    timestamp: Text | None = Field(
        default=None, description="When it was: ISO 8601, or a Unix time [default: timestamp, time, ts]"
    )
    skill: Text | None = Field(default=None, description="Which skill or agent answered [default: skillId, agentId]")


@dataclass(frozen=True, slots=True)
class Interaction:
    """What was asked and answered. `error` is why nothing was answered; `expected` what the log says the answer should be."""

    id: str
    response: SkillResponse
    query: Any = None
    expected: ExpectedOutput | None = None
    error: str | None = None
    skill: str | None = None
    timestamp: datetime | None = None
    source: str = ""


class RecordReader:
    """Makes interactions of records, by the keys that `fields` names or their usual spellings.

    `unseen` are the keys that were named and that no record so far had. `lacking` says what an interaction needs to be judged
    that only its log can say; empty: nothing.
    """

    def __init__(self, fields: LogFields, *, lacking: str = "") -> None:
        self._lacking = lacking
        self._named: dict[str, str] = fields.model_dump(exclude_none=True)
        self.unseen = dict(self._named)

    def interaction(self, record: Any, source: str) -> Interaction:
        """The interaction in a record.

        Raises:
            BadRecord: it is no object, holds no answer, cannot be judged, lacks an id under the key that was named for it, or
                holds something of another type than it must be.
        """
        if not isinstance(record, dict):
            raise BadRecord(f"expected an object with an answer, got {kind_of(record)}")
        found = {name: value for name in USUAL if (value := self._value(record, name)) is not ABSENT}
        error = error_text(found.get("error"))
        messages = parsed(found.get("messages"))
        if error is None and "output" not in found and not messages:
            raise BadRecord(f"no answer: {self._missing(record, 'output')}")
        if error is None and self._lacking and found.get("expected") is None:
            raise BadRecord(f"{self._lacking}, and {self._missing(record, 'expected')}")
        response = _response(found, messages)
        if error is None and "output" not in found and response.output is None:
            raise BadRecord("no answer: no message is the assistant's")
        return Interaction(
            id=self._id(record, found),
            response=response,
            query=found["input"] if "input" in found else asked(messages),
            expected=_expectation(found["expected"]) if found.get("expected") is not None else None,
            error=error,
            skill=None if found.get("skill") is None else plain(str(found["skill"])),
            timestamp=moment_of(found.get("timestamp")),
            source=source,
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

    def _id(self, record: Mapping[str, Any], found: Mapping[str, Any]) -> str:
        value = found.get("id")
        if value is not None:
            text = plain(value if isinstance(value, str) else json.dumps(value, default=str))
            return text if len(text) <= MAX_ID_CHARS else f"sha256:{digest(text)}"
        if "id" in self._named:
            raise BadRecord(f"no id: {self._missing(record, 'id')}")
        return f"sha256:{digest(json.dumps(record, sort_keys=True, default=str))}"

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
    try:
        response = SkillResponse.model_validate(parts)
    except ValidationError as error:
        first = problems_in(error, parts)[0]
        raise BadRecord(f"{first.path}: {first.message}") from None
    if "output" in found or not response.messages:
        return response
    return response.model_copy(update={"output": last_words(response.messages)})


def _expectation(value: Any) -> ExpectedOutput:
    """An object of nothing but `value`, `keywords`, `patterns` and `schema` says these; anything else is the expected value."""
    value = plain(value)
    said = value if isinstance(value, dict) and value and value.keys() <= _EXPECTATIONS else {"value": value}
    try:
        return ExpectedOutput.model_validate(said)
    except ValidationError as error:
        first = problems_in(error, said)[0]
        raise BadRecord(f"expected{first.path and f'.{first.path}'}: {first.message}") from None
