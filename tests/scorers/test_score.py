"""A score is a share in [0, 1], whoever returns it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from eval_skills.core.errors import ScorerError
from eval_skills.scorers import Score
from eval_skills.scorers.score import as_score
from tests.tables import each_row


@each_row("value", [7, -0.1, 1.0005, math.nan, math.inf, "0.5", None, [1]])
def test_p06_a_value_outside_0_to_1_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="score is"):
        Score(value)
    with pytest.raises(ScorerError):
        Score(1.0, dimensions={"part": value})


@each_row(("value", "passed"), [(1.0, True), (1, True), (0.999, False), (0, False)])
def test_only_a_full_score_passes_by_itself(value: float, passed: bool) -> None:
    assert Score(value).passed is passed


@each_row(
    ("value", "meant"),
    [
        pytest.param(sum([0.1] * 10), 1.0, id="ten-tenths"),
        pytest.param(1.0000000000000002, 1.0, id="cosine"),
        pytest.param(-2.2e-16, 0.0, id="below-nothing"),
        pytest.param(1e-7, 1e-7, id="little"),
    ],
)
def test_what_rounding_left_beside_0_and_1_is_0_and_1(value: float, meant: float) -> None:
    score = Score(value, dimensions={"part": value}, highest=value)
    assert (score.value, score.dimensions["part"], score.highest, score.passed) == (meant, meant, meant, meant == 1)


def test_a_scorer_may_decide_otherwise() -> None:
    assert Score(0.7, passed=True).passed is True
    assert Score(1.0, passed=False).passed is False


@each_row(
    ("result", "value", "passed", "reason"),
    [
        pytest.param(True, 1.0, True, "", id="true"),
        pytest.param(False, 0.0, False, "", id="false"),
        pytest.param(0.25, 0.25, False, "", id="number"),
        pytest.param({"score": 0.8, "passed": True, "reason": "near"}, 0.8, True, "near", id="object"),
        pytest.param({"score": 1}, 1.0, True, "", id="object-with-score-alone"),
    ],
)
def test_results_of_plain_functions(result: Any, value: float, passed: bool, reason: str) -> None:
    score = as_score(result)
    assert score is not None
    assert (score.value, score.passed, score.reason) == (value, passed, reason)


def test_nothing_stays_nothing() -> None:
    assert as_score(None) is None


@each_row(
    ("result", "message"),
    [
        pytest.param("good", "must be a number", id="text"),
        pytest.param({"scor": 1}, "did you mean 'score'", id="misspelt-key"),
        pytest.param({"passed": True}, "no key 'score'", id="score-missing"),
        pytest.param({"score": 1, "passed": "false"}, "true or false", id="text-for-a-boolean"),
        pytest.param({"score": 7}, "between 0 and 1", id="out-of-range"),
    ],
)
def test_other_results_are_refused(result: Any, message: str) -> None:
    with pytest.raises(ScorerError, match=message):
        as_score(result)
