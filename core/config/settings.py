"""What can be configured: every key, its default and what it may hold.

How models judge: what every flow that scores answers can be told about it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from eval_skills.core.config.limits import (
    LOCAL,
    CpuSeconds,
    MemoryMb,
    OpenFiles,
    OutputBytes,
    SandboxName,
    SandboxNetwork,
    TaskRunnerName,
    VariableName,
)
from eval_skills.core.models.base import Model, Rate, Text
from eval_skills.core.models.task import Weights


def _as_path(value: Any) -> Path:
    if not isinstance(value, str | Path) or not str(value).strip():
        raise ValueError("give a path, as text that is not blank")
    return Path(value)


WrittenPath = Annotated[Path, BeforeValidator(_as_path)]
"""A path, written as text."""


PATH, ID_OR_PATH = "path", "id or path"
"""Marks in the type of a text that is a path, and of one that is a path where it has a slash or an ending such as ``.json``."""


class LlmSettings(Model):
    """The model that judges. `api_key_env` names the variable that holds its key; None: the provider's usual one."""

    model: Text | None = Field(default=None, description="The model that judges", examples=["gpt-4o"])
    api_base: Text | None = Field(
        default=None,
        description="Address of the model's API, if it is not the provider's own",
        examples=["http://127.0.0.1:8000/v1"],
    )
    api_key_env: VariableName | None = Field(
        default=None,
        description="Name of the environment variable that holds the key, never the key; else the provider's usual one",
        examples=["OPENAI_API_KEY"],
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="How freely the model words its answer; 0 unless set", examples=[0.0]
    )
    timeout_ms: int = Field(
        default=120_000, gt=0, le=86_400_000, description="Time limit of one verdict in ms, further attempts included"
    )
    input_price: float | None = Field(
        default=None,
        ge=0,
        le=1e6,
        description="USD for a million tokens that the model reads, where its price is not known or not right",
        examples=[0.15],
    )
    output_price: float | None = Field(
        default=None, ge=0, le=1e6, description="USD for a million tokens that the model writes", examples=[0.6]
    )
    cache_dir: WrittenPath | None = Field(
        default=None, description="Folder of verdicts that need not be asked for again", examples=["./judge-cache"]
    )

    def with_said(self, other: LlmSettings | None) -> LlmSettings:
        """These settings, with what `other` says instead; what is at its default there says nothing."""
        said = {} if other is None else other.model_dump(exclude_defaults=True)
        return self.model_copy(update=said)

    @property
    def deciding(self) -> dict[str, Any]:
        """What of these settings a verdict depends on, as JSON data."""
        return self.model_dump(mode="json", by_alias=True, include={"model", "api_base", "temperature"})


