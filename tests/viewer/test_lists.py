"""The lists that are tables of the store: what a row shows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import eval_skills as es
from eval_skills.core.store import Store
from eval_skills.core.store.landing import land_rows
from eval_skills.core.viewer_pages import RUNS, run_page
from eval_skills.viewer.export import export_pages
from eval_skills.viewer.pages.lists import MONITORS, NIGHTS
from eval_skills.viewer.server import application
from eval_skills.viewer.site import Site
from eval_skills.viewer.tables import Table
from tests.viewer.test_site import data_of


@pytest.mark.slow
def test_a_calibration_shows_how_many_labels_the_judge_did_not_judge(tmp_path: Path) -> None:
    store, moment = Store(tmp_path / "eval-store"), datetime(2026, 11, 29, tzinfo=UTC)
    row = {"calibration_id": "c", "calibrated_at": moment, "model": "openai/m", "prompt": "p", "benchmark_id": "sums"}
    land_rows(store, "calibrations", "20261129T000000Z-0001", [row | {"labels": 4321, "unjudged": 1234}])
    page = TestClient(application(store, labelled_by="ann"), base_url="http://127.0.0.1:8000").get("/calibrations.html").text
    assert page.index("4321") < page.index("1234")
    assert "Not judged" in page


@pytest.mark.slow
def test_a_sample_leads_to_its_skill_where_that_was_evaluated_and_to_no_page_that_is_not_there(tmp_path: Path) -> None:
    es.evaluate(agent, [{"input": "Bern", "expected": "Bern"}], store=str(tmp_path / "eval-store"))
    store, moment = Store(tmp_path / "eval-store"), datetime(2026, 11, 29, tzinfo=UTC)
    sample = {"monitor_id": "m", "monitor_run_id": "20261129T000000Z-0001", "sampled_at": moment, "status": "pass"}
    skills = ("agent", "never-evaluated", None)
    rows = [sample | {"interaction_id": str(number), "skill_id": skill} for number, skill in enumerate(skills)]
    land_rows(store, "samples", "20261129T000000Z-0001", rows)

    made = MONITORS.payload(store)
    place = [column["title"] for column in made["columns"]].index("Skill")
    client = TestClient(application(store, labelled_by="ann"), base_url="http://127.0.0.1:8000")
    leads = {row[place]: [link for link in links if link] for row, links in zip(made["rows"], made["links"], strict=True)}
    assert {skill: [client.get(f"/{link}").status_code for link in links] for skill, links in leads.items()} == {
        "agent": [200], "never-evaluated": [], None: [],
    }  # fmt: skip


def agent(city: str) -> dict[str, object]:
    return {"output": city, "toolCalls": [{"name": "pay"}] if city == "Rome" else []}


def broken(city: str) -> str:
    raise RuntimeError("the booking service is down")


@pytest.mark.slow
def test_a_night_and_a_run_show_that_a_forbidden_tool_was_called_or_may_have_been(tmp_path: Path) -> None:
    tasks = [{"id": city, "input": city, "expected": {"forbiddenTools": ["pay"]}} for city in ("Bern", "Rome")]
    found = es.evaluate([agent, broken], tasks, store=str(tmp_path / "eval-store"))
    calm = es.evaluate(agent, tasks[:1], store=str(tmp_path / "eval-store"))
    store, moment = Store(tmp_path / "eval-store"), datetime(2026, 11, 29, tzinfo=UTC)
    night = {
        "night_id": "n",
        "finished_at": moment,
        "suite": "s",
        "benchmark_id": "tasks",
        "skill_version": "0.0.0",
        "verdict": "steady",
    }
    rows = [
        night | {"run_id": run.run_id, "skill_id": skill} for run, skill in [(found, "agent"), (found, "broken"), (calm, "agent")]
    ]
    land_rows(store, "nights", "20261129T000000Z-0001", rows)

    assert _shown(NIGHTS, store, "Forbidden tools") == {
        ("agent", found.run_id): "called", ("broken", found.run_id): "unknown", ("agent", calm.run_id): None,
    }  # fmt: skip
    (runs,) = data_of(Site(store).page(RUNS))["tables"]
    place = [column["title"] for column in runs["columns"]].index("Forbidden tools")
    assert [row[place] for row in runs["rows"]] == [None, "called"]


@pytest.mark.slow
def test_an_export_has_the_nights_calibrations_and_preferences_of_its_runs_and_no_list_without_any(tmp_path: Path) -> None:
    tasks, kept = [{"input": "Bern", "expected": "Bern"}], str(tmp_path / "eval-store")
    first, second, third = sorted(es.evaluate(agent, tasks, store=kept).run_id for _ in range(3))
    store, moment = Store(kept), datetime(2026, 11, 29, tzinfo=UTC)
    about = {"benchmark_id": "tasks", "skill_id": "agent", "skill_version": "0.0.0"}
    night = about | {"night_id": "n", "finished_at": moment, "suite": "s", "verdict": "steady"}
    calibration = {"calibration_id": "c", "calibrated_at": moment, "model": "openai/m", "prompt": "p", "benchmark_id": "tasks"}
    pair = {"comparison_id": "p", "compared_at": moment, "benchmark_id": "tasks", "task_id": "a", "outcome": "tie"}
    land_rows(store, "nights", "20261129T000000Z-0001", [night | {"run_id": run} for run in (first, second)])
    land_rows(store, "calibrations", "20261129T000000Z-0001", [calibration | {"run_id": second}])
    land_rows(store, "preferences", "20261129T000000Z-0001", [pair | {"run_a": first, "run_b": second}])

    def lists(*runs: str) -> dict[str, int]:
        folder = tmp_path / "-".join(runs)
        written = export_pages(store, runs, folder)
        bar = (folder / run_page(runs[0])).read_text()
        found = [name for name in ("nights", "calibrations", "preferences", "monitors") if f"{name}.html" in written]
        assert found == [name for name in found if f'href="{name}.html"' in bar]
        return {name: len(data_of((folder / f"{name}.html").read_text())["tables"][0]["rows"]) for name in found}

    assert lists(first, second) == {"nights": 2, "calibrations": 1, "preferences": 1}
    assert lists(second) == {"nights": 1, "calibrations": 1}, "the other answer of the pair is in no page"
    assert lists(third) == {}


def _shown(table: Table, store: Store, title: str) -> dict[tuple[str, str], object]:
    made = Site(store).payload(table)
    skill, run, place = ([column["title"] for column in made["columns"]].index(each) for each in ("Skill", "Run", title))
    return {(row[skill], row[run]): row[place] for row in made["rows"]}
