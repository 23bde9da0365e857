"""Contains: the share of the keywords in the answer's text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse
from eval_skills.scorers import Score
from eval_skills.scorers.builtin.contains import Contains
from tests.tables import each_row


def scored(output: Any, *keywords: str, **options: Any) -> Score:
    return Contains(keywords=keywords, **options).score(SkillResponse(output=output))


@each_row(
    ("output", "keywords", "value"),
    [
        pytest.param("Owl and Moon", ("OWL", "moon"), 1, id="any-case"),
        pytest.param("owl", ("owl", "moon"), 0.5, id="half"),
        pytest.param({"answer": "Meitner"}, ("meitner",), 1, id="unwrapped"),
        pytest.param({"people": [{"name": "Meitner"}]}, ("meitner",), 1, id="nested"),
        pytest.param(42.0, ("42",), 1, id="number"),
        pytest.param(None, ("null",), 0, id="null-is-no-text"),
        pytest.param("", ("x",), 0, id="empty"),
    ],
)
def test_value(output: Any, keywords: tuple[str, ...], value: float) -> None:
    score = scored(output, *keywords)
    assert (score.value, score.passed) == (value, value == 1)


def test_p02_case_sensitive_reaches_the_scorer() -> None:
    assert scored("owl", "OWL", case_sensitive=True).value == 0
    assert scored("OWL", "OWL", case_sensitive=True).value == 1


def test_p03_keys_do_not_count() -> None:
    assert scored({"summary": "x", "deep": {"total": 1}}, "summary", "total").value == 0


@pytest.mark.parametrize("keyword", ["two\nlines", 'say "hi"', "back\\slash"])
def test_p04_keywords_match_decoded_values_inside_objects(keyword: str) -> None:
    assert scored({"k": f"… {keyword} …"}, keyword).value == 1


@pytest.mark.parametrize(
    ("options", "path"),
    [
        pytest.param({"keywords": ()}, "keywords", id="no-keywords"),
        pytest.param({"keywords": ("a", "")}, "keywords[1]", id="empty-keyword"),
        pytest.param({"keywords": ("a",), "not_contains": ("",)}, "notContains[0]", id="empty-forbidden-text"),
    ],
)
def test_p05_empty_lists_and_texts_are_load_errors(options: dict[str, Any], path: str) -> None:
    with pytest.raises(InputError) as caught:
        Contains(**options)
    assert caught.value.path == path


def test_a_forbidden_text_makes_it_0() -> None:
    score = scored("owl and Secret", "owl", not_contains=("secret",))
    assert (score.value, score.passed, [each.code for each in score.reasons]) == (0, False, ["KEYWORD_FORBIDDEN"])
    assert scored("owl", "owl", not_contains=("secret",)).passed is True


def test_every_missing_word_has_a_reason_that_shows_the_answer() -> None:
    reasons = scored("The Fox", "owl", "moon").reasons
    assert [each.message for each in reasons] == [
        'expected "owl" in the answer, got "The Fox"',
        'expected "moon" in the answer, got "The Fox"',
    ]


@given(st.text(), st.lists(st.text(min_size=1), min_size=1, max_size=5))
def test_text_holds_each_of_its_parts(padding: str, words: list[str]) -> None:
    assert scored(padding + "\n".join(words), *words).value == 1


@pytest.mark.parametrize("case_sensitive", [True, False])
def test_an_accent_is_the_same_composed_and_decomposed_in_either_case_rule(case_sensitive: bool) -> None:
    composed, decomposed = "Z\u00fcrich", "Zu\u0308rich"
    for answer, text in ((composed, decomposed), (decomposed, composed)):
        assert scored(answer, text, case_sensitive=case_sensitive).passed
        assert scored(answer, text.upper(), case_sensitive=case_sensitive).passed is not case_sensitive
        assert not scored(f"Bern {answer}", "Bern", not_contains=(text,), case_sensitive=case_sensitive).passed
