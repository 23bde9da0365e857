"""``benchmark.json``: all runs of an iteration, the figures of each configuration, and their difference."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from pydantic import Field

from eval_skills.agent_skills.documents import Document, Identifier
from eval_skills.agent_skills.workspaces.grading import GradedAssertion, Grading, counts_of, rate_of
from eval_skills.agent_skills.workspaces.layout import (
    CONFIGURATIONS,
    EvalMetadata,
    Workspace,
    WorkspaceRun,
    refuse_twice,
    skill_name,
)
from eval_skills.agent_skills.workspaces.timing import Timing
from eval_skills.core.errors import InputError
from eval_skills.core.models.base import Rate

BENCHMARK_FILE = "benchmark.json"

FIGURES = {"pass_rate": "+.2f", "time_seconds": "+.1f", "tokens": "+.0f"}
"""The figures of a configuration, and how their difference is written."""


class RunResult(Document):
    """The figures of one run; None is unknown, as null is in the file."""

    pass_rate: Rate | None = None
    passed: int | None = Field(default=None, ge=0)
    failed: int | None = Field(default=None, ge=0)
    total: int | None = Field(default=None, ge=0)
    time_seconds: float | None = Field(default=None, ge=0)
    tokens: float | None = Field(default=None, ge=0)
    tool_calls: int | None = None
    errors: int | None = None


class BenchmarkRun(Document):
    """One of `runs`; an eval's id may be a number or a text."""

    eval_id: Identifier | None = None
    eval_name: str | None = None
    configuration: str
    run_number: int = Field(default=1, ge=0)
    result: RunResult = RunResult()
    expectations: list[GradedAssertion] = Field(default_factory=list)


class BenchmarkFile(Document):
    """The file, as it is read. Of `run_summary` the difference alone is taken: the figures follow from the runs."""

    metadata: dict[str, Any] = Field(default_factory=dict)
    runs: list[BenchmarkRun] = Field(default_factory=list)
    run_summary: dict[str, Any] = Field(default_factory=dict)

    @property
    def delta(self) -> dict[str, float | None]:
        """The difference of each figure, written as a number or as signed text (``"+0.50"``); None where it is neither."""
        found = self.run_summary.get("delta")
        return {name: as_number(value) for name, value in found.items()} if isinstance(found, dict) else {}


def workspace_of(read: BenchmarkFile, path: Path) -> Workspace:
    """The runs of the file, where the folders that it sums up are gone. What they left behind in other files is unknown.

    Raises:
        InputError: it holds none, or one twice.
    """
    if not read.runs:
        raise InputError("it holds no runs", source=path, path="runs")
    runs = tuple(_recorded(run, path) for run in read.runs)
    refuse_twice(runs)
    name = read.metadata.get("skill_name")
    return Workspace(path, name if isinstance(name, str) and re.search(r"\w", name) else skill_name(path.parent), runs)


def _recorded(run: BenchmarkRun, path: Path) -> WorkspaceRun:
    result = run.result
    summary = result.model_dump(include={"passed", "failed", "total", "pass_rate"})
    given = {"expectations": [each.model_dump() for each in run.expectations], "summary": summary}
    tokens = None if result.tokens is None else round(result.tokens)
    return WorkspaceRun(
        folder=path,
        eval_name=run.eval_name or run.eval_id or "unnamed",
        configuration=run.configuration,
        number=run.run_number,
        grading=Grading.model_validate(given),
        timing=Timing(total_duration_seconds=result.time_seconds, total_tokens=tokens),
        metadata=EvalMetadata(eval_id=run.eval_id, eval_name=run.eval_name),
    )


def as_number(value: Any) -> float | None:
    """A number, or a text that is one, with or without its sign; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value.strip().replace("−", "-").rstrip("s%")) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """A run to be written. `number` counts from 1; None is unknown. `assertions` are empty where the run has no verdict."""

    eval_id: int
    eval_name: str
    configuration: str
    number: int
    assertions: tuple[GradedAssertion, ...] = ()
    seconds: float | None = None
    tokens: int | None = None
    tool_calls: int | None = None
    errors: int | None = None
    notes: tuple[str, ...] = ()

    def figure(self, name: str) -> float | None:
        """One of `FIGURES`."""
        found = {"pass_rate": rate_of(self.assertions), "time_seconds": self.seconds, "tokens": self.tokens}
        return found[name]


def benchmark_content(runs: Sequence[MeasuredRun], about: dict[str, Any], notes: Sequence[str] = ()) -> dict[str, Any]:
    """The content of the file: what is unknown is null.

    Configurations stand in the order with, without, old, sham, others: viewers compare the first two. `delta` is that of the
    first minus the second, signed: with − without, or with − old where there is no run without.
    """
    ordered = _ordered({run.configuration for run in runs})
    summary: dict[str, Any] = {name: _figures([run for run in runs if run.configuration == name]) for name in ordered}
    if len(ordered) > 1:
        summary["delta"] = {name: _delta(summary[ordered[0]], summary[ordered[1]], name) for name in FIGURES}
    placed = sorted(runs, key=lambda run: (run.eval_id, ordered.index(run.configuration), run.number))
    return {"metadata": about, "runs": [_run(run) for run in placed], "run_summary": summary, "notes": list(notes)}


def _ordered(configurations: set[str]) -> list[str]:
    known = list(CONFIGURATIONS.values())
    return sorted(configurations, key=lambda name: (known.index(name) if name in known else len(known), name))


def _run(run: MeasuredRun) -> dict[str, Any]:
    result = {
        **counts_of(run.assertions),
        "time_seconds": run.seconds,
        "tokens": run.tokens,
        "tool_calls": run.tool_calls,
        "errors": run.errors,
    }
    return {
        "eval_id": run.eval_id,
        "eval_name": run.eval_name,
        "configuration": run.configuration,
        "run_number": run.number,
        "result": result,
        "expectations": [{"text": e.text, "passed": e.passed, "evidence": e.evidence or ""} for e in run.assertions],
        "notes": list(run.notes),
    }


def _figures(runs: Sequence[MeasuredRun]) -> dict[str, Any]:
    return {name: _spread([value for run in runs if (value := run.figure(name)) is not None]) for name in FIGURES}


def _spread(values: Sequence[float]) -> dict[str, float | None] | None:
    """Mean, standard deviation of the sample (0 for one value, as in skill-creator), least and greatest; None of nothing."""
    if not values:
        return None
    found = {
        "mean": fmean(values),
        "stddev": stdev(values) if len(values) > 1 else 0.0,
        "min": min(values),
        "max": max(values),
    }
    return {name: round(value, 4) for name, value in found.items()}


def _delta(first: dict[str, Any], second: dict[str, Any], name: str) -> str | None:
    if first[name] is None or second[name] is None:
        return None
    return format(first[name]["mean"] - second[name]["mean"], FIGURES[name])
