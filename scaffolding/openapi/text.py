"""Texts of a foreign document, made fit to be shown."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

_UNSEEN = {"script", "style", "template", "iframe"}
_TAG = re.compile(r"</?[a-zA-Z!][^>]{0,2000}>")


class _Text(HTMLParser):
    """Collects what a reader would see."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._hidden += tag in _UNSEEN
        self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _UNSEEN and self._hidden > 0
        self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def plain(value: Any, limit: int = 500) -> str:
    """A description as one line of plain text of at most `limit` characters: HTML and unseen characters are taken out.

    Empty when it is no text. It is still to be escaped wherever it is shown.
    """
    if not isinstance(value, str):
        return ""
    text = _without_tags(value[: 20 * limit]) if "<" in value or "&" in value else value[: 20 * limit]
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def _without_tags(text: str) -> str:
    parser = _Text()
    parser.feed(text)
    parser.close()
    return _TAG.sub(" ", "".join(parser.parts))  # entities may have spelled tags, too
