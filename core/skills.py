"""Finding skills on disk: one that is named, or all below a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_skills.core.documents.loading import check_path, from_home, is_utf8, read_document, validate
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Skill

SKILL_FILE = "skill.json"
ADAPTER_FILE = "adapter.config.json"
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "venv", "site-packages"})
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"


@dataclass(frozen=True, slots=True)
class InvalidSkill:
    """A skill file that could not be loaded, and why."""

    path: Path
    reason: str

    @property
    def remark(self) -> str:
        """One line for people; many reasons name the file already."""
        return f"skipped {self.reason if str(self.path) in self.reason else f'{self.path}: {self.reason}'}"


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a folder holds: the skills, by id and version, and the skill files that cannot be loaded.

    `remarks` name folders with a ``skill.json`` that were passed over because of what they are called, each as one line.
    """

    skills: list[Skill] = field(default_factory=list)
    invalid: list[InvalidSkill] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def load_skill(path: Path | str) -> Skill:
    """The skill in a ``skill.json``, or in the folder that holds one.

    An ``adapter.config.json`` beside it is merged key by key under `adapter_config`, and wins where both name a key:
    it is the file that differs from one deployment to the next.

    Raises:
        UsageError: `path` is blank, or cannot be a path.
        InputError: there is no such skill, or it is malformed; the message names the file and the place in it.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(
            f"load_skill takes the path of a skill.json, or of its folder; got a value of type {type(path).__name__}"
        )
    if not str(path).strip():
        raise UsageError("the path is blank; give the path of a skill.json, or of its folder")
    check_path(str(path), "skill", "give the path of a skill.json, or of its folder")
    file = _skill_file(Path(from_home(str(path))))
    data = read_document(file)
    adapter_file = file.parent / ADAPTER_FILE
    if isinstance(data, dict) and adapter_file.is_file():
        data = _with_adapter_config(data, read_document(adapter_file), adapter_file)
    folder = file.parent.resolve()
    if not is_utf8(str(folder)):
        raise InputError("the path of its folder is not UTF-8, and no run could record it; rename that folder", source=file)
    return validate(Skill, data, source=file).located_in(folder)


def discover_skills(folder: Path | str) -> Discovery:
    """Every skill below `folder`, in any depth, sorted by id and version; a malformed one does not hide the others.

    Hidden folders, virtual environments and the like are passed over, and links to folders are not followed. A folder that only
    has such a name (``venv``, ``node_modules``), and holds a ``skill.json`` itself, is a skill; one that is hidden or really is a
    virtual environment gets a remark then.

    Raises:
        InputError: `folder` does not exist or is not a folder.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError("no such folder of skills" if not root.exists() else "this is a file; name a folder", source=root)
    found = Discovery()
    for file in _skill_files(root, found.remarks):
        try:
            found.skills.append(load_skill(file))
        except InputError as error:
            found.invalid.append(InvalidSkill(file, str(error)))
    found.skills.sort(key=lambda skill: (skill.id, [int(part) for part in skill.version.split(".")]))
    return found


def load_skills(paths: Iterable[Path | str]) -> Discovery:
    """The skills at `paths`, each a ``skill.json``, a skill's folder, or a folder of skills; each skill once, in that order.

    A skill that was named is never skipped; a malformed one inside a folder of skills is listed as invalid.

    Raises:
        InputError: a path holds no skill, or names a malformed one.
        UsageError: two different folders hold the same ``id@version``.
    """
    skills: dict[Path | None, Skill] = {}
    invalid: list[InvalidSkill] = []
    remarks: list[str] = []
    for path in map(Path, paths):
        found = _skills_at(path)
        invalid += found.invalid
        remarks += found.remarks
        for skill in found.skills:
            skills.setdefault(skill.folder, skill)
    refuse_duplicates(skills.values())
    return Discovery(list(skills.values()), invalid, list(dict.fromkeys(remarks)))


def refuse_duplicates(skills: Iterable[Skill]) -> None:
    """Raise a UsageError that names both folders when one ``id@version`` stands for two skills."""
    seen: dict[str, Skill] = {}
    for skill in skills:
        other = seen.setdefault(skill.key, skill)
        if other.folder != skill.folder:
            raise UsageError(
                f"{skill.key} is in two folders, {other.folder} and {skill.folder}; change one id or version, or name one of them"
            )


def why_none(found: Discovery) -> str:
    """What a folder without a usable skill holds instead."""
    reasons = [*(bad.reason for bad in found.invalid), *found.remarks]
    return "; ".join(reasons) or f"there is no {SKILL_FILE} in this folder or below it"


def _skills_at(path: Path) -> Discovery:
    if not path.is_dir() or (path / SKILL_FILE).exists():
        return Discovery([load_skill(path)])
    found = discover_skills(path)
    if not found.skills:
        raise InputError(f"no skill here: {why_none(found)}", source=path)
    return found


def _skill_file(path: Path) -> Path:
    if path.is_dir():
        if not (path / SKILL_FILE).is_file():
            raise InputError(f"no skill here: the folder has no {SKILL_FILE}", source=path)
        return path / SKILL_FILE
    if not path.exists():
        raise InputError("no such skill file or folder", source=path)
    return path


def _skill_files(root: Path, remarks: list[str]) -> Iterator[Path]:
    for folder, subfolders, files in _walk(root):
        skipped = sorted(name for name in subfolders if name.startswith(".") or name in _SKIPPED_FOLDERS)
        subfolders[:] = sorted(set(subfolders) - set(skipped))
        if SKILL_FILE in files:
            yield Path(folder) / SKILL_FILE
        else:  # within a skill, such folders are its own
            yield from _called_like_others(Path(folder), skipped, remarks)


def _walk(root: Path) -> Iterator[tuple[str, list[str], set[str]]]:
    """As `os.walk`, which calls itself for every level: somebody else's folder may have thousands of them."""
    left = [str(root)]
    while left:
        folder = left.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        subfolders = [entry.name for entry in entries if is_folder(entry)]
        links = {entry.name for entry in entries if entry.is_symlink()}
        yield folder, subfolders, {entry.name for entry in entries} - set(subfolders)
        left += [os.path.join(folder, name) for name in reversed(subfolders) if name not in links]


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, or a link to one; a link that leads in a circle is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _called_like_others(folder: Path, names: list[str], remarks: list[str]) -> Iterator[Path]:
    """The skill files of folders that only have the name of what is passed over; a remark for each that is passed over anyway."""
    for place in (folder / name for name in names):
        if place.is_symlink() or not (place / SKILL_FILE).is_file():
            continue
        if not place.name.startswith(".") and not (place / _VIRTUAL_ENVIRONMENT).exists():
            yield place / SKILL_FILE
            continue
        what = "hidden folders" if place.name.startswith(".") else "virtual environments"
        remarks.append(f"passed over {place}: {what} are not searched; rename it, or name it itself, to use the skill in it")


def _with_adapter_config(data: dict[str, Any], extra: Any, source: Path) -> dict[str, Any]:
    if not isinstance(extra, dict):
        raise InputError("expected an object of adapter options", source=source)
    name = "adapter_config" if "adapter_config" in data else "adapterConfig"
    own = data.get(name, {})
    return {**data, name: {**own, **extra}} if isinstance(own, dict) else data
