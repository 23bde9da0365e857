"""The lines of a journal: one finished item each, as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from eval_skills.core.errors import RunError
from eval_skills.core.models import ItemResult, Model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from eval_skills.core.redaction import Redaction

ItemKey = tuple[str, str, int]
"""Skill key, task id, run index: what makes an item unique within its run."""

MAX_DEPTH = 100
"""An answer that nests deeper is cut there when its line could not be read back otherwise."""

_READER_DEPTH = 190
_MAX_DIGITS = 4000
_FOREIGN_FIELDS = ("reasons", "error_message", "output", "messages", "tool_calls")


def line_of(result: ItemResult, redaction: Redaction) -> bytes:
    """One whole line, line end included, that `result_of` reads back.

    A skill may answer what JSON or Unicode cannot carry: lone surrogates become U+FFFD, NaN and infinities null, levels below
    the hundredth and endless integers a note. Secrets are replaced in the texts that come from outside (answer, messages,
    tool calls, reasons, error), never in what identifies the item.
    """
    text = _readable_json(result)
    if redaction.touches(text):
        fields = from_json(text)
        fields |= {name: redaction.data(fields[name]) for name in _FOREIGN_FIELDS}
        return to_json(fields) + b"\n"
    return text.encode() + b"\n"


def result_of(line: bytes, *, source: Path, number: int) -> ItemResult:
    """The result in one line.

    Raises:
        RunError: the line is not a result; the message names the file and the line.
    """
    try:
        return ItemResult.model_validate_json(line)
    except ValidationError as error:
        raise _corrupt(source, number, error.errors(include_url=False)[0]["msg"]) from None


def key_of(line: bytes, *, source: Path, number: int) -> ItemKey:
    """The key of the item in one line, without the cost of reading all of it as a result.

    Raises:
        RunError: the line is not a JSON object with a key.
    """
    try:
        fields = from_json(line)
        return f"{fields['skill_id']}@{fields['skill_version']}", fields["task_id"], fields["run_index"]
    except (ValueError, KeyError, TypeError) as error:
        raise _corrupt(source, number, repr(error)) from None


def complete_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The numbered lines (from 1) of a journal. A last line without its line end was cut off by a kill and is left out.

    A missing file has no lines: its run was stopped before the first item ended, or has landed.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for number, line in enumerate(file, 1):
            if line.endswith(b"\n"):
                yield number, line


def read_journal(path: Path) -> Iterator[ItemResult]:
    """The results in a journal, in the order they were finished, one in memory at a time.

    An incomplete last line is left out; an item that was tried again appears more than once (see `latest`).

    Raises:
        RunError: a line before the last one is corrupt.
    """
    for number, line in complete_lines(path):
        yield result_of(line, source=path, number=number)


def latest(results: Iterable[ItemResult]) -> list[ItemResult]:
    """One result per item, the one that came last, in the order of the items' first results."""
    return list({result.key: result for result in results}.values())


def _corrupt(source: Path, number: int, why: str) -> RunError:
    return RunError(f"{source}: line {number} is corrupt ({why}); fix or delete that line, then resume: its item runs again")


def _readable_json(result: ItemResult) -> str:
    try:
        text = result.model_dump_json()
        # few brackets cannot nest too deep and a short line holds no endless number: most lines need no reading back
        if len(text) > _MAX_DIGITS or text.count("[") + text.count("{") > _READER_DEPTH:
            from_json(text)
    except (PydanticSerializationError, ValueError):
        return str(_storable(result, 0).model_dump_json())
    return text


def _storable(value: Any, depth: int) -> Any:
    """The value with everything replaced that JSON text could not carry there and back."""
    if isinstance(value, Model):
        return value.model_copy(update={name: _storable(getattr(value, name), depth + 1) for name in type(value).model_fields})
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if depth > MAX_DEPTH and isinstance(value, dict | list | tuple):
        return f"[nested deeper than {MAX_DEPTH} levels]"
    if isinstance(value, dict):
        return {_storable(str(key), depth): _storable(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(part, depth + 1) for part in value]
    if isinstance(value, int) and abs(value) >= 10**_MAX_DIGITS:
        return f"[integer of more than {_MAX_DIGITS} digits]"
    return value if value is None or isinstance(value, int | float | datetime) else str(value)
