"""Calibrations and preferences in the store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from eval_skills.core.judging.calibration import Calibration, LabelledItem, calibrate
from eval_skills.core.judging.pairs import Preference
from eval_skills.core.store import Store, land_rows
from eval_skills.core.store.rows import calibration_row, judged_pairs, last_calibrations
from eval_skills.core.store.schema import CALIBRATION_SCHEMA, PREFERENCE_SCHEMA

MOMENT = datetime(2026, 11, 22, 8, tzinfo=UTC)


def made(at: datetime = MOMENT, model: str = "openai/one", judge: float = 1.0, about: str = "b@1.0.0") -> Calibration:
    items = [LabelledItem("t", 1.0, True, judge, judge >= 0.7), LabelledItem("u", 0.0, False, 0.0, False)]
    benchmark, _, version = about.partition("@")
    return calibrate(items, benchmark_id=benchmark, benchmark_version=version, model=model, prompt="p 1", at=at)


@pytest.mark.slow
def test_a_calibration_comes_back_as_it_was(store: Store) -> None:
    found = made()
    place = land_rows(store, "calibrations", "20261122T080000Z-0001", [calibration_row(found, "20261122T080000Z-0001")])
    assert place.endswith("calibrations/date=2026-11-22/20261122T080000Z-0001.parquet")
    assert last_calibrations(store, "b", "1.0.0") == {("openai/one", "p 1"): found}
    assert list(store.calibrations().columns) == CALIBRATION_SCHEMA.names
    assert store.query("SELECT count(*) AS n FROM calibrations")["n"].tolist() == [1]


def test_the_last_one_of_a_judge_holds(store: Store) -> None:
    later = made(MOMENT + timedelta(days=1), judge=0.0)
    others = [made(model="openai/two"), made(about="c@1.0.0")]
    for number, each in enumerate([later, made(), *others]):
        land_rows(store, "calibrations", f"20261122T08000{number}Z-000{number}", [calibration_row(each, "x")])
    assert last_calibrations(store, "b", "1.0.0") == {("openai/one", "p 1"): later, ("openai/two", "p 1"): others[0]}


def test_a_later_one_of_another_version_hides_none_that_fits(store: Store) -> None:
    own, later = made(), made(MOMENT + timedelta(days=1), about="b@2.0.0")
    for number, each in enumerate([own, later]):
        land_rows(store, "calibrations", f"20261122T08000{number}Z-000{number}", [calibration_row(each, "x")])
    found = {version: last_calibrations(store, "b", version)["openai/one", "p 1"] for version in ("1.0.0", "2.0.0", "3.0.0")}
    assert found == {"1.0.0": own, "2.0.0": later, "3.0.0": later}


@pytest.mark.slow
def test_preferences_are_a_table_and_a_view_and_are_told_by_model(store: Store) -> None:
    row = {"benchmark_id": "b", "judge_model": "openai/one", "task_id": "t", "outcome": "tie", "a_first": "a", "b_first": "b"}
    land_rows(store, "preferences", "20261122T080000Z-0001", [row, row | {"benchmark_id": "c"}])
    assert judged_pairs(store, "b") == {"openai/one": [Preference("t", "tie", "a", "b")]}
    assert list(store.preferences().columns) == PREFERENCE_SCHEMA.names
    assert store.query("SELECT outcome FROM preferences")["outcome"].tolist() == ["tie", "tie"]


@pytest.mark.slow
def test_of_a_panel_each_vote_is_told_under_its_own_model(store: Store) -> None:
    said = {"number": 1, "outcome": "tie", "a_first": "a", "b_first": "b"}
    row = {"benchmark_id": "b", "judge_model": "openai/one + openai/two (majority of 2 models)", "task_id": "t", "outcome": "tie"}
    missing = {"model": "openai/two", "number": 1, "outcome": "error", "error_message": "gone"}
    votes = [{"model": "openai/one", **said}, missing]
    land_rows(store, "preferences", "20261122T080000Z-0001", [row | {"votes": votes}])
    assert judged_pairs(store, "b") == {
        "openai/one": [Preference("t", "tie", "a", "b")],
        "openai/two": [Preference("t", "error")],
    }
    assert store.query("SELECT unnest(votes).model AS m FROM preferences")["m"].tolist() == ["openai/one", "openai/two"]


def test_an_empty_store_knows_nothing(store: Store) -> None:
    assert (last_calibrations(store, "b", "1.0.0"), judged_pairs(store, "b")) == ({}, {})
