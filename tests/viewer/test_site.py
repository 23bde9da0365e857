"""The pages of a store: each is there, leads to the others, and shows what people wrote as text."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import eval_skills as es
from eval_skills.core.errors import UsageError
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Attempt, Benchmark, ItemResult
from eval_skills.core.store import (
    Journal,
    Manifest,
    ManifestBenchmark,
    Store,
    land,
    land_reports,
    prune_items,
    started_at,
    write_manifest,
)
from eval_skills.core.store.files import RunLock
from eval_skills.core.store.layout import TableName
from eval_skills.core.store.sql import query
from eval_skills.core.store.tables import Tables
from eval_skills.core.viewer_pages import NoSuchPageError, comparison_page, run_page
from eval_skills.viewer.export import export_pages
from eval_skills.viewer.page import PLACES
from eval_skills.viewer.site import Site
from eval_skills.viewer.statements import run_statements
from eval_skills.viewer.tables import Column
from tests.cli.conftest import leave_run
from tests.tables import each_row

Runs = tuple[Store, list[str]]


def data_of(page: str, name: str = "data") -> Any:
    """What the page's script reads."""
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


class Marks(HTMLParser):
    """The tags of a page and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def pages_of(runs: Runs) -> dict[str, str]:
    store, ids = runs
    site = Site(store)
    skills = data_of(site.page("skills.html"))["tables"][0]
    names = [*PLACES.values(), *(run_page(run_id) for run_id in ids), comparison_page(*ids), skills["links"][0][0]]
    return {name: site.page(name) for name in names}


@pytest.mark.slow
def test_every_page_shows_the_bar_and_no_mark_of_a_stranger(runs_of: Runs) -> None:
    for name, page in pages_of(runs_of).items():
        marks = Marks(page).found
        places = {attributes["href"] for tag, attributes in marks if tag == "a" and attributes.get("href") in PLACES.values()}
        assert places == set(PLACES.values()), name
        assert not [tag for tag, attributes in marks if tag in {"img", "iframe", "svg"} or "onerror" in attributes], name
        assert "\u202e" not in page, name


@pytest.mark.slow
def test_the_runs_lead_to_their_pages_and_their_skills(runs_of: Runs) -> None:
    store, ids = runs_of
    site = Site(store)
    (table,) = data_of(site.page("index.html"))["tables"]
    titles = [column["title"] for column in table["columns"]]
    assert [row[0] for row in table["rows"]] == sorted(ids, reverse=True)
    first = dict(zip(titles, next(row for row in table["rows"] if row[0] == ids[1]), strict=True))
    assert (first["State"], first["Items"], first["Best completion"][0]) == ("finished", [16, 16], 1.0)
    for link in [table["links"][0][0], *table["links"][0][titles.index("Skills")]]:
        assert site.page(link).startswith("<!doctype html>")


@pytest.mark.slow
def test_a_cost_that_is_unknown_of_some_items_says_so(tmp_path: Path) -> None:
    def priced(text: str) -> dict[str, Any]:
        return {"output": text, "costUsd": 0.05} if text == "a" else {"output": text}

    tasks = [{"id": each, "input": each, "expected": each} for each in "abc"]
    run_id = es.evaluate(skills=[priced], tasks=tasks, store=str(tmp_path)).run_id
    site = Site(Store(tmp_path))
    [place] = query(site.store, run_statements(run_id)["places-table"]).to_pylist()
    assert (place["usd_of_an_item"], place["priced"]) == (0.05, 1)
    for name, title in (("index.html", "Cost"), ("skills.html", "Cost of a run")):
        (table,) = data_of(site.page(name))["tables"]
        column = next(place for place, each in enumerate(table["columns"]) if each["title"] == title)
        assert (table["columns"][column]["kind"], table["rows"][0][column]) == ("sum", [0.05, 2, 3]), name


def test_the_items_of_a_stopped_run_are_those_that_are_done(tmp_path: Path) -> None:
    tasks = [{"id": each, "input": each, "expected": each} for each in "abc"]
    es.evaluate(
        skills=[lambda text: {"output": text, "costUsd": 0.5}], tasks=tasks, store=str(tmp_path), concurrency=1, max_cost=0.6
    )
    (table,) = data_of(Site(Store(tmp_path)).page("index.html"))["tables"]
    first = dict(zip([column["title"] for column in table["columns"]], table["rows"][0], strict=True))
    assert (first["State"], first["Items"]) == ("stopped: cost limit", [2, 3])
    assert first["Cost"] == [1.0, 0, 2]


@each_row(
    ("origins", "hidden"),
    [(["run", "run"], True), (["run", "confirm"], False), ([None], False), ([], False)],
)
def test_a_column_without_anything_unusual_is_hidden(origins: list[str | None], hidden: bool) -> None:
    column = Column(title="Origin", of=("origin",), usual="run")
    assert column.described([{"origin": origin} for origin in origins])["hidden"] is hidden


@pytest.mark.slow
def test_forbidden_tools_labels_and_origins_are_hidden_where_there_are_none_but_runs(tmp_path: Path) -> None:
    leave_run(tmp_path, "20260101T100000Z-0001")
    (table,) = data_of(Site(Store(tmp_path)).page("index.html"))["tables"]
    assert [column["title"] for column in table["columns"] if column["hidden"]] == ["Forbidden tools", "Labels", "Origin"]


def test_the_cost_of_an_unfinished_run_has_all_that_its_items_say(tmp_path: Path) -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    paid = {"attempts": [Attempt(started_at=began, cost_usd=cost) for cost in (0.25, None, 4.0, 8.0)], "cost_usd": 8.0}
    leave_run(tmp_path, "20260101T100000Z-0001", landed=False, judged=[{**paid, "judge_cost_usd": 0.5}, {"user_cost_usd": 1.0}])
    (table,) = data_of(Site(Store(tmp_path)).page("index.html"))["tables"]
    first = dict(zip([column["title"] for column in table["columns"]], table["rows"][0], strict=True))
    assert first["Cost"] == [13.75, 1, 2]


@pytest.mark.slow
def test_a_run_that_has_not_landed_has_no_sql_over_tables_without_it(tmp_path: Path) -> None:
    for second, landed in enumerate((True, False)):
        leave_run(tmp_path, f"20260101T10000{second}Z-0001", landed=landed)
    site = Site(Store(tmp_path))
    finished, unfinished = site.store.run_ids()
    told = data_of(site.page(run_page(unfinished)), "sql")
    assert {name for name, statement in told.items() if statement} == {"provenance-table"}
    assert site.store.query(told["provenance-table"])["state"].to_list() == ["unfinished"]
    assert all(data_of(site.page(run_page(finished)), "sql").values())
    assert not any(data_of(site.page(comparison_page(finished, unfinished)), "sql").values())


@pytest.mark.slow
def test_a_run_whose_items_were_deleted_says_so_and_how_many_were_done(tmp_path: Path) -> None:
    leave_run(tmp_path, run_id := "20260101T100000Z-0001")
    store = Store(tmp_path)
    prune_items(store, before=datetime(2026, 2, 1, tzinfo=UTC), keep=set())
    (table,) = data_of(Site(store).page("index.html"))["tables"]
    first = dict(zip([column["title"] for column in table["columns"]], table["rows"][0], strict=True))
    assert (first["State"], first["Items"]) == ("finished", [4, 4])
    assert store.query(table["sql"])["landed_items"].to_list() == [4]
    assert "its items were deleted on" in Site(store).page(run_page(run_id))


def test_of_a_run_whose_items_were_deleted_the_report_is_exported_and_there_are_no_pages_of_answers(tmp_path: Path) -> None:
    leave_run(tmp_path, run_id := "20260101T100000Z-0001")
    site = Site(store := Store(tmp_path))
    (task, *_) = data_of(site.page(run_page(run_id)))["tasks"]
    prune_items(store, before=datetime(2026, 2, 1, tzinfo=UTC), keep=set())
    with pytest.raises(NoSuchPageError, match="its items were deleted on"):
        site.page(task["page"])
    assert run_page(run_id) in Site(store, is_live=False, chosen=(run_id,)).names()


def test_a_page_is_of_the_files_that_are_there_whatever_is_deleted_while_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_run(tmp_path, run_id := "20260101T100000Z-0001")
    store = Store(tmp_path)
    listed = Tables.sound_files

    def pruned_then(tables: Tables, name: TableName, run_ids: Collection[str] | None = None) -> dict[str, str]:
        found = listed(tables, name, run_ids)
        prune_items(store, before=datetime(2026, 2, 1, tzinfo=UTC), keep=set())
        return found

    monkeypatch.setattr(Tables, "sound_files", pruned_then)
    assert "its items were deleted on" in Site(store).page(run_page(run_id))


def test_what_the_page_of_a_part_of_a_run_says_is_said_once(tmp_path: Path) -> None:
    leave_run(tmp_path, run_id := "20260101T100000Z-0001", landed=False)
    page = Site(Store(tmp_path)).page(run_page(run_id))
    assert "is unfinished" not in page
    assert page.count("2 of 4 items finished") == 1


def test_the_page_of_an_interrupted_run_continues_it_unless_it_goes_on(tmp_path: Path) -> None:
    leave_run(tmp_path, run_id := "20260101T100000Z-0001", landed=False)
    command = f"Continue with <code>eval-skills eval --resume {run_id} --store {tmp_path}</code>"
    assert command in Site(Store(tmp_path)).page(run_page(run_id))
    assert command not in Site(Store(tmp_path), is_live=False).page(run_page(run_id)), "it names a folder of this machine"
    with RunLock(Store(tmp_path).journal_path(run_id)):
        assert command not in Site(Store(tmp_path)).page(run_page(run_id))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:left out")
def test_a_run_without_its_reports_is_landing_and_after_a_while_it_lacks_them(tmp_path: Path) -> None:
    store = Store(tmp_path)
    leave_run(tmp_path, "20260101T100000Z-0001", landed=False)
    land(store, "20260101T100000Z-0001")
    states = []
    for _ in range(2):
        (table,) = data_of(Site(store).page("index.html"))["tables"]
        states.append(table["rows"][0][1])
        os.utime(store.tables.files("items")["20260101T100000Z-0001"], (0, 0))
    assert states == ["landing", "no reports"]


@pytest.mark.slow
def test_of_a_skill_whose_cost_is_unknown_all_items_are_unknown(tmp_path: Path) -> None:
    tasks = [{"id": each, "input": each, "expected": each} for each in "abc"]
    skills = {"priced": lambda text: {"output": text, "costUsd": 0.25}, "silent": lambda text: text}
    es.evaluate(skills=skills, tasks=tasks, store=str(tmp_path))
    (table,) = data_of(Site(Store(tmp_path)).page("index.html"))["tables"]
    titles = [column["title"] for column in table["columns"]]
    assert table["rows"][0][titles.index("Cost")] == [0.75, 3, 6]


@pytest.mark.slow
def test_the_cost_of_a_run_is_that_of_all_attempts(tmp_path: Path) -> None:
    store, run_id, began = Store(tmp_path), "20261121T233824Z-3f9a", datetime(2026, 11, 21, tzinfo=UTC)
    benchmark = ManifestBenchmark(id="t", version="1.0.0")
    made = Manifest(run_id=run_id, created_at=began, request={}, skills=[], benchmark=benchmark, versions={}, planned_items=3)
    write_manifest(store.run_folder(run_id), made)
    with Journal(store.journal_path(run_id)) as journal:
        for task, costs in (("a", [0.5, 0.25]), ("b", [0.25]), ("c", [None, 0.25])):
            journal.append(
                ItemResult(
                    run_id=run_id, started_at=began, skill_id="payer", skill_version="1.0.0", benchmark_id="t", task_id=task,
                    benchmark_version="1.0.0", run_index=0, status="pass", passed=True, score=1.0, cost_usd=0.25,
                    attempts=[Attempt(started_at=began, cost_usd=cost) for cost in costs],
                )
            )  # fmt: skip
    land(store, run_id)
    land_reports(store, run_id, None, skill_reports(store.items(), Benchmark(id="t", name="t", version="1.0.0", tasks=[]), 1_000))
    (table,) = data_of(Site(store).page("index.html"))["tables"]
    titles = [column["title"] for column in table["columns"]]
    assert table["rows"][0][titles.index("Cost")] == [1.25, 0, 3]


@pytest.mark.slow
def test_the_shown_sql_gives_the_shown_rows(runs_of: Runs) -> None:
    store, _ = runs_of
    for place in PLACES.values():
        for table in data_of(Site(store).page(place))["tables"]:
            assert store.query(table["sql"]).shape[0] == len(table["rows"])


@pytest.mark.parametrize(
    "name",
    ["no.html", "../secret.html", "run-20261121T233824Z-3f9a.html", "run-x.html", f"skill-{'0' * 16}.html", "index.html/x"],
)
def test_what_is_not_there_is_said(runs_of: Runs, name: str) -> None:
    with pytest.raises(NoSuchPageError):
        Site(runs_of[0]).page(name)


@pytest.mark.slow
def test_an_empty_store_has_its_pages(tmp_path: Path) -> None:
    site = Site(Store(tmp_path))
    for name in PLACES.values():
        assert all(not table["rows"] for table in data_of(site.page(name))["tables"])


@pytest.mark.slow
def test_an_export_is_complete_leads_nowhere_else_and_says_how_far_it_is(runs_of: Runs, tmp_path: Path) -> None:
    store, ids = runs_of
    told: list[tuple[int, int]] = []
    written = export_pages(store, ids, tmp_path / "site", tell=lambda done, of: told.append((done, of)))
    assert [done for done, _ in told] == [*range(1, told[0][1] + 1)]
    assert sorted(file.name for file in (tmp_path / "site").iterdir()) == sorted(written)
    for name in written:
        page = (tmp_path / "site" / name).read_text(encoding="utf-8")
        if not name.endswith(".html"):
            continue
        shared = [
            attributes.get("href") or attributes.get("src") for tag, attributes in Marks(page).found if tag in {"link", "script"}
        ]
        assert {file for file in shared if file and file != "data:,"} <= set(written), name
        assert "<style>" not in page, name
        assert "sha256-" not in page, name
        links = [attributes.get("href") or "" for tag, attributes in Marks(page).found if tag == "a"]
        links += [link for table in data_of(page).get("tables", []) for link in leaves(table["links"])]
        assert {link for link in links if link.endswith((".html", ".csv"))} <= set(written), name
    assert len([name for name in written if name.endswith((".css", ".js"))]) < 16  # of any number of pages
    with pytest.raises(UsageError, match="not an empty folder"):
        export_pages(store, ids, tmp_path / "site")


def leaves(value: Any) -> list[str]:
    """The texts in lists of lists."""
    if isinstance(value, list):
        return [leaf for each in value for leaf in leaves(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.slow
def test_an_export_shows_the_chosen_runs_alone(runs_of: Runs) -> None:
    store, ids = runs_of
    site = Site(store, is_live=False, chosen=(ids[1],))
    (table,) = data_of(site.page("index.html"))["tables"]
    assert [row[0] for row in table["rows"]] == [ids[1]]
    with pytest.raises(NoSuchPageError, match="not in this export"):
        site.page(run_page(ids[0]))


@pytest.mark.slow
def test_a_skill_that_no_trend_has_has_a_page_where_those_of_its_runs_lead(tmp_path: Path) -> None:
    tasks, kept = [{"id": "a", "input": "a", "expected": "A"}], str(tmp_path / "kept.jsonl")
    es.evaluate(skills=[str.upper], tasks=tasks, store=str(tmp_path / "other"), record=kept)
    run_id = es.evaluate(skills=[str.upper], tasks=tasks, store=str(tmp_path / "store"), replay=kept).run_id
    written = export_pages(Store(tmp_path / "store"), [run_id], tmp_path / "site")
    assert run_page(run_id) in written
    (page,) = [name for name in written if name.startswith("skill-")]
    assert "No run of this skill counts over time yet" in (tmp_path / "site" / page).read_text()


@pytest.mark.slow
def test_a_run_without_a_verdict_has_no_completion_in_the_lists(tmp_path: Path) -> None:
    down = {"status": "error", "error_kind": "infra", "passed": False, "score": None}
    for second, judged in enumerate(([], [down], [down] * 4)):
        leave_run(tmp_path / "store", f"20260101T10000{second}Z-0001", judged=judged)
    site = Site(Store(tmp_path / "store"))
    cells = {}
    for name, title in (("index.html", "Best completion"), ("skills.html", "Last completion")):
        (table,) = data_of(site.page(name))["tables"]
        (place,) = [at for at, column in enumerate(table["columns"]) if column["title"] == title]
        cells[name] = [[row[place][0], row[place][-1]] for row in table["rows"]]
    assert cells == {"index.html": [[None, None], [0.25, 1], [0.5, 0]], "skills.html": [[None, 4]]}
    began = [column["title"] for column in table["columns"]].index("Last run began (UTC)")
    assert table["rows"][0][began] == started_at("20260101T100002Z-0001").timestamp() * 1000
    statement = data_of(site.page(table["links"][0][0]), "sql")["runs-1"]
    assert site.store.query(statement)["completion_rate"].isna().tolist() == [False, False, True]
    leave_run(tmp_path / "store", "20260101T100003Z-0001", judged=[down])
    (table,) = data_of(site.page("skills.html"))["tables"]
    assert table["rows"][0][place][-1] == 1, "those of the last run, not the most"
