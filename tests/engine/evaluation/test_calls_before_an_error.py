"""A live skill that answers with an error and tells what it had called: that counts, as in a recorded run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark
from eval_skills.core.store import Journal, read_journal, results_of, table_of
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.executor import LocalExecutor
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.observer import NullObserver
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.replaced import Replaced
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.evaluation.session import RunSession

if TYPE_CHECKING:
    from tests.engine.evaluations import MakeRequest

SAYING = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": request["params"]}), flush=True)
"""
BENCHMARK = Benchmark.model_validate(
    {"id": "b", "name": "B", "version": "1.0.0", "tasks": [{"id": "t1", "expected": {"forbiddenTools": ["pay"]}}]}
)
PAYS = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"name": "Pay", "arguments": "{}"}}]}


@pytest.fixture
def judged(tmp_path: Path, write_skill: Callable[..., Path], make_request: MakeRequest) -> Callable[..., Any]:
    """What becomes of a call that is answered with this error, where the tool `pay` is forbidden."""

    async def outcome(data: dict[str, Any]) -> Outcome:
        (write_skill() / "skill.py").write_text(SAYING)
        error = {"code": 1, "message": "broke", "data": data}
        tasks = [{"id": "t1", "inputData": error, "expected": {"forbiddenTools": ["pay"]}}]
        (tmp_path / "tasks.json").write_text(json.dumps(tasks))
        plan = make_plan(make_request(tasks=str(tmp_path / "tasks.json"), timeout_ms=60_000))
        async with LocalExecutor(plan) as here:
            return await here.execute(plan.items[0], ())

    return outcome


@pytest.mark.parametrize(
    "data", [pytest.param({"toolCalls": [{"name": "pay"}]}, id="calls"), pytest.param({"messages": [PAYS]}, id="messages")]
)
async def test_a_forbidden_call_before_an_error_fails_the_item(judged: Callable[..., Any], data: dict[str, Any]) -> None:
    outcome = await judged(data)
    result = outcome.result
    assert (result.status, result.score, result.error_kind, outcome.transient) == ("fail", 0.0, "skill", False)
    assert [reason.code for reason in result.reasons] == ["FORBIDDEN_TOOL_CALLED", "SKILL_ERROR"]
    assert result.reasons[1].text.startswith("remark: error 1: broke")


async def test_an_error_stays_one_and_keeps_what_was_called_and_what_it_cost(judged: Callable[..., Any]) -> None:
    told = {"toolCalls": [{"name": "ls"}], "messages": [{"role": "user", "content": "?"}], "costUsd": 0.5}
    result = (await judged({**told, "usage": {"promptTokens": 3, "completionTokens": 4}})).result
    assert (result.status, result.score, result.output) == ("error", None, None)
    assert [reason.code for reason in result.reasons] == ["SKILL_ERROR"]
    assert result.forbidden_unknown is False, "ls is all that was called"
    [stored] = results_of(table_of([result]))
    assert ([call.name for call in stored.tool_calls or []], stored.messages) == (["ls"], told["messages"])
    assert (stored.prompt_tokens, stored.completion_tokens, stored.cost_usd) == (3, 4, 0.5)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({}, id="nothing"),
        pytest.param(
            {"messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}]}, id="a-call-without-a-name"
        ),
    ],
)
async def test_what_is_unknown_of_an_error_is_no_proof_that_nothing_forbidden_was_called(
    judged: Callable[..., Any], data: dict[str, Any]
) -> None:
    result = (await judged(data)).result
    assert (result.status, result.error_kind, result.forbidden_unknown) == ("error", "skill", True)
    assert [(reason.code, reason.where) for reason in result.reasons] == [
        ("SKILL_ERROR", ""),
        ("TOOL_CALLS_UNKNOWN", "expected.forbiddenTools"),
    ]
    assert results_of(table_of([result]))[0].forbidden_unknown is True
    [report] = skill_reports(table_of([result]).to_pandas(maps_as_pydicts="strict"), BENCHMARK, 1000)
    assert report.summary.forbidden_unknown_items == 1


async def test_an_empty_list_says_that_nothing_was_called(judged: Callable[..., Any]) -> None:
    result = (await judged({"toolCalls": []})).result
    assert (result.status, result.forbidden_unknown, [reason.code for reason in result.reasons]) == (
        "error",
        False,
        ["SKILL_ERROR"],
    )


