"""The texts an answer must hold, and those it must not."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.models import ExpectedText, SkillResponse
from eval_skills.scorers.output_text import OutputText


@pytest.mark.parametrize(
    ("output", "value", "codes"),
    [
        pytest.param("Alpha bravo", 1, [], id="all-in-any-case"),
        pytest.param("alpha", 2 / 3, ["OUTPUT_MISSING_TEXT"], id="one-missing"),
        pytest.param("alpha bravo DELTA", 2 / 3, ["OUTPUT_FORBIDDEN_TEXT"], id="one-forbidden"),
        pytest.param("delta", 0, ["OUTPUT_MISSING_TEXT"] * 2 + ["OUTPUT_FORBIDDEN_TEXT"], id="none"),
        pytest.param(" \n", 0, ["OUTPUT_MISSING_TEXT"] * 2 + ["OUTPUT_EMPTY"], id="p82-blank-meets-nothing"),
        pytest.param(None, 0, ["OUTPUT_MISSING_TEXT"] * 2 + ["OUTPUT_EMPTY"], id="p82-null-meets-nothing"),
        pytest.param({"output": "alpha bravo", "delta": 1}, 1, [], id="unwrapped-values-only"),
    ],
)
def test_p83_value_is_the_exact_share(output: Any, value: float, codes: list[str]) -> None:
    score = OutputText(contains=("alpha", "bravo"), not_contains=("delta",)).score(SkillResponse(output=output))
    assert score.value == pytest.approx(value)
    assert [each.code for each in score.reasons] == codes


def test_p77_no_text_expected_is_not_configured() -> None:
    assert OutputText.of(ExpectedText()) is None
    assert OutputText.of(ExpectedText(not_contains=["x"])) == OutputText(not_contains=("x",))


def test_messages_are_bounded() -> None:
    score = OutputText(contains=("x" * 5000,)).score(SkillResponse(output="y" * 1_000_000))
    assert len(score.reasons[0].message) < 500
