"""Options that several commands share. None means: not given, ask the configuration.

Numbers as people type them: nothing is rounded on the way in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter, Token

from eval_skills.cli.configuration import KeyOf, Mark

EVALUATED = Group("What is evaluated", sort_key=1)
SELECTED = Group("What is selected", sort_key=2)
HOW = Group("How it runs", sort_key=3)
HELD = Group("What skills' processes are held to (a skill may be stricter)", sort_key=4)
JUDGED = Group("Judging with a model", sort_key=5)
RESULTS = Group("Results", sort_key=6)
FOUND = Group("What is found", sort_key=1)
COMPARED = Group("What is compared", sort_key=1)
SHOWN = Group("What is shown", sort_key=1)


def whole(_: Any, tokens: Sequence[Token]) -> int:
    """The whole number that was typed, in decimal digits.

    Raises:
        ValueError: it is anything else; the default reader would make 2 of 1.5, and 16 of 0x10.
    """
    text = tokens[0].value
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise ValueError(f"give a whole number; got {text!r}")
    return int(text)


TasksFile = Annotated[
    Path | None, Parameter(group=EVALUATED, help="JSON or YAML file with a task array or a benchmark; replaces --benchmark")
]
BenchmarksFolder = Annotated[
    Path | None, Mark.SHARED, Parameter(group=EVALUATED, help="Folder of benchmarks, searched before the built-in ones")
]
CustomCode = Annotated[
    bool | None, Mark.SHARED, Parameter(group=HOW, help="Let the benchmark run its own scorer code", show_default=False)
]
StrategyFile = Annotated[
    Path | None, Mark.SHARED, Parameter(group=SELECTED, help="YAML or JSON file with filters, sortBy, order and topK")
]
TopK = Annotated[
    int | None,
    Mark.SHARED,
    Parameter(group=SELECTED, converter=whole, help="Select at most this many; beats the strategy file [default: all]"),
]
PastResults = Annotated[str | None, Mark.SHARED, Parameter(group=RESULTS, help="Where past results are [default: ./eval-store]")]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkOptions:
    """What is asked."""

    benchmark: Annotated[
        str | None, Mark.SHARED, Parameter(group=EVALUATED, help="Built-in benchmark id, or path [default: coding-easy]")
    ] = None
    tasks: TasksFile = None
    benchmarks_dir: BenchmarksFolder = None
    complexity: Annotated[
        list[str] | None,
        Parameter(
            group=EVALUATED,
            consume_multiple=1,
            help="Only tasks of one of these complexities: simple medium complex very_complex",
        ),
    ] = None
    traces: Annotated[
        Path | None, Parameter(group=EVALUATED, help="JSON Lines file of recorded runs: they are judged, and nothing is called")
    ] = None
    trace_skill: Annotated[
        str | None,
        Parameter(group=EVALUATED, help="Skill, as id or id@version, of recorded runs that name none [default: the file's name]"),
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionOptions:
    """How items are executed."""

    runs: Annotated[
        int | None, Mark.SHARED, Parameter(group=HOW, converter=whole, help="Repeat every task N times [default: 1]")
    ] = None
    concurrency: Annotated[
        int | None, Mark.SHARED, Parameter(group=HOW, converter=whole, help="Items at a time [default: 4]")
    ] = None
    timeout: Annotated[
        int | None,
        Mark.SHARED,
        Parameter(group=HOW, converter=whole, help="Time limit of a call in ms; a task's timeoutMs wins [default: 30000]"),
    ] = None
    retries: Annotated[
        int | None, Mark.SHARED, Parameter(group=HOW, converter=whole, help="Attempts after transient trouble [default: 0]")
    ] = None
    evaluator: Annotated[
        str | None, Mark.SHARED, Parameter(group=HOW, help="Scorer of tasks that name none [default: exact]")
    ] = None
    items_per_task: Annotated[
        int | None, Mark.SHARED, Parameter(group=HOW, converter=whole, help="Items in one Prefect task run [default: 1]")
    ] = None
    task_runner: Annotated[
        str | None,
        Mark.SHARED,
        Parameter(group=HOW, help="Where items are executed: local, dask or dask://HOST:PORT [default: local]"),
    ] = None
    resume: Annotated[
        str | None, Parameter(group=HOW, help="Go on with a run: its id, or latest; finished items do not run again")
    ] = None
    retry_errors: Annotated[
        bool | None, Parameter(group=HOW, help="With --resume: run errors and timeouts again", show_default=False)
    ] = None
    fail_fast: Annotated[
        bool | None, Mark.SHARED, Parameter(group=HOW, help="Stop at the first item that does not pass", show_default=False)
    ] = None
    allow_custom_code: CustomCode = None
    dry_run: Annotated[
        bool,
        Parameter(group=HOW, help="Check everything and print the plan; call nothing, write nothing", show_default=False),
    ] = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOptions:
    """What the processes of skills are held to."""

    memory_mb: Annotated[
        int | None, Mark.SHARED, Parameter(group=HELD, converter=whole, help="MiB of data that each process may hold")
    ] = None
    cpu_seconds: Annotated[
        int | None, Mark.SHARED, Parameter(group=HELD, converter=whole, help="Seconds that each process may compute")
    ] = None
    open_files: Annotated[
        int | None, Mark.SHARED, Parameter(group=HELD, converter=whole, help="Files that each process may have open at a time")
    ] = None
    max_output_bytes: Annotated[
        int | None, Mark.SHARED, Parameter(group=HELD, converter=whole, help="Bytes that one answer may have")
    ] = None
    sandbox: Annotated[
        Literal["none", "bwrap"] | None,
        Mark.SHARED,
        Parameter(group=HELD, show_choices=True, help="Run them in a sandbox: bwrap is bubblewrap [default: none]"),
    ] = None
    sandbox_network: Annotated[
        Literal["declared", "none", "all"] | None,
        Mark.SHARED,
        Parameter(group=HELD, help="Who has the network in it: skills that declare it, none, or all [default: declared]"),
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """What is written, and what must hold."""

    format: Annotated[
        list[str] | None,
        Mark.SHARED,
        Parameter(
            group=RESULTS,
            consume_multiple=1,
            help="Report formats: json markdown html csv junit parquet [default: json markdown]",
        ),
    ] = None
    output_dir: Annotated[
        Path | None, Mark.SHARED, Parameter(group=RESULTS, help="Folder of report files [default: ./reports]")
    ] = None
    store: Annotated[
        str | None, Mark.SHARED, Parameter(group=RESULTS, help="Folder (or .db file) of all results [default: ./eval-store]")
    ] = None
    exit_on_fail: Annotated[
        bool | None,
        Mark.SHARED,
        Parameter(
            group=RESULTS, help="Exit 1 when a skill is below --min-completion or calls a forbidden tool", show_default=False
        ),
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFlags:
    """How models judge, where tasks ask for that."""

    judge_model: Annotated[
        str | None,
        KeyOf(("llm", "model")),
        Parameter(group=JUDGED, help="Model that judges: PROVIDER/MODEL; llm.apiBase and llm.apiKeyEnv go with it"),
    ] = None
    judge_concurrency: Annotated[
        int | None, Mark.SHARED, Parameter(group=JUDGED, converter=whole, help="Questions to it at a time [default: 4]")
    ] = None
    max_judge_cost: Annotated[
        float | None, Mark.SHARED, Parameter(group=JUDGED, help="USD that judging may cost; then the rest is not judged")
    ] = None
    no_judge_cache: Annotated[
        bool | None,
        Mark.SHARED,
        Parameter(group=JUDGED, help="Ask again what it answered before, and keep nothing", show_default=False),
    ] = None
    no_judge_check: Annotated[
        bool | None,
        Mark.SHARED,
        Parameter(group=JUDGED, help="Begin without asking it for one token first", show_default=False),
    ] = None


def flags_of(*groups: Any, **more: Any) -> dict[str, Any]:
    """The options that were given, under the configuration's names."""
    flags = {field.name: getattr(group, field.name) for group in groups for field in fields(group)} | more
    flags["timeout_ms"] = flags.pop("timeout", None)
    if (model := flags.pop("judge_model", None)) is not None:
        flags["llm"] = {"model": model}
    return {name: value for name, value in flags.items() if value is not None}


def option_of(key: str) -> str:
    """The option behind a key of a request, or a place in it: ``--items-per-task`` for ``items_per_task``; "" for none."""
    name = key.partition("[")[0].replace("_", "-")
    renamed = {"timeout-ms": "timeout", "task-tags": "tag", "tags": "tag", "llm": "judge-model", "llm.model": "judge-model"}
    return name and "--" + renamed.get(name, name)
