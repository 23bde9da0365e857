"""Assertions in words that a program can check. Only sentences with one meaning are known; every other one is a model's matter.

A sentence is known as a whole: ``summary.csv has 12 rows`` is, ``summary.csv has 12 rows, sorted by date`` is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from eval_skills.agent_skills.documents import inner_path
from eval_skills.scorers.files.rows import ROW_SUFFIXES

Check = dict[str, Any]
"""An evaluator of a task: a scorer's `type` with its options."""

_QUOTES = (("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"))
_NAME = r"[\w@+-][\w.@+/-]*\.[A-Za-z][A-Za-z0-9]{0,9}"
_QUOTED_NAME = "|".join(rf"{re.escape(begin)}(?:\./)?{_NAME}{re.escape(end)}" for begin, end in _QUOTES)
_CALLED = r"(?:(?:an?|the) )?(?:output |resulting |new |final )?(?:file )?(?:named |called )?"
_FILE = rf"{_CALLED}(?P<file>{_QUOTED_NAME}|(?:\./)?{_NAME})(?: file)?"
_TEXT = "|".join(rf"{re.escape(begin)}[^{re.escape(begin + end)}]+{re.escape(end)}" for begin, end in _QUOTES)
_KIND = r"(?:(?:the )?(?:exact )?(?:text|string|phrase) )?"
_PLACE = r"(?: in the (?:workspace|working directory|current directory|working folder|current folder))?"
_IS = r"(?:is|was|has been|gets)"
_MADE = r"(?:created|written|saved|produced|generated)"
_MAKES = r"(?:creates|created|writes|wrote|saves|saved|produces|produced|generates|generated)"
_COUNT = r"(?P<bound>exactly |at least |at most |no more than |no fewer than )?(?P<count>\d{1,3}(?:,\d{3})+|\d{1,12})"
_ROWS = r"(?:data )?(?:rows?|records?|entries|entry)"
_HEADER = r"(?: \(?(?:excluding|not counting|without) the header(?: row)?\)?)?"

_FORMS: tuple[tuple[str, str], ...] = (
    ("exists", rf"{_FILE} (?:exists|{_IS} (?:there|present)){_PLACE}"),
    ("made", rf"{_FILE} {_IS} {_MADE}{_PLACE}"),
    ("made", rf"(?:the agent |it )?{_MAKES} {_FILE}{_PLACE}"),
    ("absent", rf"{_FILE} (?:does not|doesn't) exist{_PLACE}"),
    ("not-made", rf"{_FILE} (?:is|was) not {_MADE}{_PLACE}"),
    ("rows", rf"{_FILE} (?:has|contains|holds) {_COUNT} {_ROWS}{_HEADER}"),
    ("json", rf"{_FILE} (?:is|contains|holds) (?:a )?(?:valid|well-formed|parseable|parsable) json(?: file| document)?"),
    ("contains", rf"{_FILE} (?:contains|includes|mentions) {_KIND}(?P<text>{_TEXT})"),
    ("lacks", rf"{_FILE} (?:does not|doesn't) (?:contain|include|mention) {_KIND}(?P<text>{_TEXT})"),
    ("says", rf"(?:the )?(?:final )?(?:answer|response|reply|message) (?:contains|includes|mentions) {_KIND}(?P<text>{_TEXT})"),
    ("answers-json", r"(?:the )?(?:final )?(?:answer|response|reply) is (?:valid|well-formed) json"),
)  # fmt: skip
_PATTERNS = tuple((form, re.compile(pattern, re.IGNORECASE)) for form, pattern in _FORMS)
_LONGEST = 500
"""A longer sentence says more than one thing."""


def check_of(sentence: str) -> Check | None:
    """The evaluator that checks what the sentence says; None where it is not one of the clear ones."""
    plain = " ".join(sentence.split()).removesuffix(".")
    if len(plain) > _LONGEST:
        return None
    return next((check for form, found in _matches(plain) if (check := _CHECKS[form](found)) is not None), None)


def _matches(plain: str) -> Iterator[tuple[str, re.Match[str]]]:
    for form, pattern in _PATTERNS:
        if (found := pattern.fullmatch(plain)) is not None:
            yield form, found


def _path(found: re.Match[str]) -> str | None:
    """The file as it is called; None where it does not lie in the workspace."""
    name = found["file"]
    try:
        return inner_path(_unquoted(name) if (name[0], name[-1]) in _QUOTES else name)
    except ValueError:
        return None


def _unquoted(text: str) -> str:
    return text[1:-1]


def _exists(found: re.Match[str]) -> Check | None:
    return None if (path := _path(found)) is None else {"type": "file_exists", "path": path}


def _absent(found: re.Match[str]) -> Check | None:
    return None if (check := _exists(found)) is None else {**check, "exists": False}


def _made(found: re.Match[str]) -> Check | None:
    """A file that was given and left alone was not made."""
    return None if (check := _exists(found)) is None else {**check, "changed": True}


def _not_made(found: re.Match[str]) -> Check | None:
    return None if (check := _made(found)) is None else {**check, "exists": False}


def _rows(found: re.Match[str]) -> Check | None:
    path = _path(found)
    if path is None or not path.lower().endswith(ROW_SUFFIXES):
        return None
    count, bound = int(found["count"].replace(",", "")), (found["bound"] or "").strip().lower()
    if bound in ("at least", "no fewer than"):
        rows: Any = {"min": count}
    else:
        rows = {"max": count} if bound in ("at most", "no more than") else count
    return {"type": "file_content", "path": path, "rows": rows}


def _json(found: re.Match[str]) -> Check | None:
    path = _path(found)
    if path is None or path.lower().endswith((".jsonl", ".ndjson")):  # each of its lines is, or the whole: not clear
        return None
    return {"type": "file_content", "path": path, "schema": True}


def _contains(found: re.Match[str]) -> Check | None:
    path = _path(found)
    return None if path is None else {"type": "file_content", "path": path, "contains": [_unquoted(found["text"])]}


def _lacks(found: re.Match[str]) -> Check | None:
    path = _path(found)
    return None if path is None else {"type": "file_content", "path": path, "notContains": [_unquoted(found["text"])]}


_CHECKS: dict[str, Callable[[re.Match[str]], Check | None]] = {
    "exists": _exists,
    "absent": _absent,
    "made": _made,
    "not-made": _not_made,
    "rows": _rows,
    "json": _json,
    "contains": _contains,
    "lacks": _lacks,
    "says": lambda found: {"type": "contains", "keywords": [_unquoted(found["text"])]},
    "answers-json": lambda _: {"type": "is_json"},
}
