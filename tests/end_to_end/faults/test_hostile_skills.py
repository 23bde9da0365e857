"""Skills that do their worst, among healthy ones, below Prefect: each costs its own item, says why, and leaves nothing behind."""

from __future__ import annotations

import json
import re
import resource
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from eval_skills.core.models import ItemResult
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.plan import Item, RunPlan, make_plan
from tests.end_to_end.faults.below_prefect import Traces, run
from tests.end_to_end.faults.conftest import none_within, processes_with
from tests.end_to_end.faults.hostile import Hostile, write_all

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="looks at processes and files in /proc, which only Linux has"
)

PATIENCE_S = 60.0
LIMITS_S = (1.5, 6.0, 24.0)
"""How long the hanging ones may take: more and more, until the slowest of them has got as far as it wants."""
MEMORY_KIB = 100_000
TASKS = [
    {"id": "attack", "inputData": {"do": "attack"}, "expectedOutput": {"value": "ok"}},
    {"id": "behave", "inputData": {"do": "behave"}, "expectedOutput": {"value": "ok"}},
]


def planned(folder: Path, timeout_s: float, keep: Callable[[Item], bool] = lambda _: True) -> RunPlan:
    (folder / "tasks.json").write_text(json.dumps(TASKS))
    request = EvaluateRequest(
        skills=[str(folder / "skills")],
        tasks=str(folder / "tasks.json"),
        timeout_ms=int(timeout_s * 1000),
        store=str(folder / f"store-{timeout_s:g}"),
    )
    plan = make_plan(request)
    return plan.narrowed([item for item in plan.items if keep(item)])


def check(hostile: Sequence[Hostile], results: dict[tuple[str, str], ItemResult]) -> None:
    """Each became what it must, and its other item passed."""
    wrong = {each.id: said for each in hostile if (said := objection(each, results[each.id, "attack"]))}
    assert wrong == {}
    broken = {key: result.error_message for key, result in results.items() if key[1] == "behave" and not result.passed}
    assert broken == {}


def objection(hostile: Hostile, result: ItemResult) -> str:
    """What is wrong with the result; nothing where it is as it must be."""
    said = "; ".join(reason.message for reason in result.reasons)
    found = f"{result.status} of kind {result.error_kind}, {[each.error_kind for each in result.attempts]}: {said}"
    right = (
        (result.status, result.error_kind) == (hostile.status, hostile.kind)
        and (re.search(hostile.reason, said) if hostile.reason else not said)
        and tuple(each.error_kind for each in result.attempts) == (hostile.attempts or (hostile.kind,))
        and result.latency_ms is not None
        and result.latency_ms > 0
    )
    return "" if right else found


def test_each_costs_its_own_item_says_why_and_leaves_nothing(tmp_path: Path, mark: str) -> None:
    hostile = write_all(tmp_path / "skills", mark, tmp_path / "notes", lambda each: not each.hangs)
    plan = planned(tmp_path, PATIENCE_S)
    run(plan.narrowed(plan.items[:1]))  # what the first run of a process loads for ever is no leak
    before, memory = Traces.now(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    plan = planned(tmp_path, PATIENCE_S)
    results, left = run(plan)
    assert len(results) == len(plan.items) == 2 * len(hostile)
    check(hostile, results)
    assert left == []
    assert before.more() == []
    assert none_within(PATIENCE_S, lambda: processes_with(mark))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < MEMORY_KIB
    assert list(tmp_path.rglob("owned")) == []


def test_p16_what_hangs_is_cut_and_its_whole_family_ended(tmp_path: Path, mark: str) -> None:
    hostile = write_all(tmp_path / "skills", mark, tmp_path / "notes", lambda each: each.hangs)
    for limit_s in LIMITS_S:
        before = Traces.now()
        results, left = run(planned(tmp_path, limit_s, lambda item: item.task == "attack"))
        check(hostile, results)
        assert left == []
        assert before.more() == []
        assert none_within(PATIENCE_S, lambda: processes_with(mark))
        assert all(result.latency_ms is not None and result.latency_ms < PATIENCE_S * 1000 for result in results.values())
        if list((tmp_path / "notes").glob("*.family")):
            break
    assert [path.name for path in (tmp_path / "notes").glob("*.family")] == ["ignores-sigterm.family"]
    results, _ = run(planned(tmp_path, PATIENCE_S, lambda item: item.task == "behave"))
    check([], results)
    assert len(results) == len(hostile)
