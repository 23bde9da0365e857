"""The options of a run: each is declared here once, with its type, default, bounds and help text.

The configuration (`Config`), the requests of the flows and the flags of the command line all take them from here.
What checks values is built at the first check (`defer_build`): help only reads the fields.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from eval_skills.core.config.limits import (
    AUTO,
    LOCAL,
    CpuSeconds,
    ItemsPerTask,
    MemoryMb,
    OpenFiles,
    OutputBytes,
    SandboxMb,
    SandboxName,
    SandboxNetwork,
    SandboxPaths,
    SandboxProcesses,
    TaskRunnerName,
    VariableName,
)
from eval_skills.core.models.base import Complexity, Rate, Text
from eval_skills.core.models.form import Form
from eval_skills.core.models.limits import Weights

PATH, ID_OR_PATH, STORE = "path", "id or path", "store"
"""Marks in the type of a text that is a path; of one that is a path where it has a slash or an ending such as ``.json``; of one
that is a path unless it is a URL."""


def _not_blank(value: Any) -> Any:
    if not isinstance(value, str | Path) or not str(value).strip():
        raise ValueError("give a path, as text that is not blank")
    return value


WrittenPath = Annotated[Path, BeforeValidator(lambda value: Path(_not_blank(value)))]
"""A path, written as text."""

PathText = Annotated[str, BeforeValidator(lambda value: str(_not_blank(value))), PATH]
"""A path that stays text: requests are sent as JSON."""


class LlmSettings(Form, defer_build=True):
    """The model that judges. `api_key_env` names the variable that holds its key; None: the provider's usual one."""

    model: Text | None = Field(default=None, description="The model that judges", examples=["gpt-4o"])
    api_base: Text | None = Field(
        title="Address of the API",
        default=None,
        description="Address of the model's API, if it is not the provider's own",
        examples=["http://127.0.0.1:8000/v1"],
    )
    api_key_env: VariableName | None = Field(
        title="Variable with the key",
        default=None,
        description="Name of the environment variable that holds the key, never the key; else the provider's usual one",
        examples=["OPENAI_API_KEY"],
    )
    embedding_model: Text | None = Field(
        default=None,
        description="The model that turns texts into vectors for the scorer similarity; address and key are those above",
        examples=["openai/text-embedding-3-small"],
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="How freely the model words its answer; 0 unless set", examples=[0.0]
    )
    timeout_ms: int = Field(
        title="Time limit of one verdict, ms",
        default=120_000,
        gt=0,
        le=86_400_000,
        description="Time limit of one verdict in ms, further attempts included",
    )
    input_price: float | None = Field(
        title="Price of input, USD",
        default=None,
        ge=0,
        le=1e6,
        description="USD for a million tokens that the model reads, where its price is not known or not right",
        examples=[0.15],
    )
    output_price: float | None = Field(
        title="Price of output, USD",
        default=None,
        ge=0,
        le=1e6,
        description="USD for a million tokens that the model writes",
        examples=[0.6],
    )
    embedding_price: float | None = Field(
        title="Price of embeddings, USD",
        default=None,
        ge=0,
        le=1e6,
        description="USD for a million tokens that the embedding model reads, where its price is not known or not right",
        examples=[0.02],
    )
    cache_dir: WrittenPath | None = Field(
        title="Folder of verdicts",
        default=None,
        description="Folder where verdicts are kept, so that the same question is asked once",
        examples=["./judge-cache"],
    )

    def with_said(self, other: LlmSettings | None) -> LlmSettings:
        """These settings, with what `other` says instead; what is at its default there says nothing."""
        said = {} if other is None else other.model_dump(exclude_defaults=True)
        return self.model_copy(update=said)

    @property
    def deciding(self) -> dict[str, Any]:
        """What of these settings a verdict depends on, as JSON data."""
        embedding = (
            {"embedding_model"} if self.embedding_model else set()
        )  # without one, a run is what it was before there were any
        return self.model_dump(mode="json", by_alias=True, include={"model", "api_base", "temperature"} | embedding)


class JudgeOptions(Form, defer_build=True):
    """The model that judges, and how much of it. The limits hold for one run in one process."""

    llm: LlmSettings = Field(
        title="Judging model", default_factory=LlmSettings, description="The model that judges, where a task asks for one"
    )
    judge_concurrency: int = Field(
        title="Questions to judges at a time", default=4, ge=1, le=1024, description="Questions to judging models at a time"
    )
    max_judge_cost: float | None = Field(
        title="Limit of judging, USD",
        default=None,
        ge=0,
        le=1e9,
        description="USD that judging may cost in a run; the remaining items are then not judged",
        examples=[5.0],
    )
    no_judge_cache: bool = Field(
        title="Ask judges again",
        default=False,
        description="Ask judging models again, even what they have answered before, and keep nothing",
    )
    no_judge_check: bool = Field(
        title="Do not test judges first",
        default=False,
        description="Do not test judging models with one token before a run begins",
    )

    def judge_options(self) -> dict[str, object]:
        """These options alone, by field name."""
        return {name: getattr(self, name) for name in JudgeOptions.model_fields}


