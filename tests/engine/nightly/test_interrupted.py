"""Which interrupted night is meant: by its id, by that of one of its runs, or by how one of them begins."""

from __future__ import annotations

import json
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.store import Store, files, land_items, land_reports, write_manifest
from eval_skills.engine.evaluation.session import manifest_of
from eval_skills.engine.nightly.events import prune_old_items, record_night
from eval_skills.engine.nightly.execution import record
from eval_skills.engine.nightly.history import suite_history, suites_left_out
from eval_skills.engine.nightly.interruption import (
    FLOW_RUN,
    SuitesAsked,
    begun_runs,
    gate_of_night,
    held,
    interrupted_night,
    night_begun_by,
)
from eval_skills.engine.nightly.plan import NightPlan, plan_night
from eval_skills.engine.nightly.request import NightGate, NightlyRequest
from eval_skills.engine.nightly.summary import NightSummary, SuiteOutcome
from eval_skills.reporting.stopping import going_on_words
from tests.engine.evaluations import MakePlan

FIRST, SECOND = "20260101T000000Z-000a", "20260102T000000Z-000b"
ASKED = SuitesAsked("/suites.yaml", {"s"})


@pytest.fixture
def store(make_plan_of: MakePlan) -> Store:
    """A store with two nights that were interrupted; a run of each began within its first minute."""
    for night in (FIRST, SECOND):
        plan = make_plan_of("ok", provenance={"night": night, "suite": "s"})
        run_id = night.replace("T000000Z", "T000030Z")
        manifest = manifest_of(plan).model_copy(update={"run_id": run_id})
        write_manifest(plan.store.run_folder(run_id), manifest)
    return plan.store


@pytest.mark.parametrize(
    ("wanted", "night"),
    [
        pytest.param(FIRST, FIRST, id="whole-id"),
        pytest.param("20260101T000030Z-000a", FIRST, id="whole-id-of-a-run"),
        pytest.param("20260101", FIRST, id="beginning-of-both"),
        pytest.param("20260102T000030", SECOND, id="beginning-of-a-run"),
        pytest.param("latest", SECOND, id="latest"),
    ],
)
def test_the_night_that_is_meant(store: Store, wanted: str, night: str) -> None:
    assert interrupted_night(store, wanted, ASKED) == night


@pytest.mark.filterwarnings("ignore:left out")
def test_a_night_whose_rows_are_damaged_is_recorded_again(store: Store) -> None:
    for night in (FIRST, SECOND):
        record_night(store, NightSummary(night_id=night, store="s", suites=[SuiteOutcome(name="s", run_id=None, failures=["x"])]))
    path = Path(store.tables.files("nights")[FIRST])
    path.write_bytes(path.read_bytes()[:-9])
    assert suite_history(store, "s", before="20260103T000000Z-0000").unrecorded == [FIRST]
    for wanted in (FIRST, "latest"):
        assert interrupted_night(store, wanted, ASKED) == FIRST
    with held(store, FIRST):
        record_night(store, NightSummary(night_id=FIRST, store="s", suites=[SuiteOutcome(name="s", run_id=None, failures=["y"])]))
    assert suite_history(store, "s", before="20260103T000000Z-0000").unrecorded == [], "in the same process, too"
    with pytest.raises(UsageError, match="is finished and recorded"), held(store, FIRST):
        pass


def test_suites_that_are_left_out_are_those_of_the_last_night_of_the_file_before(store: Store) -> None:
    for night, names in ((FIRST, "s"), (SECOND, "st")):
        manifest = store.find_manifest(run_id := night.replace("T000000Z", "T000030Z"))
        assert manifest is not None
        provenance = manifest.provenance | {"suites": "/suites.yaml"}
        write_manifest(store.run_folder(run_id), manifest.model_copy(update={"provenance": provenance}))
        suites = [SuiteOutcome(name=name, run_id=run_id, failures=["x"]) for name in names]
        record_night(store, NightSummary(night_id=night, store="s", suites=suites))
    later = "20260103T000000Z-0000"
    said = suites_left_out(store, "/suites.yaml", {"s"}, later)
    assert said == f"night {SECOND} also had the suite t, which suites.yaml does not name any more"
    assert suites_left_out(store, "/suites.yaml", {"s"}, SECOND) is None
    assert suites_left_out(store, "/other.yaml", {"s"}, later) is None


def test_a_night_that_was_put_aside_for_its_date_is_not_missed_once_that_has_passed(store: Store) -> None:
    for night in (FIRST, SECOND):
        record_night(store, NightSummary(night_id=night, store="s", suites=[SuiteOutcome(name="s", run_id=None, failures=["x"])]))
    path = Path(store.tables.files("nights")[SECOND])
    path.rename(f"{path}.wrong-clock")
    history = suite_history(store, "s", before="20260103T000000Z-0000")
    assert (history.unrecorded, history.to_come) == ([], None)
    for wanted, refusal in [(SECOND, "is finished and recorded"), ("latest", "no night in .* was interrupted")]:
        with pytest.raises(UsageError, match=refusal):
            interrupted_night(store, wanted, ASKED)