class Config(Model):
    """Everything that a run can be told, whatever layer told it. Times are in ms, rates in [0, 1].

    `store` is a folder, a ``.db``/``.sqlite`` file, or an fsspec URL. `benchmark` is an id or a path. `strategy` is the file of a
    selection strategy, `top_k` beats the one in it. `secrets` are names of environment variables whose values are redacted
    wherever something is written. `tool_categories` adds to the built-in table: a category's name and the tools in it.
    """

    concurrency: int = Field(default=4, ge=1, le=1024, description="Items at a time")
    timeout_ms: int = Field(
        default=30_000, gt=0, le=86_400_000, description="Time limit of one call in ms; a task's own timeoutMs wins"
    )
    retries: int = Field(default=0, ge=0, le=20, description="Further attempts after transient trouble")
    runs: int = Field(default=1, ge=1, le=1000, description="How often every task is asked")
    evaluator: Text = Field(default="exact", description="Scorer of tasks that name none")
    format: list[Text] = Field(
        default=["json", "markdown"], min_length=1, description="Report formats: json, markdown, html, csv, junit, parquet"
    )
    output_dir: WrittenPath = Field(default=Path("reports"), description="Folder of report files")
    store: Text = Field(
        default="./eval-store", description="Where all results are kept: a folder, a .db or .sqlite file, or a URL such as s3://…"
    )
    min_completion: Rate = Field(default=0.7, description="Lowest completion rate to select, and for exitOnFail")
    exit_on_fail: bool = Field(default=False, description="Exit with 1 when a skill is below minCompletion")
    fail_fast: bool = Field(default=False, description="Stop at the first item that does not pass")
    skills_dir: WrittenPath = Field(default=Path("skills"), description="Folder to search for skills")
    benchmark: Text = Field(default="coding-easy", description="What is asked: the id of a benchmark, or its path")
    benchmarks_dir: WrittenPath | None = Field(
        default=None, description="Folder of benchmarks, searched before the built-in ones", examples=["./benchmarks"]
    )
    items_per_task: int = Field(
        default=1, ge=1, le=100_000, description="Items in one Prefect task run; more of them for sweeps of 10,000 items and more"
    )
    task_runner: TaskRunnerName = Field(
        default=LOCAL,
        description="Where items are executed: local (this process), dask (worker processes) or dask://HOST:PORT (a cluster)",
    )
    memory_mb: MemoryMb | None = Field(
        default=None, description="Limit of each skill process in MiB of data; a skill's own limits may be lower", examples=[512]
    )
    cpu_seconds: CpuSeconds | None = Field(
        default=None, description="Limit of each skill process in seconds of computing", examples=[60]
    )
    open_files: OpenFiles | None = Field(
        default=None, description="Limit of each skill process in files open at a time", examples=[256]
    )
    max_output_bytes: OutputBytes | None = Field(
        default=None,
        description="Limit of one answer in bytes; 5,000,000 where neither this nor the skill says so",
        examples=[1_000_000],
    )
    sandbox: SandboxName = Field(default="none", description="Where skill processes run: none, or bwrap (bubblewrap)")
    sandbox_network: SandboxNetwork = Field(
        default="declared", description="Who has the network in the sandbox: skills whose adapterConfig declares it, none, or all"
    )
    allow_custom_code: bool = Field(default=False, description="Let a benchmark run its own scorer code")
    limit: int = Field(default=20, ge=1, description="How many lines `find` and `history` show at most")
    top_k: int | None = Field(
        default=None, ge=1, description="Select at most this many skills; beats the strategy's topK", examples=[3]
    )
    strategy: WrittenPath | None = Field(
        default=None, description="File of a selection strategy: filters, sortBy, order, topK", examples=["./strategy.yaml"]
    )
    weights: Weights = Field(
        default_factory=Weights, description="Weights of the dimensions of agent runs; one that is left out keeps its default"
    )
    tool_categories: dict[str, list[Text]] = Field(
        default_factory=dict,
        description="Categories of tools beside the built-in ones: a name, and the tools that satisfy it",
        examples=[{"payment": ["pay", "refund"]}],
    )
    tool_names: Literal["exact", "normalised"] = Field(
        default="exact", description="How names of tools are compared; normalised ignores case, -, _, dots and spaces"
    )
    llm: LlmSettings = Field(default_factory=LlmSettings, description="The model that judges")
    judge_concurrency: int = Field(default=4, ge=1, le=1024, description="Questions to judging models at a time")
    max_judge_cost: float | None = Field(
        default=None, ge=0, le=1e9, description="USD that judging may cost in a run; then the rest is not judged", examples=[5.0]
    )
    no_judge_cache: bool = Field(
        default=False, description="Ask judging models anew, also what they answered before, and keep nothing"
    )
    no_judge_check: bool = Field(default=False, description="Do not ask judging models for one token before a run begins")
    secrets: list[VariableName] = Field(
        default_factory=list,
        description="Names of environment variables whose values are replaced wherever something is written",
        examples=[["OPENAI_API_KEY"]],
    )

    json_: bool = Field(default=False, alias="json", description="Print one JSON document on stdout and nothing else")
    color: bool = Field(default=True, description="Print with colour, where the output is a terminal and NO_COLOR is not set")
    verbose: bool = Field(default=False, description="Show Prefect's logs and tracebacks")

    @field_validator("weights")
    @classmethod
    def _weights_weigh_something(cls, weights: Weights) -> Weights:
        named = weights.named()
        if len(named) == len(Weights.model_fields) and not any(named.values()):
            raise ValueError("all of them are 0, so nothing would be scored; give at least one a value above 0")
        return weights


class JudgeOptions(Model):
    """The model that judges, and how much of it. The limits hold for one run in one process."""

    llm: LlmSettings = Field(default_factory=LlmSettings, description="The model that judges, where a task asks for one")
    judge_concurrency: int = Field(default=4, ge=1, le=1024, description="How many questions go to judging models at a time")
    max_judge_cost: float | None = Field(
        default=None, ge=0, le=1e9, description="USD that judging may cost; then the rest of the items is not judged"
    )
    no_judge_cache: bool = Field(
        default=False, description="Ask judging models anew, also what they answered before, and keep nothing"
    )
    no_judge_check: bool = Field(default=False, description="Do not ask judging models for one token before the run begins")

    def judge_options(self) -> dict[str, object]:
        """These options alone, by field name."""
        return {name: getattr(self, name) for name in JudgeOptions.model_fields}
