"""Regex: the share of the patterns found, each in bounded time."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse
from eval_skills.scorers import Score
from eval_skills.scorers.builtin.regex import Regex
from tests.tables import each_row

ENDLESS = r"(a|aa)+$"
BAIT = "a" * 60 + "b"


async def scored(output: Any, *patterns: str, **options: Any) -> Score:
    return await Regex(patterns=patterns, **options).score(SkillResponse(output=output))


@each_row(
    ("output", "patterns", "value"),
    [
        pytest.param("an owl", ("owl", "fox"), 0.5, id="half"),
        pytest.param("owl and moon", ("wl", "mo+n"), 1, id="searched"),
        pytest.param("Owl", ("owl",), 0, id="case-counts"),
        pytest.param({"result": "42.50"}, (r"^\d+\.\d{2}$",), 1, id="unwrapped"),
        pytest.param({"key": {"inner": "7"}}, ("key|inner",), 0, id="keys-are-not-searched"),
        pytest.param("x" * 10_000 + "7", (r"\d$",), 1, id="long-text"),
    ],
)
async def test_value(output: Any, patterns: tuple[str, ...], value: float) -> None:
    score = await scored(output, *patterns)
    assert (score.value, score.passed) == (value, value == 1)


async def test_p02_case_sensitive_reaches_the_scorer() -> None:
    assert (await scored("OWL", "owl", case_sensitive=False)).value == 1


@each_row(
    ("patterns", "path"),
    [
        pytest.param((), "patterns", id="p05-none"),
        pytest.param(("ok", "(open"), "patterns[1]", id="invalid"),
        pytest.param(("a{2,1}",), "patterns[0]", id="impossible"),
        pytest.param(("ok", ""), "patterns[1]", id="an-empty-one-matches-everything"),
    ],
)
def test_p05_empty_and_invalid_lists_are_load_errors(patterns: tuple[str, ...], path: str) -> None:
    with pytest.raises(InputError) as caught:
        Regex(patterns=patterns)
    assert caught.value.path == path


@pytest.mark.slow
async def test_p08_a_match_that_would_not_end_is_given_up_with_a_reason() -> None:
    began = time.monotonic()
    score = await scored(BAIT, ENDLESS, "b$", timeout_ms=200)
    assert time.monotonic() - began < 60
    assert (score.value, score.passed) == (0.5, False)
    assert score.reasons[0].code == "OUTPUT_REGEX_TIMEOUT"
    assert "stopped after 200 ms" in score.reasons[0].message


@pytest.mark.slow
def test_p08_the_limit_holds_in_any_thread() -> None:
    scores: list[Score] = []
    thread = threading.Thread(target=lambda: scores.append(asyncio.run(scored(BAIT, ENDLESS, timeout_ms=100))))
    thread.start()
    thread.join(timeout=60)
    assert [each.reasons[0].code for each in scores] == ["OUTPUT_REGEX_TIMEOUT"]


@pytest.mark.slow
async def test_p100_a_long_match_leaves_the_event_loop_free() -> None:
    scoring = asyncio.create_task(scored(BAIT, ENDLESS, timeout_ms=1000))
    turns = 0
    while not scoring.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert turns >= 3  # a loop that is held up turns once


async def test_a_reason_shows_pattern_and_answer() -> None:
    score = await scored("the fox", "owl")
    assert [(each.code, each.message) for each in score.reasons] == [("OUTPUT_REGEX", 'expected a match of "owl", got "the fox"')]
