"""The page of a skill: its figures over time, and what leads from them to the runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import eval_skills as es
from eval_skills.core.store import Store
from eval_skills.core.viewer_pages import run_page, skill_page
from eval_skills.viewer.site import Site
from tests.cli.conftest import leave_run
from tests.viewer.test_site import Marks, Runs, data_of

TASKS = [{"id": letter, "input": letter, "expected": letter.upper()} for letter in "abcdefgh"]


def test_every_point_of_every_figure_leads_to_its_run(runs_of: Runs) -> None:
    store, ids = runs_of
    page = Site(store).page(skill_page("partly"))
    (series,) = data_of(page)["series"]
    flaky, latency = series["further"]
    assert (flaky["unit"], latency["unit"]) == ("rate", "ms")
    for figure in (series, flaky, latency):
        assert [point["page"] for point in figure["points"]] == [run_page(run_id) for run_id in ids]
    links = {attributes.get("href") for tag, attributes in Marks(page).found if tag == "a"}
    assert {run_page(run_id) for run_id in ids} <= links


def test_a_digest_that_is_not_known_is_a_dash(tmp_path: Path) -> None:
    leave_run(tmp_path, "20260101T100000Z-0001")
    page = Site(Store(tmp_path)).page(skill_page("adder"))
    assert '<td class="wide">–</td>' in page
    assert ">None<" not in page


@pytest.mark.slow
def test_the_sql_of_its_tables_gives_their_rows(runs_of: Runs) -> None:
    store, ids = runs_of
    (statement,) = data_of(Site(store).page(skill_page("partly")), "sql").values()
    assert store.query(statement)["run_id"].to_list() == ids


@pytest.mark.slow
def test_a_lasting_change_of_level_is_marked(tmp_path: Path) -> None:
    sees = {"all": True}

    def reader(text: str) -> str:
        return text.upper() if sees["all"] else text

    for number in range(14):
        sees["all"] = number < 7
        es.evaluate(skills=[reader], tasks=TASKS, store=str(tmp_path / "eval-store"))
    (series,) = data_of(Site(Store(tmp_path / "eval-store")).page(skill_page("reader")))["series"]
    (change,) = [mark for mark in series["annotations"] if mark["label"].startswith("▼")]
    assert change["timestamp"] == series["points"][7]["timestamp"]


@pytest.mark.parametrize("chosen", [0, 1])
def test_an_export_has_the_points_of_its_runs_alone(runs_of: Runs, chosen: int) -> None:
    store, ids = runs_of
    site = Site(store, is_live=False, chosen=(ids[chosen],))
    (series,) = data_of(site.page(skill_page("partly")))["series"]
    assert {point["run"] for figure in (series, *filter(None, series["further"])) for point in figure["points"]} == {ids[chosen]}
