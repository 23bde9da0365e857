"""Secrets are taken out of whatever is written down."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Mapping

MIN_SECRET_CHARS = 4
"""A shorter value is not redacted: it would hit half of all texts and protect nothing."""


class Redaction:
    """Replaces the values of named secrets by ``[redacted:NAME]``.

    `secrets` maps a secret's name to its value. A value is found as it is, in its JSON-escaped forms (a skill may answer
    with JSON inside a text) and as an address would hold it. Of two secrets that overlap, the longer one names the hit; of two
    equal ones, the first.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        self._names = _forms(secrets or {})
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
        self._in_json = {_escaped(form) for form in longest_first}

    def touches(self, json_text: str) -> bool:
        """Whether a JSON text may hold a secret: the cheap question that comes before `data`."""
        return any(form in json_text for form in self._in_json)

    def text(self, text: str) -> str:
        """The text with each secret replaced."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda hit: f"[redacted:{self._names[hit.group()]}]", text)

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


def _forms(secrets: Mapping[str, str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for name, value in secrets.items():
        if len(value) >= MIN_SECRET_CHARS:
            for form in (value, _escaped(value), json.dumps(value)[1:-1], quote(value, safe=""), quote_plus(value)):
                names.setdefault(form, name)
    return names


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
