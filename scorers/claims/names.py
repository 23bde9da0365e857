"""Proper names, conservatively: rather too few than too many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import combining, normalize

import regex

_ORDINARY_TEXT = """
a about above according additionally after again all also although an and another any are as at based because before
below both but by can currently despite did do does due during each either even every finally first following for from
furthermore given has have he her here his how however i if in instead is it its last lastly later let like many more
moreover most mr mrs ms dr prof sir my neither next no not note now of on once one only or other our over overall per
please previously regarding second she similarly since so some soon still such thank thanks that the their then there
therefore these they third this those though through thus to today together tomorrow two under unfortunately unless
until up upon use was we were what when where whether which while who why will with within without would yes yesterday
yet you your dear hello hi monday tuesday wednesday thursday friday saturday sunday january february march april may
june july august september october november december
"""
_ORDINARY = frozenset(_ORDINARY_TEXT.split())
"""Words that a sentence may begin with, titles, and names of days and months: never the first word of a name."""

_PARTICLES = "of|de|da|di|del|della|des|du|la|le|van|von|der|den|ter|bin|ibn|al|el|the|y"
_PARTICLE_WORDS = frozenset(_PARTICLES.split("|"))
_WORD = r"\p{Lu}[\p{Ll}'][\p{L}']*+(?:-\p{L}++)*+"
_NEXT_WORD = rf"(?: (?:(?:{_PARTICLES}) ){{0,2}}(?:{_WORD}|\p{{Lu}}\.|\p{{Lu}}++(?!\w)))"
_NAME = regex.compile(rf"(?<![\p{{L}}\d_'-]){_WORD}{_NEXT_WORD}++(?![\w-])")
_SENTENCE_START = regex.compile(r"(?:^|[.!?:]['\")]*\s+|^[ \t>*#+-]+|\n[ \t>*#+|-]*)$")
_TABLE_RULE = regex.compile(r"[ \t]*\|?[ \t:]*---[-\s:|]*+(?:\n|$)")
_LABEL = regex.compile(r"\**:")
_TOKEN = regex.compile(r"\w+")


class Words(NamedTuple):
    """Words of a name, without case and accents, that all occur, in any place."""

    words: frozenset[str]


def words_of(text: str) -> frozenset[str]:
    """The words of a text without case and accents."""
    bare = "".join(sign for sign in normalize("NFKD", text) if not combining(sign))
    return frozenset(_TOKEN.findall(bare.casefold()))


def names_in(text: str) -> Iterator[tuple[int, int, tuple[tuple[Words], ...]]]:
    """Two or more capitalised words in a row, with `of`, `de`, `van` … between them.

    Not in headings and lines of nothing but capitalised words, and not before a colon. The first word of a sentence may be
    capitalised for that alone, so there the rest is a reading of its own.
    """
    for hit in _NAME.finditer(text):
        words = hit.group().split(" ")
        while words and words[0].lower() in _ORDINARY | _PARTICLE_WORDS:
            words = words[1:]
        if len(words) > 1 and not _is_title(text, hit):
            kept = " ".join(words)
            start = hit.end() - len(kept)
            whole = (_words(words),)
            begins = start == hit.start() and _SENTENCE_START.search(text, max(0, start - 20), start)
            yield start, hit.end(), (whole, (_words(words[1:]),)) if begins else (whole,)


def _words(words: list[str]) -> Words:
    named = (word.removesuffix("'s") for word in words if word not in _PARTICLE_WORDS and len(word.rstrip(".")) > 1)
    return Words(words_of(" ".join(named)))


def _is_title(text: str, hit: regex.Match[str]) -> bool:
    if _LABEL.match(text, hit.end()):
        return True
    start, end = text.rfind("\n", 0, hit.start()) + 1, text.find("\n", hit.end())
    line = text[start : end if end >= 0 else len(text)].strip()
    is_head_of_table = end >= 0 and _TABLE_RULE.match(text, end + 1) is not None
    return is_head_of_table or line.startswith("#") or (line.startswith("**") and line.strip(" *") == hit.group())
