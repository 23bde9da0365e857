"""The texts an answer must hold, and those it must not."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.models import ExpectedText, SkillResponse
from eval_skills.scorers.task_scoring.configured import OutputText
from tests.tables import each_row


@each_row(
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


@pytest.mark.parametrize("answer", ["Z\u00fcrich", "Zu\u0308rich"], ids=["composed", "decomposed"])
@pytest.mark.parametrize("text", ["z\u00dcrich", "zU\u0308rich"], ids=["as-one-sign", "as-two-signs"])
def test_an_accent_is_the_same_composed_and_decomposed(answer: str, text: str) -> None:
    response = SkillResponse(output=f"I like {answer}.")
    assert OutputText(contains=(text,)).score(response).value == 1
    assert OutputText(not_contains=(text,)).score(response).value == 0


def test_a_text_that_is_wanted_and_refused_in_two_spellings_is_refused() -> None:
    with pytest.raises(ValueError, match="in contains and in notContains"):
        ExpectedText(contains=["Z\u00fcrich"], not_contains=["zu\u0308rich"])
