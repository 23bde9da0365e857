"""A folder with a ``SKILL.md`` and no ``skill.json`` as a skill: one that can be inspected and found, and not called."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from eval_skills.agent_skills.folder import (
    MAX_FOLDERS,
    SKILL_TEXT,
    find_agent_skills,
    read_skill_text,
    skill_file_in,
    skill_files,
)
from eval_skills.agent_skills.skill_text import Fields, SkillText
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill
from eval_skills.core.skills import SKILL_FILE, Discovery, InvalidSkill, load_skill

_VERSION = re.compile(r"^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?$")
_UNKNOWN_VERSION = "0.0.0"


def as_skill(file: Path) -> Skill:
    """The Agent Skill of a ``SKILL.md``; what is wrong in it does not matter here.

    `id` is its name in lower case, other characters than letters of a to z, digits, ``-`` and ``_`` replaced; `version` is
    ``metadata: version``, filled up to three numbers, or 0.0.0. Where the file cannot be read, the folder's name is the skill's.
    """
    folder = Path(os.path.abspath(file.parent))
    try:
        text = read_skill_text(file)
    except InputError:
        text = SkillText(text="", is_readable=False)
    written = text.fields.get("name")
    described = text.fields.get("description")
    name = ((written.text or "").strip() if written else "") or folder.name or "skill"
    skill = Skill(
        id=_identifier(name),
        name=name,
        version=_version(text),
        description=((described.text or "").strip() if described else ""),
        adapter_type="agent",
        entrypoint=file.name,
    )
    return skill.located_in(folder.resolve())


def is_agent_skill(skill: Skill) -> bool:
    """Whether `as_skill` made it: it has no ``skill.json``, and cannot be called."""
    return skill.adapter_type == "agent" and skill.entrypoint.lower() == SKILL_TEXT.lower()


def add_agent_skills(found: Discovery, root: Path | str) -> dict[str, str]:
    """Add the Agent Skills below `root` to the skills that were found there; those that no client would load are invalid.

    Returns the ``SKILL.md`` of each skill that has one, by its folder. A folder with a ``skill.json`` is not added.
    """
    agent_skills = find_agent_skills(root)
    known = {str(skill.folder) for skill in found.skills}
    texts = {str(skill.folder.resolve()): str(skill.file) for skill in agent_skills.skills}
    found.skills.extend(as_skill(skill.file) for skill in agent_skills.skills if str(skill.folder.resolve()) not in known)
    found.invalid.extend(agent_skills.invalid)
    found.remarks.extend(agent_skills.remarks)
    return texts


def load_inspected(paths: list[str]) -> Discovery:
    """The skills at `paths` whose ``SKILL.md`` is to be inspected: each a skill's folder, a ``SKILL.md``, a ``skill.json``, or a
    folder that is searched for both. A folder that has both is the skill of its ``skill.json``.

    Raises:
        InputError: at a path there is neither.
    """
    found: dict[Path | None, Skill] = {}
    invalid: list[InvalidSkill] = []
    remarks: list[str] = []
    for path in map(Path, paths):
        for file in _files(path, remarks):
            try:
                skill = load_skill(file.parent) if (file.parent / SKILL_FILE).is_file() else as_skill(file)
            except InputError as error:
                invalid.append(InvalidSkill(file, str(error)))
            else:
                found.setdefault(skill.folder, skill)
    return Discovery(list(found.values()), invalid, list(dict.fromkeys(remarks)))


def _files(path: Path, remarks: list[str]) -> list[Path]:
    if not os.path.exists(path):
        raise InputError("no such file or folder", source=path)
    folder = path if path.is_dir() else path.parent
    if (own := skill_file_in(folder)) is not None:
        return [own]
    files = list(skill_files(folder, remarks, MAX_FOLDERS)) if path.is_dir() else []
    if not files:
        raise InputError("there is no SKILL.md to inspect in this folder or below it", source=folder)
    return files


def _identifier(name: str) -> str:
    words = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")
    return words[:100] or f"skill-{hashlib.sha256(name.encode(errors='replace')).hexdigest()[:8]}"


def _version(text: SkillText) -> str:
    metadata = text.fields.get("metadata")
    version = metadata.value.fields.get("version") if metadata and isinstance(metadata.value, Fields) else None
    found = _VERSION.match((version.text or "").strip()) if version else None
    return ".".join(str(int(part or "0")) for part in found.groups()) if found else _UNKNOWN_VERSION