class ScoringOptions(JudgeOptions):
    """How answers are scored, no matter where they come from; shared by every request that scores."""

    evaluator: Text = Field(title="Scorer", default="exact", description="Scorer of tasks that name none")
    allow_custom_code: bool = Field(
        title="Run the benchmark's own code", default=False, description="Let a benchmark run its own scorer code"
    )
    weights: Weights = Field(
        title="Weights of dimensions",
        default_factory=Weights,
        description="Weights of the dimensions of agent runs; one that is left out keeps its default",
    )
    tool_categories: dict[str, list[Text]] = Field(
        default_factory=dict,
        description="Categories of tools beside the built-in ones: a name, and the tools that satisfy it",
        examples=[{"payment": ["pay", "refund"]}],
    )
    tool_names: Literal["exact", "normalised"] = Field(
        default="exact", description="How names of tools are compared; normalised ignores case, -, _, dots and spaces"
    )


class ProcessLimits(Form, defer_build=True):
    """What every process of a skill is held to; a skill's own limits may be lower."""

    memory_mb: MemoryMb | None = Field(
        title="Memory of a process, MiB", default=None, description="Limit of each skill process in MiB of data", examples=[512]
    )
    cpu_seconds: CpuSeconds | None = Field(
        title="Computing time of a process, s",
        default=None,
        description="Limit of each skill process in seconds of computing",
        examples=[60],
    )
    open_files: OpenFiles | None = Field(
        default=None, description="Limit of each skill process in files open at a time", examples=[256]
    )
    max_output_bytes: OutputBytes | None = Field(
        title="Size of an answer, bytes",
        default=None,
        description="Limit of one answer in bytes; 5,000,000 where neither this nor the skill sets one",
        examples=[1_000_000],
    )
    sandbox: SandboxName = Field(default="none", description="Where skill processes run: none, or bwrap (bubblewrap)")
    sandbox_network: SandboxNetwork = Field(
        default="declared", description="Who has the network in the sandbox: skills whose adapterConfig declares it, none, or all"
    )
    sandbox_paths: SandboxPaths = Field(
        default="declared",
        description="Who sees or writes to more paths in the sandbox: skills whose adapterConfig declares them, or none",
    )
    sandbox_processes: SandboxProcesses | None = Field(
        default=None, description="Limit of each sandbox in processes and threads at a time; 1024 by default", examples=[256]
    )
    sandbox_mb: SandboxMb | None = Field(
        title="Private folders of the sandbox, MiB",
        default=None,
        description="Limit of each private folder of a sandbox in MiB; 1024 by default",
        examples=[256],
    )


class RunLimits(Form, defer_build=True):
    """How much the skills of one run may use before no other item begins; what is in flight then finishes, and may pass a limit.

    Cost and tokens are what items report themselves, of all calls and attempts of the run, earlier calls that a resume goes on
    with included; judging is apart. The duration is that of one call, from its first item on: a resume has its own.
    """

    max_cost: float | None = Field(
        title="Most cost of the run, USD",
        default=None,
        gt=0,
        le=1e9,
        description="USD that the skills of a run may cost; then no other item begins",
        examples=[5.0],
    )
    max_tokens: int | None = Field(
        title="Most tokens of the run",
        default=None,
        gt=0,
        le=10**15,
        description="Tokens that the skills of a run may use; then no other item begins",
        examples=[1_000_000],
    )
    max_duration_s: float | None = Field(
        title="Most seconds of the call",
        default=None,
        gt=0,
        le=31_536_000,
        description="Seconds that this call may take; then no other item begins, and a resume has as long again",
        examples=[3600.0],
    )


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
        description="Where items are executed: local (this process), dask (worker processes) or dask://HOST:PORT (a cluster)",
    )


class RunOptions(ScoringOptions, ProcessLimits, RunLimits, _Execution):
    """How items are executed, judged, stored and reported; shared by the configuration and every flow that evaluates.

    Times are in ms, rates in [0, 1]. `store` is a folder, a ``.db``/``.sqlite`` file, or an fsspec URL. `secrets` are names of
    environment variables whose values are redacted wherever something is written. `tool_categories` adds to the built-in table.
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
    """Which tasks of a benchmark are meant: those that have all that is asked for. Where nothing is, every task."""

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
        if self.record and self.replay and Path(self.record).resolve() == Path(self.replay).resolve():
            raise ValueError("--record would write over the file that --replay reads; name another one")
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
        named = weights.named()
        if len(named) == len(Weights.model_fields) and not any(named.values()):
            raise ValueError("all of them are 0, so nothing would be scored; give at least one a value above 0")
        return weights
