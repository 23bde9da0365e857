"""A folder with a ``SKILL.md``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from eval_skills.core.errors import InputError


@dataclass(frozen=True, slots=True)
class AgentSkill:
    """An Agent Skill: where it lies, and what its ``SKILL.md`` says."""

    folder: Path
    name: str
    description: str
    body: str
    fields: Mapping[str, Any]


def read_agent_skill(folder: Path) -> AgentSkill:
    """The Agent Skill in `folder`.

    Raises:
        InputError: there is none that an agent could load.
    """
    file = folder / "SKILL.md"
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=file) from None
    _, _, rest = text.partition("---\n")
    head, _, body = rest.partition("\n---\n")
    fields = yaml.safe_load(head) or {}
    return AgentSkill(folder, str(fields.get("name", folder.name)), str(fields.get("description", "")), body, fields)
