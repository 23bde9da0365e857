"""How a skill's program is started: its words, its folder, its whole environment, its limits."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval_skills.adapters.config import Limits, ProcessConfig
from eval_skills.adapters.environment import child_environment
from eval_skills.adapters.limits import limited
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill

PYTHON_MARK = "{python}"
"""A word of a command that stands for the interpreter we run with, and so for one that has what we brought along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """All that a start needs; `env` is the child's whole environment. `limits` are those that `argv` sets."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    limits: Limits = field(default_factory=Limits)


def launch_of(
    skill: Skill,
    argv: tuple[str, ...],
    config: ProcessConfig,
    *,
    extra: Mapping[str, str] | None = None,
    listens: bool = False,
) -> Launch:
    """How `argv` is started for `skill`: in the skill's folder, whoever calls from wherever, with an allow-listed
    environment, to which `extra` is added last, and in its sandbox. A word `PYTHON_MARK` becomes our interpreter's path.
    One that `listens` is spoken to over the network.

    Raises:
        InputError: the skill has no folder, or its sandbox cannot be had.
    """
    if skill.folder is None:
        message = "a program runs in its skill's folder, and this skill has none; load it from a skill.json"
        raise InputError(message, source=skill.key)
    env = child_environment({**config.env, **(extra or {})}, config.pass_env)
    words = tuple(sys.executable if word == PYTHON_MARK else word for word in argv)
    launch = Launch(argv=words, cwd=skill.folder, env=env, limits=config.limits)
    if config.sandbox != "none":
        launch = _in_sandbox(launch, config, listens=listens)
    return replace(launch, argv=limited(launch.argv, config.limits)) if launch.argv else launch


def _in_sandbox(launch: Launch, config: ProcessConfig, *, listens: bool) -> Launch:
    from eval_skills.adapters.sandbox import PRIVATE_TMP, sandboxed, why_no_sandbox

    if problem := why_no_sandbox():
        raise InputError(problem, source=launch.cwd, path="adapterConfig.sandbox")
    if listens and not config.network:
        message = "a service in a sandbox without the network cannot be reached; allow it with adapterConfig.network: true"
        raise InputError(f"{message} or --sandbox-network all", source=launch.cwd, path="adapterConfig.serve")
    env = {**launch.env, "TMPDIR": PRIVATE_TMP}
    if not launch.argv:
        return replace(launch, env=env)
    hidden = map(Path, config.hidden_paths)
    argv = sandboxed(launch.argv, folder=launch.cwd, env=env, network=config.network, hidden=hidden)
    return replace(launch, argv=argv, env=env)
