"""What a new skill is called, and the id that follows from its name."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from eval_skills.core.errors import UsageError

MAX_NAME = 100
"""Characters of a name: its id becomes a folder's name."""

_PATH_SIGNS = re.compile(r"[/\\]|^\.+$")


@dataclass(frozen=True, slots=True)
class SkillName:
    """A name as people read it, and its id, which names the folder as well."""

    name: str
    id: str


def skill_name(text: str) -> SkillName:
    """The name in `text`, and its id: ``Weather Lookup`` is ``weather-lookup``, ``Überfluß!`` is ``uberfluss``.

    Letters lose case and accents, ``_`` stays, and a run of anything else is one ``-``, of which none leads or ends.

    Raises:
        UsageError: it is blank, longer than `MAX_NAME` characters, more than one line, a path, or without a letter a-z or digit.
    """
    name = visible_line("--name", text)
    if len(name) > MAX_NAME:
        raise UsageError(f"--name has {len(name)} characters; give at most {MAX_NAME}")
    if _PATH_SIGNS.search(name):
        raise UsageError(f"--name {name!r} looks like a path; give a name alone, and its folder with --output-dir")
    skill_id = _slug(name)
    if not re.search(r"[a-z0-9]", skill_id):
        raise UsageError(f"--name {name!r} has no letter a-z and no digit, which the skill's id is made of; add some")
    return SkillName(name, skill_id)


def visible_line(option: str, text: str) -> str:
    """`text` without the blanks around it.

    Raises:
        UsageError: nothing is left, or it holds a line break or another character that cannot be seen.
    """
    if not (line := text.strip(" ")):
        raise UsageError(f"{option} is blank; give a value, or leave it out (is a variable empty?)")
    if not line.isprintable():
        sign = next(letter for letter in line if not letter.isprintable())
        raise UsageError(f"{option} contains the character {sign!a}; give one line of visible text")
    return line


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", latin(name.casefold())).strip("-")


_LATIN = re.compile(r"LATIN (SMALL|CAPITAL) (?:LETTER|LIGATURE) (?:DOTLESS )?([A-Z]{1,2})(?: WITH .*)?")


def latin(text: str) -> str:
    """`text` with its Latin letters as a-z and A-Z: ``é`` is e, ``ø`` o, ``æ`` ae. Letters of other alphabets stay, and so
    does ``ß``, which `str.casefold` makes ``ss``."""
    letters = (letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    return "".join(letter if letter.isascii() else _bare(letter) for letter in letters)


def _bare(letter: str) -> str:
    found = _LATIN.fullmatch(unicodedata.name(letter, ""))
    return letter if found is None else found[2].lower() if found[1] == "SMALL" else found[2]


def unique_id(wanted: str, taken: set[str]) -> str:
    """`wanted`, numbered if it is among `taken`, to which it is added."""
    found, number = wanted, 1
    while found in taken:
        number += 1
        found = f"{wanted}-{number}"
    taken.add(found)
    return found
