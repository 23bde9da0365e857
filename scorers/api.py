"""Scoring one answer: a task, an answer, a verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from eval_skills.core.models import EvalTask, SkillResponse, Verdict
from eval_skills.scorers.task_scoring.scoring import TaskScoring

if TYPE_CHECKING:
    from eval_skills.scorers.settings import ScoringSettings

    Settings = ScoringSettings | Mapping[str, Any] | None


async def score_response(task: EvalTask, response: SkillResponse, settings: Settings = None) -> Verdict:
    """The verdict on one answer; to judge many answers to one task, keep a `TaskScoring`.

    Raises:
        InputError: the task or the settings cannot be used; a scorer that fails raises nothing and gives status `error`.
    """
    return await TaskScoring(task, settings).verdict(response)


def score_response_sync(task: EvalTask, response: SkillResponse, settings: Settings = None) -> Verdict:
    """`score_response` for callers without an event loop; inside one, as in a notebook, it works too and blocks it meanwhile.

    Raises:
        InputError: as `score_response`.
    """
    judging = _scored_alone(task, response, settings)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(judging)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(copy_context().run, asyncio.run, judging).result()


async def _scored_alone(task: EvalTask, response: SkillResponse, settings: Settings) -> Verdict:
    scoring = TaskScoring(task, settings)
    try:
        return await scoring.verdict(response)
    finally:
        await scoring.settings.judges.close()


def check_task(task: EvalTask, settings: Settings = None) -> None:
    """Refuse a task that cannot be judged, before anything is called.

    Raises:
        InputError: as `TaskScoring`.
    """
    TaskScoring(task, settings)
