from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.metrics.item_table import item_table
from tests.tables import each_row

ROWS: dict[str, Any] = {
    "skill_id": ["s", "s", "s"],
    "skill_version": "1.0.0",
    "task_id": ["a", "b", "b"],
    "run_index": [0, 0, 1],
    "status": ["pass", "fail", "error"],
    "score": [1.0, 0.25, None],
    "latency_ms": [1.0, 2.0, None],
}


def test_items_are_ordered_by_skill_task_and_run() -> None:
    frame = pd.DataFrame({**ROWS, "run_index": [0, 5, 2]}).iloc[::-1]
    table = item_table(frame, ["b"])
    assert table.tasks == ["b", "a"]
    assert table.task.tolist() == [0, 0, 1]
    assert table.run.tolist() == [1, 2, 0]
    assert table.score.tolist() == [0.0, 0.25, 1.0]
    assert frame["run_index"].iloc[table.order].tolist() == [2, 5, 0]
    assert table.rows_of_skills() == [slice(0, 3)]


def test_an_error_earns_nothing_whatever_score_stands_beside_it() -> None:
    assert item_table(pd.DataFrame({**ROWS, "score": [1.0, 0.25, 0.75]}), []).score.tolist() == [1.0, 0.25, 0.0]


@each_row(
    ("columns", "message"),
    [
        pytest.param({"status": ["pass", "fail", "Pass"]}, "one of pass, fail, error, timeout; got 'Pass'", id="status-spelling"),
        pytest.param({"status": ["pass", "fail", None]}, "got none", id="status-missing"),
        pytest.param({"score": [None, 0.0, None]}, "1 items passed or failed without a score", id="pass-without-score"),
        pytest.param({"score": [1.0, np.nan, None]}, "without a score", id="fail-with-nan"),
        pytest.param({"score": [1.0, 1.5, None]}, "lie in \\[0, 1\\]; got 1.5", id="score-above-1"),
        pytest.param({"score": [1.0, -0.1, None]}, "got -0.1", id="score-below-0"),
        pytest.param({"score": [1.0, 0.1, 7.0]}, "got 7", id="score-of-an-error-above-1"),
        pytest.param({"score": ["high", 0.1, None]}, "score must be numbers", id="score-is-text"),
        pytest.param({"latency_ms": [-1.0, 0.1, None]}, "latency_ms must be a finite number from 0 on", id="latency-below-0"),
        pytest.param({"latency_ms": [np.inf, 0.1, None]}, "latency_ms must be a finite", id="latency-infinite"),
        pytest.param({"run_index": [0, 0, -1]}, "run_index must be a whole number", id="run-below-0"),
        pytest.param({"run_index": [0, 0, 0.5]}, "got 0.5", id="run-half"),
        pytest.param({"run_index": [0, 0, None]}, "run_index must be a whole number", id="run-missing"),
        pytest.param({"task_id": ["a", "b", None]}, "task_id is missing in 1 of 3", id="task-missing"),
        pytest.param({"skill_id": ["s", "s", " "]}, "skill_id must be text", id="skill-blank"),
        pytest.param({"task_id": [1, 2, 3]}, "task_id must be text that is not blank; got 1", id="task-number"),
    ],
)
def test_rows_that_cannot_be_counted_are_refused(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        item_table(pd.DataFrame({**ROWS, **columns}), [])


@pytest.mark.parametrize("spread", [1, 1_000], ids=["dense", "sparse"])
def test_an_item_given_twice_is_refused(spread: int) -> None:
    frame = pd.DataFrame({**ROWS, "task_id": ["a", "a", "b"], "run_index": [0, 0, spread]})
    with pytest.raises(InputError, match=r"item s@1.0.0/a#1 is given twice"):
        item_table(frame, [])


def test_a_missing_column_is_named_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match="no column 'latency_ms' \\(did you mean 'latencyms'\\?\\)"):
        item_table(pd.DataFrame(ROWS).rename(columns={"latency_ms": "latencyms"}), [])
