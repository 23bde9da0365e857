"""The page of triggers in a real browser: bars on the scale of their rates, a table to sort, and no stranger's code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.triggers import Triggers
from eval_skills.reporting.triggers.document import render_html
from tests.core.test_triggers import triggers
from tests.end_to_end.browser.test_diff_page import PROBES

pytestmark = pytest.mark.slow

ASKED = (
    "Add up the column “amount” of sales.csv and tell me the total in euros",
    "Which shop sold most in March? The numbers are in shops.csv",
    "Turn this table into a report that my boss can read on one page",
    "How many rows has export.csv?",
    "Extract the tables of the invoice in invoice.pdf",
    "Write a mail to the customers whose invoices are open",
    "Report the bug in sales.py to the tracker",
    "What is a comma-separated file? Explain it to my daughter, who is eight years old and likes trains more than tables",
)


def some() -> Triggers:
    """Queries of all outcomes: right, wrong on both sides, unknown, and left open."""
    found = triggers(
        (True, "LLL"), (True, "LL-"), (True, "cco"), (True, "Lxx"), (False, "---"), (False, "-o-"), (False, "LLL"), (False, "sxt")
    )  # fmt: skip
    queries = [each.model_copy(update={"query": query}) for each, query in zip(found.queries, ASKED, strict=True)]
    told = {"queries": queries, "agent": "opencode", "model": "openai/gpt-5", "run_id": "20261124T145538Z-dab3"}
    return found.model_copy(update=told)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    file = tmp_path / "triggers.html"
    file.write_text(render_html(some()))
    return file


def test_it_opens_without_a_network_and_without_a_complaint(page: Any, written: Path) -> None:
    page.open(written)
    assert page.texts("h2") == [
        "Rates", "What was loaded", "Not loaded, and should be: 1 of 8", "False alarms: 1 of 8", "Unknown: 1 of 8",
        "All queries: 8 of 8",
    ]  # fmt: skip
    assert page.complaints() == []
    assert page.requests() == [written.as_uri()]


def test_the_bars_are_on_the_scale_of_their_rates(page: Any, written: Path) -> None:
    page.open(written)
    share = (
        "(bar) => { const box = bar.getBoundingClientRect(), point = bar.querySelector('.point').getBoundingClientRect();"
        " return (point.x + point.width / 2 - box.x) / box.width - Number(bar.dataset.at) }"
    )
    off = page.value(f"[...document.querySelectorAll('.interval')].map({share})")
    assert len(off) == 3 + 2 + 7  # the rates, the two wrong queries, and all but the unknown one
    assert all(abs(each) < 0.01 for each in off)


def test_a_click_sorts_by_the_load_rate_and_the_unknown_one_comes_last(page: Any, written: Path) -> None:
    page.open(written)
    for first in (1.0, 0.0):
        page.click("#query-table th:nth-child(4) .sort")
        rates = page.value(
            "[...document.querySelectorAll('#query-table tbody td:nth-child(4)')].map(it => it.dataset.value ?? null)"
        )
        assert (float(rates[0]), rates[-1]) == (first, None)


def test_stored_scripts_stay_text_in_every_field(page: Any, tmp_path: Path) -> None:
    found = some()
    queries = [each.model_copy(update={"query": PROBES, "others": {PROBES: 1}}) for each in found.queries]
    told: dict[str, Any] = dict.fromkeys(("skill", "agent", "model", "run_id"), PROBES)
    lists: dict[str, Any] = {"neighbours": [PROBES], "confusion": {PROBES: 1}, "remarks": [PROBES], "queries": queries}
    file = tmp_path / "triggers.html"
    file.write_text(render_html(found.model_copy(update=told | lists)))
    page.open(file)
    assert page.value("document.documentElement.dataset.pwned ?? null") is None
    assert page.value("document.querySelectorAll('main img, main svg, main a, main style, main script').length") == 0
    assert page.requests() == [file.as_uri()]
    assert page.complaints() == []


@pytest.mark.parametrize(
    ("dark", "width"),
    [pytest.param(False, 1280, id="light"), pytest.param(True, 1280, id="dark"), pytest.param(False, 390, id="phone")],
)
def test_nothing_is_wider_than_the_window(
    page: Any, written: Path, pictures: Callable[[str], Path], dark: bool, width: int
) -> None:
    page.look(dark=dark, width=width)
    page.open(written)
    assert page.value("document.documentElement.scrollWidth") == width
    scrolled = (
        "[...document.querySelectorAll('.scroll')].filter((it) => it.scrollWidth > it.clientWidth + 1).map((it) => it.ariaLabel)"
    )
    assert page.value(scrolled) == []
    page.picture(pictures(f"triggers-{width}-{'dark' if dark else 'light'}"))
