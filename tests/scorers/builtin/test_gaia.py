"""GAIA's published rule, oddities and all: pass or fail by the gold text alone."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, Verdict
from eval_skills.scorers import TaskScoring, score_response_sync
from tests.tables import each_row

NUMBER, LIST, STRING = "number", "list", "string"


def judged(gold: Any, output: Any, **options: Any) -> Verdict:
    fields = {"id": "t", "expectedOutput": {"value": gold}, "evaluator": {"type": "gaia", **options}}
    return score_response_sync(EvalTask.model_validate(fields), SkillResponse(output=output))


@each_row(
    ("answer", "gold", "passes", "match"),
    [
        ("$42", "42", True, NUMBER),
        ("42%", "42", True, NUMBER),
        ("1,000", "1000", True, NUMBER),
        ("1e3", "1000", True, NUMBER),
        ("1_000", "1000", True, NUMBER),
        (" 12 ", "12", True, NUMBER),
        ("٣", "3", True, NUMBER),
        ("12 apples", "12", False, NUMBER),
        ("The answer is 42", "42", False, NUMBER),
        ("½", "0.5", False, NUMBER),
        ("0x10", "16", False, NUMBER),
        ("nan", "nan", False, NUMBER),
        ("anything", "inf", True, NUMBER),
        ("", "Infinity", True, NUMBER),
        ("1000", "1,000", False, LIST),
        ("1,000", "1,000", True, LIST),
        ("b, a", "a, b", False, LIST),
        ("a,b,", "a,b", False, LIST),
        ("a, b.", "a, b", False, LIST),
        ("A ;b", "a, b", True, LIST),
        ("$5, 10%", "5,10", True, LIST),
        ("0.5", "1/2", False, STRING),
        ("12", "1/2", True, STRING),
        ("sea gull", "seagull", True, STRING),
        ("Paris.", "paris", True, STRING),
        ("St. Petersburg", "st petersburg", True, STRING),
        ("Café", "cafe", False, STRING),
        ("“Paris”", "Paris", False, STRING),
        ("a\u00a0b\n", "ab", True, STRING),
        ("", "", True, STRING),
    ],
)
def test_the_published_rule(answer: str, gold: str, passes: bool, match: str) -> None:
    verdict = judged(gold, answer)
    assert (verdict.passed, verdict.score) == (passes, float(passes))
    assert verdict.metadata == {"match": match}
    assert f"match: {match}" in verdict.reasons[0].message


@each_row(
    ("output", "gold"),
    [
        pytest.param(None, "none", id="no-answer-is-a-text"),
        pytest.param({"answer": None}, "None", id="inside-too"),
        pytest.param(42, "42", id="integer"),
        pytest.param(42.0, "42", id="float"),
        pytest.param([1, "b"], "1, b", id="array"),
        pytest.param(True, "true", id="boolean"),
        pytest.param("42.0", 42, id="gold-number"),
        pytest.param({"result": "42"}, "42", id="unwrapped"),
    ],
)
def test_answers_that_are_no_text(output: Any, gold: Any) -> None:
    assert judged(gold, output).passed


@each_row(
    ("output", "plain", "extracted"),
    [
        ("It is so.\nFinal answer: 42\nBye", False, True),
        ("FINAL ANSWER: 41\nno:\nFINAL ANSWER: 42", False, True),
        ("42", True, True),
        ("The answer: 42", False, False),
    ],
)
def test_the_final_line_is_taken_on_request_only(output: str, plain: bool, extracted: bool) -> None:
    assert judged("42", output).passed is plain
    assert judged("42", output, finalAnswer=True).passed is extracted


@each_row("gold", [None, True, ["a"], {"a": 1}])
def test_p10_a_gold_answer_that_is_no_text_or_number_is_refused(gold: Any) -> None:
    with pytest.raises(InputError, match=r"expectedOutput\.value"):
        TaskScoring(EvalTask.model_validate({"id": "t", "expectedOutput": {"type": "gaia", "value": gold}}))


def test_p69_a_mismatch_shows_both_texts() -> None:
    [reason] = judged("a, b", "b, a").reasons
    assert (reason.code, reason.message) == ("OUTPUT_MISMATCH", 'expected "a, b", got "b, a" (match: list)')
