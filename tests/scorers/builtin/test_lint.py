"""The scorer of what a linter found."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.models import SkillResponse
from eval_skills.scorers.builtin.lint import Lint
from tests.tables import each_row

WARNING = {"code": "a-b", "severity": "warning", "message": "m", "fix": "f", "file": "SKILL.md", "line": 3, "column": None}


def counts(errors: int, warnings: int) -> dict[str, Any]:
    return {"checks": 20, "errors": errors, "warnings": warnings, "findings": [WARNING] * warnings}


@each_row(
    ("output", "strict", "value", "passed"),
    [
        pytest.param(counts(0, 0), True, 1, True, id="nothing-found"),
        pytest.param(counts(0, 1), False, 0.995, True, id="warning"),
        pytest.param(counts(0, 1), True, 0.995, False, id="warning-strict"),
        pytest.param(counts(2, 0), False, 0.9, False, id="errors"),
        pytest.param(counts(30, 0), False, 0, False, id="never-below-0"),
        pytest.param({"checks": 0, "errors": 0, "warnings": 0}, False, 0, False, id="no-checks"),
        pytest.param({"checks": 9, "errors": True, "warnings": 0}, False, 0, False, id="no-count"),
        pytest.param("fine", False, 0, False, id="other-answer"),
    ],
)
def test_value(output: Any, strict: bool, value: float, passed: bool) -> None:
    score = Lint(strict=strict).score(SkillResponse(output=output))
    assert score.value == pytest.approx(value)
    assert score.passed is passed


def test_findings_are_reasons() -> None:
    [reason] = Lint().score(SkillResponse(output=counts(0, 1))).reasons
    assert (reason.code, reason.message, reason.where, reason.informational) == ("A_B", "m; f", "SKILL.md:3", True)
    assert not Lint(strict=True).score(SkillResponse(output=counts(0, 1))).reasons[0].informational
