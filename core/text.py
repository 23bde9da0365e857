"""Words for messages (foreign values in bounded length, suggestions, plurals), and how texts and tool names are compared."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

EXCERPT_CHARS = 200
"""How much of an expected or given value a message shows."""

MESSAGE_CHARS = 300
"""How much of another program's own words a message shows."""

LONG_CHARS = 4_096
"""A longer text is judged in a thread."""

_NUMBER = re.compile("([0-9]{1,18})")
_SEPARATORS = str.maketrans("", "", "-_. \t\n")


def excerpt(value: Any, limit: int = EXCERPT_CHARS) -> str:
    """The value's JSON text on one line, cut after `limit` characters with an ellipsis.

    Only the beginning of a long value is encoded, so the cost is bounded too.
    """
    if isinstance(value, str):
        return _cut(json.dumps(value[: limit + 1], ensure_ascii=False), limit)
    text = ""
    for chunk in json.JSONEncoder(ensure_ascii=False, default=str).iterencode(value):
        text += chunk[: limit + 1]
        if len(text) > limit:
            break
    return _cut(text, limit)


def scalar_text(value: Any) -> str:
    """The text of a scalar: text as it is, else its JSON text: ``true``, ``null``, ``5`` (a whole float reads as an integer)."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, default=str)


def is_long(value: Any, limit: int = LONG_CHARS) -> bool:
    """Whether a value's text exceeds `limit` characters, or it holds more than `limit` / 8 values; stops counting there."""
    size, rest = 0, [value]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            size += sum(map(len, part))
            rest.extend(part.values())
        elif isinstance(part, list | tuple):
            rest.extend(part[: limit + 1])
        size += len(part) if isinstance(part, str) else 8
        if size > limit:
            return True
    return False


def readable_json(value: Any) -> str:
    """Indented JSON for a person, with a newline at its end, that any file can hold.

    Only a document with half a surrogate pair, which no encoding has, is written with escapes.

    Raises:
        ValueError: it holds NaN or infinity.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    encodes = text.encode("utf-8", "replace").decode() == text
    return (text if encodes else json.dumps(value, indent=2)) + "\n"


def encodable(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot hold, as ``\\udXXX`` (in JSON text, their own escape)."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def one_line(text: str, limit: int = MESSAGE_CHARS) -> str:
    """The text with every run of white space as one blank, cut after `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return _cut(line, limit) if len(text) <= 4 * limit else _cut(line[:limit] + "…", limit + 1)


def _cut(text: str, limit: int) -> str:
    return encodable(text if len(text) <= limit else text[:limit] + "…")


def comparable(text: str, *, case_sensitive: bool = False) -> str:
    """`text` as it is searched: each letter composed with its accents (NFC), and without case unless `case_sensitive`.

    A letter may be written as one character or as a letter and its accent, which look the same.
    """
    composed = unicodedata.normalize("NFC", text)
    return composed if case_sensitive else composed.casefold()


def nearest(word: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message: `` (did you mean 'timeoutMs'?)``, or nothing when no known word is close."""
    matches = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {matches[0]!r}?)" if matches else ""


def plural(number: int, noun: str) -> str:
    """``1 task``, ``2 tasks``, ``2 queries``."""
    if number == 1:
        return f"{number:,} {noun}"
    is_changed = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{number:,} {noun[:-1]}ies" if is_changed else f"{number:,} {noun}s"


def unusable_skills(number: int) -> str:
    """Why a gate has not passed although every skill that was evaluated is good enough."""
    return f"{plural(number, 'skill')} could not be used, and nothing is known of {'it' if number == 1 else 'them'}"


MOST_DECIMALS = 12
"""Numbers that look the same with so many decimals differ by what adding binary fractions leaves."""


def apart(*values: float, decimals: int, ends: Collection[float] = ()) -> list[str]:
    """The numbers with `decimals`, or with as many more as show that they differ: 99.97 under 100.0, where 100.0 under 100.0 says
    nothing. None is rounded to one of the `ends` that it is not."""
    for places in range(decimals, MOST_DECIMALS + 1):
        texts = [f"{value:z,.{places}f}" for value in values]
        shown = [float(text.replace(",", "")) for text in texts]
        if len(set(shown)) == len(set(values)) and not any(
            number in ends and value not in ends for number, value in zip(shown, values, strict=True)
        ):
            break
    return [_without_zeros(text, decimals) for text in texts]


def beside(value: float, limit: float, digits: int = 4) -> str:
    """The number with so many digits, or with as many more as show on which side of the limit it lies."""
    texts = (f"{value:.{places}g}" for places in range(digits, MOST_DECIMALS + 1))
    return next((text for text in texts if (float(text) < limit) == (value < limit)), f"{value:.{digits}g}")


def exact(limit: float) -> str:
    """A number that was given: as ``0.5``, with all its digits where six would be another number."""
    short = f"{limit:g}"
    return short if float(short) == limit else repr(limit)


LEAST_CHANCE = 1e-300
"""A smaller chance is too small for a float, which then is 0, or has lost its digits."""


def chance_text(value: float, digits: int = 3) -> str:
    """A p value or another chance with so many digits: ``0.0312``, ``2.4e-07``, ``< 1e-300``; none is 0."""
    return f"{value:.{digits}g}" if value >= LEAST_CHANCE else f"< {LEAST_CHANCE:g}"


def p_is(value: float, digits: int = 4) -> str:
    """``p = 0.03125``, ``p < 1e-300``."""
    shown = chance_text(value, digits)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def _without_zeros(text: str, decimals: int) -> str:
    """The number without zeros at its end, but with so many decimals."""
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0").ljust(decimals, "0")
    return f"{whole}.{fraction}" if fraction else whole


def percents_apart(*rates: float) -> list[str]:
    """The rates in percent, without the sign, so that those that differ look so, only all is 100.0 and only nothing 0.0."""
    return apart(*(rate * 100 for rate in rates), decimals=1, ends=(0.0, 100.0))


def first_of(names: Sequence[str], shown: int) -> str:
    """The first names, and how many more there are: ``a, b and 1,218 more``."""
    more = len(names) - shown
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:shown])} and {more:,} more"


def natural_order(name: str) -> tuple[str | int, ...]:
    """The key by which people sort names: numbers in them by their size, so that `c9` stands before `c10`."""
    return tuple(int(part) if number % 2 else part for number, part in enumerate(_NUMBER.split(name)))


def skill_key(skill_id: str, skill_version: str) -> str:
    """``id@version``, which names a skill everywhere: in reports, tables, messages and options."""
    return f"{skill_id}@{skill_version}"


def skill_key_of(row: Mapping[str, Any]) -> str:
    """``id@version`` of the skill that a row of any table is about."""
    return skill_key(row["skill_id"], row["skill_version"])


def normalise_tool_name(name: str) -> str:
    """The name without case, ``-``, ``_``, dots and blanks: `editFile`, `edit-file`, `EDIT FILE` are one.

    Full-width letters, other hyphens and invisible characters make no difference either.
    """
    seen = "".join(letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) not in ("Cf", "Pd"))
    return seen.casefold().translate(_SEPARATORS)
