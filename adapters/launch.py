"""How a skill's program is started: its words, its folder, its whole environment, its limits."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eval_skills.adapters.config import Limits, ProcessConfig
from eval_skills.adapters.environment import child_environment
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill

PYTHON_MARK = "{python}"
"""A word of a command that stands for the interpreter we run with, and so for one that has what we brought along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """All that a start needs; `env` is the child's whole environment."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    limits: Limits = field(default_factory=Limits)


def launch_of(skill: Skill, argv: tuple[str, ...], config: ProcessConfig, *, extra: Mapping[str, str] | None = None) -> Launch:
    """How `argv` is started for `skill`: in the skill's folder, whoever calls from wherever, with an allow-listed
    environment, to which `extra` is added last. A word `PYTHON_MARK` becomes our interpreter's path.

    Raises:
        InputError: the skill has no folder.
    """
    if skill.folder is None:
        message = "a program runs in its skill's folder, and this skill has none; load it from a skill.json"
        raise InputError(message, source=skill.key)
    env = child_environment({**config.env, **(extra or {})}, config.pass_env)
    words = tuple(sys.executable if word == PYTHON_MARK else word for word in argv)
    return Launch(argv=words, cwd=skill.folder, env=env, limits=config.limits)