DIES_ONCE = """
import json, os, sys
from pathlib import Path
request = json.loads(sys.stdin.readline())
if not Path("died").exists():
    Path("died").touch()
    os._exit(9)
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"output": "ok", "toolCalls": []}}))
"""


async def test_another_attempt_does_not_answer_what_the_first_one_called(
    tmp_path: Path, write_skill: Callable[..., Path], make_request: MakeRequest
) -> None:
    (write_skill(adapterConfig={}) / "skill.py").write_text(DIES_ONCE)
    task = {"id": "t1", "inputData": "?", "expected": {"forbiddenTools": ["pay"], "output": {"contains": ["ok"]}}}
    (tmp_path / "tasks.json").write_text(json.dumps([task]))
    plan = make_plan(make_request(tasks=str(tmp_path / "tasks.json"), timeout_ms=60_000))
    async with LocalExecutor(plan) as here:
        first = await here.execute(plan.items[0], ())
        second = await here.execute(plan.items[0], first.result.attempts)
    assert (first.transient, first.result.forbidden_unknown) == (True, True)
    assert (second.result.status, second.result.forbidden_unknown) == ("pass", True)
    (remark,) = second.result.reasons
    assert (remark.code, remark.informational) == ("TOOL_CALLS_UNKNOWN", True)


@pytest.mark.slow
@pytest.mark.parametrize("knows", [False, True], ids=["unknown", "known"])
def test_asking_an_error_again_later_does_not_answer_what_it_called(
    tmp_path: Path, write_skill: Callable[..., Path], make_request: MakeRequest, knows: bool
) -> None:
    told = {"code": 1, "message": "no", "data": {"toolCalls": []}}
    tells = f'print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "error": {told}}})); sys.exit()'
    skill = DIES_ONCE.replace("os._exit(9)", tells) if knows else DIES_ONCE
    (write_skill(adapterConfig={}) / "skill.py").write_text(skill)
    task = {"id": "t1", "inputData": "?", "expected": {"forbiddenTools": ["pay"], "output": {"contains": ["ok"]}}}
    (tmp_path / "tasks.json").write_text(json.dumps([task, {"id": "t2", "inputData": "?"} | {"expected": task["expected"]}]))
    request = make_request(tasks=str(tmp_path / "tasks.json"), timeout_ms=60_000, retries=0, concurrency=1)
    first = evaluate_in_process(make_plan(request))
    assert [report.summary.error_rate for report in first.reports] == [0.5]
    again = EvaluateRequest(store=request.store, resume=first.run_id, retry_errors=True)
    for _ in range(2):  # a second time there is nothing to ask, and nothing is forgotten
        [report] = evaluate_in_process(resumed_plan(again)).reports
        assert report.summary.completion_rate == 1.0
        assert report.summary.forbidden_unknown_items == (0 if knows else 1)


@pytest.mark.slow
async def test_nor_does_an_item_that_is_one_of_several(
    tmp_path: Path, write_skill: Callable[..., Path], make_request: MakeRequest
) -> None:
    skill = write_skill(adapterConfig={})
    (skill / "skill.py").write_text(DIES_ONCE)
    (skill / "died").touch()
    task = {"inputData": "?", "expected": {"forbiddenTools": ["pay"], "output": {"contains": ["ok"]}}}
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": name, **task} for name in "ab"]))
    plan = make_plan(make_request(tasks=str(tmp_path / "tasks.json"), timeout_ms=60_000))
    async with LocalExecutor(plan) as here:
        then = (await here.execute(plan.items[1], ())).result
    open_then = then.model_copy(update={"status": "error", "passed": False, "error_kind": "infra", "forbidden_unknown": True})
    plan = replace(plan, replaced={plan.items[1]: Replaced.of(open_then)})
    with Journal(tmp_path / "journal.jsonl") as journal:
        async with RunSession(plan, journal, NullObserver()) as session:
            left = plan.items
            while left:
                left = left[len(await session.attempt_some(left, last=True)) :]
    assert [result.forbidden_unknown for result in read_journal(tmp_path / "journal.jsonl")] == [False, True]
