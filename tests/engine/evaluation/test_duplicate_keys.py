"""An answer whose JSON gives a key twice is judged as it is read, and the item and the run say so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eval_skills.core.store import Store, results_of
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.rescoring.plan import plan_rescoring
from eval_skills.engine.rescoring.request import RescoreRequest
from eval_skills.engine.rescoring.rescore import rescore
from tests.engine.evaluations import MakePlan

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
