"""What a flow run is asked to do: typed, JSON-able, and a form in the Prefect UI."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from eval_skills.adapters import Confinement
from eval_skills.core.config.limits import (
    LOCAL,
    CpuSeconds,
    MemoryMb,
    OpenFiles,
    OutputBytes,
    SandboxName,
    SandboxNetwork,
    TaskRunnerName,
)
from eval_skills.core.config.settings import JudgeOptions
from eval_skills.core.models import AdapterType, Weights
from eval_skills.core.models.base import Rate, Text
from eval_skills.core.models.task import Complexity

Origin = Literal["run", "rescore", "replay", "monitor", "confirm", "traces"]
"""What wrote a row: a run of its own right, later work, or recorded runs (``traces``) that were not called here.

Only ``run`` and ``replay`` speak of a skill's course over time.
"""


class ScoringOptions(JudgeOptions):
    """How answers are scored, whoever gave them; shared by every request that scores."""

    evaluator: Text = Field(default="exact", description="The scorer of tasks that name none")
    allow_custom_code: bool = Field(default=False, description="Let benchmarks run their own scorer code")
    weights: Weights = Field(default_factory=Weights, description="Weights of the dimensions of agent runs")
    tool_categories: dict[str, list[str]] = Field(default_factory=dict, description="Tools by intent, beside the default table")
    tool_names: Literal["exact", "normalised"] = Field(
        default="exact", description="How names of tools are compared; normalised: without case, dashes, dots and spaces"
    )


class RunOptions(ScoringOptions):
    """How items are executed, judged, stored and reported; shared by every flow that evaluates.

    Relative paths are read from the working directory of the process that runs the flow.
    """

    benchmark: Text = Field(default="coding-easy", description="A built-in id, or the path of a benchmark file or folder")
    tasks: str | None = Field(default=None, description="A JSON or YAML file with tasks or a benchmark; replaces the benchmark")
    benchmarks_dir: str | None = Field(default=None, description="A folder of benchmarks, searched before the built-in ones")
    runs: int = Field(default=1, ge=1, le=1000, description="How often each skill answers each task")
    concurrency: int = Field(default=4, ge=1, le=1024, description="How many items work at a time")
    timeout_ms: int = Field(
        default=30_000, gt=0, le=86_400_000, description="Time limit of one call, in ms; a task's own limit wins"
    )
    retries: int = Field(default=0, ge=0, le=20, description="Further attempts after transient trouble")
    items_per_task: int = Field(default=1, ge=1, le=100_000, description="Items in one mapped Prefect task run")
    task_runner: TaskRunnerName = Field(
        default=LOCAL, description="Where items are executed: local, dask (worker processes), or dask://HOST:PORT (a cluster)"
    )
    memory_mb: MemoryMb | None = Field(
        default=None, description="Limit of each skill process, in MiB of data; its own may be lower"
    )
    cpu_seconds: CpuSeconds | None = Field(
        default=None, description="Limit of each skill process, in seconds of computing; its own may be lower"
    )
    open_files: OpenFiles | None = Field(
        default=None, description="Limit of each skill process, in files open at a time; its own may be lower"
    )
    max_output_bytes: OutputBytes | None = Field(
        default=None, description="Limit of one answer, in bytes; the skill's own (5,000,000 where it names none) may be lower"
    )
    sandbox: SandboxName = Field(default="none", description="Where skill processes run: none or bwrap (bubblewrap)")
    sandbox_network: SandboxNetwork = Field(
        default="declared", description="Who has the network in the sandbox: skills that declare it, none, or all"
    )
    fail_fast: bool = Field(default=False, description="Stop at the first item that does not pass")
    min_completion: Rate = Field(default=0.7, description="The completion rate that a skill should reach")
    format: list[str] = Field(default_factory=lambda: ["json", "markdown"], description="Report formats; empty: no report files")
    output_dir: Text = Field(default="./reports", description="Where report files go")
    store: Text = Field(default="./eval-store", description="Where results are kept for ever")
    secrets: list[str] = Field(default_factory=list, description="Environment variables whose values are never written down")
    resume: str | None = Field(default=None, description="A run id, or latest: go on with that run")
    retry_errors: bool = Field(default=False, description="With resume: run items again that ended in an error or timeout")

    def confinement(self) -> Confinement:
        """What every skill is held to."""
        names = ("memory_mb", "cpu_seconds", "open_files", "max_output_bytes", "sandbox", "sandbox_network")
        return Confinement(**{name: getattr(self, name) for name in names})

    @model_validator(mode="after")
    def _errors_of_an_earlier_run(self) -> Self:
        if self.retry_errors and not self.resume:
            raise ValueError("--retry-errors is about an earlier run; name it with --resume RUN_ID or --resume latest")
        return self


class CallOptions(RunOptions):
    """What one call may narrow or replace, beside the options that hold for suites and the past as well."""

    complexity: list[Complexity] = Field(default_factory=list, description="Only tasks of one of these complexities")
    traces: Text | None = Field(
        default=None, description="A JSON Lines file of recorded runs: they are judged, and nothing is called"
    )
    trace_skill: Text | None = Field(
        default=None, description="The skill (id or id@version) of recorded runs that name none [default: the file's name]"
    )

    @model_validator(mode="after")
    def _recorded_runs_are_there(self) -> Self:
        if self.trace_skill and not self.traces and not self.resume:
            raise ValueError("--trace-skill is about recorded runs; name their file with --traces")
        return self


class EvaluateRequest(CallOptions):
    """Evaluate these skills: the core of every pipeline."""

    skills: list[str] = Field(default_factory=list, description="skill.json files, skill folders, or folders of skills")
    task_tags: list[str] = Field(default_factory=list, description="Only tasks with all of these tags")
    task_ids: list[str] = Field(default_factory=list, description="Only the tasks with these ids")
    origin: Origin = Field(default="run", description="What the rows say they come from")
    provenance: dict[str, Any] = Field(default_factory=dict, description="Where the run comes from, for its manifest; JSON data")
    at: AwareDatetime | None = Field(
        default=None, strict=False, description="The moment, with its time zone, that the run is dated at [default: now]"
    )

    @model_validator(mode="after")
    def _calls_or_reads(self) -> Self:
        if self.skills and self.traces:
            raise ValueError("--skills are called and --traces are not; give one of them")
        return self


class PipelineRequest(CallOptions):
    """Find, evaluate, select, report."""

    skills_dir: Text = Field(default="./skills", description="The folder that is searched for skills")
    query: str | None = Field(default=None, description="Text to find in name, description or tags")
    tags: list[str] = Field(default_factory=list, description="Only skills with all of these tags")
    adapter: AdapterType | None = Field(default=None, description="Only skills behind this adapter")
    top_k: int | None = Field(default=None, ge=1, description="Select at most this many")
    strategy: str | None = Field(default=None, description="A YAML or JSON file with filters, order and topK")
    min_completion: Rate | None = Field(  # type: ignore[assignment] # None: the strategy's own floor, else 0.7
        default=None, description="The completion rate that a selected skill must reach"
    )

    def evaluation(self, skills: list[str]) -> EvaluateRequest:
        """The evaluation of `skills` inside this pipeline, which writes the reports itself.

        What was not said stays unsaid: a resume then goes on as its run began.
        """
        said = (CallOptions.model_fields.keys() & self.model_fields_set) - {"min_completion"}
        shared: dict[str, Any] = {name: getattr(self, name) for name in said}
        return EvaluateRequest(**{**shared, "format": [], "skills": skills})
