"""Judging recorded runs below Prefect: what is planned, what becomes of each item, and how a run goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import ItemResult
from eval_skills.core.store import Store, land, write_manifest
from eval_skills.core.store.history import past_runs
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.execution import Outcome, execute
from eval_skills.engine.evaluation.executor import LocalExecutor
from eval_skills.engine.evaluation.plan import RunPlan, make_plan
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.evaluation.session import manifest_of
from eval_skills.engine.stored_runs.run_ids import LATEST, resolve_run_id

KEY = "runs@0.0.0"
TASKS: list[dict[str, Any]] = [
    {"id": "plain", "expectedOutput": {"value": "ok"}, "tags": ["t"], "complexity": "simple"},
    {
        "id": "limits", "expectedOutput": {"value": "ok"}, "complexity": "complex",
        "thresholds": {"maxCost": 0.5, "maxLatency": 1000},
    },
    {"id": "tools", "expected": {"tools": ["search"], "forbiddenTools": ["pay"]}},
]  # fmt: skip

MakeRequest = Callable[..., EvaluateRequest]


@pytest.fixture
def request_of(tmp_path: Path) -> MakeRequest:
    """A request to judge these recorded runs."""

    def make(*lines: dict[str, Any], **fields: Any) -> EvaluateRequest:
        traces, tasks = tmp_path / "runs.jsonl", tmp_path / "tasks.json"
        if lines:
            traces.write_text("".join(json.dumps(line) + "\n" for line in lines))
        tasks.write_text(json.dumps(TASKS))
        given = {"traces": str(traces), "tasks": str(tasks), "store": str(tmp_path / "store"), "format": []}
        return EvaluateRequest(**{**given, **fields})

    return make


def judged(plan: RunPlan) -> dict[str, ItemResult]:
    """The result of each item of the plan, by task and run."""

    async def all_of_them() -> list[Outcome]:
        async with LocalExecutor(plan) as here:
            return [await here.execute(item, ()) for item in plan.items]

    outcomes = asyncio.run(all_of_them())
    assert not any(outcome.transient for outcome in outcomes if plan.request.retries)
    return {f"{outcome.result.task_id}#{outcome.result.run_index}": outcome.result for outcome in outcomes}


def line(task: str, output: Any = "ok", **fields: Any) -> dict[str, Any]:
    return {"taskId": task, "output": output, **fields}


EVERY = (line("plain"), line("limits", costUsd=0.5, latencyMs=1000), line("tools", toolCalls=[{"name": "search"}]))


def test_every_line_is_an_item_and_nothing_is_called(request_of: MakeRequest) -> None:
    plan = make_plan(request_of(*EVERY, retries=3, runs=7))
    assert [str(item) for item in plan.items] == [f"{KEY}/plain#1", f"{KEY}/limits#1", f"{KEY}/tools#1"]
    assert (plan.request.origin, plan.request.runs, plan.request.retries, plan.remarks) == ("traces", 1, 0, [])
    assert {name: result.status for name, result in judged(plan).items()} == {
        "plain#0": "pass",
        "limits#0": "pass",
        "tools#0": "pass",
    }
    assert {result.origin for result in judged(plan).values()} == {"traces"}


@pytest.mark.parametrize(
    ("recorded", "code"),
    [
        pytest.param({"costUsd": 0.51, "latencyMs": 1}, "COST_ABOVE_MAX", id="dear"),
        pytest.param({"costUsd": 0, "latencyMs": 1001}, "LATENCY_ABOVE_MAX", id="slow"),
        pytest.param({"latencyMs": 1}, "COST_UNKNOWN", id="cost-unknown"),
        pytest.param({"costUsd": 0}, "LATENCY_UNKNOWN", id="latency-unknown"),
    ],
)
def test_thresholds_judge_what_is_on_record(request_of: MakeRequest, recorded: dict[str, Any], code: str) -> None:
    result = judged(make_plan(request_of(line("limits", **recorded))))["limits#0"]
    assert (result.status, [reason.code for reason in result.reasons]) == ("fail", [code])
    assert (result.latency_ms, result.cost_usd) == (recorded.get("latencyMs"), recorded.get("costUsd"))


def test_tool_calls_are_read_out_of_messages(request_of: MakeRequest) -> None:
    called = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "search", "arguments": "{}"}}]}
    paid = {"role": "assistant", "content": [{"type": "tool_use", "name": "pay", "input": {}}]}
    results = judged(make_plan(request_of(line("tools", messages=[called]), line("tools", messages=[called, paid]))))
    assert (results["tools#0"].status, results["tools#1"].status) == ("pass", "fail")
    assert results["tools#1"].reasons[0].code == "FORBIDDEN_TOOL_CALLED"


def test_p14_a_task_without_a_line_is_an_error_and_said_before(request_of: MakeRequest) -> None:
    plan = make_plan(request_of(line("plain"), line("plain"), line("limits", costUsd=0, latencyMs=1)))
    [remark] = plan.remarks
    assert remark == (f"3 of 6 items have no line in runs.jsonl and end as errors: {KEY}/tools#1, {KEY}/limits#2, {KEY}/tools#2")
    result = judged(plan)["limits#1"]
    assert (result.status, result.error_kind, result.score, result.latency_ms) == ("error", "contract", None, None)
    assert result.error_message == f"runs.jsonl has no line for {KEY}/limits#2"


def test_each_skill_has_as_many_runs_as_it_recorded(request_of: MakeRequest) -> None:
    lines = [line("plain", skill="a"), line("plain", skill="a"), line("plain", skill="b@2.0.0")]
    plan = make_plan(request_of(*lines, task_ids=["plain"]))
    assert [str(item) for item in plan.items] == ["a@0.0.0/plain#1", "b@2.0.0/plain#1", "a@0.0.0/plain#2"]
    assert plan.remarks == []


def test_p14_a_recorded_failure_keeps_its_kind_time_and_cost(request_of: MakeRequest) -> None:
    failed = {"error": {"kind": "timeout", "message": "gave up"}, "latencyMs": 9000, "costUsd": 0.2, "usage": {"promptTokens": 5}}
    result = judged(make_plan(request_of({"taskId": "plain", **failed})))["plain#0"]
    assert (result.status, result.error_kind, result.error_message) == ("timeout", "timeout", "gave up")
    assert (result.latency_ms, result.cost_usd, result.prompt_tokens) == (9000, 0.2, 5)


def test_a_line_about_a_task_that_is_not_asked_is_left_out_and_counted(request_of: MakeRequest) -> None:
    plan = make_plan(request_of(*EVERY, complexity=["complex", "very_complex"]))
    assert [item.task for item in plan.items] == ["limits"]
    assert plan.remarks == ["2 of 3 lines are about tasks that are not selected, and are left out"]


def test_p40_an_unknown_task_is_refused_also_where_tasks_are_chosen(request_of: MakeRequest) -> None:
    with pytest.raises(InputError, match=r"runs.jsonl:2: benchmark 'tasks' has no task 'plian' \(did you mean 'plain'\?\)"):
        make_plan(request_of(line("plain"), line("plian"), complexity=["simple"]))


def test_a_package_benchmark_cannot_be_recorded(request_of: MakeRequest) -> None:
    with pytest.raises(UsageError, match="inspects a skill's folder"):
        make_plan(request_of(line("skill-metadata-complete"), tasks=None, benchmark="skill-quality", task_ids=[]))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        pytest.param({"skills": ["./a"]}, "--skills are called and --traces are not", id="skills"),
        pytest.param({"traces": None, "trace_skill": "x"}, "--trace-skill is about recorded runs", id="skill-alone"),
    ],
)
def test_p59_options_that_cannot_take_effect_are_refused(request_of: MakeRequest, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        request_of(line("plain"), **fields)


def opened(request: EvaluateRequest) -> RunPlan:
    plan = make_plan(request)
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
    return plan


def test_p52_a_run_goes_on_with_the_lines_that_are_not_judged_yet(request_of: MakeRequest, open_run: Callable[..., Any]) -> None:
    plan = opened(request_of(*EVERY))

    async def one() -> None:
        session = open_run(plan)
        async with session:
            await session.attempt(plan.items[0], last=True)
        session._journal.__exit__(None, None, None)

    asyncio.run(one())
    rest = resumed_plan(EvaluateRequest(resume=plan.run_id, store=plan.store.path))
    assert ([item.task for item in rest.items], rest.planned, rest.request.origin) == (["limits", "tools"], 3, "traces")


def test_a_trace_file_that_changed_cannot_go_on(request_of: MakeRequest) -> None:
    plan = opened(request_of(*EVERY))
    request_of(*EVERY[:2])
    with pytest.raises(UsageError, match=r"runs.jsonl changed since run .* began; start a new run"):
        resumed_plan(EvaluateRequest(resume=plan.run_id, store=plan.store.path))


def test_the_manifest_says_where_the_answers_come_from(request_of: MakeRequest, tmp_path: Path) -> None:
    manifest = manifest_of(make_plan(request_of(*EVERY)))
    file = str(tmp_path / "runs.jsonl")
    assert (manifest.origin, manifest.request["skills"], manifest.request["traces"]) == ("traces", [], file)
    assert (manifest.provenance["mode"], manifest.provenance["file"], manifest.provenance["runs"]) == ("traces", file, 3)
    [skill] = manifest.skills
    assert (skill.key, skill.path, skill.adapter) == (KEY, file, "recorded")


def test_history_keeps_recorded_runs_apart_from_live_ones(request_of: MakeRequest, open_run: Callable[..., Any]) -> None:
    plan = opened(request_of(*EVERY))

    async def all_of_them() -> None:
        session = open_run(plan)
        async with session:
            for item in plan.items:
                await session.attempt(item, last=True)
        session._journal.__exit__(None, None, None)

    asyncio.run(all_of_them())
    land(plan.store, plan.run_id)
    store = Store(plan.store.path)
    assert (past_runs(store, limit=5), store.latest_run()) == ([], None)
    [run] = past_runs(store, limit=5, every_origin=True)
    assert (run.run_id, run.origin) == (plan.run_id, "traces")
    with pytest.raises(UsageError, match=r"the store .* holds only 1 run that called none; name one by its id"):
        resolve_run_id(store, LATEST, "nothing to compare")
    assert resolve_run_id(store, run.run_id, "nothing to compare") == plan.run_id


def test_execute_needs_no_adapter_for_what_is_recorded(request_of: MakeRequest) -> None:
    plan = make_plan(request_of(line("plain")))

    class NoAdapters:
        def __init__(self, plan: RunPlan) -> None:
            self.plan = plan

        async def adapter(self, skill_key: str) -> Any:
            raise AssertionError(skill_key)

    assert asyncio.run(execute(plan.items[0], NoAdapters(plan))).result.passed
