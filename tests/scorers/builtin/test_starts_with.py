"""Starts with: how the answer begins."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse
from eval_skills.scorers import Score
from eval_skills.scorers.builtin.starts_with import StartsWith
from tests.tables import each_row


def scored(output: Any, value: str | tuple[str, ...], **options: Any) -> Score:
    return StartsWith(value=value, **options).score(SkillResponse(output=output))


@each_row(
    ("output", "value", "begins"),
    [
        pytest.param("Dear Ada, …", "dear", True, id="any-case"),
        pytest.param("\n  Dear Ada", "Dear", True, id="outer-white-space"),
        pytest.param("Oh dear", "dear", False, id="not-at-the-beginning"),
        pytest.param({"answer": "Dear"}, "dear", True, id="unwrapped"),
        pytest.param("Hello Ada", ("Dear", "Hello"), True, id="one-of-several"),
        pytest.param("Zu\u0308rich is", "Zürich", True, id="accents-composed"),
        pytest.param(42.0, "4", True, id="number"),
        pytest.param("", "Dear", False, id="empty"),
        pytest.param(None, "null", False, id="null-is-no-text"),
    ],
)
def test_value(output: Any, value: str | tuple[str, ...], begins: bool) -> None:
    score = scored(output, value)
    assert (score.value, score.passed, bool(score.reasons)) == (float(begins), begins, not begins)


def test_case_counts_where_it_is_asked_for() -> None:
    assert not scored("dear", "Dear", case_sensitive=True).passed
    assert scored("Dear", "Dear", case_sensitive=True).passed


def test_the_reason_shows_both() -> None:
    assert scored("Hi", "Dear").reasons[0].message == 'expected an answer that begins with "Dear", got "Hi"'


@each_row("value", ["", "  ", (), ("Dear", "")])
def test_nothing_to_begin_with_is_a_load_error(value: str | tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        StartsWith(value=value)
    assert caught.value.path == "value"
