"""Reports that are read again: from a file, or from the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark, ItemResult
from eval_skills.core.store import Journal, Store, land, started_at, write_manifest
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.evaluation.session import manifest_of
from eval_skills.engine.stored_runs.reports import read_source, skill_reports_of
from eval_skills.reporting import ReportContext, render, write_reports
from eval_skills.reporting.json_report import of_run, run_of

RUN = "20261121T233824Z-3f9a"


@pytest.fixture
def recorded(make_plan_of: Callable[..., RunPlan]) -> Callable[..., RunPlan]:
    """A run in the store: the first `done` of three items, which passed or failed in turn; landed when all are there."""

    def make(done: int = 3) -> RunPlan:
        plan = make_plan_of("ok", "wrong", "refuse", min_completion=0.5, exit_on_fail=True, timeout_ms=60_000)
        write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
        with Journal(plan.store.journal_path(plan.run_id)) as journal:
            for index, item in enumerate(plan.items[:done]):
                journal.append(result(plan, item.task, passed=index % 2 == 0))
        if done == len(plan.items):
            land(plan.store, plan.run_id)
        return plan

    return make


def result(plan: RunPlan, task: str, *, passed: bool) -> ItemResult:
    return ItemResult(
        run_id=plan.run_id,
        started_at=datetime(2026, 11, 21, 23, 38, 25, tzinfo=UTC),
        skill_id="moody",
        skill_version="1.0.0",
        benchmark_id=plan.benchmark.id,
        benchmark_version=plan.benchmark.version,
        task_id=task,
        run_index=0,
        status="pass" if passed else "fail",
        passed=passed,
        score=float(passed),
        latency_ms=12.5,
        output="ok",
    )


@pytest.mark.parametrize("name", [None, "latest"], ids=["by-id", "latest"])
def test_a_runs_reports_are_those_that_the_run_itself_made(recorded: Callable[..., RunPlan], name: str | None) -> None:
    plan = recorded()
    found = read_source(name or plan.run_id, plan.store.path)
    assert found.reports == skill_reports(plan.store.items(run_id=plan.run_id), plan.benchmark, 60_000)
    assert (found.name, found.stem, found.file, found.remarks) == (plan.run_id, f"eval-result-{plan.run_id}", None, [])
    assert found.context.benchmark == plan.benchmark
    assert (found.context.run_id, found.context.min_completion, found.context.partial) == (plan.run_id, 0.5, None)
    assert [item.expected for item in found.reports[0].task_results] == [{"value": "ok"}] * 3
    rows = plan.store.items(run_id=plan.run_id).set_index("task_id")["started_at"]
    assert all(item.started_at == rows[item.task_id] for item in found.reports[0].task_results)


def test_an_unfinished_run_says_what_it_has(recorded: Callable[..., RunPlan]) -> None:
    plan = recorded(2)
    found = read_source("latest", plan.store.path)
    assert found.context.partial == (2, 3)
    assert found.remarks == [f"run {plan.run_id} is unfinished: 2 of 3 items"]
    assert found.reports[0].summary.items == 2


@pytest.mark.parametrize(
    ("spoil", "remark"),
    [
        pytest.param(lambda tasks: tasks.unlink(), "benchmark tasks is gone", id="gone"),
        pytest.param(
            lambda tasks: tasks.write_text(tasks.read_text().replace('"ok"}', '"no"}')),
            "changed since the run started",
            id="changed",
        ),
    ],
)
def test_without_the_benchmark_the_items_alone_are_reported(
    recorded: Callable[..., RunPlan], tmp_path: Path, spoil: Callable[[Path], Any], remark: str
) -> None:
    plan = recorded()
    spoil(tmp_path / "tasks.json")
    found = read_source(plan.run_id, plan.store.path)
    assert remark in found.remarks[0]
    assert (found.context.benchmark, found.reports[0].benchmark_id) == (None, "tasks")
    assert found.reports[0].summary.completion_rate == pytest.approx(2 / 3)
    assert {item.expected for item in found.reports[0].task_results} == {None}


def test_skills_that_could_not_be_used_are_known_from_the_store_and_from_its_report(
    recorded: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = recorded()
    lacking = manifest_of(plan).model_copy(update={"skipped": ["skipped s: bad"]})
    write_manifest(plan.store.run_folder(plan.run_id), lacking)
    found = read_source(plan.run_id, plan.store.path)
    (path,) = write_reports(found.reports, ["json"], tmp_path / "out", found.context)
    assert found.context.skipped == read_source(str(path), "no-store").context.skipped == ("skipped s: bad",)


def test_a_landed_run_without_its_folder_is_still_reported(recorded: Callable[..., RunPlan]) -> None:
    plan = recorded()
    (plan.store.run_folder(plan.run_id) / "manifest.json").unlink()
    found = read_source(plan.run_id, plan.store.path)
    assert "manifest cannot be read" in found.remarks[0]
    assert found.context.min_completion is None
    assert found.reports[0].summary.items == 3


def test_a_run_of_many_items_has_figures_only(recorded: Callable[..., RunPlan], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.engine.stored_runs.reports.MAX_DETAILED_ITEMS", 2)
    plan = recorded()
    found = read_source(plan.run_id, plan.store.path)
    assert found.reports[0].task_results == []
    assert "figures only" in found.remarks[0]


def test_a_file_is_read_as_it_was_written(recorded: Callable[..., RunPlan], tmp_path: Path) -> None:
    plan = recorded()
    reports = skill_reports(plan.store.items(), plan.benchmark, 60_000)
    context = ReportContext(run_id=RUN, created_at=datetime(2026, 11, 21, tzinfo=UTC))
    (path,) = write_reports(reports, ["json"], tmp_path / "out", context)
    found = read_source(str(path), "no-store")
    assert (found.reports, found.run_id) == (of_run(reports, run_of(context)), RUN)
    assert (found.file, found.stem, found.name) == (path, path.stem, str(path))
    assert found.context.created_at == started_at(RUN)
    assert f",{RUN}," in str(render("csv", found.reports, found.context))
    asked = plan.benchmark
    words = f"- Run: {RUN}\n", f"- Benchmark: {asked.id} {asked.version}, scored by {asked.scoring_method}\n"
    shown = str(render("markdown", found.reports, found.context))
    assert all(word in shown for word in words)


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        pytest.param("nope.json", InputError, "nope.json: no such file; give a JSON report, a run id", id="missing"),
        pytest.param("", InputError, "no such file", id="blank"),
        pytest.param("none.json", InputError, "none.json: it holds no report", id="empty"),
        pytest.param("object.json", InputError, "object.json: a report is an array", id="no-array"),
        pytest.param("odd.json", InputError, r"odd.json: \[0\].*unknown key 'skill'", id="no-report"),
        pytest.param(RUN, UsageError, f"no run {RUN} in", id="unknown-run"),
        pytest.param("latest", UsageError, "no report to read; .* holds no run", id="empty-store"),
    ],
)
def test_p40_what_is_no_report_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, kind: type[Exception], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in {"none": [], "object": {}, "odd": [{"skill": 1}]}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    with pytest.raises(kind, match=says):
        read_source(given, "store")


def test_p40_a_run_without_items_is_refused(recorded: Callable[..., RunPlan]) -> None:
    plan = recorded(0)
    with pytest.raises(InputError, match="has no finished item yet; continue with --resume"):
        read_source(plan.run_id, Store(plan.store.path).path)


def test_calls_that_stand_in_messages_alone_are_told_as_calls() -> None:
    messages = [{"role": "assistant", "tool_calls": [{"function": {"name": "search", "arguments": "{}"}}]}]
    row = {"skill_id": "s", "skill_version": "1.0.0", "task_id": "t", "run_index": 0, "status": "pass", "score": 1.0,
           "latency_ms": 1.0, "messages": json.dumps(messages)}  # fmt: skip
    benchmark = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": []})
    [report] = skill_reports_of(pd.DataFrame([row]), benchmark, 1_000, detailed=True)
    assert [call.name for call in report.task_results[0].tool_calls or []] == ["search"]
