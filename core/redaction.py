"""Secrets are removed from everything that is written."""

from __future__ import annotations

import html
import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MIN_SECRET_CHARS = 4
"""A shorter value is not redacted: it would hit half of all texts and protect nothing."""

MIN_LINE_CHARS = 16
"""A shorter line of a secret of several lines (a key file) is not looked for on its own."""

MIN_HIDDEN_CHARS = 8
"""A shorter secret is looked for in its own spelling only: not in other cases, encoded or split."""

QUOTING_DEPTH = 3
"""How deep texts quote each other: an answer with JSON in a text, in the arguments of a call, quoted in a reason."""

_MAX_SPLIT_CHARS = 256
_BESIDE = r"[\w+/-]{0,2}"
"""What base64 makes of a secret's first and last byte together with what stands beside it."""

_BETWEEN = r"""(?:\\*["']\s*,\s*(?:\\*["'][^"'\\]{0,60}\\*["']\s*:\s*)?\\*["'])?"""
"""What stands between two texts that follow each other in a quoted list or object; it may be missing."""

CUT = "…"
"""How messages that quote a foreign text mark where they cut it."""


def short_secrets(secrets: Mapping[str, str]) -> list[str]:
    """A warning for each secret that is too short to be searched for; it names the secret, never its value."""
    short = (name for name, value in secrets.items() if 0 < len(value.strip()) < MIN_SECRET_CHARS)
    few = f"fewer than {MIN_SECRET_CHARS} characters"
    return [f"the secret {name} has {few}, so it is not redacted" for name in short]


def values_of_variables(names: Iterable[str | None]) -> dict[str, str]:
    """The values of the environment variables `names` that are set and not empty; None stands for no variable."""
    return {name: os.environ[name] for name in names if name and os.environ.get(name)}


class Redaction:
    """Replaces the values of named secrets by ``[redacted:NAME]``.

    `secrets` maps a secret's name to its value. A value is found as it is, quoted as JSON and Python do (a skill may answer
    with JSON inside a text), as an address or a web page would hold it, on one line though it has several, and line by line.
    From `MIN_HIDDEN_CHARS` on it is also found in other cases, as base64 of any text around it, as hexadecimal digits, and split
    over two texts that follow each other in data, or over two that are quoted in a text. What is left of one where a message was
    cut (``…``) is found, too. Of two secrets that overlap, the longer one names the hit; of two equal ones, the first. Blanks
    around a value do not belong to it.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        given = secrets or {}
        self._names = _forms(given)
        self._encoded = _encoded(given)
        self._parts = [part for value in given.values() for part in _whole(value) if len(part) >= MIN_HIDDEN_CHARS]
        hidden = {form for part in self._parts for form in _written(part)}
        self._any_case = {form.casefold(): name for form, name in self._names.items() if form in hidden}
        exact = {form: form for form in (*self._names, *self._encoded) if form not in hidden}
        folded = {half.casefold(): part for part in self._parts for half in _halves(part)}
        folded |= {form.casefold(): form for form in hidden}
        self._in_text = exact, folded
        self._in_json = tuple({_escaped(probe): form for probe, form in probes.items()} for probes in (exact, folded))

    def _pattern_of(self, forms: Iterable[str]) -> re.Pattern[str]:
        """These spellings of secrets, longer ones first; a long secret may be split over quoted texts."""
        return re.compile("|".join(map(self._spelt, sorted(forms, key=len, reverse=True))))

    def _spelt(self, form: str) -> str:
        if form in self._encoded:
            return f"{_BESIDE}{re.escape(form)}{_BESIDE}={{0,2}}"
        if form.casefold() not in self._any_case:
            return re.escape(form)
        between = _BETWEEN if form in self._parts and len(form) <= _MAX_SPLIT_CHARS else ""
        return f"(?i:{between.join(map(re.escape, form))})"

    @cached_property
    def _joined(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, sorted(self._parts, key=len, reverse=True))), re.I)

    @classmethod
    def of_variables(cls, names: Iterable[str | None]) -> Redaction:
        """What hides the values of the environment variables `names`; one that is not set, or empty, has nothing to hide."""
        return cls(values_of_variables(names))

    def touches(self, json_text: str) -> bool:
        """Whether a JSON text may hold a secret: the cheap test before `data`."""
        return bool(self._names) and (CUT in json_text or any(_present(json_text, *self._in_json)))

    def text(self, text: str) -> str:
        """The text with each secret replaced."""
        if not self._names:
            return text
        # A pattern of all of them would take a hundred times as long: a key file has a hundred lines, each with its spellings.
        forms = set(_present(text, *self._in_text))
        clean = self._pattern_of(forms).sub(self._mark_of, text) if forms else text
        return self._without_pieces(clean) if CUT in clean else clean

    def data(self, value: Any) -> Any:
        """JSON data with each secret replaced, in keys and values; a number that *is* a secret becomes the mark, too.

        It works on the data and not on their JSON text, so a secret such as ``true`` or ``","x`` cannot break the text.
        """
        return self._clean(self._without_split(value)) if self._names else value

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self._clean(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self._clean(part) for part in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and str(value) in self._names:
            return self.text(str(value))
        return value

    def _without_split(self, value: Any) -> Any:
        """The data without secrets that begin in one text and end in a later one, with nothing but such texts between."""
        texts = list(texts_in(value))
        joined = "".join(texts)
        folded = joined.casefold()
        if len(texts) < 2 or not any(part.casefold() in folded for part in self._parts):
            return value
        hits = [(hit.start(), hit.end(), self._mark_of(hit)) for hit in self._joined.finditer(joined)]
        return _with_texts(value, iter(list(_without_crossing(texts, hits))))

    def _mark_of(self, hit: re.Match[str]) -> str:
        found = hit.group()
        name = self._names.get(found) or self._any_case.get(found.casefold())
        name = name or next((name for core, name in self._encoded.items() if core in found), None)
        if name is None:  # split, or in letters that have no single other case
            folded = re.sub(_BETWEEN, "", found).casefold()
            name = self._any_case.get(folded, next(iter(self._names.values())))
        return _mark(name)

    def _without_pieces(self, text: str) -> str:
        """The text without the beginning of a secret before a cut, and without the end of one after it."""
        first, *others = text.split(CUT)
        clean = first
        for other in others:
            before, after = self._longest(clean, str.endswith, _first_chars), self._longest(other, str.startswith, _last_chars)
            clean = (clean if before is None else clean[: -before[1]] + _mark(before[0])) + CUT
            clean += other if after is None else _mark(after[0]) + other[after[1] :]
        return clean

    def _longest(
        self, text: str, holds: Callable[[str, str], bool], piece_of: Callable[[str, int], str]
    ) -> tuple[str, int] | None:
        """The name and length of the longest piece of a secret that the text holds at its edge."""
        found = ((self._piece(form, text, holds, piece_of), name) for form, name in self._names.items())
        size, name = max(found, default=(0, ""))
        return (name, size) if size else None

    @staticmethod
    def _piece(form: str, text: str, holds: Callable[[str, str], bool], piece_of: Callable[[str, int], str]) -> int:
        sizes = range(min(len(form) - 1, len(text)), MIN_SECRET_CHARS - 1, -1)
        return next((size for size in sizes if holds(text, piece_of(form, size))), 0)


def _present(text: str, exact: Mapping[str, str], folded: Mapping[str, str]) -> Iterator[str]:
    """What stands in these tables for each of the first texts that `text` holds, and of the second that it holds in any case."""
    yield from (form for probe, form in exact.items() if probe in text)
    lowered = text.casefold() if folded else ""
    yield from (form for probe, form in folded.items() if probe in lowered)


def texts_in(value: Any) -> Iterator[str]:
    """The texts among the values of JSON data, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)


