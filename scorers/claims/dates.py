"""Dates and times of day as people and machines write them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

import regex

_MONTHS = {
    name: number
    for number, names in enumerate(
        ("Jan January", "Feb February", "Mar March", "Apr April", "May", "Jun June", "Jul July", "Aug August",
         "Sep Sept September", "Oct October", "Nov November", "Dec December"), 1
    )
    for name in names.split()
}  # fmt: skip
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_NTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})(?!\d)"
_DATE = regex.compile(
    rf"(?<![\w.-])(?:(?P<iso>\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}})(?![\d-])"
    rf"|(?P<figures>\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}})(?![\d.]\d)"
    rf"|{_NTH}(?:\ of)?\ {_MONTH}(?:,?\ {_YEAR})?"
    rf"|{_MONTH}\ {_NTH}(?!\d|:)(?:,?\ {_YEAR})?"
    rf"|{_MONTH},?\ {_YEAR})"
)
_CLOCK = regex.compile(
    r"(?<![\d:.])(?:(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?!\d|:\d)(?:\ ?(?P<half>[aApP])\.?[mM]\b)?"
    r"|(?P<hour>\d{1,2})\ ?(?P<half>[aApP])\.?[mM]\b)"
)


class Day(NamedTuple):
    """A date, or as much of one as was said."""

    year: int | None
    month: int
    day: int | None


class Clock(NamedTuple):
    """A time of day, to the minute."""

    hour: int
    minute: int


def days_in(text: str) -> Iterator[tuple[int, int, tuple[tuple[Day], ...]]]:
    """Every date of the text: ISO, ``22 November 2026``, ``Nov 22``, ``November 2026``, ``22.11.2026``.

    Of figures the order of day and month is not known: both are readings, where both exist. Impossible dates are left out.
    """
    for hit in _DATE.finditer(text):
        if readings := tuple((each,) for each in _days(hit)):
            yield hit.start(), hit.end(), readings


def clocks_in(text: str) -> Iterator[tuple[int, int, tuple[tuple[Clock], ...]]]:
    """Every time of day, with what it can mean: without am or pm, ``3:05`` may be in the afternoon as well."""
    for hit in _CLOCK.finditer(text):
        hour, minute = int(hit["hour"]), int(hit["minute"] or 0)
        if hour > 24 or (hit["half"] and not 1 <= hour <= 12):
            continue
        hours = [hour % 12 + 12 * (hit["half"].lower() == "p")] if hit["half"] else [hour, *([hour + 12] if hour < 12 else [])]
        yield hit.start(), hit.end(), tuple((Clock(each, minute),) for each in hours)


def _days(hit: regex.Match[str]) -> Iterator[Day]:
    if hit["iso"] or hit["figures"]:
        first, second, third = map(int, regex.split(r"[-/.]", hit["iso"] or hit["figures"]))
        orders = [(first, second, third)] if hit["iso"] else list(dict.fromkeys([(third, second, first), (third, first, second)]))
    else:
        year, day = hit["year"] and int(hit["year"]), hit["day"] and int(hit["day"])
        orders = [(year, _MONTHS[hit["month"]], day)]
    yield from (Day(*parts) for parts in orders if _exists(*parts))


def _exists(year: int | None, month: int, day: int | None) -> bool:
    try:
        date(year or 2000, month, 1 if day is None else day)  # 2000 has a 29 February
    except ValueError:
        return False
    return True