@pytest.mark.parametrize("where", ["of the night", "of the suite"])
def test_a_night_is_not_continued_with_a_run_of_its_own_as_baseline(store: Store, tmp_path: Path, where: str) -> None:
    own, earlier = SECOND.replace("T000000Z", "T000030Z"), FIRST.replace("T000000Z", "T000030Z")
    file = tmp_path / "suites.json"
    suite = {"name": "s", "skills": ["x"], "benchmark": "b", **({"baseline": own} if where == "of the suite" else {})}
    file.write_text(json.dumps({"suites": [suite]}))
    request = NightlyRequest(suites=str(file), store=store.path, resume=SECOND, baseline=own if where == "of the night" else None)
    with pytest.raises(UsageError, match=f"^baseline {own} is a run of night {SECOND} itself; name an earlier run by its id"):
        plan_night(request)
    file.write_text(json.dumps({"suites": [suite | {"baseline": earlier}]}))
    assert plan_night(request.model_copy(update={"baseline": None})).night_id == SECOND


def test_what_was_asked_of_a_night_holds_for_the_rest_of_it_unless_the_call_says_otherwise(store: Store, tmp_path: Path) -> None:
    run_id, earlier = SECOND.replace("T000000Z", "T000030Z"), FIRST.replace("T000000Z", "T000030Z")
    file = tmp_path / "suites.json"
    file.write_text(json.dumps({"suites": [{"name": "s", "skills": ["x"], "benchmark": "b"}]}))
    asked: dict[str, Any] = {"suites": str(file), "store": store.path}
    gate = {"exitOnFail": False, "failOn": "not-proven", "margin": 0.05}
    begun = plan_night(NightlyRequest(**asked, baseline=earlier, confirm_runs=9, provenance={"gate": gate}))
    about = begun.evaluation(begun.suites[0]).provenance
    manifest = store.manifest(run_id)
    provenance = manifest.provenance | {"asked": about["asked"]}
    write_manifest(store.run_folder(run_id), manifest.model_copy(update={"provenance": provenance}))
    assert gate_of_night(store, SECOND) == NightGate(fail_on="not-proven", margin=0.05)
    assert not gate_of_night(store, FIRST).is_asked
    kept = plan_night(NightlyRequest(**asked, resume=SECOND)).request
    assert (kept.baseline, kept.confirm_runs, kept.keep_days) == (earlier, 9, None)
    assert kept.provenance == {"gate": gate}
    said = plan_night(NightlyRequest(**asked, resume=SECOND, confirm_runs=3, provenance={"gate": {}})).request
    assert (said.baseline, said.confirm_runs, said.provenance) == (earlier, 3, {"gate": {}})


def test_what_fits_several_nights_or_none_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match=r"202601 fits 4 runs in the interrupted nights of .*; give more of the id"):
        interrupted_night(store, "202601", ASKED)
    with pytest.raises(UsageError, match=r"no run in the interrupted nights of .* begins with 2025"):
        interrupted_night(store, "2025", ASKED)
    with pytest.raises(UsageError, match="'tonight' is not a run id"):
        interrupted_night(store, "tonight", ASKED)


@pytest.fixture
def weekly(store: Store) -> Store:
    """The same store, in which the second night is one of another file."""
    folder = store.run_folder(SECOND.replace("T000000Z", "T000030Z"))
    manifest = store.manifest(folder.name)
    other = {"night": SECOND, "suite": "week", "suites": "/weekly.yaml"}
    write_manifest(folder, manifest.model_copy(update={"provenance": other}))
    return store


def test_a_night_of_other_suites_is_not_taken_up_and_lost(weekly: Store) -> None:
    assert interrupted_night(weekly, "latest", ASKED) == FIRST
    said = (
        f"night {SECOND} is of the suites of /weekly.yaml, not of /suites.yaml; continue with: .* --suites /weekly.yaml --resume"
    )
    with pytest.raises(UsageError, match=said):
        interrupted_night(weekly, SECOND, ASKED)


@pytest.mark.parametrize(
    "asked",
    [SuitesAsked("/weekly.yaml", {"renamed"}), SuitesAsked("/moved.yaml", {"week"})],
    ids=["suite-renamed", "file-moved"],
)
def test_a_night_goes_on_where_its_file_was_moved_or_changed(weekly: Store, asked: SuitesAsked) -> None:
    assert interrupted_night(weekly, "latest", asked) == SECOND


