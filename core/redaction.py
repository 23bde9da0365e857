"""Secrets are removed from everything that is written."""

from __future__ import annotations

import html
import json
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MIN_SECRET_CHARS = 4
"""A shorter value is not redacted: it would hit half of all texts and protect nothing."""

MIN_LINE_CHARS = 16
"""A shorter line of a secret of several lines (a key file) is not looked for on its own."""

QUOTING_DEPTH = 3
"""How deep texts quote each other: an answer with JSON in a text, in the arguments of a call, quoted in a reason."""

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
    What is left of one where a message was cut (``…``) is found, too. Of two secrets that overlap, the longer one names the
    hit; of two equal ones, the first. Blanks around a value do not belong to it.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        self._names = _forms(secrets or {})
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
        self._in_json = {_escaped(form) for form in longest_first}

    @classmethod
    def of_variables(cls, names: Iterable[str | None]) -> Redaction:
        """What hides the values of the environment variables `names`; one that is not set, or empty, has nothing to hide."""
        return cls(values_of_variables(names))

    def touches(self, json_text: str) -> bool:
        """Whether a JSON text may hold a secret: the cheap test before `data`."""
        return any(form in json_text for form in self._in_json) or (CUT in json_text and bool(self._names))

    def text(self, text: str) -> str:
        """The text with each secret replaced."""
        if self._pattern is None:
            return text
        clean = self._pattern.sub(lambda hit: _mark(self._names[hit.group()]), text)
        return self._without_pieces(clean) if CUT in clean else clean

    def data(self, value: Any) -> Any:
        """JSON data with each secret replaced, in keys and values; a number that *is* a secret becomes the mark, too.

        It works on the data and not on their JSON text, so a secret such as ``true`` or ``","x`` cannot break the text.
        """
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.data(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self.data(part) for part in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and str(value) in self._names:
            return self.text(str(value))
        return value

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
    """The ways to write `part`: as it is, for an address, for a web page, and each quoted up to `QUOTING_DEPTH` times."""
    forms = dict.fromkeys((part, quote(part, safe=""), quote_plus(part), html.escape(part)))
    for _ in range(QUOTING_DEPTH):
        forms |= dict.fromkeys(quoted for form in list(forms) for quoted in _quoted(form))
    return list(forms)


def _quoted(text: str) -> tuple[str, str, str]:
    return _escaped(text), json.dumps(text)[1:-1], repr(text)[1:-1]


def _parts(value: str) -> list[str]:
    """The value whole, without blanks around it, with its white space as messages have it, and line by line if it has several."""
    lines = [line.strip() for line in value.strip().splitlines()]
    long_lines = [line for line in lines if len(line) >= MIN_LINE_CHARS] if len(lines) > 1 else []
    return [part for part in (value, value.strip(), " ".join(value.split()), *long_lines) if len(part) >= MIN_SECRET_CHARS]


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
