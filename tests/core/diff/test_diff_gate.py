"""The gate of a comparison."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.diff.gate import gate_failures
from eval_skills.core.diff.model import ReportDiff
from tests.tables import each_row

STATISTICS = {
    "tasks": 8, "tasksBetter": 0, "tasksWorse": 8, "meanDifference": -1.0, "equivalenceMargin": 0.05, "correlation": None,
    "interval": {"lower": -1.0, "upper": -0.9, "level": 0.95, "method": "constant"},
    "equivalenceInterval": {"lower": -1.0, "upper": -0.9, "level": 0.9, "method": "constant"},
    "test": "sign_flip_exact", "seed": 1, "pValue": 0.01, "adjustedP": 0.01, "signTestP": 0.01, "tTestP": None, "pFloor": 0.01,
    "smallestEffect": None, "tasksNeeded": None,
}  # fmt: skip


def skill(skill_id: str, verdict: str | None, *, change: str = "compared", compared: bool = True) -> dict[str, Any]:
    return {
        "skillId": skill_id,
        "skillVersion": "1.0.0",
        "benchmarkId": "b",
        "change": change,
        "rows": [],
        "verdict": verdict,
        "explanation": "because",
        "statistics": STATISTICS if compared else None,
    }


ADDED = skill("new", None, change="added", compared=False)
UNSHARED = skill("x", "inconclusive", compared=False)
NOTHING = "nothing could be compared: no skill has a task that was recorded on both sides"


@each_row(
    ("skills", "failures"),
    [
        pytest.param([skill("a", "better"), skill("b", "inconclusive"), ADDED], [], id="passes"),
        pytest.param([skill("a", "worse"), skill("b", "better")], ["a@1.0.0 is worse: because"], id="one-is-worse"),
        pytest.param([], [NOTHING], id="p40-no-skill"),
        pytest.param([ADDED], [NOTHING], id="p40-only-added"),
        pytest.param([UNSHARED], ["x@1.0.0 could not be judged: because"], id="p40-no-shared-task"),
        pytest.param([UNSHARED, skill("a", "equivalent")], ["x@1.0.0 could not be judged: because"], id="one-was-compared"),
    ],
)
def test_p49_what_a_gate_fails_on(skills: list[dict[str, Any]], failures: list[str]) -> None:
    diff = ReportDiff.model_validate({"skills": skills, "significance": 0.05, "equivalenceMargin": 0.05})
    assert gate_failures(diff, "worse") == failures
