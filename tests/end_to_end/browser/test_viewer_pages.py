"""Every page of the viewer in a real browser, over a store in which everything that a stranger can name is hostile."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import eval_skills as es
from eval_skills.core.store import Store
from eval_skills.core.store.labels import LabelWriter
from eval_skills.core.store.landing import land_rows
from eval_skills.core.store.layout import TableName
from eval_skills.core.store.schema import SCHEMAS
from eval_skills.core.viewer_pages import comparison_page, effect_page, item_page, key_of, run_page, skill_page, task_page
from eval_skills.reporting import numbers
from eval_skills.reporting.html.pages import TEMPLATES
from eval_skills.viewer.labels import GivenLabel, Labelling
from eval_skills.viewer.page import PLACES
from eval_skills.viewer.pages.lists import NIGHTS
from eval_skills.viewer.server import listen, server_of
from tests.end_to_end.browser.axe import violations
from tests.end_to_end.browser.probes import PROBES
from tests.end_to_end.browser.test_viewer import go
from tests.viewer.test_agent_skills import AGENT

pytestmark = pytest.mark.slow

ALL = " ".join(PROBES)
MOMENT = datetime(2026, 11, 21, tzinfo=UTC)
KINDS = (*PLACES, "a run", "a task", "an answer", "a comparison", "a skill", "an effect", "none")
WIDE = (
    "[...document.querySelectorAll('body *')].filter((it) => it.getBoundingClientRect().right > 391 && !it.closest('.scroll'))"
    ".map((it) => `${it.parentElement.outerHTML.slice(0, 200)}`)"
)
ROWS: dict[TableName, dict[str, Any]] = {
    "nights": {"verdict": "regressed", "changed": [ALL], "moved_tasks": [ALL]},
    "samples": {"status": "fail", "reasons": [{"code": ALL, "message": ALL, "where": ALL}]},
    "calibrations": {"labels": 1},
    "preferences": {"outcome": "a"},
}


def better(text: str) -> str:
    return text


def hostile(text: str) -> dict[str, Any]:
    number = int(text.rsplit(" ", 1)[1])
    call = {"name": PROBES[number], "arguments": {PROBES[number]: ALL}, "result": ALL, "error": PROBES[number]}
    said = [{"role": PROBES[number], "content": PROBES[number], "tool_calls": [{"id": ALL, "function": {"name": ALL}}]}]
    return {"output": PROBES[number] if number % 2 else text, "tool_calls": [call], "messages": said}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a viewer, and the name of a page of each kind."""
    folder = tmp_path_factory.mktemp("hostile")
    place = folder / "eval-store"
    tasks = [
        {"id": f"{probe} {number}", "input": f"{probe} {number}", "expected": f"{probe} {number}", "tags": [probe]}
        for number, probe in enumerate(PROBES)
        if "\x00" not in probe
    ]
    skills = {ALL.replace("\x00", ""): hostile, "better": better}
    ids = [es.evaluate(skills=skills, tasks=tasks, runs=runs, store=str(place)).run_id for runs in (1, 2)]
    effect = _effect(folder, place)
    store = Store(place)
    for name, known in ROWS.items():
        texts = {field.name: ALL for field in SCHEMAS[name] if str(field.type) == "string"}
        moments = {field.name: MOMENT for field in SCHEMAS[name] if str(field.type).startswith("timestamp")}
        land_rows(store, name, ids[0], [{**texts, **moments, **known}])
    rows = store.items(run_id=ids[1])
    row = rows[rows["skill_id"] != "better"].iloc[1]
    named = (row["benchmark_id"], row["task_id"], f"{row['skill_id']}@{row['skill_version']}", int(row["run_index"]))
    Labelling(store, ALL, LabelWriter(store)).add(GivenLabel(run=ids[1], answer=key_of(*named), label="fail", comment=ALL))
    listening = listen("127.0.0.1", 0)
    server = server_of(store, labelled_by="ann")
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening.socket]}, daemon=True)
    thread.start()
    yield (
        listening.address,
        {
            **PLACES,
            "a run": run_page(ids[1]),
            "a task": task_page(ids[1], *named[:2]),
            "an answer": item_page(ids[1], *named),
            "a comparison": comparison_page(*ids),
            "a skill": skill_page(row["skill_id"]),
            "an effect": effect_page(effect),
            "none": "none.html",
        },
    )
    server.should_exit = True
    thread.join(20)


