"""Claims that are found again as they stand: quotations, addresses of pages and people, identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import regex

from eval_skills.scorers.claims.numbers import Amount

MIN_QUOTED_CHARS = 4
"""A shorter quotation is a word in quotation marks for emphasis."""

MIN_IDENTIFIER_DIGITS = 4
"""A word with fewer may be common knowledge (H2O, UTF-8)."""

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‘’‚‛", "'"),
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("\u00a0\u2007\u2009\u202f", " "),
    }
)
_HIDDEN = "\0"

# possessive quantifiers and a look behind each beginning: linear time for every text
_ADDRESS = regex.compile(r"(?i)(?<![\w@])(?:https?://|www\.)[^\s<>\"`\[\]\0]++")
_BARE_ADDRESS = regex.compile(r"(?<![\w.@/-])[\w-]++(?:\.[\w-]++)++(?::\d++)?(?:[/?#][^\s<>\"`\[\]\0]*+)?")
_EMAIL = regex.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++")
_QUOTATIONS = regex.compile(
    r"(?<!\w)(?:\"(?=\S)([^\"\n\0]{4,400})(?<=\S)\"|'(?=\S)((?:[^'\n\0]|(?<=\w)'(?=\w)){4,400})(?<=\S)')(?!\w)"
)
_IDENTIFIER = regex.compile(r"(?<![\w-])[A-Za-z0-9]++(?:[-_][A-Za-z0-9]++)*+(?![\w-])")
_QUANTITY = regex.compile(r"\d+[A-Za-z]{1,4}|\d+[eE][+-]?\d+|[\d-]*")
_ELLIPSIS = regex.compile(r"\s*(?:\[?\.\.\.\]?|…)\s*")
_YEAR = regex.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


class Phrase(NamedTuple):
    """Words that occur in this order, in any case and white space; in lower case, with single blanks.

    `is_token` means that it is not part of something longer, as ``bob@x.org`` is not part of ``bob@x.org.uk``.
    """

    text: str
    is_token: bool = False


class Address(NamedTuple):
    """The address of a page without scheme, ``www.``, fragment and final slash."""

    text: str


Reading = tuple[int, int, tuple[tuple[Phrase | Address | Amount, ...], ...]]


def plain(text: str) -> str:
    """The text with typographic quotation marks, dashes and blanks as typewriters have them; as long as before."""
    return text.translate(_SIGNS)


def mask(text: str) -> str:
    """As many characters that belong to no word."""
    return _HIDDEN * len(text)


def folded(text: str) -> str:
    """The text as phrases are compared: without case, every white space one blank."""
    return " ".join(plain(text).casefold().split())


def addresses_in(text: str) -> Iterator[Reading]:
    """The addresses that begin like one: ``http://``, ``https://``, ``www.``."""
    for hit in _ADDRESS.finditer(text):
        written = _unpunctuated(hit.group())
        yield hit.start(), hit.start() + len(written), ((Address(address(written)),),)


def known_addresses(text: str) -> set[str]:
    """Every address in a text, as `address` has it; bare ones (``example.org/page``) count too."""
    hits = (hit.group() for pattern in (_ADDRESS, _BARE_ADDRESS) for hit in pattern.finditer(text))
    return {address(_unpunctuated(hit)) for hit in hits}


def address(written: str) -> str:
    """The address without scheme, ``www.``, fragment and final slash; the host in lower case."""
    rest: str = regex.sub(r"(?i)^(?:https?://)?(?:www\.)?", "", written).partition("#")[0]
    host, slash, path = rest.partition("/")
    return (host.lower() + slash + path).rstrip("/")


def emails_in(text: str) -> Iterator[Reading]:
    """Addresses of e-mail."""
    for hit in _EMAIL.finditer(text):
        yield hit.start(), hit.end(), ((Phrase(folded(hit.group()), is_token=True),),)


def quotations_in(text: str) -> Iterator[Reading]:
    """What stands in quotation marks on one line; an ellipsis stands for anything, and a final sign does not count."""
    for hit in _QUOTATIONS.finditer(text):
        parts = (folded(part).strip(" .,;:!?") for part in _ELLIPSIS.split(hit[1] or hit[2]))
        if phrases := tuple(Phrase(part) for part in parts if len(part) >= MIN_QUOTED_CHARS):
            yield hit.start(), hit.end(), (phrases,)


def identifiers_in(text: str) -> Iterator[Reading]:
    """Words of letters and at least four digits, such as ``ORD-10442``; one that holds a year may stand for the year."""
    for hit in _IDENTIFIER.finditer(text):
        word = hit.group()
        if sum(map(str.isdigit, word)) >= MIN_IDENTIFIER_DIGITS and not _QUANTITY.fullmatch(word):
            year = _YEAR.search(word)
            readings: tuple[tuple[Phrase | Amount, ...], ...] = ((Phrase(word.casefold(), is_token=True),),)
            yield hit.start(), hit.end(), (*readings, (Amount.of(year.group()),)) if year else readings


def _unpunctuated(written: str) -> str:
    written = written.rstrip(".,;:!?*_'")
    while written.endswith(")") and written.count(")") > written.count("("):
        written = written[:-1].rstrip(".,;:!?*_'")
    return written
