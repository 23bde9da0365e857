"""Which items of a run models gave a verdict on, and which models. Plain: no Prefect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from eval_skills.core.judged_rows import NOT_BY_A_MODEL
from eval_skills.core.models import Benchmark, Reason
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.judging.identity import JudgeIdentity
from eval_skills.tasks.asked_benchmark import scoring_settings
from eval_skills.tasks.request import EvaluateRequest

QUALITY = "output_quality"
"""The dimension that holds what the evaluator gave."""


def judges_by_task(scorings: Mapping[str, TaskScoring]) -> dict[str, JudgeIdentity]:
    """Who judges each task that a model judges."""
    return {name: scoring.judge for name, scoring in scorings.items() if scoring.judge is not None}


def claims_judges(scorings: Mapping[str, TaskScoring]) -> dict[str, JudgeIdentity]:
    """Who verifies the claims of each task's answers, where a model does."""
    return {name: scoring.claims_judge for name, scoring in scorings.items() if scoring.claims_judge is not None}


def recorded_scorings(request: EvaluateRequest, benchmark: Benchmark, folder: Path | None) -> dict[str, TaskScoring]:
    """How each task of a run is judged, by what was asked of it; nobody is asked, so the judges' keys need not be there.

    Raises:
        UserError: a task cannot be judged any more.
    """
    settings = scoring_settings(request, folder)
    return {task.id: TaskScoring(task, settings) for task in benchmark.tasks}


def recorded_judges(request: EvaluateRequest, benchmark: Benchmark, folder: Path | None) -> dict[str, JudgeIdentity]:
    """Who judges each task of a run that a model judges; see `recorded_scorings`.

    Raises:
        UserError: as there.
    """
    return judges_by_task(recorded_scorings(request, benchmark, folder))


def was_judged(status: str, reasons: Iterable[Reason]) -> bool:
    """Whether the item of a task that a model judges got its verdict from that model."""
    return status in ("pass", "fail") and not any(reason.code in NOT_BY_A_MODEL for reason in reasons)
