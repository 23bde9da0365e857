"""What the event streams of agents have in common: a JSON object a line, and errors told in words."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.adapters.answer.envelope import parse_json
from eval_skills.core.text import one_line

RESULT = "its final event `result`"
"""What the stream of an agent ends with that tells its result in an event of that type."""

_TYPE = re.compile(r'"type"\s*:')

_PASSING = re.compile(
    r"\b(?:408|429|500|502|503|504|529)\b"
    r"|too many requests|rate.?limit|quota|resource.?exhausted|overloaded|high demand|unavailable|internal (?:server )?error"
    r"|timed? ?out|fetch failed|stream disconnected"
    r"|(?:connection|socket) (?:error|refused|reset|closed|hang)|econn(?:refused|reset)|etimedout",
    re.I,
)


def event_of(line: str) -> dict[str, Any] | None:
    """The event that a line holds: a JSON object with a text as its ``type``; None where it is something else."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        event = parse_json(line.encode())
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("type"), str) else None


def not_read(line: str, transcript: Transcript) -> Literal[False]:
    """That a line is not an event. One that begins as such was cut off, or two were written into one another: what was called is
    unknown, and what was said, until something is said after it."""
    if line.lstrip().startswith("{") and _TYPE.search(line) and not _is_json(line):
        why = f"expected an event on a line of its own, got {one_line(line, 200)}"
        transcript.unknown(why)
        transcript.words_unread(why)
    return False


def _is_json(line: str) -> bool:
    try:
        parse_json(line.encode())
    except ValueError:
        return False
    return True


def another_attempt_helps(message: str) -> bool:
    """Whether an error that an agent reports of its model passes: the HTTP statuses 408, 429 and 5xx, or words for them."""
    return _PASSING.search(message) is not None


def count(value: Any) -> int | None:
    """A number of tokens; None where it is not one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_of(value: Any) -> str:
    """A text as it is, anything else as JSON, nothing for None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def table(value: Any) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def message_of(error: Any) -> str:
    """What an error says: itself where it is a text, else its ``message``, also within ``data``, or its ``name``."""
    about = table(error)
    return text_of(table(about.get("data")).get("message") or about.get("message") or about.get("name") or error)
