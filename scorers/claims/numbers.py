"""Numbers as people write them: separators, signs, magnitudes, percentages, currencies."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

import regex

MAX_NUMBER_CHARS = 40
"""A longer run of digits is not a quantity."""

_CURRENCIES = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "€": "EUR", "eur": "EUR", "euro": "EUR", "£": "GBP", "gbp": "GBP",
    "¥": "JPY", "jpy": "JPY", "yen": "JPY", "₹": "INR", "inr": "INR", "chf": "CHF", "cny": "CNY",
}  # fmt: skip
_POWERS = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "b": 9, "bn": 9, "billion": 9, "trillion": 12}

_NUMBER = regex.compile(
    r"""
    (?<![\w.]|[^\W\d_]-)                                     # not inside a word (GPT-4, H2O)
    (?:(?<=(?:^|[^\w)\]]))(?P<minus>-))?
    (?P<before>(?:US)?[$€£¥₹]|\b(?:USD|EUR|GBP|JPY|CHF|CNY|INR)\ ?)?
    (?P<digits>(?:\d++|\.\d++)(?:[.,']\d++|\ \d{3}(?!\d))*+(?:[eE][+-]?\d{1,2}(?!\w))?)
    (?:st|nd|rd|th)?+
    (?P<power>\ ?(?:thousand|million|billion|trillion)\b|(?:k|K|M|mn|B|bn)(?!\w))?
    (?P<after>\ ?(?:%|per\ ?cent\b|percentage\ points?\b|[$€£¥₹](?!\ ?\d)|(?:USD|EUR|GBP|JPY|CHF|CNY|INR|dollars?|euros?|yen)\b))?
    """,
    regex.VERBOSE,
)
_PLAIN = regex.compile(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")
_GROUPED = regex.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:'\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
_CONTINENTAL = regex.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|\d+,\d+")
_SPACED = regex.compile(r"\d{1,3}(?: \d{3})+(?:[.,]\d+)?")


class Amount(NamedTuple):
    """A number, never negative unless it is written so; `unit` is ``%``, a currency's code, or None for any other."""

    value: Decimal
    unit: str | None = None

    @classmethod
    def of(cls, digits: str) -> Amount:
        """The amount of plain digits."""
        return cls(Decimal(digits))


Readings = tuple[tuple[Amount, ...], ...]


def amounts_in(text: str) -> Iterator[tuple[int, int, Readings]]:
    """Every number of the text with how it can be read: ``12 300`` is one number, or two side by side.

    A comma before three digits groups thousands, any other is a decimal one; so is a point, unless it comes twice. Apostrophes
    and blanks group as well. Digits inside words are not numbers, nor are versions and the like (``3.11.4``).
    """
    for hit in _NUMBER.finditer(text):
        if readings := _readings(hit["digits"]):
            yield hit.start(), hit.end(), tuple(tuple(_amount(value, hit) for value in reading) for reading in readings)


def known_amounts(text: str) -> set[Amount]:
    """Every amount that the text can be read to hold: groups and their parts, ``5M`` with and without its magnitude."""
    known = set()
    for hit in _NUMBER.finditer(text):
        whole, parts = _whole(hit["digits"]), _parts(hit["digits"], "[,' ]")
        values = [*parts, *([whole] if whole is not None else [])]
        for value in values or _parts(hit["digits"], r"[.,' ]"):  # 22.11.2026 holds a year
            known |= {_amount(value, hit), _amount(value, hit, scaled=False)}
    return known


def _amount(value: Decimal, hit: regex.Match[str], scaled: bool = True) -> Amount:
    signed = value.copy_negate() if hit["minus"] else value
    power = _POWERS[hit["power"].strip().lower()] if hit["power"] and scaled else 0
    return Amount(signed.scaleb(power) if power else signed, _unit(hit["before"] or hit["after"]))


def _unit(written: str | None) -> str | None:
    if written is None:
        return None
    word = written.strip().lower()
    return _CURRENCIES.get(word) or _CURRENCIES.get(word.removesuffix("s")) or "%"


def _readings(digits: str) -> tuple[tuple[Decimal, ...], ...]:
    """The readings of a number's digits; none for what is not a number."""
    whole, parts = _whole(digits), _parts(digits, "[,' ]")
    # "5 000" is never a 5 and a 000, but "12 300" may be a 12 and a 300
    apart = parts and (whole is None or (" " in digits and " 0" not in digits))
    return (*(() if whole is None else ((whole,),)), *((parts,) if apart else ()))


def _parts(digits: str, separators: str) -> tuple[Decimal, ...]:
    parts = [part for part in regex.split(separators, digits) if part]
    is_number = all(len(part) <= MAX_NUMBER_CHARS and _PLAIN.fullmatch(part) for part in parts)
    return tuple(map(Decimal, parts)) if is_number else ()


def _whole(digits: str) -> Decimal | None:
    if len(digits) > MAX_NUMBER_CHARS:
        return None
    if _PLAIN.fullmatch(digits):
        return Decimal(digits)
    if _GROUPED.fullmatch(digits):
        return Decimal(digits.replace(",", "").replace("'", ""))
    if _SPACED.fullmatch(digits):
        return Decimal(digits.replace(" ", "").replace(",", "."))
    return Decimal(digits.replace(".", "").replace(",", ".")) if _CONTINENTAL.fullmatch(digits) else None
