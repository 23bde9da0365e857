"""What a run needs besides a valid request: skills that can be called, folders to inspect, a task runner that is there."""

from __future__ import annotations

import socket
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.adapters import Confinement, check_skill
from eval_skills.core.config.limits import LOCAL, scheduler_of
from eval_skills.core.errors import UsageError, UserError
from eval_skills.core.skills import Discovery, InvalidSkill

if TYPE_CHECKING:
    from eval_skills.core.models import Benchmark, Skill
    from eval_skills.core.models.task import Subject

INSTALL = "pip install 'eval-skills[dask]'"
CONNECT_TIMEOUT_S = 10.0


def some_usable(
    found: Discovery, named: set[str], subject: Subject, confinement: Confinement
) -> tuple[list[Skill], list[InvalidSkill]]:
    """`usable_skills` of those that were found; UsageError: none of them is."""
    skills, unusable = usable_skills(found.skills, named=named, subject=subject, confinement=confinement)
    if not skills:
        raise UsageError(
            "no skill to evaluate: " + ("; ".join(f"{bad.path}: {bad.reason}" for bad in unusable) or "none was given")
        )
    return skills, unusable


def usable_skills(
    skills: list[Skill], *, named: set[str], subject: Subject, confinement: Confinement
) -> tuple[list[Skill], list[InvalidSkill]]:
    """The skills that can be called, and the others. A skill that was named, or has no folder, must be callable.

    Raises:
        UserError: such a skill cannot be called.
    """
    usable, unusable = [], []
    for skill in skills:
        try:
            check_skill(skill, subject, confinement)
            usable.append(skill)
        except UserError as error:
            if skill.folder is None or named & {str(skill.folder), f"{skill.folder}/skill.json"}:
                raise
            unusable.append(InvalidSkill(skill.folder or Path(skill.id), str(error)))
    return usable, unusable


def check_subject(benchmark: Benchmark, skills: list[Skill]) -> None:
    """Refuse skills without a folder where the benchmark inspects folders, with a UsageError."""
    without = [skill.key for skill in skills if skill.folder is None]
    if benchmark.subject != "call" and without:
        raise UsageError(f"benchmark {benchmark.id!r} inspects a skill's folder, and {without[0]} has none; load it from a file")


def check_task_runner(task_runner: str) -> None:
    """Refuse Dask where it is not installed, and a scheduler that does not listen.

    Raises:
        UsageError: with what to install or to start.
    """
    if task_runner == LOCAL:
        return
    if find_spec("distributed") is None:
        raise UsageError(f"--task-runner {task_runner} needs Dask, which is not installed here; install it with: {INSTALL}")
    if (scheduler := scheduler_of(task_runner)) is not None:
        try:
            socket.create_connection(scheduler, timeout=CONNECT_TIMEOUT_S).close()
        except OSError as error:
            why = error.strerror or str(error)
            raise UsageError(
                f"--task-runner {task_runner}: no scheduler listens there ({why}); start one with: dask scheduler"
            ) from None
