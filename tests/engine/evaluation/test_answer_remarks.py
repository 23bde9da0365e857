"""An answer whose JSON gives a key twice, or that was cut, is judged as it is, and the item and the run say so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import SkillResponse, TurnResponse
from eval_skills.core.store import Store, results_of
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.rescoring.plan import plan_rescoring
from eval_skills.engine.rescoring.request import RescoreRequest
from eval_skills.engine.rescoring.rescore import rescore
from eval_skills.scorers.answer_remarks import about_cuts
from tests.engine.evaluations import MakePlan
from tests.tables import each_row

SKILL = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    what = request["params"]["what"]
    own = '"output": "no", "output": "ok"' if what == "twice" else '"output": "ok"'
    answer = '"error": {"code": 1, "code": 2, "message": "no"}' if what == "refuse" else '"result": {%s}' % own
    print('{"jsonrpc": "2.0", "id": %d, %s}' % (request["id"], answer), flush=True)
"""


@pytest.mark.slow
def test_the_item_passes_or_fails_as_before_with_a_remark(
    make_plan_of: MakePlan, write_skill: Callable[..., Path], store: Store
) -> None:
    (write_skill() / "skill.py").write_text(SKILL)
    plan = make_plan_of("ok", "twice", "refuse", timeout_ms=120_000, store=store.path)
    summary = evaluate_in_process(plan)
    items = {result.task_id: result for result in results_of(store.item_table(plan.run_id))}
    by_input = {task: items[task] for task in items}
    twice = [task for task, result in by_input.items() if any(reason.code == "DUPLICATE_KEYS" for reason in result.reasons)]
    assert sorted(by_input[task].status for task in twice) == ["error", "pass"]
    passed = next(by_input[task] for task in twice if by_input[task].passed)
    assert [reason.text for reason in passed.reasons if reason.code == "DUPLICATE_KEYS"] == [
        'remark: an object in the answer\'s JSON gives a key twice: "output"; the last value counts'
    ]
    assert [remark.partition(", where")[0] for remark in summary.remarks] == [
        "moody@1.0.0 gave a key twice in one object of its JSON in 2 items"
    ]
    again = plan_rescoring(RescoreRequest(run_id=plan.run_id, store=store.path))
    rescore(again)
    kept = [
        result for result in results_of(store.item_table(again.run_id)) if any(r.code == "DUPLICATE_KEYS" for r in result.reasons)
    ]
    assert sorted(result.task_id for result in kept) == sorted(twice), "it cannot be found again in the stored answer"


SAID: dict[str, Any] = {"role": "assistant", "content": "ok"}


@each_row(
    ("answer", "why"),
    [
        pytest.param({"finish_reason": "length"}, "length", id="of-the-answer"),
        pytest.param({"finish_reason": "MAX_TOKENS", "messages": [SAID]}, "MAX_TOKENS", id="gemini"),
        pytest.param({"messages": [{"role": "model", "parts": [], "finishReason": "SAFETY"}]}, "SAFETY", id="filter-of-gemini"),
        pytest.param({"messages": [{**SAID, "stop_reason": "max_tokens"}]}, "max_tokens", id="anthropic"),
        pytest.param({"messages": [{"message": SAID, "finish_reason": "content_filter"}]}, "content_filter", id="openai-choice"),
        pytest.param({"messages": [{**SAID, "type": "message", "status": "incomplete"}]}, "incomplete", id="responses"),
        pytest.param(
            {"messages": [{"type": "ai", "data": {"response_metadata": {"stopReason": "max_tokens"}}}]},
            "max_tokens",
            id="langchain",
        ),
        pytest.param({"finish_reason": "stop", "messages": [{**SAID, "finish_reason": "length"}]}, None, id="the-answer-counts"),
        pytest.param({"messages": [{**SAID, "stop_reason": "max_tokens"}, SAID]}, None, id="not-the-last-message"),
        pytest.param({"messages": [{**SAID, "finish_reason": "tool_calls", "status": "completed"}]}, None, id="whole"),
        pytest.param({"messages": [{"role": "user", "content": "ok", "status": "incomplete"}]}, None, id="of-nobody"),
        pytest.param({}, None, id="unknown"),
    ],
)
def test_an_answer_that_was_cut_is_remarked_upon(answer: dict[str, Any], why: str | None) -> None:
    said = [] if why is None else [f'remark: the answer was cut: its finish reason is "{why}"']
    assert [reason.text for reason in about_cuts(SkillResponse(**answer))] == said
    turns = SkillResponse.of_turns([TurnResponse(output="ok"), TurnResponse(**answer)])
    assert [reason.where for reason in about_cuts(turns)] == ([] if why is None else ["turns[1].answer"])


def test_a_run_says_how_many_answers_were_cut(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text(
        json.dumps([{"id": task, "expectedOutput": {"value": "ok"}} for task in ("a", "b", "c")])
    )
    cut = {"finishReason": "length"}
    said_by_message = [{"role": "assistant", "content": "o", **cut}]
    lines = [
        {"taskId": "a", "output": "ok", **cut},
        {"taskId": "b", "messages": said_by_message},
        {"taskId": "c", "output": "ok"},
    ]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    request = EvaluateRequest(
        traces=str(tmp_path / "runs.jsonl"), tasks=str(tmp_path / "tasks.json"), store=str(tmp_path / "store"), format=[]
    )
    plan = make_plan(request)
    summary = evaluate_in_process(plan)
    said = "runs@0.0.0 gave an answer that was cut in 2 items, which was judged as it is: see the reason ANSWER_CUT of each"
    assert summary.remarks == [said]
    store = Store(tmp_path / "store")
    again = plan_rescoring(RescoreRequest(run_id=plan.run_id, store=store.path, force=True))
    rescore(again)
    for run_id in (plan.run_id, again.run_id):
        items = results_of(store.item_table(run_id))
        assert {(item.task_id, item.status) for item in items} == {("a", "pass"), ("b", "fail"), ("c", "pass")}
        assert {item.task_id for item in items if any(reason.code == "ANSWER_CUT" for reason in item.reasons)} == {"a", "b"}
