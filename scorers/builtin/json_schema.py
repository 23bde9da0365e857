"""Does the answer fit the expected schema?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from eval_skills.core.documents.loading import refuse_constant
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.text import excerpt, is_long
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score

if TYPE_CHECKING:
    from eval_skills.core.documents.json_schema import BoundedSchema

QUICK_S = 0.005
"""How long a validation may block the event loop before it is started again in a thread."""

Check = Callable[[Any, float], Reason | None]
"""What is wrong with a value, found within so many seconds."""

_ABSENT = object()

_OPEN = frozenset({"OUTPUT_SCHEMA_TIMEOUT", "OUTPUT_SCHEMA_DEPTH"})
"""The codes of reasons that do not say that a value is invalid: it could not be found out."""


@scorer("json_schema", aliases=("schema",))
@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema:
    """1 when the answer is valid under `schema`, else 0.

    The draft is that of ``$schema``, else 2020-12; formats are checked; references stay within the schema (or go to a published
    metaschema). A text is valid when it is so itself, or when it is JSON and the value it spells is. The output is judged
    whole, not unwrapped. ``timeoutMs`` bounds one validation; an answer that needs longer, or is nested too deeply to be
    checked, fails with a reason that says so; in a set of evaluators it is unknown.

    Raises:
        InputError: the schema is invalid, names an unknown draft, or refers to something outside itself.
    """

    schema: dict[str, Any] | bool
    timeout_ms: Annotated[int, Field(gt=0, le=600_000)] = 5_000
    _bounded: BoundedSchema = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        from eval_skills.core.documents.json_schema import BoundedSchema  # jsonschema takes its time to import

        object.__setattr__(self, "_bounded", BoundedSchema(self.schema))

    async def score(self, response: SkillResponse) -> Score:
        """1 or 0; the reason names the failing path, what is wrong there and the value found."""
        return await self._judged(response.output, self._reason)

    async def of_value(self, value: Any) -> Score:
        """The same of a value that is judged as it is: a text is a text, also where it spells JSON."""
        check: Check = self._bounded.reason
        return await self._judged(value, check)

    async def _judged(self, output: Any, check: Check) -> Score:
        reason = await self._in_time(output, check)
        if reason is None:
            return Score(1.0)
        return Score(0.0, reasons=(reason,), highest=1.0 if reason.code in _OPEN else None)

    async def _in_time(self, output: Any, check: Check) -> Reason | None:
        if not is_long(output):
            try:
                return check(output, min(QUICK_S, self.timeout_ms / 1000))
            except TimeoutError:
                pass  # started again below, in a thread
        try:
            return await asyncio.to_thread(check, output, self.timeout_ms / 1000)
        except TimeoutError:
            message = (
                f"validation was stopped after {self.timeout_ms} ms on {excerpt(output)}; simplify the schema or raise timeoutMs"
            )
            return Reason(code="OUTPUT_SCHEMA_TIMEOUT", message=message, where="output")

    def _reason(self, output: Any, timeout_s: float) -> Reason | None:
        check: Check = self._bounded.reason
        as_written = check(output, timeout_s)
        if as_written is None or (parsed := _parsed(output)) is _ABSENT:
            return as_written
        return check(parsed, timeout_s)


def _parsed(output: Any) -> Any:
    """The JSON value that a text spells, or `_ABSENT`."""
    if not isinstance(output, str):
        return _ABSENT
    try:
        return spelled_value(output)
    except (ValueError, RecursionError):
        return _ABSENT


def spelled_value(text: str) -> Any:
    """The JSON value that a text spells.

    Raises:
        ValueError: it spells none, or a number that JSON does not have.
        RecursionError: it is nested too deeply to be read.
    """
    return json.loads(text, parse_constant=refuse_constant)
