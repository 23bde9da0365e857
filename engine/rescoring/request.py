"""What a rescoring is asked to do: typed and JSON-able."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from eval_skills.core.config import LlmSettings
from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.config.options import TaskChoice
from eval_skills.core.models import Weights
from eval_skills.core.models.base import Text


class ScoringOptions(JudgeOptions):
    """What answers are judged by. None: as when they were given; of `llm`, whatever says nothing."""

    llm: LlmSettings | None = Field(  # type: ignore[assignment] # None: as when they were given
        default=None, description="The model that judges [default: the run's]"
    )

    benchmark: Text | None = Field(
        default=None, description="A built-in id, or the path of a benchmark [default: the run's own, as it is today]"
    )
    tasks: str | None = Field(default=None, description="A JSON or YAML file with tasks or a benchmark; replaces the benchmark")
    benchmarks_dir: str | None = Field(default=None, description="A folder of benchmarks, searched before the built-in ones")
    evaluator: Text | None = Field(default=None, description="The scorer of tasks that name none [default: the run's]")
    allow_custom_code: bool = Field(default=False, description="Let benchmarks run their own scorer code")
    weights: Weights | None = Field(default=None, description="Weights of the dimensions of agent runs [default: the run's]")
    tool_categories: dict[str, list[str]] | None = Field(
        default=None, description="Tools by intent, beside the default table [default: the run's]"
    )
    tool_names: Literal["exact", "normalised"] | None = Field(
        default=None, description="How names of tools are compared [default: as in the run]"
    )


class RescoreRequest(TaskChoice, ScoringOptions):
    """Score the stored answers of this run again."""

    run_id: Text = Field(description="A run id or its beginning, or latest")
    store: Text = Field(default="./eval-store", description="Where results are kept")
    concurrency: int = Field(default=4, ge=1, le=1024, description="How many answers are judged at a time")
    force: bool = Field(default=False, description="Also where the same scoring has landed already")
