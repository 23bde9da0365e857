"""The tables of judging in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import SkillCompletionReport
from tests.end_to_end.browser.reports import context, item, skill, written

PANEL = "openai/one + anthropic/two + mistral/three (median of 3 models)"


def judged(name: str, tokens: int, *models: str) -> SkillCompletionReport:
    """A report of one task that these models judged."""
    judges = [{"model": model, "prompt": "llm_judge 1, prompt 1", "items": 1, "calibration": None} for model in models]
    told = {
        "items": 1, "unjudged": 0, "cached": 0, "agreement": 0.5, "judges": judges, "correctedCompletion": None,
        "correctedReason": "nobody calibrated it", "positionBias": [],
        "lengthBias": {"spearman": None, "items": 1, "rating": None, "reason": "fewer than 3 items"},
    }  # fmt: skip
    plain = skill(name, [item("t1", status="pass", score=1.0)])
    cost = plain.token_cost.model_copy(update={"judge_tokens": tokens})
    return plain.model_copy(update={"evaluator_metadata": {"judge": told}, "token_cost": cost})


@pytest.fixture
def page_of_judged(page: Any, tmp_path: Path) -> Any:
    reports = [
        judged("cheap", 9, PANEL), judged("dear", 1_000, "openai/one", "<b>x</b>"), skill("plain", [item("t1", status="pass")]),
    ]  # fmt: skip
    return page.open(written(tmp_path, reports, context()))


def test_the_skills_sort_by_what_judging_took_and_lead_to_their_judges(page_of_judged: Any) -> None:
    page, names = page_of_judged, "#judging-table tbody a[data-open]"
    assert sorted(page.texts(names)) == ["cheap@1.0.0", "dear@1.0.0"]
    page.click("#judging-table th:nth-child(6) button")
    assert page.texts(names) == ["dear@1.0.0", "cheap@1.0.0"]
    page.click(f"#judging-table tr:first-child {names.split()[-1]}")
    page.until("document.querySelector('#skill-name').textContent === 'dear@1.0.0'")
    assert page.texts("#judge-table tbody td:first-child") == ["openai/one", "<b>x</b>"]
    assert "Completion is not corrected for the judge's mistakes: nobody calibrated it." in page.texts("#judge-notes li")
    assert page.complaints() == []


def test_a_skill_that_nobody_judged_has_no_judges(page_of_judged: Any) -> None:
    page_of_judged.choose("#skill-choice", "plain@1.0.0")
    page_of_judged.until("document.querySelector('#skill-name').textContent === 'plain@1.0.0'")
    assert page_of_judged.value("document.querySelector('#judges').hidden") is True


@pytest.mark.parametrize("width", [1280, 400])
def test_no_table_is_wider_than_the_page(page_of_judged: Any, pictures: Callable[[str], Path], width: int) -> None:
    page_of_judged.look(width=width)
    assert page_of_judged.value("document.documentElement.scrollWidth <= innerWidth") is True
    page_of_judged.picture(pictures(f"judging-{width}"))
