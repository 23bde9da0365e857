"""The options of a run: each is declared once, here or in `judging`, `limits` or `call`, with type, default, bounds and help.

The configuration (`Config`), the requests of the flows and the flags of the command line all take them from there.
What checks values is built at the first check (`defer_build`): help only reads the fields.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from eval_skills.core.config.judging import ScoringOptions
from eval_skills.core.config.limits import AUTO, LOCAL, ItemsPerTask, ProcessLimits, RunLimits, TaskRunnerName, VariableName
from eval_skills.core.config.paths import ID_OR_PATH, STORE, PathText
from eval_skills.core.models.base import Rate, Text
from eval_skills.core.models.form import Form
from eval_skills.core.models.limits import Weights


def own_benchmarks() -> str | None:
    """``./benchmarks``, where the working directory has that folder: a project's own benchmarks need no option."""
    return "./benchmarks" if Path("benchmarks").is_dir() else None


class WorkOptions(Form, defer_build=True):
    """Where a flow looks and keeps its results, and how much it does at a time."""

    concurrency: int = Field(title="Concurrency", default=4, ge=1, le=1024, description="Items at a time")
    benchmarks_dir: PathText | None = Field(
        title="Folder of benchmarks",
        default_factory=own_benchmarks,
        description="Folder of benchmarks, searched before the built-in ones [default: ./benchmarks, where it exists]",
        examples=["./benchmarks"],
    )
    store: Annotated[Text, STORE] = Field(
        default="./eval-store",
        description="Where all results are kept: a folder, a .db or .sqlite file, or a URL such as s3://…",
    )
    secrets: list[VariableName] = Field(
        title="Variables to redact",
        default_factory=list,
        description="Names of environment variables whose values are replaced wherever something is written",
        examples=[["OPENAI_API_KEY"]],
    )


class _Execution(WorkOptions):
    timeout_ms: int = Field(
        title="Time limit of one call, ms",
        default=30_000,
        gt=0,
        le=86_400_000,
        description="Time limit of one call in ms; a task's own timeoutMs wins",
    )
    retries: int = Field(default=0, ge=0, le=20, description="Further attempts after a transient error")
    runs: int = Field(title="Runs of each task", default=1, ge=1, le=1000, description="How often each task is run")
    format: list[Text] = Field(
        title="Report formats",
        default=["json", "markdown"],
        description="Report formats: json, markdown, html, csv, junit, parquet, or those of other tools",
    )
    output_dir: PathText = Field(title="Folder of reports", default="./reports", description="Folder of report files")
    min_completion: Rate = Field(
        title="Lowest completion rate", default=0.7, description="Lowest completion rate to select, and for exitOnFail"
    )
    fail_fast: bool = Field(
        title="Stop at the first failure", default=False, description="Stop at the first item that does not pass"
    )
    benchmark: Annotated[Text, ID_OR_PATH] = Field(
        default="coding-easy", description="Benchmark: the id of a built-in one, or a path"
    )
    skip_unreadable: bool = Field(
        title="Skip unreadable test cases",
        default=False,
        description="Go on without the test cases of an EvalView suite that cannot be used, and say which",
    )
    items_per_task: ItemsPerTask = Field(
        title="Items per task run",
        default=AUTO,
        description="Items in one Prefect task run; auto: one, and beyond 1,000 items as many as make about 1,000 task runs",
        examples=[1, 100],
    )
    task_runner: TaskRunnerName = Field(
        default=LOCAL,
        description="Where items are executed: local (this process), dask or ray (worker processes here), or a cluster: "
        "dask://HOST:PORT, ray://HOST:PORT, ray://auto",
    )


class RunOptions(ScoringOptions, ProcessLimits, RunLimits, _Execution):
    """How items are executed, judged, stored and reported; shared by the configuration and every flow that evaluates.

    Times are in ms, rates in [0, 1]. `store` is a folder, a ``.db``/``.sqlite`` file, or a place in object storage. `secrets` are
    names of environment variables whose values are redacted wherever something is written. `tool_categories` adds to the built-in
    table.
    In a request, relative paths are read from the working directory of the process that runs the flow.
    """


class FlowOptions(RunOptions):
    """What a flow may be given beside the options of every run; the configuration's top level has no such keys."""

    tasks: PathText | None = Field(
        title="File of tasks",
        default=None,
        description="File with tasks or a benchmark, also a table or another program's suite; replaces the benchmark",
    )
    resume: str | None = Field(
        title="Resume a run",
        default=None,
        description="Continue a run: its id, the beginning of it, or latest; finished items do not run again",
    )
    retry_errors: bool = Field(
        title="Run errors again", default=False, description="With resume: run items that ended in an error or timeout again"
    )

    @model_validator(mode="after")
    def _errors_of_an_earlier_run(self) -> Self:
        if self.retry_errors and not self.resume:
            raise ValueError("--retry-errors is about an earlier run; name it with --resume RUN_ID or --resume latest")
        return self


_RENAMED = {
    "timeout-ms": "timeout", "task-ids": "task", "task-tags": "tag", "tags": "skill-tag",
    "llm": "judge-model", "llm.model": "judge-model",
    "fields": "field", "expected-output": "expect", "interval-s": "interval", "idle-stop-s": "idle-stop",
    "max-duration-s": "max-duration",
}  # fmt: skip


def option_of(key: str) -> str:
    """The option of the command line behind a key, in either spelling: ``--timeout`` for ``timeoutMs``; "" for "".

    `key` may be a place inside a value: ``--format`` for ``format[1]``.
    """
    kebab = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in key.partition("[")[0]).replace("_", "-")
    return kebab and f"--{_RENAMED.get(kebab, kebab)}"


class Config(RunOptions):
    """The options of a run, and those of single commands that have a key at the top level.

    `benchmark` is an id or a path. `strategy` is the file of a selection strategy, `top_k` beats the one in it, and so does
    `keep_ties` where it is on.
    """

    format: Annotated[list[Text], Field(min_length=1)] = RunOptions.model_fields["format"]  # type: ignore[assignment]  # the field, with a bound
    exit_on_fail: bool = Field(
        default=False, description="Exit with 1 when a skill is below minCompletion or calls a forbidden tool"
    )
    skills_dir: PathText = Field(default="./skills", description="Folder to search for skills")
    limit: int = Field(default=20, ge=1, description="Show at most this many")
    top_k: int | None = Field(
        default=None, ge=1, description="Select at most this many skills; beats the strategy's topK", examples=[3]
    )
    keep_ties: bool = Field(
        default=False, description="Keep also the skills that --top-k cuts off although they are as good as one that it keeps"
    )
    strategy: PathText | None = Field(
        default=None, description="File of a selection strategy: filters, sortBy, order, topK", examples=["./strategy.yaml"]
    )
    json_: bool = Field(default=False, alias="json", description="Print one JSON document on stdout and nothing else")
    color: bool = Field(default=True, description="Print with colour, where the output is a terminal and NO_COLOR is not set")
    verbose: bool = Field(default=False, description="Show Prefect's logs and tracebacks")

    @field_validator("weights")
    @classmethod
    def _weights_are_not_all_zero(cls, weights: Weights) -> Weights:
        named = weights.named()
        if len(named) == len(Weights.model_fields) and not any(named.values()):
            raise ValueError("all of them are 0, so nothing would be scored; give at least one a value above 0")
        return weights
