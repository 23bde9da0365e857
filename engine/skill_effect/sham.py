"""A sham of an Agent Skill: what it is called, what it says it is for, and a text of the same length about something else."""

from __future__ import annotations

import re
import shutil
from itertools import cycle
from pathlib import Path

from eval_skills.agent_skills.folder import read_agent_skill

_LINE_END = re.compile(r"\r\n|\r")
_ABOUT_SOMETHING_ELSE = (
    "Paper was made by hand from linen rags for some five hundred years.",
    "The rags were sorted, washed, and left to ferment until the fibres came apart.",
    "Stampers that a water wheel drove beat them to a pulp.",
    "A vatman dipped a mould of fine wires into the vat and shook it as the water ran off.",
    "The coucher laid each wet sheet on a felt, and a post of them went under the press.",
    "Sheets were hung in a loft with shutters to dry, which took longer in winter than in summer.",
    "Writing paper was then dipped into a size of gelatine, so that the ink would not spread.",
    "Makers twisted a sign of wire into the mould, and it shows as a watermark against the light.",
    "Around the year 1800 a machine with an endless wire cloth began to replace the vat.",
    "Wood took the place of rags later in that century, and paper became cheap.",
)
"""Sentences that help with no task; they are about how paper was made."""


def sham_of(folder: Path) -> None:
    """Make the Agent Skill in `folder` a sham of itself: only ``SKILL.md`` stays, with the same lines up to the end of its
    frontmatter, and a body of as many characters as before.

    Raises:
        InputError: it is not an Agent Skill.
    """
    skill = read_agent_skill(folder)
    file = skill.file
    text = _LINE_END.sub("\n", file.read_bytes().decode("utf-8-sig"))
    head = text.removesuffix(skill.body)
    for entry in folder.iterdir():
        if entry != file:
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    file.write_bytes((head + something_else(len(skill.body))).encode("utf-8"))


def something_else(characters: int) -> str:
    """A text of so many characters, always the same one."""
    parts: list[str] = []
    length = 0
    for number, sentence in enumerate(cycle(_ABOUT_SOMETHING_ELSE), start=1):
        if length >= characters:
            break
        parts.append(sentence + ("\n\n" if number % 5 == 0 else " "))
        length += len(parts[-1])
    return "".join(parts)[:characters]
