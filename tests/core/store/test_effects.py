"""What was found of Agent Skills, as it lands in the reports of the arms."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval_skills.core.store import Store, land_reports
from eval_skills.core.store.effects import effect_points, effect_rows, points_of
from tests.core.skill_effect.test_effect import LOADED, effect, every, report

RUN = "20260101T000000Z-0001"
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def test_each_comparison_is_read_again_in_the_order_of_the_arms(tmp_path: Path) -> None:
    made = {
        "with_": report("with", every(9, "pp")),
        "sham": report("sham", every(9, "pp")),
        "without": report("without", every(9, "ff")),
    }
    store = Store(tmp_path / "store")
    reports = [each.model_copy(update={"timestamp": MOMENT}) for each in made.values()]
    land_reports(store, RUN, None, reports, effect=effect(**made))
    found = effect_points(store, {RUN: "night"})
    assert [(each.against, each.difference, each.verdict, each.night_id) for each in found] == [
        ("without", 1.0, "better", "night"),
        ("sham", 0.0, "inconclusive", "night"),
    ]


def test_a_wrong_set_up_has_no_difference() -> None:
    found = effect(with_=report("with", every(9, "pp"), LOADED), without=report("without", every(9, "ff"), LOADED))
    assert [(each.difference, each.lower, each.verdict) for each in points_of(found)] == [(None, None, "set-up error")]


def test_an_arm_without_an_answer_has_no_difference() -> None:
    found = effect(with_=report("with", every(3, "pp")), without=report("without", every(3, "ii")))
    assert [(each.difference, each.verdict) for each in points_of(found)] == [(None, "set-up error")]


def test_items_without_a_verdict_bound_the_difference() -> None:
    theirs = every(9, "ff") | every(2, "ii")
    rows = effect_rows(effect(with_=report("with", every(9, "pp")), without=report("without", theirs)))
    for row in rows.values():
        assert (row["effect"], row["effect_most"]) == (1.0, 1.0)
        assert row["effect_least"] == pytest.approx(7 / 9)
