"""Pages on paper: every kind with all its rows, on the sheet, with bars that are drawn, and the screen as it was afterwards."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from pypdfium2 import PdfDocument

from tests.end_to_end.browser.conftest import Page
from tests.end_to_end.browser.kinds import KINDS, comparison, list_of_runs, many_skills, viewer_table
from tests.end_to_end.browser.reports import agent_report

pytestmark = pytest.mark.slow

SHEET = 711
"""px of a sheet of A4 between its margins; Chromium shrinks what is wider, other browsers cut it."""

TEXTS = (
    "[...document.querySelectorAll('main table :is(td, th)')].filter((cell) => !cell.closest('[hidden]')).flatMap((cell) => "
    "[...cell.querySelectorAll('*'), cell].filter((it) => !it.matches('.hidden-text'))"
    ".flatMap((it) => [...it.childNodes].filter((node) => node.nodeType === 3)))"
    ".map((node) => node.data).filter((text) => text.trim() !== '')"
)
"""The texts of all cells in the document, whether or not this screen has room for them."""

BARS = "[...document.querySelectorAll('.range, .point, .strip-none, .zero, .gate')].filter((it) => it.checkVisibility())"
STATE = '[document.body.innerHTML.replace(/<canvas[^>]*>| (style|class)="[^"]*"/g, \'\'), location.href, scrollY]'


def sheets(page: Page) -> list[str]:
    """The text of each sheet."""
    return [plain(sheet.get_textpage().get_text_bounded()) for sheet in PdfDocument(page.printed())]


@pytest.fixture(scope="module")
def printed() -> dict[str, list[str]]:
    """The sheets of the kinds that were printed so far: to print the sixty of the longest takes seconds."""
    return {}


def plain(text: str) -> str:
    """A text without spaces and ligatures: a printer breaks lines where it must, and joins letters. A hyphen at which it broke a
    line is read as U+0002."""
    return "".join(unicodedata.normalize("NFKC", text).replace("\x02", "-").split())


def on_paper(page: Page) -> None:
    """The page as it is while it is printed, to be measured."""
    page.look(width=SHEET)
    page.value("dispatchEvent(new Event('beforeprint')); undefined")
    page.call("Emulation.setEmulatedMedia", media="print")


@pytest.mark.parametrize("kind", KINDS)
def test_every_cell_of_every_table_is_on_paper_and_the_screen_is_as_it_was(
    page: Page, tmp_path: Path, kind: str, printed: dict[str, list[str]]
) -> None:
    page.open(KINDS[kind](tmp_path))
    before = page.value(STATE)
    printed[kind] = sheets(page)
    text = "".join(printed[kind])
    missing = [each for each in page.value(TEXTS) if plain(each) not in text]
    assert missing == []
    assert page.value(STATE) == before
    assert page.complaints() == []


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wider_than_a_sheet_and_every_bar_is_drawn(page: Page, tmp_path: Path, kind: str) -> None:
    page.look(dark=True)
    page.open(KINDS[kind](tmp_path))
    on_paper(page)
    wide = (
        "[...document.querySelectorAll('body *')]"
        f".filter((it) => it.checkVisibility() && it.getBoundingClientRect().right > {SHEET + 1})"
        ".map((it) => it.outerHTML.slice(0, 100))"
    )
    assert page.value("document.documentElement.scrollWidth") <= SHEET, page.value(wide)
    cut = (
        "(it) => !it.matches('.hidden-text') && it.checkVisibility() && getComputedStyle(it).overflowY !== 'visible' "
        "&& it.scrollHeight > it.clientHeight + 1"
    )
    assert page.value(f"[...document.querySelectorAll('main *')].filter({cut}).map((it) => it.outerHTML.slice(0, 100))") == []
    borders = "parseFloat(getComputedStyle(it).borderTopWidth) + parseFloat(getComputedStyle(it).borderLeftWidth)"
    assert page.value(f"{BARS}.filter((it) => {borders} === 0).map((it) => it.outerHTML)") == []
    assert page.value("getComputedStyle(document.body).color") == "rgb(27, 32, 39)", "ink is dark on paper, also in the dark"


def test_names_in_a_list_are_broken_where_they_have_a_sign(page: Page, tmp_path: Path) -> None:
    page.open(list_of_runs(tmp_path))
    on_paper(page)
    width, height = page.value(
        "(({width, height}) => [width, height])(document.querySelector('td.names').getBoundingClientRect())"
    )
    assert (width > 90, height < 100) == (True, True)


def test_many_names_of_a_run_are_folded_on_the_screen_and_all_there_on_paper(page: Page, tmp_path: Path) -> None:
    page.look(width=1400)
    page.open(list_of_runs(tmp_path, [*(f"skill_{number:02d}@1.0.0" for number in range(59)), "n" * 120]))
    height, summary = (
        "document.querySelector('td.names').getBoundingClientRect().height",
        "document.querySelector('td.names summary')",
    )
    assert page.value(f"{summary}.textContent") == "54 more"
    assert page.value(height) < 200
    on_paper(page)
    assert page.value("document.querySelector('td.names details').open")
    assert page.value("document.querySelector('td.names').textContent").count("skill_") == 59


def test_names_as_long_as_sentences_are_folded_by_their_length_and_a_long_link_stays_in_its_cell(
    page: Page, tmp_path: Path
) -> None:
    page.look(width=1400)
    for names, said in (([150, 150, 1], "1 more"), ([400, 1], "1 more"), ([60] * 7, "2 more")):
        page.open(list_of_runs(tmp_path, ["n" * chars for chars in names]))
        assert page.value("document.querySelector('td.names summary').textContent") == said
    state = "document.querySelector('td > .tag')"
    top = "getBoundingClientRect().top"
    page.open(list_of_runs(tmp_path, ["n" * 400, "n"]))
    assert page.value(f"{state}.{top} - {state}.closest('tr').{top}") < 30, "cells begin on one line, however high the row is"
    link = "document.querySelector('td.words > a')"
    page.value(f"{link}.textContent = 'n'.repeat(300); {link}.parentElement.classList.add('long'); 0")
    right = "getBoundingClientRect().right"
    assert page.value(f"{link}.{right} <= {link}.parentElement.{right}")


def test_every_skill_has_its_section_with_all_its_rows_and_heads_repeat(
    request: pytest.FixtureRequest, tmp_path: Path, printed: dict[str, list[str]]
) -> None:
    found = printed.get("many_skills") or sheets(request.getfixturevalue("page").open(many_skills(tmp_path)))
    text = "".join(found)
    for name in ("busy", *(f"skill_{number}" for number in range(8)), "a_skill_with_a_name_" + "that_is_much_too_long_" * 3):
        assert text.count(f"{name}@1.0.0Completion") == 1, name
    rows = [f"task-{number:03d}" for number in range(210)]
    assert [row for row in rows if text.count(row) < 4] == [], "two tables of the matrix, the grid of the skill, and its failures"
    assert "TaskTagsRunsPassedScoreLatencyFirstreason" in next(each for each in found if "task-150" in each and "1of2" in each)
    alone = ("Ranking", "Skills×tasks", "Tasks×runs", "Failures", "Errorsbykind", "Latencyofitsitems")
    assert [each[-30:] for each in found if each.endswith(alone)] == [], "a heading at the foot of a sheet"


def test_a_filter_stays_and_is_said(page: Page, tmp_path: Path) -> None:
    page.open(many_skills(tmp_path), "#skill=busy@1.0.0&tasks.show=timeout&tasks.q=task-00&matrix.show=open&matrix.q=task-20")
    text = "".join(sheets(page))
    assert "4of210tasks;filter:Show“withatimeout”,Search“task-00”" in text
    assert text.count("0of3tasks;filter:Show“withatimeout”,Search“task-00”") == 9
    assert "10of210tasks;filter:Show“notpassedbyall”,Search“task-20”" in text
    assert "task-150" not in text


@pytest.mark.parametrize(
    ("make", "fragment", "line"),
    [
        pytest.param(comparison, "#flips.change=better", "1of46flippedtasks;filter:Flippedtasks“✔better”", id="comparison"),
        pytest.param(viewer_table, "#runs.State=failed", "65of130rows;filter:State“failed”", id="viewer"),
    ],
)
def test_other_pages_say_their_filters(page: Page, tmp_path: Path, make: Any, fragment: str, line: str) -> None:
    page.open(make(tmp_path), fragment)
    assert line in "".join(sheets(page))


def test_a_task_that_is_open_is_printed_alone_and_whole(page: Page, tmp_path: Path) -> None:
    page.open(agent_report(tmp_path), "#skill=an_agent_of_some_name@1.0.0&task=trip")
    text = "".join(sheets(page))
    assert text.startswith("an_agent_of_some_name@1.0.0:trip")
    assert "aroominBern" in text, "messages are folded on the screen"
    assert "x" * 40 in text
    assert "Ranking" not in text
    assert page.value("document.querySelector('#task').open && !document.querySelector('#task details.messages').open")
