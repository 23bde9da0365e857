"""The items of nights: which ones later nights need, and what a night says where they are gone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from eval_skills.core.nightly.classification import classify
from eval_skills.core.nightly.evidence import WATCHED
from eval_skills.core.store import Manifest, Store, write_manifest
from eval_skills.core.store.retention import note_pruned
from eval_skills.engine.nightly.events import prune_old_items
from eval_skills.engine.nightly.evidence import gather
from eval_skills.engine.nightly.execution import suite_outcome
from eval_skills.engine.nightly.history import PastNight, SuiteHistory, needed_runs, suite_history
from eval_skills.engine.nightly.summary import NightSummary
from tests.engine.nightly.made_nights import BROKEN, FINE, SUITE, Nights, told, verdicts


def test_all_nights_are_needed_over_which_a_slow_drop_is_looked_for() -> None:
    rows = [PastNight(f"n{number:03}", f"r{number}", None, "adder", "1.0.0", "sums", True, None) for number in range(WATCHED + 9)]
    assert SuiteHistory(nights=rows).needed() == {night.run_id for night in rows[-WATCHED:]}


@pytest.mark.slow
def test_what_later_nights_need_survives_pruning(nights: Nights) -> None:
    found = [nights.night(FINE), nights.night(FINE), nights.night(BROKEN, {"t3": "ffffff"})]
    kept = nights.run(FINE, 1, number=7).run_id
    assert kept is not None
    other = nights.run(FINE, 1, number=8).run_id
    needed = {*(suite.run_id for suite in found), found[2].skills[0].confirm_run_id}
    assert needed_runs(nights.store) == needed
    pruned = prune_old_items(nights.store, 1, {kept})
    assert pruned.run_ids == [other]
    again = nights.night(BROKEN, {"t3": "ffffff"})
    assert (verdicts(again), again.last_good) == (["regressed"], found[1].run_id)


def lose(nights: Nights, run_id: str | None, how: str) -> None:
    """The items of a run are gone, or damaged; its folder is there, as that of every run, or gone with all of it."""
    path = Path(nights.store.tables.files("items")[str(run_id)])
    if how == "damaged":
        path.write_bytes(b"PAR1" + path.read_bytes()[4:-50])
        return
    path.unlink()
    nights.store.run_folder(str(run_id)).mkdir(parents=True, exist_ok=True)
    if how == "pruned":
        note_pruned(nights.store, str(run_id))
    if how == "whole run":
        shutil.rmtree(nights.store.run_folder(str(run_id)))
        Path(nights.store.tables.files("reports")[str(run_id)]).unlink()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.parametrize("how", ["deleted", "damaged"])
def test_a_last_good_run_whose_items_are_gone_gives_way_to_the_one_before(nights: Nights, how: str) -> None:
    found = [nights.night(FINE), nights.night(FINE)]
    lose(nights, found[1].run_id, how)
    tonight = nights.night(FINE)
    assert (tonight.last_good, tonight.failures) == (found[0].run_id, [])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.parametrize("how", ["deleted", "damaged", "whole run", "pruned"])
def test_nights_whose_items_are_gone_are_named_and_what_was_pruned_is_not(nights: Nights, how: str) -> None:
    first = nights.night(FINE)
    nights.night(FINE)
    lose(nights, first.run_id, how)
    tonight = told(nights, FINE, 3)
    note = (
        f"adder@1.0.0: compared without 1 earlier night, whose items are gone or damaged ({first.run_id}); "
        f"eval-skills store verify --store {nights.store.path} names the files to put back"
    )
    assert (verdicts(tonight), tonight.failures) == (["steady"], [])
    assert tonight.remarks == ([] if how == "pruned" else [note])


def without_rows(nights: Nights, *days: int) -> SuiteHistory:
    """The history before day 9, with the rows of these days deleted."""
    for day in days:
        Path(nights.store.tables.files("nights")[f"202601{day:02}T000000Z-9999"]).unlink()
    nights.store = Store(nights.store.path)
    return suite_history(nights.store, SUITE.name, before="20260109T000000Z-9999")


@pytest.mark.parametrize("lost", [(1,), (1, 2)], ids=["one", "all"])
def test_nights_whose_rows_are_gone_are_named_and_pass_no_gate_if_none_is_left(nights: Nights, lost: tuple[int, ...]) -> None:
    for _ in range(2):
        nights.night(FINE)
    history = without_rows(nights, *lost)
    assert history.unrecorded == [f"2026010{day}T000000Z-9999" for day in lost]
    (evidence,) = gather(nights.store, "20260109T000000Z-9999", [nights.run(FINE, 9)], [history], None)
    tonight = suite_outcome(evidence, list(enumerate(classify("tonight", evidence.skills, {}))), {}, None)
    said, quiet = (tonight.failures, tonight.remarks) if lost == (1, 2) else (tonight.remarks, tonight.failures)
    assert (said[0].split(" (")[0], quiet) == (
        f"nothing is compared with {len(lost)} night{'s' * (len(lost) > 1)}, whose rows are gone or damaged", []
    )  # fmt: skip
    assert said[0].endswith(f"record that night again with nightly --resume {history.unrecorded[-1]}")
    assert NightSummary(night_id="n", store="s", suites=[tonight]).gate_passed is (lost == (1,))


def test_a_night_of_another_suite_and_one_too_long_ago_are_not_missed(nights: Nights) -> None:
    for _ in range(3):
        nights.night(FINE)
    folder = nights.store.run_folder("20260101T000000Z-0001")
    provenance = {"suite": "others", "night": "20260101T000000Z-9999"}
    benchmark = {"id": "sums", "version": "1.0.0", "digest": "same"}
    about = {"runId": folder.name, "createdAt": "2026-01-01T00:00:00Z", "skills": [], "plannedItems": 1, "benchmark": benchmark}
    write_manifest(folder, Manifest.model_validate(about | {"provenance": provenance}))
    assert without_rows(nights, 1, 2).unrecorded == ["20260102T000000Z-9999"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eval_skills.engine.nightly.history.POOLED", 1)
        assert without_rows(nights).unrecorded == [], "the reference is full of later nights"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.parametrize("how", ["deleted", "damaged"])
def test_a_skill_all_of_whose_nights_are_gone_passes_no_gate_for_one_night(nights: Nights, how: str) -> None:
    first = nights.night(FINE)
    lose(nights, first.run_id, how)
    tonight = told(nights, BROKEN, 2)
    (found,) = tonight.skills
    assert (found.classification.verdict, found.classification.left_open) == ("new", True)
    assert found.classification.explanation == (
        f"could not be judged: the items of 1 earlier night are gone or damaged ({first.run_id}), and there is no other night "
        "to compare with; put the files back, or the next night is compared with this one only"
    )
    assert not NightSummary(night_id="n", store="s", suites=[tonight]).gate_passed
    nights.night(BROKEN)
    assert verdicts(nights.night(BROKEN)) == ["steady"]