def _with_texts(value: Any, texts: Iterator[str]) -> Any:
    """The data with other texts in place of its own."""
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, dict):
        return {key: _with_texts(part, texts) for key, part in value.items()}
    return [_with_texts(part, texts) for part in value] if isinstance(value, list) else value


def _without_crossing(texts: Iterable[str], hits: list[tuple[int, int, str]]) -> Iterator[str]:
    """The texts, which were joined, with the mark of each hit that crosses a border in place of what they hold of it."""
    start = 0
    for text in texts:
        end = start + len(text)
        for first, last, mark in reversed(hits):
            if (first < start < last or first < end < last) and first < end and last > start:
                text = text[: max(first - start, 0)] + mark + text[last - start :]
        yield text
        start = end


def _halves(part: str) -> tuple[str, str]:
    """Of a text that is split in two, one part holds one of these."""
    return part[: len(part) // 2], part[len(part) // 2 :]


def _encoded(secrets: Mapping[str, str]) -> dict[str, str]:
    """What base64 makes of each secret, wherever it stands in what is encoded: the characters that depend on it alone."""
    return {
        core: name
        for name, value in secrets.items()
        for part in _whole(value)
        if len(part) >= MIN_HIDDEN_CHARS
        for before in range(3)
        for core in _base64_cores(part.encode(errors="surrogateescape"), before)
    }


def _base64_cores(secret: bytes, before: int) -> set[str]:
    """The same for a secret behind so many bytes (modulo 3), in both alphabets: every character stands for 6 bits."""
    data = bytes(before) + secret
    first, last = -(-before * 8 // 6), len(data) * 8 // 6
    return {encode(data).decode()[first:last] for encode in (b64encode, urlsafe_b64encode)}


def _first_chars(form: str, size: int) -> str:
    return form[:size]


def _last_chars(form: str, size: int) -> str:
    return form[-size:]


def _mark(name: str) -> str:
    return f"[redacted:{name}]"


def _forms(secrets: Mapping[str, str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for name, value in secrets.items():
        for part in _parts(value):
            for form in _written(part):
                names.setdefault(form, name)
    return names


def _written(part: str) -> list[str]:
    """The ways to write `part`: as it is, for an address, for a web page, in hexadecimal digits, and each quoted up to
    `QUOTING_DEPTH` times."""
    forms = dict.fromkeys((part, quote(part, safe=""), quote_plus(part), html.escape(part)))
    if len(part) >= MIN_HIDDEN_CHARS:
        forms[part.encode(errors="surrogateescape").hex()] = None
    for _ in range(QUOTING_DEPTH):
        forms |= dict.fromkeys(quoted for form in list(forms) for quoted in _quoted(form))
    return list(forms)


def _quoted(text: str) -> tuple[str, str, str]:
    return _escaped(text), json.dumps(text)[1:-1], repr(text)[1:-1]


def _parts(value: str) -> list[str]:
    """The value whole, in each of its forms, and line by line if it has several."""
    lines = [line.strip() for line in value.strip().splitlines()]
    long_lines = [line for line in lines if len(line) >= MIN_LINE_CHARS] if len(lines) > 1 else []
    return [part for part in (*_whole(value), *long_lines) if len(part) >= MIN_SECRET_CHARS]


def _whole(value: str) -> tuple[str, str, str]:
    """The value as it is, without blanks around it, and with its white space as messages have it."""
    return value, value.strip(), " ".join(value.split())


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
