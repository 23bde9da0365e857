"""What an agent did, call by call, beside what was expected of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from eval_skills.core.models import EvalTask, ItemResult
from eval_skills.engine.stored_runs.items import StoredItem
from eval_skills.engine.stored_runs.trajectories import alignment_of
from tests.tables import each_row

EXPECTED = [{"role": "assistant", "tool_calls": [{"name": "search", "args": {"q": "a"}}, {"name": "book", "args": {"seats": 1}}]}]


def stored(called: list[tuple[str, Any]] | None, **task: Any) -> StoredItem:
    calls = None if called is None else [{"name": name, "arguments": arguments} for name, arguments in called]
    names = {"skill_id": "s", "skill_version": "1.0.0", "benchmark_id": "b", "benchmark_version": "1.0.0", "task_id": "t"}
    result: dict[str, Any] = {**names, "run_id": "20260101T100000Z-0001", "run_index": 0, "status": "fail", "passed": False}
    asked = {"id": "t", "inputData": "x", **task}
    return StoredItem(
        ItemResult.model_validate({**result, "started_at": datetime(2026, 1, 1, tzinfo=UTC), "tool_calls": calls}),
        EvalTask.model_validate(asked),
    )


@each_row(
    ("called", "mode", "rows"),
    [
        pytest.param([("search", {"q": "a"}), ("book", {"seats": 1})], "unordered", "match 0|match 1", id="all-match"),
        pytest.param([("book", {"seats": 1}), ("search", {"q": "a"})], "unordered", "match 1|match 0", id="the-expected-order"),
        pytest.param(
            [("search", {"q": "a"}), ("ls", {}), ("book", {"seats": 2})], "superset",
            "match 0|extra 1|arguments 2 seats: 1 ≠ 2", id="extra-where-it-was-made",
        ),
        pytest.param([("Search", {"q": "a"})], "unordered", "name 0|missing None", id="another-spelling-and-missing"),
        pytest.param([], "unordered", "missing None|missing None", id="nothing-called"),
        pytest.param(
            [("search", {"q": "b"}), ("search", {"q": "a"})], "unordered",
            "extra 0|match 1|missing None", id="the-pair-that-matches",
        ),
    ],
)  # fmt: skip
def test_calls_are_paired_as_the_scorer_pairs_them(called: list[tuple[str, Any]], mode: str, rows: str) -> None:
    item = stored(called, expected={"trajectory": EXPECTED}, evaluator={"type": "trajectory_match", "mode": mode})
    found = alignment_of(item, None)
    assert found is not None
    assert f"mode {mode}" in found.how
    said = [
        " ".join([call.kind, str(call.place), *(change.text for change in (call.changes.changes if call.changes else ()))])
        for call in found.calls
    ]
    assert "|".join(said) == rows


def test_a_sequence_of_tools_is_laid_along_the_calls() -> None:
    found = alignment_of(stored([("a", None), ("x", None), ("c", None)], expected={"toolSequence": ["a", "b", "c"]}), None)
    assert found is not None
    assert [(call.kind, call.place) for call in found.calls] == [("match", 0), ("extra", 1), ("missing", None), ("match", 2)]


def test_expected_tools_are_looked_for_anywhere() -> None:
    found = alignment_of(stored([("x", None), ("b", None)], expected={"tools": ["a", "b"]}), None)
    assert found is not None
    assert [(call.kind, call.place) for call in found.calls] == [("extra", 0), ("missing", None), ("match", 1)]


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(stored(None, expected={"tools": ["a"]}), id="unknown-calls"),
        pytest.param(stored([("a", None)], expectedOutput={"value": 1}), id="no-call-expected"),
    ],
)
def test_nothing_to_align(item: StoredItem) -> None:
    assert alignment_of(item, None) is None
