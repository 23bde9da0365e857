"""What a monitor is asked to do: typed, JSON-able, and a form in the Prefect UI."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from eval_skills.core.config.judging import ScoringOptions
from eval_skills.core.config.options import WorkOptions
from eval_skills.core.models import ExpectedOutput
from eval_skills.core.models.base import Rate, Text
from eval_skills.core.monitoring import HealthRule
from eval_skills.engine.monitor.log.records import LogFields


class MonitorRequest(ScoringOptions, WorkOptions):
    """Watch this log: sample its interactions, score them, and keep a status.

    Relative paths are read from the working directory of the process that runs the flow.
    """

    form_first = ("log", "rate")
    log: Text = Field(
        title="Log of interactions", description="A JSONL or Parquet file, or a folder of them; it may grow and be rotated"
    )
    rate: Rate = Field(
        title="Share that is sampled",
        default=0.01,
        gt=0,
        description="Share of the interactions that is sampled, above 0 and up to 1: a hundredth says how a busy log does, "
        "and judging it costs little",
    )
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="With the same seed, the same interactions are sampled")
    skill: str | None = Field(default=None, description="Only interactions of this skill or agent")
    expected_output: ExpectedOutput | None = Field(
        default=None, description="What every answer is compared with, unless the interaction says what it should have been"
    )
    task: Text | None = Field(
        title="Expectation from a task",
        default=None,
        description="What is expected of every answer: a JSON or YAML file with a task, or BENCHMARK:TASK",
    )
    fields: LogFields = Field(title="Keys of the log", default_factory=LogFields, description="Where the log keeps what")
    window: int = Field(default=200, ge=1, le=100_000, description="How many samples the status looks back on")
    min_sample: int = Field(
        title="Samples at least", default=30, ge=1, le=100_000, description="Fewer samples than this are insufficient_data"
    )
    warning: Rate = Field(title="Pass rate of a warning", default=0.85, description="A pass rate below this is a warning")
    critical: Rate = Field(title="Pass rate that is critical", default=0.70, description="A pass rate below this is critical")
    hysteresis: Rate = Field(default=0.02, description="A change for the better is announced this far above the threshold")
    follow: bool = Field(default=False, description="Wait for more at the end of the log")
    interval_s: float = Field(
        title="Seconds between looks",
        default=10,
        gt=0,
        le=86_400,
        description="With follow: seconds between two looks at the log",
    )
    idle_stop_s: float | None = Field(
        title="Seconds of silence to stop",
        default=None,
        gt=0,
        description="With follow: stop after this many seconds without a new line [default: never]",
    )
    restart: bool = Field(default=False, description="Begin at the start of the log, whatever was read before")

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.critical > self.warning:
            raise ValueError(f"--critical {self.critical} lies above --warning {self.warning}; critical is the lower threshold")
        if self.min_sample > self.window:
            raise ValueError(f"--min-sample {self.min_sample} exceeds --window {self.window}, so no status would ever be known")
        if self.task is not None and self.expected_output is not None:
            raise ValueError("--task and --expect exclude each other: the task says what is expected; give one of them")
        if self.idle_stop_s is not None and not self.follow:
            raise ValueError("--idle-stop is about waiting for more; give --follow, too")
        return self

    @property
    def rule(self) -> HealthRule:
        """When the window is healthy."""
        names = ("window", "min_sample", "warning", "critical", "hysteresis")
        options: dict[str, Any] = {name: getattr(self, name) for name in names}
        return HealthRule(**options)
