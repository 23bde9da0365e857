"""Levenshtein, ROUGE-L, ROUGE-N and BLEU, beside what the published implementations give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.scorers import Score, TaskScoring
from eval_skills.scorers.text.overlap import Bleu, Levenshtein, RougeL, RougeN
from tests.tables import each_row

METRICS = {"levenshtein": Levenshtein, "rouge_l": RougeL, "rouge_n": RougeN, "bleu": Bleu}


async def scored(name: str, output: Any, value: str | tuple[str, ...], **options: Any) -> Score:
    score: Score = await METRICS[name](value=value, **options).score(SkillResponse(output=output))
    return score


@each_row(
    ("output", "value", "expected"),
    [
        pytest.param("kitten", "sitting", 1 - 3 / 7, id="textbook"),
        pytest.param("Bern", "Bern", 1, id="equal"),
        pytest.param(" Bern\n", "Bern", 1, id="outer-white-space"),
        pytest.param("Zu\u0308rich", "Zürich", 1, id="accents-composed"),
        pytest.param("bern", "Bern", 0.75, id="case-counts"),
        pytest.param("abc", "xyz", 0, id="nothing-in-common"),
        pytest.param({"answer": 42.0}, "42", 1, id="unwrapped-number"),
        pytest.param("", "Bern", 0, id="empty"),
        pytest.param(None, "Bern", 0, id="null"),
    ],
)
async def test_levenshtein(output: Any, value: str, expected: float) -> None:
    assert (await scored("levenshtein", output, value)).value == pytest.approx(expected)


@each_row(
    ("output", "limit", "passes", "reason"),
    [
        pytest.param("Switserland", 1, True, "expected at most 1 edit, got 1 edit in 11 characters", id="at-the-limit"),
        pytest.param("Swizerlant", 1, False, "expected at most 1 edit, got 2 edits in 11 characters", id="above"),
        pytest.param("Austria", 0, True, "expected at most 0 edits, got 0 edits in 7 characters", id="one-of-several"),
        pytest.param("Aus", 4, True, "got 4 edits in 7 characters", id="fewest-edits-not-the-least-share"),
        pytest.param("", 20, False, "expected an answer, got none", id="empty"),
    ],
)
async def test_a_limit_of_edits_takes_the_place_of_the_share(output: str, limit: int, passes: bool, reason: str) -> None:
    score = await scored("levenshtein", output, ("Switzerland", "Austria"), max_edits=limit)
    assert (score.value, score.passed) == (float(passes), passes)
    assert reason in score.reasons[0].message


async def test_case_is_an_option() -> None:
    assert (await scored("levenshtein", "BERN", "Bern", case_sensitive=False)).value == 1
    assert (await scored("rouge_l", "BERN", "Bern", case_sensitive=True)).value == 0
    assert (await scored("bleu", "BERN", "Bern", case_sensitive=False)).value == 1


@each_row(
    ("output", "value", "expected"),
    [  # as rouge-score 0.1.2 gives them, without its stemmer
        ("the cat sat on the mat", "the cat is on the mat", 0.8333333333333334),
        ("the gunman police killed", "police killed the gunman", 0.5),
        ("police kill the gunman", "police killed the gunman", 0.75),
        ("Bern", "Bern is the capital of Switzerland", 0.2857142857142857),
        ("a b c d e f g", "g f e d c b a", 0.14285714285714285),
        ("Total: 42.5 USD", "the total is 42.5 usd", 0.8),
        ("snake_case word", "snake case word", 1.0),
        ("one", "two", 0.0),
        ("!!!", "word", 0.0),
        ("the the the the", "the cat", 0.3333333333333333),
        ("x y z x y z", "x z y z", 0.8),
    ],
)
async def test_rouge_l_is_that_of_the_published_package(output: str, value: str, expected: float) -> None:
    assert (await scored("rouge_l", output, value)).value == pytest.approx(expected, abs=1e-12)


@each_row(
    ("output", "value", "n", "expected"),
    [  # as rouge-score 0.1.2 gives them, without its stemmer
        ("the cat sat on the mat", "the cat is on the mat", 1, 0.8333333333333334),
        ("the cat sat on the mat", "the cat is on the mat", 2, 0.6),
        ("the gunman police killed", "police killed the gunman", 1, 1.0),
        ("the gunman police killed", "police killed the gunman", 2, 0.6666666666666666),
        ("the the the the", "the cat", 1, 0.3333333333333333),
        ("Total: 42.5 USD", "the total is 42.5 usd", 1, 0.8),
        ("Bern", "Bern is the capital", 2, 0.0),
        ("one", "two", 1, 0.0),
    ],
)
async def test_rouge_n_is_that_of_the_published_package(output: str, value: str, n: int, expected: float) -> None:
    assert (await scored("rouge_n", output, value, n=n)).value == pytest.approx(expected, abs=1e-12)


async def test_rouge_l_reads_scripts_without_blanks_character_by_character() -> None:
    assert (await scored("rouge_l", "東京都", "東京")).value == pytest.approx(0.8)


BLEU_CASES = [
    ("the cat sat on the mat", "the cat is on the mat"),
    ("the cat", "the cat is on the mat"),
    ("Bern, the capital.", "Bern, the capital of Switzerland."),
    ("The Cat", "the cat"),
    ("one two three", "four five six"),
    ("a", "a b"),
]


@pytest.mark.parametrize("tokenize", ["13a", "intl", "char", "zh", "none"])
@pytest.mark.parametrize(("output", "value"), BLEU_CASES)
async def test_bleu_is_sacrebleus_sentence_score(output: str, value: str, tokenize: str) -> None:
    published = BLEU(effective_order=True, tokenize=tokenize).sentence_score(output, [value]).score / 100
    assert (await scored("bleu", output, value, tokenize=tokenize)).value == pytest.approx(published, abs=1e-12)


async def test_bleu_of_a_textbook_pair() -> None:
    # 5 of 6, 3 of 5, 1 of 4 and, smoothed, 1/2 of 3
    assert (await scored("bleu", *BLEU_CASES[0])).value == pytest.approx((5 / 6 * 3 / 5 * 1 / 4 * 0.5 / 3) ** 0.25)


@each_row("name", METRICS)
async def test_of_several_references_the_closest_counts(name: str) -> None:
    assert (await scored(name, "the red fox ran off", ("an owl", "the red fox ran off"))).value == 1


@each_row("name", METRICS)
async def test_it_passes_at_the_threshold_and_the_reason_lets_the_number_be_recomputed(name: str) -> None:
    value = (await scored(name, "a b c d x", "a b c d e")).value
    assert 0.5 < value < 1
    assert (await scored(name, "a b c d x", "a b c d e", threshold=value)).passed
    below = await scored(name, "a b c d x", "a b c d e", threshold=value + 0.001)
    assert below.passed is False
    assert f"got {value:.4g}" in below.reasons[0].message
    assert '"a b c d e"' in below.reasons[0].message


@each_row("name", METRICS)
async def test_an_answer_without_text_gets_0_even_at_the_threshold_0(name: str) -> None:
    outputs: list[Any] = [None, "", "  \n", {}, []]
    for output in outputs:
        found = await scored(name, output, "Bern", threshold=0.0)
        assert (found.value, found.passed, found.reasons[0].code) == (0, False, "OUTPUT_EMPTY")


@each_row(
    ("expected", "path"),
    [
        pytest.param({}, "expectedOutput.value", id="none"),
        pytest.param({"value": " "}, "expectedOutput.value", id="blank"),
        pytest.param({"value": []}, "expectedOutput.value", id="empty-list"),
        pytest.param({"value": ["a", ""]}, "expectedOutput.value[1]", id="one-is-blank"),
        pytest.param({"value": {"a": 1}}, "expectedOutput.value", id="no-text"),
    ],
)
@pytest.mark.parametrize("name", METRICS)
def test_without_a_reference_the_task_is_refused(name: str, expected: dict[str, Any], path: str) -> None:
    task = EvalTask.model_validate({"id": "t", "expectedOutput": {"type": name, **expected}})
    with pytest.raises(InputError) as caught:
        TaskScoring(task)
    assert caught.value.path.startswith(f"task 't': {path}")


def test_a_reference_without_words_is_refused_where_words_are_compared() -> None:
    with pytest.raises(InputError, match="no words"):
        RougeL(value="?!")


@pytest.mark.parametrize("name", METRICS)
@given(answer=st.text(max_size=60), reference=st.text(max_size=60).map(lambda text: f"a{text}"))
async def test_bounds_and_equality(name: str, answer: str, reference: str) -> None:
    assert 0 <= (await scored(name, answer, reference)).value <= 1
    assert (await scored(name, reference, reference)).value == 1


async def test_long_answers_are_compared_in_a_thread() -> None:
    text = "the red fox ran off " * 5_000
    assert (await scored("levenshtein", text, text)).value == 1
    assert (await scored("rouge_l", text, "fox")).value == pytest.approx(2 / 25_001)
