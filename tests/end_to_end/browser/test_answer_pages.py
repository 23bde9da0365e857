"""The viewer's pages of a task and of an answer in a real browser: what they show, filters in the address, and keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import ItemResult
from eval_skills.core.store import (
    Journal,
    Manifest,
    ManifestBenchmark,
    ManifestSkill,
    Store,
    land,
    started_at,
    write_manifest,
)
from eval_skills.core.viewer_pages import item_page, task_page
from eval_skills.viewer.site import Site
from tests.end_to_end.browser.conftest import Page

pytestmark = pytest.mark.slow

ATTACK = (
    "<img src=x onerror=document.documentElement.dataset.pwned=1></script>"
    "<script>document.documentElement.dataset.pwned=2</script>"
)
CALLS = [{"name": "search", "args": {"to": "Bern"}}, {"name": "book", "args": {"seats": 1}}]
TASK: dict[str, Any] = {
    "id": "trip",
    "inputData": "Bern",
    "expectedOutput": {"value": "booked a train to Bern"},
    "expected": {"trajectory": [{"role": "assistant", "tool_calls": CALLS}]},
    "evaluators": [{"type": "exact_match"}, {"type": "trajectory_match", "mode": "superset"}],
}


RUN_ID = "20260101T100000Z-0001"


def answer(skill: str, run: int, city: str) -> ItemResult:
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": json.dumps({"to": city})}}
    messages = [
        {"role": "user", "content": "Bern"},
        {"role": "assistant", "content": None, "tool_calls": [call], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
        {"role": "assistant", "content": f"looks {ATTACK}", "parent_tool_use_id": "c1"},
        {"role": "tool", "tool_call_id": "c1", "content": "found", "duration_ms": 420},
        {"role": "assistant", "content": f"booked a train to {city}"},
    ]
    passed = city == "Bern"
    names = {
        "skill_id": skill,
        "skill_version": "0.0.0",
        "benchmark_id": "trips",
        "benchmark_version": "1.0.0",
        "task_id": "trip",
    }
    verdict = {"status": "pass" if passed else "fail", "passed": passed, "score": float(passed)}
    said = {"run_id": RUN_ID, "started_at": started_at(RUN_ID), "run_index": run, "output": f"booked a train to {city}"}
    return ItemResult.model_validate({**names, **verdict, **said, "messages": messages})


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of the task, and those of both answers of the skill that went to Basel."""
    folder = tmp_path_factory.mktemp("answers")
    file = folder / "trips.json"
    file.write_text(json.dumps({"id": "trips", "name": "Trips", "version": "1.0.0", "tasks": [TASK]}), encoding="utf-8")
    store = Store(folder / "eval-store")
    manifest = Manifest(
        run_id=RUN_ID,
        created_at=started_at(RUN_ID),
        request={"tasks": str(file)},
        skills=[ManifestSkill(key=f"{name}@0.0.0") for name in ("good", "bad")],
        benchmark=ManifestBenchmark(id="trips", version="1.0.0"),
        planned_items=4,
    )
    write_manifest(store.run_folder(RUN_ID), manifest)
    with Journal(store.journal_path(RUN_ID)) as journal:
        for skill, city in (("good", "Bern"), ("bad", "Basel")):
            for run in (0, 1):
                journal.append(answer(skill, run, city))
    land(store, RUN_ID)
    site = Site(store)
    names = {
        "task": task_page(RUN_ID, "trips", "trip"),
        **{f"answer {run}": item_page(RUN_ID, "trips", "trip", "bad@0.0.0", run) for run in (0, 1)},
    }
    for name in names.values():
        (folder / name).write_text(site.page(name), encoding="utf-8")
    return {name: folder / file for name, file in names.items()}


@pytest.mark.parametrize("name", ["task", "answer 0"])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["wide", "narrow-and-dark"])
def test_it_fits_runs_no_stranger_s_code_and_asks_for_nothing(
    page: Page, pages: dict[str, Path], pictures: Callable[[str], Path], name: str, width: int, dark: bool
) -> None:
    page.look(width=width, dark=dark)
    page.open(pages[name])
    page.picture(pictures(f"{name}-{width}"))
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value("document.documentElement.dataset.pwned ?? null") is None
    assert page.complaints() == []
    assert len(page.requests()) == 1


def test_the_filters_of_a_task_stand_in_the_address(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["task"], "#skill=bad%400.0.0")
    assert [each.partition(" ")[0] for each in page.texts(".answers h3")] == ["bad@0.0.0", "bad@0.0.0"]
    page.choose("form select", "good@0.0.0")
    assert page.value("location.hash") == "#skill=good%400.0.0"
    assert len(page.texts(".answers > .run")) == 2
    page.value("(location.hash = '#answer=bad%400.0.0%232')")
    page.until("document.querySelector('.answers .chosen')")
    assert page.text(".answers .chosen h3").startswith("bad@0.0.0 · run 2")


@pytest.mark.parametrize("width", [1280, 760, 390])
def test_the_heading_of_an_answer_that_a_link_leads_to_is_not_below_the_filters(
    page: Page, pages: dict[str, Path], width: int
) -> None:
    page.look(width=width, height=400)
    page.open(pages["task"], "#answer=bad%400.0.0%232")
    page.until("document.querySelector('.answers .chosen') && scrollY > 0")
    heading = "document.querySelector('.answers .chosen h3')"
    seen = "document.elementFromPoint(box.x + 5, box.y + 2)"
    assert page.value(f"(() => {{ const box = {heading}.getBoundingClientRect(); return {heading}.contains({seen}) }})()")


def test_a_difference_is_marked_and_said(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["task"], "#skill=bad%400.0.0")
    assert page.value("document.querySelector('.words del').textContent") == "[expected: Bern]"
    assert page.value("document.querySelector('.words ins').textContent") == "[answered: Basel]"


def test_an_answer_shows_its_calls_beside_the_expected_ones(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["answer 0"])
    assert page.texts(".steps .tag")[:1] == ["other arguments"]
    assert "missing" in page.texts(".steps .tag")
    assert '"Bern"' in page.texts(".steps .difference del")
    depths = page.value("[...document.querySelectorAll('.message')].map((each) => each.className.match(/depth-(.)/)[1]).join('')")
    assert depths == "00100"
    spent = page.texts(".message h3 small:last-of-type")
    assert spent[1] == "duration – · tokens 10 · cost –"
    assert spent[3] == "duration 420 ms · tokens – · cost –"


def test_the_keys_are_listed_and_lead_to_the_next_run(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["answer 0"])
    page.click("#keys-open")
    assert page.texts("#keys-list dt") == ["j", "k", "p", "f", "m", "?"]
    assert page.value("document.querySelector('.trail a[href^=item]').getAttribute('href')") == pages["answer 1"].name
