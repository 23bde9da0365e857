"""What a new skill is called, and the id that follows from it.

Whether what is about to be written can be read back.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass

from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import UsageError
from eval_skills.core.models import Benchmark, Skill
from eval_skills.core.skills import SKILL_FILE
from eval_skills.scaffolding.draft import Draft

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
    name = one_line("--name", text)
    if len(name) > MAX_NAME:
        raise UsageError(f"--name has {len(name)} characters; give at most {MAX_NAME}")
    if _PATH_SIGNS.search(name):
        raise UsageError(f"--name {name!r} looks like a path; give a name alone, and its folder with --output-dir")
    skill_id = _slug(name)
    if not re.search(r"[a-z0-9]", skill_id):
        raise UsageError(f"--name {name!r} has no letter a-z and no digit, of which the skill's id is made; add some")
    return SkillName(name, skill_id)


def one_line(option: str, text: str) -> str:
    """`text` without the blanks around it.

    Raises:
        UsageError: nothing is left, or it holds a line break or another character that cannot be seen.
    """
    if not (line := text.strip(" ")):
        raise UsageError(f"{option} has a blank value; give one, or leave it out (is a variable empty?)")
    if not line.isprintable():
        sign = next(letter for letter in line if not letter.isprintable())
        raise UsageError(f"{option} holds the character {sign!a}; give one line of visible text")
    return line


def _slug(name: str) -> str:
    letters = (letter for letter in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(letter))
    return re.sub(r"[^a-z0-9_]+", "-", "".join(letters)).strip("-")


_TESTS = ("tests/", ".eval.json")


def checked_skill(draft: Draft) -> Draft:
    """The draft, once its ``skill.json`` has been read as a skill, and each of its ``tests/*.eval.json`` as a benchmark.

    Raises:
        InputError: one of them is malformed; the message names the file and the place in it.
        ValueError: one of them is no JSON.
    """
    validate(Skill, json.loads(draft.files[SKILL_FILE]), source=draft.folder / SKILL_FILE)
    for name, text in draft.files.items():
        if name.startswith(_TESTS[0]) and name.endswith(_TESTS[1]):
            validate(Benchmark, json.loads(text), source=draft.folder / name)
    return draft
