"""A benchmark: a set of tasks and how their scores are summed up."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from pydantic import Field, model_validator

from eval_skills.core.models.base import Identifier, Model, SemVer, Text
from eval_skills.core.models.task import EvalTask

ScoringMethod = Literal["mean", "weighted_mean", "pass_at_k"]
Subject = Literal["call", "package"]


class Benchmark(Model):
    """A set of tasks. `subject` says what is judged: the skill's answers (`call`) or its own folder (`package`).

    `k` is the k of pass@k and pass^k; `max_latency_ms` scales latency in the composite score (absent: the run's timeout).
    An empty task list is a valid value here, and refused where a benchmark is loaded to be run.
    """

    id: Identifier
    name: Text
    version: SemVer
    description: str = ""
    domain: str = "general"
    scoring_method: ScoringMethod = "mean"
    k: int = Field(default=1, ge=1)
    max_latency_ms: float | None = Field(default=None, gt=0)
    subject: Subject = "call"
    metadata: dict[str, Any] = Field(default_factory=dict)
    tasks: list[EvalTask]

    @model_validator(mode="after")
    def _tasks_are_distinct_and_weigh_something(self) -> Benchmark:
        twice = [task_id for task_id, count in Counter(task.id for task in self.tasks).items() if count > 1]
        if twice:
            raise ValueError(
                f"task id {twice[0]!r} is used {sum(task.id == twice[0] for task in self.tasks)} times; make it unique"
            )
        if self.scoring_method == "weighted_mean" and self.tasks and not any(task.weight for task in self.tasks):
            raise ValueError("scoringMethod is weighted_mean and every weight is 0; give at least one task a weight above 0")
        return self
