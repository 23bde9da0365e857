"""Agent Skills on disk: one folder, or all below a folder, read leniently, as the clients that load them do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eval_skills.agent_skills.frontmatter import parse_skill_text
from eval_skills.agent_skills.reading import Unreadable, read_inside
from eval_skills.agent_skills.skill_text import Field, SkillText
from eval_skills.core.errors import InputError
from eval_skills.core.skills import InvalidSkill, is_folder
from eval_skills.core.text import first_of

SKILL_TEXT = "SKILL.md"
MAX_SKILL_BYTES = 1_000_000
MAX_FOLDERS = 2_000
MAX_DEPTH = 6
"""Folders are searched so deep below the one that is named."""

_PASSED_OVER = frozenset({".git", "node_modules", "__pycache__"})
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"
_LINKS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSkill:
    """A folder with a ``SKILL.md``.

    `name` can always be that of a folder: where the frontmatter has none, or one that cannot (``../x``), it is the folder's own.
    `fields` are all of the frontmatter, `body` is what follows it, `file` the ``SKILL.md`` itself. `remarks` say what is wrong
    with it and did not keep it from being read.
    """

    folder: Path
    file: Path
    name: str
    description: str
    body: str
    fields: Mapping[str, Field] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def text(self, name: str) -> str | None:
        """The text of a field; None where it is absent, a list or a map."""
        found = self.fields.get(name)
        return found.text if found else None


@dataclass(frozen=True, slots=True)
class FoundAgentSkills:
    """What a folder holds: the Agent Skills by path, those that no client would load, and what was not looked at."""

    skills: list[AgentSkill] = field(default_factory=list)
    invalid: list[InvalidSkill] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def read_agent_skill(folder: Path | str) -> AgentSkill:
    """The Agent Skill in a folder, or the one that a ``SKILL.md`` belongs to; a bad name or an unknown field is a remark.

    Raises:
        InputError: there is none, its file cannot be read, its frontmatter is not readable at all, or it has no description:
            what no client loads. The message names the file, and the line where there is one.
    """
    file = _named(Path(folder))
    where = file.parent
    text = read_skill_text(file)
    if not text.is_readable:
        problem = text.problems[-1]
        raise InputError(f"{problem.message}; {problem.fix}", source=f"{file}:{problem.place.line}")
    described = text.fields.get("description")
    if described is None or not (described.text or "").strip():
        raise InputError("has no description, so that no agent would know when to read it", source=file)
    written = text.fields.get("name")
    name, remark = _usable_name((written.text or "").strip() if written else "", Path(os.path.abspath(where)).name)
    return AgentSkill(
        folder=where,
        file=file,
        name=name,
        description=(described.text or "").strip(),
        body=text.body,
        fields=text.fields,
        remarks=(*(f"line {problem.place.line}: {problem.message}" for problem in text.problems), *remark),
    )


def read_skill_text(file: Path) -> SkillText:
    """What a ``SKILL.md`` says; problems within the text are part of the result.

    Raises:
        InputError: it is not a regular file within its folder, larger than 1 MB, or cannot be read.
    """
    try:
        return parse_skill_text(read_inside(file, file.parent, MAX_SKILL_BYTES))
    except Unreadable as error:
        raise InputError(str(error), source=file) from None


def skill_file_in(folder: Path) -> Path | None:
    """The ``SKILL.md`` of a folder, or what is called so in other letters (``skill.md`` before ``Skill.md``); None: neither."""
    try:
        with os.scandir(folder) as entries:
            names = [each.name for each in entries if each.name.lower() == "skill.md" and not each.is_dir(follow_symlinks=False)]
    except OSError:
        return None
    order = [SKILL_TEXT, "skill.md", *sorted(names)]
    return next((folder / name for name in order if name in names), None)


def find_agent_skills(root: Path | str) -> FoundAgentSkills:
    """The Agent Skills below a folder, or of the folder itself, by their paths; a malformed one does not hide the others.

    Hidden folders are searched (clients keep skills in ``.agents/skills``), ``.git``, ``node_modules`` and virtual environments
    are not. What lies within a skill belongs to it. The search ends `MAX_DEPTH` levels down and after `MAX_FOLDERS` folders, and
    follows no link; a remark says where it did, and which names are given twice: a client loads one of the two.

    Raises:
        InputError: `root` does not exist or is not a folder.
    """
    root = Path(root)
    if not os.path.isdir(root):
        raise InputError("no such folder of skills" if not os.path.exists(root) else "this is a file; name a folder", source=root)
    found = FoundAgentSkills()
    for file in skill_files(root, found.remarks, MAX_FOLDERS):
        try:
            found.skills.append(read_agent_skill(file))
        except InputError as error:
            found.invalid.append(InvalidSkill(file, str(error)))
    found.remarks.extend(_shadowed(found.skills))
    return found


def skill_files(root: Path, remarks: list[str], most: int) -> Iterator[Path]:
    """The ``SKILL.md`` of every folder, by the rules of `find_agent_skills`, but in at most so many folders.

    A folder in its place is one that cannot be read, and hides nothing beside it. What was not searched is added to the remarks.
    """
    left, links, deep, closed = [(root, 0)], list[str](), list[str](), list[str]()
    searched = 0
    while left and searched < most:
        folder, depth = left.pop()
        searched += 1
        if (file := skill_file_in(folder)) is not None:
            yield file
            continue
        below = _subfolders(folder, links, closed)
        if folder / SKILL_TEXT in below:
            yield folder / SKILL_TEXT
        if depth == MAX_DEPTH:
            deep += [str(folder)] * bool(below)
        else:
            left += [(each, depth + 1) for each in reversed(below)]
    if left:
        remarks.append(f"only the first {most:,} folders below {root} were searched; name the folder of the skills itself")
    if deep:
        remarks.append(f"not searched deeper than {MAX_DEPTH} levels: {first_of(deep, _LINKS_SHOWN)}")
    if closed:
        remarks.append(f"folders that cannot be read were not searched: {first_of(sorted(closed), _LINKS_SHOWN)}")
    if links:
        remarks.append(f"links to folders are not followed: {first_of(sorted(links), _LINKS_SHOWN)}")


def _subfolders(folder: Path, links: list[str], closed: list[str]) -> list[Path]:
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError:
        closed.append(str(folder))
        return []
    links += [entry.path for entry in entries if entry.is_symlink() and is_folder(entry)]
    folders = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name not in _PASSED_OVER]
    return [each for each in folders if not os.path.lexists(each / _VIRTUAL_ENVIRONMENT)]  # lexists: False where it may not look


def _shadowed(skills: list[AgentSkill]) -> Iterator[str]:
    first: dict[str, AgentSkill] = {}
    for skill in skills:
        other = first.setdefault(skill.name, skill)
        if other is not skill:
            places = f"{other.folder} and {skill.folder}"
            yield f"{skill.name} is in two folders, {places}: where a client searches both, one hides the other"


def _named(path: Path) -> Path:
    if not os.path.exists(path):
        raise InputError("no such file or folder", source=path)
    file = skill_file_in(path) if path.is_dir() else path
    if file is None:
        raise InputError(f"no Agent Skill here: the folder has no {SKILL_TEXT}", source=path)
    if file.name.lower() != SKILL_TEXT.lower():
        raise InputError(f"this is not a {SKILL_TEXT}; name it, or its folder", source=path)
    return file


def _usable_name(written: str, folder: str) -> tuple[str, tuple[str, ...]]:
    """The name, or the folder's where it cannot be the name of a folder, and a remark then."""
    if written and written not in {".", ".."} and written.isprintable() and not set(written) & set("/\\:") and len(written) <= 80:
        return written, ()
    what = f"the name {written[:80]!r} cannot be that of a folder" if written else "there is no name"
    return folder, (f"{what}; it is called {folder} here",)
