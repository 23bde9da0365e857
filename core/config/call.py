"""The options of one evaluation beside those of every run: which tasks, where answers come from, and when enough has been run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from eval_skills.core.config.options import FlowOptions
from eval_skills.core.config.paths import ID_OR_PATH, PathText
from eval_skills.core.models.base import Complexity, Text
from eval_skills.core.models.form import Form

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