def _effect(folder: Path, store: Path) -> str:
    (skill := folder / "swiss-cities").mkdir()
    (skill / "SKILL.md").write_text("---\nname: swiss-cities\ndescription: Names of Swiss cities.\n---\nBern.\n")
    (agent := folder / "agent.py").write_text(AGENT)
    tasks = [{"id": ALL.replace("\x00", ""), "input": ALL.replace("\x00", ""), "expected": "Bern"}]
    config = {"command": f"{sys.executable} {agent}"}
    return es.skill_effect(str(skill), agent="custom", agent_config=config, tasks=tasks, store=str(store)).run_id


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_takes_texts_for_texts_and_is_usable_by_keys_on_a_phone_in_the_dark(
    page: Any, pages: tuple[str, dict[str, str]], kind: str
) -> None:
    address, names = pages
    page.look(dark=True, width=390, height=800)
    if kind == "none":
        page.call("Page.navigate", url=f"{address}{names[kind]}")
        page.until("document.title === 'This page cannot be shown'")
    else:
        go(page, f"{address}{names[kind]}")
    assert page.value("document.documentElement.dataset.pwned ?? null") is None
    assert page.value("document.querySelectorAll('img, svg, iframe, object, embed, base, style:not(head > style)').length") == 0
    assert [asked for asked in page.requests() if not asked.startswith(address)] == []
    assert [each for each in page.complaints() if kind != "none" or "404" not in str(each)] == []
    assert page.value("document.documentElement.scrollWidth") <= 390, page.value(WIDE)
    assert page.value("matchMedia('(prefers-color-scheme: dark)').matches")
    if kind != "none":
        assert page.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
        page.press("Tab")
        assert page.value("document.activeElement.className") == "skip"
        page.press("Enter")
        page.press("Tab")
    else:
        page.press("Tab")
    focused = "document.activeElement !== document.body && document.activeElement.getBoundingClientRect().width > 0"
    assert page.value(focused), "what has the focus is not seen"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "none"])
def test_axe_finds_nothing(page: Any, pages: tuple[str, dict[str, str]], kind: str) -> None:
    address, names = pages
    go(page, f"{address}{names[kind]}")
    assert violations(page) == []


@pytest.mark.parametrize("kind", ["a run", "a comparison", "an effect", "a skill"])
def test_the_tables_of_a_report_are_saved_and_have_their_sql(page: Any, pages: tuple[str, dict[str, str]], kind: str) -> None:
    address, names = pages
    go(page, f"{address}{names[kind]}")
    without = (
        "[...document.querySelectorAll('main table')].filter((it) => it.id || it.dataset.export)"
        ".filter((it) => !(it.closest('.scroll') ?? it).parentElement.querySelector('.exports .sql'))"
        ".map((it) => it.outerHTML.slice(0, 80))"
    )
    assert page.value(without) == []
    page.value("window.saved = []; URL.createObjectURL = (blob) => { saved.push(blob); return '#saved' }; undefined")
    page.click(".exports button")
    assert len(str(page.value("saved[0].text()")).splitlines()) >= 2
    assert page.complaints() == []


