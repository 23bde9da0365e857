"""What the HTML report shows across its skills, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.browser.reports import context, item, skill, written

pytestmark = pytest.mark.slow

CELL = "document.activeElement.ariaLabel"


def wide(skills: int, tasks: int) -> list[Any]:
    """Every skill failed the first task, one alone the second."""
    return [
        skill(
            f"skill-{s:02d}", [item(f"task-{t:03d}", 0, "fail" if t == 0 or (s, t) == (3, 1) else "pass") for t in range(tasks)]
        )
        for s in range(skills)
    ]


def test_the_matrix_says_by_sign_and_word_how_each_skill_did_each_task(page: Any, report: Path) -> None:
    page.open(report)
    cells = "row => [...row.cells].slice(1).map(it => it.innerText.trim())"
    signs = f"[...document.querySelectorAll('#matrix-table tbody tr')].map({cells})"
    assert [[cell.split("\n")[0] for cell in row] for row in page.value(signs)] == [
        ["✓", "◐ 1/2", "✗"], ["✓", "✗ 0/2", "✗"], ["·", "✓ 2/2", "·"], ["·", "✗ 0/2", "·"],
    ]  # fmt: skip
    label = page.value("document.querySelector('#matrix-table tbody tr td:nth-child(3) a').ariaLabel")
    assert label == "troubled@1.0.0 · t1: flaky, 1 of 2 runs passed"
    page.click("#matrix-table tbody tr td:nth-child(3) a")
    page.until("document.querySelector('#task').open && document.querySelector('#task-name').textContent === 't1'")
    assert page.complaints() == []


def test_a_matrix_of_twenty_by_five_hundred_stays_small_and_is_filtered(page: Any, tmp_path: Path) -> None:
    file = written(tmp_path, wide(20, 500), context())
    page.open(file)
    assert page.value("document.querySelectorAll('#matrix-table tbody td').length") == 1000
    assert "Tasks 1–50 of 500" in page.text("#matrix-pages")
    page.click("#matrix-pages button:last-child")
    assert "Tasks 51–100 of 500" in page.text("#matrix-pages")
    assert "matrix.page=2" in page.value("location.hash")
    page.choose("#matrix-show", "all")
    assert page.text("#matrix-count") == "1 of 500 tasks"
    assert "failed by all" in page.text("#matrix-table tbody tr")
    page.choose("#matrix-show", "alone")
    assert "only skill-03@1.0.0 fails" in page.text("#matrix-table tbody tr")
    hash_ = page.value("location.hash")
    page.call("Page.navigate", url="about:blank")
    page.open(file, hash_)
    assert page.text("#matrix-count") == "1 of 500 tasks"
    assert page.complaints() == []


def test_skills_beyond_those_that_fit_are_a_step_away(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, wide(35, 2), context()))
    assert "Skills 1–30 of 35" in page.text("#matrix-sides")
    page.click("#matrix-sides button:last-child")
    assert len(page.texts("#matrix-table thead th")) == 6


def test_the_matrix_is_walked_with_the_keys_and_keeps_its_heads_in_sight(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, wide(20, 60), context()))
    page.value("document.querySelector('#matrix-table tbody a[tabindex=\"0\"]').focus()")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.press(key)
    assert page.value(CELL).startswith("skill-01@1.0.0 · task-001: ")
    page.press("End")
    assert page.value(CELL).startswith("skill-03@1.0.0 · task-001: ")
    for _ in range(40):
        page.press("ArrowDown")
    heads = page.value(
        "(() => { const box = document.querySelector('#matrix .scroll').getBoundingClientRect();"
        " const head = document.querySelector('#matrix-table thead th').getBoundingClientRect();"
        " return Math.abs(head.top - box.top) < 3 && Math.abs(head.left - box.left) < 3 })()"
    )
    assert heads
    page.press("Enter")
    page.until("document.querySelector('#task').open")


def test_one_skill_has_no_matrix(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, wide(1, 3), context()))
    assert page.value("document.querySelector('#matrix').hidden") is True


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 390)], ids=["light", "dark-phone"])
def test_it_looks_well(page: Any, tmp_path: Path, pictures: Callable[[str], Path], dark: bool, width: int) -> None:
    page.look(dark=dark, width=width)
    page.open(written(tmp_path, wide(20, 60), context()))
    assert page.value("document.documentElement.scrollWidth") <= width
    page.picture(pictures(f"across-{width}"))
