"""The options of a run: each is declared once, here or in `judging` or `values`, with type, default, bounds and help.

The configuration (`Config`), the requests of the flows and the flags of the command line all take them from there.
What checks values is built at the first check (`defer_build`): help only reads the fields.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from eval_skills.core.config.judging import ScoringOptions
from eval_skills.core.config.values import (
    AUTO,
    ID_OR_PATH,
    LOCAL,
    STORE,
    ItemsPerTask,
    PathText,
    ProcessLimits,
    RunLimits,
    TaskRunnerName,
    VariableName,
)
from eval_skills.core.models.base import Complexity, Rate, Text
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


MAX_RUNS, MOST_LOOKS = 10, 100
"""How many runs `until` adds at most unless told otherwise, and how many it may be told."""


def _how_and_run(text: str) -> str:
    how, _, run = text.partition(":")
    if how not in ("failed", "errors", "flaky") or not run.strip():
        raise ValueError(f"give failed:RUN, errors:RUN or flaky:RUN, with a run id or latest; got {text!r}")
    return text


TasksFrom = Annotated[str, AfterValidator(_how_and_run)]
"""Tasks by how they ended in an earlier run: ``failed:RUN``, ``errors:RUN`` or ``flaky:RUN``."""


class TaskChoice(Form, defer_build=True):
    """Which tasks of a benchmark are meant: those that have all that is asked for, of them the `first`; unless said, all."""

    task_ids: list[Text] = Field(title="Tasks by id", default_factory=list, description="Only the tasks with these ids")
    tasks_from: list[TasksFrom] = Field(
        title="Tasks by an earlier run",
        default_factory=list,
        description="Only tasks that failed, had errors or were flaky in a run: failed:RUN errors:RUN flaky:RUN",
    )
    complexity: list[Complexity] = Field(
        title="Tasks by complexity",
        default_factory=list,
        description="Only tasks of one of these complexities: simple medium complex very_complex",
    )
    filter: list[Text] = Field(
        title="Tasks by field",
        default_factory=list,
        description="Only tasks whose fields have these values: complexity=complex,tags=math or metadata.owner=ann",
    )
    first: int | None = Field(
        title="The first tasks", default=None, ge=1, description="Only so many of these tasks, the first of the benchmark"
    )


class CallOptions(TaskChoice, FlowOptions):
    """What one call may narrow or replace, beside the options that hold for suites and the past as well."""

    map: list[Text] = Field(
        title="Columns of the file of tasks",
        default_factory=list,
        description="With --tasks: which column of a table is what, as TARGET=COLUMN: input.q=question",
    )
    own_tests: bool = Field(
        title="Each skill's own tests", default=False, description="Ask every skill its own tests/*.eval.json, and no benchmark"
    )
    exit_on_fail: bool = Field(
        title="Gate on the completion rate",
        default=False,
        description="Hold every skill to minCompletion: the reports say which reached it",
    )
    traces: PathText | None = Field(
        title="File of recorded runs",
        default=None,
        description="JSON Lines file of recorded runs: they are judged, and no skill is called",
    )
    trace_skill: Text | None = Field(
        title="Skill of recorded runs",
        default=None,
        description="Skill (id or id@version) of recorded runs that name none [default: the file's name]",
    )
    record: PathText | None = Field(
        title="Record answers in",
        default=None,
        description="Write every answer to this JSON Lines file at the end, to be replayed without the skills",
    )
    replay: PathText | None = Field(
        title="Replay answers from",
        default=None,
        description="Take every answer from this file that --record wrote; no skill is called",
    )
    cache: bool = Field(
        title="Keep answers",
        default=False,
        description="Keep answers, and take those that unchanged skills gave to the same inputs before",
    )
    cache_runs: bool = Field(
        title="Runs share a kept answer", default=False, description="With cache: all runs of a task share one answer"
    )
    until: Literal["decided"] | None = Field(
        title="Add runs until", default=None, description="Add runs one by one until the comparison with --against is decided"
    )
    against: Annotated[Text, ID_OR_PATH] | None = Field(
        title="Compare with",
        default=None,
        description="With --until: what is compared with, a run id of the store or its beginning, latest, or a JSON report",
    )
    max_runs: int | None = Field(
        title="Runs at most",
        default=None,
        ge=2,
        le=MOST_LOOKS,
        description="With --until: runs of each task at most; --runs come before the first look [default: 10]",
    )

    @model_validator(mode="after")
    def _tests_are_somebodys_own(self) -> Self:
        if self.own_tests and (other := next((name for name in ("tasks", "traces") if getattr(self, name)), None)):
            raise ValueError(f"--own-tests asks every skill its own tests, and --{other} names others; leave one of them out")
        return self

    @model_validator(mode="after")
    def _columns_are_those_of_a_table(self) -> Self:
        if self.map and not self.tasks and not self.resume:
            raise ValueError("--map names the columns of a file of tasks; name the file with --tasks")
        return self

    @model_validator(mode="after")
    def _recorded_runs_are_there(self) -> Self:
        if self.trace_skill and not self.traces and not self.resume:
            raise ValueError("--trace-skill is about recorded runs; name their file with --traces")
        return self

    @model_validator(mode="after")
    def _answers_come_from_one_place(self) -> Self:
        if self.cache_runs and not self.cache:
            raise ValueError("--cache-runs shares kept answers among runs; add --cache")
        if self.replay and self.trace_skill:
            raise ValueError("--trace-skill is about --traces; the lines of --replay name their skills")
        sources = [name for name in ("traces", "replay", "cache", "until") if getattr(self, name)]
        if len(sources) > 1 and sources != ["traces", "until"]:  # which has words of its own
            what = "adds live runs" if sources[1] == "until" else "takes answers from somewhere else"
            raise ValueError(f"--{sources[0]} calls no skill anew, and --{sources[1]} {what}; leave one of them out")
        for name in ("replay", "traces"):
            read = getattr(self, name)
            if self.record and read and Path(self.record).resolve() == Path(read).resolve():
                raise ValueError(f"--record would write over the file that --{name} reads; name another one")
        return self

    @model_validator(mode="after")
    def _until_what_is_decided(self) -> Self:
        if self.until is None:
            if self.against is not None or self.max_runs is not None:
                raise ValueError("--against and --max-runs say when enough has been run; add --until decided")
            return self
        if self.traces:
            raise ValueError("--until adds runs, and --traces are not called; leave one of them out")
        if self.against is None:
            raise ValueError("--until decided needs what to compare with: --against RUN_ID, latest, or a JSON report")
        if self.runs > self.most_runs:
            raise ValueError(f"--runs come before the first look, and are at most --max-runs ({self.most_runs}); got {self.runs}")
        return self

    @property
    def most_runs(self) -> int:
        """How often each task is run at most."""
        return self.runs if self.until is None else self.max_runs or MAX_RUNS


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
        if all(weight == 0 for _, weight in weights):
            raise ValueError("all of them are 0, so nothing would be scored; give at least one a value above 0")
        return weights