def test_what_is_saved_of_a_ranking_is_what_it_shows(page: Any) -> None:
    """Shared ranks, both ends of an interval, and what is said below a number; not what the rows are sorted by."""
    table = """<table><thead><tr>
        <th data-sort=number data-csv=shown>#</th><th data-sort=number>Interval</th><th data-sort=number>Cost</th>
        <th data-sort=text data-csv=shown>Pareto</th><th>Answer</th>
        </tr></thead><tbody><tr>
        <td data-value=1>1–2</td><td data-value=0.25><span class=interval data-lower=0.25 data-upper=0.75></span>25 to 75</td>
        <td data-value=0.5>≥ $0.50<small class=detail style="display: block">unknown of 2 items</small></td>
        <td data-value=1>✔</td><td><small style="float: right">text</small><pre>-6</pre></td>
        </tr><tr>
        <td data-value=2>1–2</td><td>–</td><td data-value=2>$2.00</td><td data-value=2></td><td>–</td></tr></tbody></table>"""
    program = "".join((TEMPLATES / "html" / f"{name}.js").read_text(encoding="utf-8") for name in ("elements", "exports"))
    page.value(f"document.body.innerHTML = {json.dumps(table)}")
    assert page.value(f"(() => {{ {program}\nreturn shownRows(document.querySelector('table')) }})()") == [
        ["#", "Interval, lower", "Interval, upper", "Cost", "Cost, note", "Pareto", "Answer"],
        ["1–2", 0.25, 0.75, 0.5, "unknown of 2 items", "✔", "text -6"],
        ["1–2", None, None, 2, None, None, None],
    ]


def test_figures_of_a_list_are_written_as_those_of_the_terminal(page: Any) -> None:
    """Only all is 100.0 %, only nothing is 0.0 %, and a verdict that is bad is seen to be."""
    parts = ("csv", "elements", "data_table")
    program = "".join((TEMPLATES / "html" / f"{name}.js").read_text(encoding="utf-8") for name in parts)

    def found(expression: str) -> Any:
        return page.value(f"(() => {{ {program}\nreturn {expression} }})()")

    rates = [0, 0.00004, 0.0004, 0.5, 0.9996, 0.99996, 1]
    assert found(f"{rates}.map(percent)") == [numbers.rate(rate) for rate in rates]
    amounts = [0, 0.00012, 0.00002, 0.08, 1975.3]
    assert found(f"{amounts}.map(dollars)") == [numbers.usd(amount) for amount in amounts]
    differences = [0, 0.0004, -0.333, -0.99967, 1 - 1e-12, -1]
    written = found(f"{differences}.map(WRITTEN.points)")
    assert [each.replace("−", "-") for each in written] == [numbers.points(each) for each in differences]
    chances = [0.0, 5e-324, 2.4e-7, 0.00009876, 0.0001234, 0.03125, 0.5, 1.0, 1.5e-12, 4e-120]
    (written_as,) = {column.kind for column in NIGHTS.columns if column.title == "Adjusted p"}
    assert found(f"{chances}.map(WRITTEN.{written_as})") == [numbers.p_value(each) for each in chances]
    cell = "drawCell({ kind: 'interval' }, [0.5, 0.2, 0.8, %s]).textContent"
    assert [found(cell % missing) for missing in ("null", "0", "1", "1234")] == [
        "50.0 %20.0 to 80.0 %" + without for without in ("", "", "1 item without a verdict", "1,234 items without a verdict")
    ]  # fmt: skip
    columns, row = "[{ title: 'Best', kind: 'interval' }]", "{ original: { values: [[0.5, 0.2, 0.8, 3]] } }"
    assert found(f"csvOf({{ columns: {columns} }}, [{row}]).trim().split(/\\r?\\n/)") == [
        'Best,"Best, lower","Best, upper"', "0.5,0.2,0.8",
    ]  # fmt: skip
    verdicts = {"regressed": "fail", "flaky": "error", "recovered": "pass", "gone": "fail", "suspect": "error"}
    assert found(f"{list(verdicts)}.map((verdict) => LOOKS[verdict])") == list(verdicts.values())
