"""The pages of tasks and of single answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import eval_skills as es
from eval_skills.core.models import ItemResult
from eval_skills.core.store import Store, land_items, started_at
from eval_skills.core.viewer_pages import NoSuchPageError, run_page, task_page
from eval_skills.viewer.pages.task import flakiness
from eval_skills.viewer.site import Site
from tests.viewer.conftest import ATTACK
from tests.viewer.test_site import Marks, Runs, data_of

TASKS: list[dict[str, Any]] = [
    {"id": "table", "input": "table", "expected": {"rows": [{"b": 3.6}]}},
    {"id": "text's", "input": "text", "expected": "one two three"},
]


def wrong(given: str) -> Any:
    return {"rows": [{"b": 3.5}]} if given == "table" else f"one {ATTACK} three"


def right(given: str) -> Any:
    return {"rows": [{"b": 3.6}]} if given == "table" else "one two three"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, str]:
    folder = tmp_path_factory.mktemp("answers")
    tasks = folder / "tasks.json"
    tasks.write_text(json.dumps(TASKS), encoding="utf-8")
    run_id = es.evaluate([right, wrong], tasks, runs=2, store=folder / "eval-store").run_id
    return Site(Store(folder / "eval-store")), run_id


def pages_of(site: Site, run_id: str) -> dict[str, Any]:
    """The page of each task of a run, by its id as it is shown."""
    return {task["id"]: site.page(task["page"]) for task in data_of(site.page(run_page(run_id)))["tasks"]}


@pytest.mark.slow
def test_a_run_leads_to_its_tasks_and_they_to_every_answer(site: tuple[Site, str]) -> None:
    pages = pages_of(*site)
    assert list(pages) == ["table", "text's"]
    for page in pages.values():
        data = data_of(page)
        assert [(item["skill"], item["run"], item["status"]) for item in data["items"]] == [
            ("right@0.0.0", 0, "pass"), ("right@0.0.0", 1, "pass"), ("wrong@0.0.0", 0, "fail"), ("wrong@0.0.0", 1, "fail"),
        ]  # fmt: skip
        for item in data["items"]:
            answer = data_of(site[0].page(item["page"]))
            assert answer["items"][0]["status"] == item["status"]
            assert [each["run"] for each in answer["runs"]] == [0, 1]


@pytest.mark.slow
def test_answers_show_where_they_differ(site: tuple[Site, str]) -> None:
    pages = pages_of(*site)
    data = data_of(pages["table"])
    assert [item.get("difference") for item in data["items"]] == [None, None, 0, 0]
    assert data["differences"][0]["changes"] == [{"path": "rows[0].b", "kind": "value", "expected": "3.6", "got": "3.5"}]
    (words,) = [each["words"] for each in data_of(pages["text's"])["differences"]]
    assert ["removed", "two "] in words or ["removed", "one two three"] in words


@pytest.mark.slow
def test_what_strangers_wrote_is_text_on_every_page(runs_of: Runs) -> None:
    store, (_, run_id) = runs_of
    site = Site(store)
    pages = list(pages_of(site, run_id).values())
    pages += [site.page(item["page"]) for page in pages for item in data_of(page)["items"][:2]]
    for page in pages:
        marks = Marks(page).found
        assert not [tag for tag, attributes in marks if tag in {"img", "iframe", "svg"} or "onerror" in attributes]
        assert "\u202e" not in page


@pytest.mark.slow
def test_the_history_has_every_run_and_its_sql_gives_its_rows(runs_of: Runs) -> None:
    store, run_ids = runs_of
    site = Site(store)
    for page in pages_of(site, run_ids[1]).values():
        (table,) = data_of(page)["tables"]
        titles = [column["title"] for column in table["columns"]]
        assert sorted(row[titles.index("Runs")] for row in table["rows"]) == [1, 1, 2, 2]
        assert store.query(table["sql"]).shape[0] == len(table["rows"])
        for link in table["links"]:
            assert site.page(link[0]).startswith("<!doctype html>")


@pytest.mark.slow
def test_an_item_without_a_verdict_makes_no_task_flaky(tmp_path: Path) -> None:
    run_id = "20260101T100000Z-0001"
    names = {"skill_id": "s", "skill_version": "1.0.0", "benchmark_id": "b", "benchmark_version": "1.0.0"}
    same = {**names, "run_id": run_id, "started_at": started_at(run_id)}
    down = {"status": "error", "error_kind": "infra", "passed": False}
    passed, failed = {"status": "pass", "passed": True, "score": 1.0}, {"status": "fail", "passed": False, "score": 0.0}
    outcomes = {"steady": [passed, down, passed], "flaky": [passed, down, failed], "once": [passed, down], "down": [down, down]}
    expected = {"steady": (1, 2 / 3, False), "flaky": (1, 1 / 3, True), "once": (0, 1 / 2, None), "down": (0, None, None)}
    results = [
        ItemResult.model_validate({**same, "task_id": task, "run_index": run, **fields})
        for task, runs in outcomes.items()
        for run, fields in enumerate(runs)
    ]
    store = Store(tmp_path / "store")
    land_items(store, run_id, results)
    for task in outcomes:
        page = data_of(Site(store).page(task_page(run_id, "b", task)))
        (table,) = page["tables"]
        titles = [column["title"] for column in table["columns"]]
        [row] = table["rows"]
        several, share, flaky = expected[task]
        assert (row[titles.index("Share")], row[titles.index("Flaky")]) == (share, flaky)
        assert flakiness(table).endswith("evaluation with several runs") == bool(several)
        assert [item.get("missing", False) for item in page["items"]] == [each is down for each in outcomes[task]]


@pytest.mark.slow
def test_an_export_keeps_to_the_chosen_runs_and_names_no_folder(runs_of: Runs) -> None:
    store, run_ids = runs_of
    export = Site(store, is_live=False, chosen=(run_ids[1],))
    pages = pages_of(export, run_ids[1])
    assert pages
    for page in pages.values():
        data = data_of(page)
        assert {row[0] for row in data["tables"][0]["rows"]} == {run_ids[1]}
        assert data_of(export.page(data["items"][0]["page"]))["again"] is None


@pytest.mark.parametrize("kind", ["task", "item"])
def test_what_is_not_there_is_said(site: tuple[Site, str], kind: str) -> None:
    with pytest.raises(NoSuchPageError, match=r"lists its tasks"):
        site[0].page(f"{kind}-{site[1]}-{'0' * 16}.html")
    with pytest.raises(NoSuchPageError, match=r"no run"):
        site[0].page(f"{kind}-20260101T000000Z-0000-{'0' * 16}.html")


def test_a_report_that_stands_alone_leads_nowhere(site: tuple[Site, str]) -> None:
    from eval_skills.engine.stored_runs.reports import read_source
    from eval_skills.reporting.html.report import render

    source = read_source(site[1], site[0].store.path)
    assert not [task for task in data_of(render(source.reports, source.context))["tasks"] if "page" in task]