def test_suites_of_the_same_names_in_another_file_that_is_still_there_are_other_suites(store: Store, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.touch()
    folder = store.run_folder(SECOND.replace("T000000Z", "T000030Z"))
    manifest = store.manifest(folder.name)
    write_manifest(folder, manifest.model_copy(update={"provenance": manifest.provenance | {"suites": str(other)}}))
    assert interrupted_night(store, "latest", ASKED) == FIRST
    with pytest.raises(UsageError, match=f"night {SECOND} is of the suites of {other}, not of /suites.yaml; continue with: "):
        interrupted_night(store, SECOND, ASKED)
    other.unlink()
    assert interrupted_night(store, "latest", ASKED) == SECOND, "the file was moved"


def test_pruning_leaves_what_an_interrupted_night_goes_on_with(store: Store) -> None:
    runs = [night.replace("T000000Z", "T000030Z") for night in (FIRST, SECOND)]
    for run_id in runs:
        manifest = store.manifest(run_id).model_copy(update={"created_at": datetime(2026, 1, 1, tzinfo=UTC)})
        write_manifest(store.run_folder(run_id), manifest)
        land_items(store, run_id, [])
        land_reports(store, run_id, None, [])
    assert prune_old_items(store, 1, set()).run_ids == []
    between = SuiteOutcome(name="s", run_id=runs[0], failures=["down"])
    record_night(store, NightSummary(night_id=FIRST.replace("000a", "000c"), store=store.path, suites=[between]))
    assert prune_old_items(store, 1, set()).run_ids == runs[:1], "a later night has evaluated the suite"


def test_what_a_night_has_begun_is_found_where_a_clock_dates_it_before_the_night(store: Store) -> None:
    (run_id,) = begun_runs(store, FIRST).suites.values()
    night = FIRST.replace("T000000Z", "T000031Z")
    manifest = store.manifest(run_id).model_copy(update={"provenance": {"night": night, "suite": "s"}})
    write_manifest(store.run_folder(run_id), manifest)
    assert begun_runs(store, night).suites == {"s": run_id}, "its clock was set back by a second, or is that of another machine"


def night_in(store: Store) -> NightPlan:
    return NightPlan(FIRST, NightlyRequest(suites="suites.yaml", store=store.path), store, [], [])


def test_a_night_that_goes_on_is_not_taken_up_by_another_process(store: Store) -> None:
    with held(store, FIRST), pytest.raises(UsageError, match=f"night {FIRST} is being written by process {os.getpid()}; wait"):
        begun_runs(store, FIRST)
    assert list(begun_runs(store, FIRST).suites) == ["s"]


def test_a_flow_run_waits_for_the_process_that_still_works_at_its_night(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    [run_id] = begun_runs(store, FIRST).suites.values()
    manifest = store.manifest(run_id)
    provenance = manifest.provenance | {FLOW_RUN: "own"}
    write_manifest(store.run_folder(run_id), manifest.model_copy(update={"provenance": provenance}))
    waiting = threading.Event()

    def wait(seconds: float) -> None:
        if seconds >= files.LOOK_AGAIN_S:
            waiting.set()
        sleep(0.01)

    monkeypatch.setattr(files, "sleep", wait)
    with ThreadPoolExecutor() as threads, held(store, FIRST):
        found = threads.submit(night_begun_by, "own", store, datetime(2026, 1, 1, tzinfo=UTC))
        assert waiting.wait(10)
        assert not found.done()
        record_night(store, NightSummary(night_id=FIRST, store=store.path, suites=[]))
    assert found.result(10) is None, "the other process recorded it"


def test_a_night_that_was_recorded_since_it_was_planned_does_not_go_on(store: Store) -> None:
    record_night(store, NightSummary(night_id=FIRST, store=store.path, suites=[]))

    with pytest.raises(UsageError, match=f"night {FIRST} is finished and recorded"), held(store, FIRST):
        pytest.fail("it goes on")


@pytest.mark.parametrize(
    ("begun", "again"),
    [
        (SECOND, "continue with: eval-skills nightly --suites {} --resume {} --store {}"),
        (FIRST.replace("0101", "0103"), "call the command again"),
    ],
    ids=["begun", "nothing-begun"],
)
def test_a_night_that_cannot_be_recorded_says_how_it_goes_on(store: Store, begun: str, again: str) -> None:
    night = replace(night_in(store), night_id=begun)
    (store.layout.root / "nights").write_text("in the way")
    words = again.format(Path("suites.yaml").resolve(), begun, store.path)
    with pytest.raises(RunError, match=f"what is there is kept, so {re.escape(words)}$"):
        record(night, NightSummary(night_id=begun, store=store.path, suites=[]))


@pytest.mark.parametrize(
    ("provenance", "whole_night", "words"),
    [
        ({}, False, " --resume RUN"),
        ({"night": "NIGHT", "suites": "/a b.yaml"}, True, ": eval-skills nightly --suites '/a b.yaml' --resume NIGHT --store s"),
        ({"night": "NIGHT"}, False, ": eval-skills eval --resume RUN --store s"),
    ],
    ids=["no-night", "night", "suite-of-a-night"],
)
def test_what_goes_on_with_a_run_that_ended_early(provenance: dict[str, str], whole_night: bool, words: str) -> None:
    assert going_on_words("RUN", "s", provenance, whole_night=whole_night) == f"continue with{words}"
