"""The HTML report in a real browser: it opens offline, and answers to mouse and keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.browser.reports import context, item, skill, written


def test_it_opens_without_a_network_and_without_a_complaint(page: Any, report: Path) -> None:
    page.open(report)
    assert page.texts("#ranking-table a[data-open]") == ["sound@1.0.0", "troubled@1.0.0", "wrong@1.0.0"]
    assert page.text("#skill-name") == "sound@1.0.0"
    assert page.complaints() == []
    assert page.requests() == [report.as_uri()]


def test_a_header_sorts_and_a_second_click_turns_the_order(page: Any, report: Path) -> None:
    page.open(report)
    names = "#ranking-table tbody a[data-open]"
    header = "#ranking-table th:nth-child(3)"
    page.click(f"{header} button")
    assert page.texts(names) == ["sound@1.0.0", "troubled@1.0.0", "wrong@1.0.0"]
    assert page.value(f"document.querySelector('{header}').ariaSort") == "descending"
    page.click(f"{header} button")
    assert page.texts(names) == ["wrong@1.0.0", "troubled@1.0.0", "sound@1.0.0"]
    assert page.value(f"document.querySelector('{header}').ariaSort") == "ascending"


@pytest.mark.parametrize(
    ("column", "order"),
    [
        pytest.param(1, ["t1", "t2", "t3", "t4"], id="task"),
        pytest.param(3, ["t1", "t2", "t3", "t4"], id="flaky-first"),
        pytest.param(4, ["t3", "t1", "t2", "t4"], id="most-passed-first"),
        pytest.param(6, ["t2", "t1", "t3", "t4"], id="slowest-first"),
    ],
)
def test_the_tasks_sort(page: Any, report: Path, column: int, order: list[str]) -> None:
    page.open(report, "#skill=troubled@1.0.0")
    page.click(f"#grid-table th:nth-child({column}) button")
    assert page.texts("#grid-table a[data-open]") == order


@pytest.mark.parametrize(
    ("selector", "value", "left"),
    [
        pytest.param("#filter-status", "flaky", ["t1"], id="flaky"),
        pytest.param("#filter-status", "open", ["t1", "t2", "t4"], id="not-passed"),
        pytest.param("#filter-status", "error", ["t2"], id="error"),
        pytest.param("#filter-status", "timeout", ["t2"], id="timeout"),
        pytest.param("#filter-status", "pass", ["t3"], id="passed"),
        pytest.param("#filter-tag", ".text", ["t3"], id="tag"),
        pytest.param("#filter-search", "not 5", ["t1", "t4"], id="in-a-reason"),
        pytest.param("#filter-search", "2+3", ["t1", "t4"], id="in-an-input"),
        pytest.param("#filter-search", "REFUSED", ["t2"], id="any-case"),
        pytest.param("#filter-search", "nowhere", [], id="nothing"),
    ],
)
def test_filters(page: Any, report: Path, selector: str, value: str, left: list[str]) -> None:
    page.open(report, "#skill=troubled@1.0.0")
    page.choose(selector, value)
    assert page.texts("#grid-table a[data-open]") == left
    assert set(page.texts("#failure-table a[data-open]")) <= set(left)
    assert page.text("#filter-count") == f"{len(left)} of 4 tasks"


def test_flaky_tasks_stand_out(page: Any, report: Path) -> None:
    page.open(report, "#skill=troubled@1.0.0")
    assert page.texts("#grid-table tr.mixed a[data-open]") == ["t1"]
    assert page.texts("#grid-table tr.mixed .mark") == ["✓", "✗"]
    said = page.value("document.querySelector('#grid-table tr.mixed .strip').ariaLabel")
    assert said == "run 1: passed, run 2: failed"


def test_a_failure_shows_input_expected_answer_and_reasons_side_by_side(page: Any, report: Path) -> None:
    page.open(report, "#skill=troubled@1.0.0")
    cells = [" ".join(text.split()) for text in page.texts("#failure-table tr:first-child td")]
    assert cells == ["t1 ✗ failed run 2 NOT_EQUAL", 'object {"q": "2+3"}', "number 5", "text 4", "NOT_EQUAL: 4 is not 5"]
    assert " ".join(page.text("#failure-table tr:last-child td").split()) == "t4 ✗ failed runs 1, 2 NOT_EQUAL"
    boxes = page.value(
        "[...document.querySelectorAll('#failure-table tr:first-child td')].map(it => it.getBoundingClientRect().y)"
    )
    assert len(set(boxes)) == 1
    page.click("#failure-table tbody td:nth-child(4)")
    page.until("document.querySelector('#task').open")
    assert page.text("#task-name") == "t1"
    assert page.texts("#task-runs .tag") == ["✓ passed", "✗ failed"]


def test_a_cut_answer_says_how_much_is_missing(page: Any, report: Path) -> None:
    page.open(report, "#skill=wrong@1.0.0&task=t1")
    assert page.text("#task-runs .cut") == "✂ 3,000 more characters in the JSON report"
    assert len(page.text("#task-runs pre")) == 2000


@pytest.mark.parametrize(
    ("fragment", "name", "task", "notice"),
    [
        pytest.param("#skill=troubled@1.0.0", "troubled@1.0.0", None, "", id="skill"),
        pytest.param("#skill=troubled&task=t2", "troubled@1.0.0", "t2", "", id="without-version"),
        pytest.param("#skill=troubled%401.0.0&task=t4", "troubled@1.0.0", "t4", "", id="encoded"),
        pytest.param("#skill=gone@1.0.0", "sound@1.0.0", None, "This report has no skill “gone@1.0.0”.", id="no-such-skill"),
        pytest.param("#skill=sound@1.0.0&task=<b>", "sound@1.0.0", None, "sound@1.0.0 has no task “<b>”.", id="no-such-task"),
        pytest.param("#%E0%A4&&=", "sound@1.0.0", None, "", id="nonsense"),
    ],
)
def test_deep_links(page: Any, report: Path, fragment: str, name: str, task: str | None, notice: str) -> None:
    page.open(report, fragment)
    assert page.text("#skill-name") == name
    assert page.value("document.querySelector('#task').open") is (task is not None)
    assert page.value("document.querySelector('#task-name').textContent") == (task or "")
    assert page.value("document.querySelector('#notice').textContent") == notice
    assert page.complaints() == []


def test_the_keyboard_is_enough(page: Any, report: Path) -> None:
    page.open(report)
    page.value("document.querySelector('#ranking-table a[data-open]').focus()")
    page.press("ArrowDown")
    assert page.value("document.activeElement.textContent") == "troubled@1.0.0"
    assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press("Enter")
    page.until("document.querySelector('#skill-name').textContent === 'troubled@1.0.0'")
    page.press("/")
    page.write("t4")
    assert page.texts("#grid-table a[data-open]") == ["t4"]
    page.press("Escape")
    assert len(page.texts("#grid-table a[data-open]")) == 4
    page.value("document.querySelector('#grid-table a[data-open]').focus()")
    page.press("Enter")
    page.until("document.querySelector('#task').open && document.querySelector('#task-name').textContent === 't1'")
    page.press("ArrowRight")
    page.until("document.querySelector('#task-name').textContent === 't2' && location.hash.endsWith('task=t2')")
    page.press("Escape")
    page.until("!document.querySelector('#task').open && location.hash === '#skill=troubled@1.0.0'")


def test_many_failures_come_a_page_at_a_time(page: Any, tmp_path: Path) -> None:
    items = [item(f"t{number}", status="fail", output=number) for number in range(30)]
    page.open(written(tmp_path, [skill("s", items)], context()))
    assert len(page.texts("#failure-table tbody tr")) == 20
    assert page.text("#failures-more") == "Show 10 more of 10"
    page.click("#failures-more")
    assert len(page.texts("#failure-table tbody tr")) == 30
    assert page.value("document.querySelector('#failures-more').hidden") is True


def test_a_report_of_nothing_opens(page: Any, tmp_path: Path) -> None:
    page.open(written(tmp_path, [], context(min_completion=None)))
    assert "No skill was evaluated." in page.text("main")
    assert page.complaints() == []
