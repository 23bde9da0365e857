"""Which of the skills that were found can be called as the run would call them.

Whether a run can be executed where its request says: asked before anything is written. Plain: no Prefect, no Dask.
"""

from __future__ import annotations

import socket
from importlib.util import find_spec
from pathlib import Path

from eval_skills.adapters import Confinement, check_skill
from eval_skills.core.config.limits import LOCAL, scheduler_of
from eval_skills.core.errors import UsageError, UserError
from eval_skills.core.models import Benchmark, Skill
from eval_skills.core.models.benchmark import Subject
from eval_skills.core.skills import InvalidSkill


def usable_skills(
    skills: list[Skill], *, named: set[str], subject: Subject, confinement: Confinement
) -> tuple[list[Skill], list[InvalidSkill]]:
    """Those that can be called. One that was named or made in memory must be; one found in a folder of skills is skipped."""
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
    """Refuse skills that have nothing for the benchmark to look at.

    Raises:
        UsageError: the benchmark inspects folders, and a skill has none.
    """
    homeless = [skill.key for skill in skills if skill.folder is None]
    if benchmark.subject == "package" and homeless:
        raise UsageError(f"benchmark {benchmark.id!r} inspects a skill's folder, and {homeless[0]} has none; load it from a file")


INSTALL = "pip install 'eval-skills[dask]'"
CONNECT_TIMEOUT_S = 10.0


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
