"""The viewer in a real browser, with its server: tables, labels and what the address holds."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import Any

import pytest

import eval_skills as es
from eval_skills.core.store import Store
from eval_skills.core.store.files import RunLock
from eval_skills.core.store.labels import current_labels
from eval_skills.viewer.export import export_pages
from eval_skills.viewer.server import listen, server_of
from tests.cli.conftest import leave_run

pytestmark = pytest.mark.slow

ATTACK = "</script><img src=x onerror=document.documentElement.dataset.pwned=1>"


def upper(text: str) -> str | dict[str, Any]:
    if text == "a":
        return {"output": "A", "costUsd": 0.05}
    return ATTACK if text == "b" else text.upper()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Store, str]]:
    """A store with two runs, and the address of its viewer."""
    tasks = [{"id": f"{letter} {ATTACK}", "input": letter, "expected": letter.upper()} for letter in "abc"]
    for _ in range(2):
        es.evaluate(skills=[upper], tasks=tasks, store=str(tmp_path / "eval-store"))
    store = Store(tmp_path / "eval-store")
    listening = listen("127.0.0.1", 0)
    server = server_of(store, labelled_by="ann")
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening.socket]}, daemon=True)
    thread.start()
    yield store, listening.address
    server.should_exit = True
    thread.join(20)


def go(page: Any, address: str) -> None:
    page.call("Page.navigate", url=address)
    here = f"location.href.startsWith({json.dumps(address.partition('#')[0])})"
    for _ in range(100):  # until the address answers, the page that is left is still there, and goes in the middle of a question
        with contextlib.suppress(AssertionError):
            page.until(f"{here} && document.readyState === 'complete' && performance.getEntriesByName('interactive').length")
            return
        sleep(0.1)
    pytest.fail(f"{address} was not shown")


def loaded_again(page: Any, expression: str) -> None:
    """Return when it holds, though the page goes in the middle of the question."""
    for _ in range(100):
        with contextlib.suppress(AssertionError):
            if page.value(expression):
                return
        sleep(0.1)
    pytest.fail(f"never: {expression}")


def test_runs_are_searched_and_two_of_them_compared(page: Any, served: tuple[Store, str]) -> None:
    store, address = served
    go(page, f"{address}#runs.q={store.run_ids()[0]}")
    assert page.value("document.querySelectorAll('tbody tr').length") == 1
    go(page, f"{address}index.html")
    assert page.value("document.querySelector('td:has(.detail)').innerText") == "≥ $0.0500\nunknown of 2 of 3 items"
    page.click("tbody tr:nth-child(1) input")
    page.click("tbody tr:nth-child(2) input")
    before, after = store.run_ids()
    assert page.value("document.querySelector('.actions a').getAttribute('href')") == f"compare-{before}-{after}.html"
    page.click("thead th:nth-child(2) button")
    assert "runs.sort=Run" in page.value("location.hash")
    assert page.complaints() == []


def test_an_address_that_narrows_the_shown_page_narrows_it(page: Any, served: tuple[Store, str]) -> None:
    store, address = served
    go(page, address)
    page.value(f"void (location.hash = '#runs.q={store.run_ids()[0]}')")
    loaded_again(page, "document.querySelectorAll('tbody tr').length === 1")


def test_a_filter_that_fits_no_row_is_seen(page: Any, served: tuple[Store, str]) -> None:
    _, address = served
    go(page, f"{address}#runs.State=running")
    assert page.value("document.querySelectorAll('tbody tr').length") == 0
    assert page.value("document.querySelector('select[data-column=State]').value") == "running"


def test_a_run_that_goes_on_is_shown_and_one_that_ends_as_soon_as_that_disturbs_nobody(
    page: Any, served: tuple[Store, str]
) -> None:
    store, address = served
    interrupted, running = "20260101T100000Z-0001", "20260102T100000Z-0002"
    broken: list[dict[str, Any]] = [
        {"status": "error", "passed": False, "score": None, "error_kind": "skill", "cost_usd": 0.5},
        {"cost_usd": 1.5},
    ]
    for run_id in (interrupted, running):
        leave_run(store.layout.root, run_id, landed=False, judged=broken)
    lock = RunLock(store.journal_path(running))
    go(page, address)
    page.until("document.querySelectorAll('.live-run').length > 0")
    (shown,) = page.texts(".live-run")
    assert shown.startswith(running)
    assert "1 passed, 0 failed, 1 error ·" in shown
    assert shown.endswith("$2.00 so far")
    page.value("(() => { const now = Date.now; Date.now = () => now() + 60_000; return 0 })()")
    page.click("input[type=search]")
    lock.release()
    page.until("document.querySelectorAll('.live-run').length === 0")
    assert "running" in page.texts("tbody .tag")  # nothing is taken from who is writing
    page.value("void document.activeElement.blur()")
    tags = "[...document.querySelectorAll('tbody .tag')].map(each => each.textContent)"  # none while the table is not filled yet
    loaded_again(page, f"(tags => tags.length > 0 && !tags.includes('running'))({tags})")
    assert sorted(page.texts("tbody .tag")) == ["finished", "finished", "unfinished", "unfinished"]


def test_a_hidden_page_keeps_no_connection(page: Any, served: tuple[Store, str]) -> None:
    _, address = served
    page.call(
        "Page.addScriptToEvaluateOnNewDocument",
        source="window.opened = []; window.EventSource = class extends EventSource"
        " { constructor(...given) { super(...given); opened.push(this) } }",
    )
    go(page, address)
    page.until("opened.length === 1 && opened[0].readyState === 1")
    for state, states in (("hidden", [2]), ("visible", [2, 1])):
        page.value(f"void Object.defineProperty(document, 'visibilityState', {{configurable: true, value: '{state}'}})")
        page.value("void document.dispatchEvent(new Event('visibilitychange'))")
        page.until(f"JSON.stringify(opened.map(each => each.readyState)) === '{json.dumps(states, separators=(',', ':'))}'")


def test_an_answer_is_labelled_and_a_stranger_runs_nothing(page: Any, served: tuple[Store, str]) -> None:
    store, address = served
    run_id = store.run_ids()[0]
    go(page, f"{address}run-{run_id}.html")
    link = page.value("document.documentElement.outerHTML.match(/task-[-0-9A-Za-z]+[.]html/)[0]")
    go(page, f"{address}{link}")
    page.click(".labelling button.fail")
    page.until("document.querySelector('.labelling button.fail').getAttribute('aria-pressed') === 'true'")
    assert [(row["label"], row["labelled_by"]) for row in current_labels(store)] == [("fail", "ann")]
    assert re.search(r"ann, \d{4}-\d\d-\d\d \d\d:\d\d UTC$", page.text(".labelling"))
    go(page, f"{address}labels.html")
    assert page.value("document.querySelectorAll('tbody tr').length") == 1
    assert page.value("document.documentElement.dataset.pwned ?? null") is None
    assert page.complaints() == []


def test_an_export_opens_from_disk_and_a_stranger_runs_nothing(page: Any, tmp_path: Path) -> None:
    tasks = [{"id": f"{letter} {ATTACK}", "input": letter, "expected": letter.upper()} for letter in "abc"]
    for _ in range(2):
        es.evaluate(skills=[upper], tasks=tasks, store=str(tmp_path / "eval-store"))
    store, site = Store(tmp_path / "eval-store"), tmp_path / "site"
    written = export_pages(store, store.run_ids(), site)
    for kind in ("index.html", "run-", "compare-", "task-", "item-", "skill-"):
        page.open(site / next(name for name in written if name.startswith(kind)))
        assert page.value("getComputedStyle(document.documentElement).getPropertyValue('--paper')"), kind  # it has its style
        assert page.value("document.documentElement.dataset.pwned ?? 'nothing'") == "nothing", kind
        assert page.complaints() == [], kind
