"""What a calibration is asked to do: typed and JSON-able."""

from __future__ import annotations

from pydantic import Field

from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.models.base import Rate, Text


class CalibrateRequest(JudgeOptions):
    """Compare a judge's verdicts with people's labels."""

    labels: Text = Field(description="A CSV file of labels; see `core.labels`")
    run_id: Text | None = Field(
        default=None, description="A run id or its beginning, or latest [default: the answers of the file are judged now]"
    )
    benchmark: Text | None = Field(default=None, description="A built-in id, or the path of a benchmark [default: the run's own]")
    tasks: Text | None = Field(default=None, description="A JSON or YAML file with tasks or a benchmark; replaces the benchmark")
    benchmarks_dir: str | None = Field(default=None, description="A folder of benchmarks, searched before the built-in ones")
    evaluator: Text | None = Field(default=None, description="The scorer of tasks that name none")
    pass_at: Rate = Field(default=0.7, description="Labels from this value on say pass")
    force: bool = Field(default=False, description="Also in place of a calibration with more labels")
    store: Text = Field(default="./eval-store", description="Where results are kept")
    secrets: list[str] = Field(default_factory=list, description="Environment variables whose values are redacted")
