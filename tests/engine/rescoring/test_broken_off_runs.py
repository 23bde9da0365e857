"""A forbidden call counts whatever became of the run: an error, a timeout, an end at the user's turn."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Attempt, ItemResult, SkillCompletionReport
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import Store, results_of, table_of
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.executor import LocalExecutor
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.monitor.expectation import MonitorTask
from eval_skills.engine.monitor.log.records import LogFields, RecordReader
from eval_skills.engine.monitor.request import MonitorRequest
from eval_skills.engine.monitor.samples import SampleJudging
from eval_skills.engine.rescoring.plan import plan_rescoring
from eval_skills.engine.rescoring.request import RescoreRequest
from eval_skills.engine.rescoring.rescore import rescore

if TYPE_CHECKING:
    from tests.engine.evaluations import LandedRun

TIMED_OUT = {"error": {"kind": "timeout", "message": "gave up"}}
CALLS = [{"name": "pay"}]
PAYS = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"name": "Pay", "arguments": "{}"}}]}
GATES: list[dict[str, Any]] = [{"id": "t1", "expected": {"forbiddenTools": ["pay"]}}]


def judged(tmp_path: Path, line: dict[str, Any]) -> tuple[Outcome, SkillCompletionReport]:
    """What becomes of a recorded run, and the report of its skill."""
    (tmp_path / "tasks.json").write_text(json.dumps(GATES))
    (tmp_path / "runs.jsonl").write_text(json.dumps({"taskId": "t1", "latencyMs": 9.0, **line}))
    files: dict[str, Any] = {"traces": str(tmp_path / "runs.jsonl"), "tasks": str(tmp_path / "tasks.json")}
    plan = make_plan(EvaluateRequest(**files, store=str(tmp_path / "store"), format=[]))

    async def one() -> Outcome:
        async with LocalExecutor(plan) as here:
            return await here.execute(plan.items[0], ())

    outcome = asyncio.run(one())
    frame = table_of([outcome.result]).to_pandas(maps_as_pydicts="strict")
    [report] = skill_reports(frame, plan.benchmark, 30_000)
    return outcome, report


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        pytest.param({**TIMED_OUT, "toolCalls": CALLS}, "timeout", "gave up", id="timeout-after-calls"),
        pytest.param({**TIMED_OUT, "messages": [PAYS]}, "timeout", "gave up", id="timeout-after-messages"),
        pytest.param({"error": "broke", "response": {"toolCalls": CALLS}}, "skill", "broke", id="error-below-response"),
        pytest.param(
            {"messages": [PAYS, {"role": "user", "content": "?"}]}, "contract", "is the user's", id="at-the-user-s-turn"
        ),
    ],
)
def test_a_forbidden_call_before_the_end_of_a_broken_run_fails_it(
    tmp_path: Path, line: dict[str, Any], kind: str, message: str
) -> None:
    outcome, report = judged(tmp_path, line)
    result = outcome.result
    assert (result.status, result.score, result.passed, outcome.transient) == ("fail", 0.0, False, False)
    violation, trouble = result.reasons
    assert violation.code == "FORBIDDEN_TOOL_CALLED"
    assert trouble.informational
    assert message in trouble.message
    assert (result.error_kind, result.attempts[-1].error_kind, result.latency_ms) == (kind, kind, 9.0)
    assert result.tool_calls or result.messages
    assert (report.summary.forbidden_items, report.summary.error_rate) == (1, 0.0)


def test_a_broken_run_without_a_forbidden_call_stays_what_it_is(tmp_path: Path) -> None:
    outcome, report = judged(tmp_path, {**TIMED_OUT, "toolCalls": [{"name": "search"}]})
    assert (outcome.result.status, outcome.result.score) == ("timeout", None)
    assert [reason.code for reason in outcome.result.reasons] == ["TIMEOUT"]
    assert (report.summary.forbidden_items, report.summary.error_rate) == (0, 1.0)


@pytest.mark.slow
def test_a_tool_that_is_forbidden_later_is_found_in_stored_runs_without_answers_and_can_be_allowed_again(
    tmp_path: Path, store: Store, landed_run: LandedRun
) -> None:
    broken = {"status": "error", "error_kind": "skill", "error_message": "broke", "score": None, "passed": False, "output": None}
    of = landed_run({"x": "right", "e": "?"}, e={**broken, "messages": [PAYS]})

    def again(run_id: str, **expected: Any) -> tuple[str, ItemResult]:
        tasks = [{"id": task, "expectedOutput": {"value": "right"}, **expected} for task in ("x", "e")]
        (tmp_path / "tasks.json").write_text(json.dumps(tasks))
        plan = plan_rescoring(RescoreRequest(run_id=run_id, store=store.path))
        rescore(plan)
        return plan.run_id, next(each for each in results_of(store.item_table(plan.run_id)) if each.task_id == "e")

    run_id, forbidden = again(of, expected={"forbiddenTools": ["pay"], "output": {"notContains": ["sorry"]}})
    assert (forbidden.status, forbidden.score, forbidden.error_message) == ("fail", 0.0, "broke")
    assert [reason.code for reason in forbidden.reasons] == ["FORBIDDEN_TOOL_CALLED", "SKILL_ERROR"]
    _, allowed = again(run_id)
    assert (allowed.status, allowed.score, allowed.error_kind) == ("error", None, "skill")
    assert [(reason.code, reason.message) for reason in allowed.reasons] == [("SKILL_ERROR", "broke")]


def test_what_earlier_attempts_called_is_judged_again_too(store: Store, tmp_path: Path, landed_run: LandedRun) -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    attempts = [Attempt(started_at=began, error_kind="infra"), Attempt(started_at=began)]
    twice: dict[str, Any] = {"attempts": attempts, "tool_calls": []}
    of = landed_run(
        {"paid": "right", "searched": "right", "unknown": "right"},
        paid={**twice, "earlier_calls": ["search", "Pay"]},
        searched={**twice, "earlier_calls": ["search"]},
        unknown=twice,
    )
    tasks = [
        {"id": task, "expectedOutput": {"value": "right"}, "expected": {"forbiddenTools": ["pay"]}}
        for task in ("paid", "searched", "unknown")
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    plan = plan_rescoring(RescoreRequest(run_id=of, store=store.path))
    rescore(plan)
    judged = {each.task_id: each for each in results_of(store.item_table(plan.run_id))}
    assert {task: (each.status, each.forbidden_unknown) for task, each in judged.items()} == {
        "paid": ("fail", False),
        "searched": ("pass", False),
        "unknown": ("pass", True),
    }


def test_a_tool_that_is_forbidden_later_leaves_stored_runs_open_of_which_it_is_unknown(
    store: Store, tmp_path: Path, landed_run: LandedRun
) -> None:
    broken = {"status": "timeout", "error_kind": "timeout", "score": None, "passed": False, "output": None}
    of = landed_run({"x": "right", "e": "?"}, x={"tool_calls": []}, e=broken)
    tasks = [{"id": task, "expectedOutput": {"value": "right"}, "expected": {"forbiddenTools": ["pay"]}} for task in ("x", "e")]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    plan = plan_rescoring(RescoreRequest(run_id=of, store=store.path))
    rescore(plan)
    judged = {each.task_id: (each.status, each.forbidden_unknown) for each in results_of(store.item_table(plan.run_id))}
    assert judged == {"x": ("pass", False), "e": ("timeout", True)}


@pytest.mark.parametrize(
    "evaluator", ["{expected: {forbiddenTools: [pay]}}", "{expected: {forbiddenTools: [pay]}, evaluator: exact}"]
)
def test_a_monitored_interaction_that_broke_after_a_forbidden_call_has_failed(tmp_path: Path, evaluator: str) -> None:
    (tmp_path / "task.yaml").write_text(evaluator)
    task = MonitorTask.of(MonitorRequest(log="x", task=str(tmp_path / "task.yaml")))
    reader = RecordReader(LogFields())
    records = [{"error": "broke", "toolCalls": CALLS}, {"error": "broke", "toolCalls": []}]
    given = [reader.interaction(record, "log:1") for record in records]
    paid, broke = SampleJudging(task, Redaction({}), 1).verdicts(given)
    assert not isinstance(paid, str)
    assert not isinstance(broke, str)
    assert (paid.status, paid.score, [reason.code for reason in paid.reasons]) == (
        "fail", 0.0, ["FORBIDDEN_TOOL_CALLED", "SKILL_ERROR"],
    )  # fmt: skip
    assert (broke.status, [reason.code for reason in broke.reasons]) == ("error", ["SKILL_ERROR"])
