"""An answer compared with what was expected of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from eval_skills.core.differences.values import MAX_VALUES, Change, json_changes, spelled_json
from eval_skills.core.differences.words import Part, Words, word_difference
from eval_skills.core.models.response import ENVELOPE_KEYS, unwrapped
from eval_skills.core.models.result import ErrorKind, Status
from eval_skills.core.text import scalar_text


@dataclass(frozen=True, slots=True)
class Difference:
    """How an answer differs from the expected value: texts and other scalars by `words`, all else by `changes`.

    `more` counts changes that are not listed. `notes` are sentences on what was compared, and what was left out.
    """

    words: Words | None = None
    changes: tuple[Change, ...] = ()
    more: int = 0
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is none, as far as the two were compared."""
        return not self.changes and (self.words is None or self.words.is_equal)

    def to_json(self) -> dict[str, Any]:
        """``{"words", "changes", "more", "notes"}``, of which what is empty is absent; a part of `words` is ``[kind, text]``."""
        found = {
            "words": None if self.words is None else _parts(self.words),
            "changes": [_change(each) for each in self.changes],
            "more": self.more,
            "notes": list(self.notes),
        }
        return {name: value for name, value in found.items() if value}


class Judged(Protocol):
    """An item, or a turn of one: whether it failed, and its answer."""

    @property
    def status(self) -> Status | None:
        """None where it was not judged."""
        ...

    @property
    def error_kind(self) -> ErrorKind | None:
        """What went wrong, where something did."""
        ...

    @property
    def output(self) -> Any:
        """The answer."""
        ...


def difference_of(item: Judged, expected: Any) -> Difference | None:
    """How a failed answer differs from the value that is expected; `expected` is as in `TaskResult`, ``{"value": …}``.

    None where there is nothing to compare: the item passed or has no answer, or no value is expected. Nor where both are the
    same, and something else made it fail.
    """
    if item.status != "fail" or item.error_kind is not None or not isinstance(expected, dict) or "value" not in expected:
        return None
    found = answer_difference(expected["value"], item.output)
    return None if found.is_empty else found


def answer_difference(expected: Any, output: Any) -> Difference:
    """How an output differs from a value. As scorers do, an object's answer is looked for under ``result``, ``output`` or
    ``answer`` unless an object is expected, and two scalars are compared as texts.
    """
    got, notes = _answer(expected, output)
    if isinstance(expected, dict | list) or isinstance(got, dict | list):
        found = json_changes(expected, got)
        if not found.is_complete:
            notes.append(f"not compared: what comes after the first {MAX_VALUES:,} values")
        return Difference(changes=found.changes, more=found.more, notes=tuple(notes))
    words = word_difference(scalar_text(expected), scalar_text(got))
    if not words.is_equal and not (isinstance(expected, str) and isinstance(got, str)):
        words = Words((Part("removed", scalar_text(expected)), Part("added", scalar_text(got))))
    return Difference(words=words, notes=(*notes, *([words.left_out] if words.left_out else [])))


def _answer(expected: Any, output: Any) -> tuple[Any, list[str]]:
    """The part of the output that is compared, and what there is to say about that."""
    got, notes = output, []
    if isinstance(output, dict) and not isinstance(expected, dict):
        got = unwrapped(output)
        if got is not output:
            key = next(key for key in ENVELOPE_KEYS if key in output)
            notes.append(f"what the answer holds under {key!r} is compared")
    if isinstance(got, str) and isinstance(expected, dict | list) and (spelled := spelled_json(got)) is not None:
        notes.append("the answer is a text; the JSON that it spells is compared")
        return spelled, notes
    return got, notes


def _parts(words: Words) -> list[list[str]]:
    return [[part.kind, part.text] for part in words.parts]


def _change(change: Change) -> dict[str, Any]:
    found = {
        "path": change.path,
        "kind": change.kind,
        "expected": change.expected,
        "got": change.got,
        "types": None if change.types is None else list(change.types),
        "answerPath": change.answer_path,
        "words": None if change.words is None else _parts(change.words),
    }
    return {name: value for name, value in found.items() if value is not None}
