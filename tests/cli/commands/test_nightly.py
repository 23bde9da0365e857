"""`nightly`: what is refused at once, and whole nights through a server that stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

import eval_skills.cli.commands.nightly as command
from eval_skills.cli.prefect_server.loss import Unrecorded
from eval_skills.core.errors import RunError
from eval_skills.core.store import Store, prune_items
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.nightly.plan import plan_night
from eval_skills.engine.nightly.request import NightlyRequest
from eval_skills.engine.nightly.summary import NightSummary, SuiteOutcome
from tests.cli.conftest import Place, leave_run
from tests.tables import each_row

Run = Callable[..., Any]


def suites(place: Place, *names: str, **more: Any) -> str:
    """A file of suites, each with the project's calculator on its own benchmark."""
    benchmark = str(Path(__file__).parents[3] / "examples" / "skills" / "calculator" / "tests" / "basic.eval.json")
    found = [{"name": name, "skills": ["skills/calculator"], "benchmark": benchmark, **more} for name in names or ("sums",)]
    return str(place.write("suites.json", {"suites": found}))


@pytest.mark.slow
@each_row(
    ("arguments", "message"),
    [
        pytest.param([], "--suites", id="p40-no-suites"),
        pytest.param(["--suites", "nowhere.yaml"], "nowhere.yaml: no such file", id="p40-missing-file"),
        pytest.param(["--suites", ""], "--suites is blank; give a value", id="blank"),
        pytest.param(
            ["--suites", "suites.json", "--keep-days", "0"], "--keep-days: input should be greater", id="keep-days-zero"
        ),
        pytest.param(["--suites", "suites.json", "--keep-days", "1.5"], "give a whole number", id="keep-days-broken"),
        pytest.param(["--suites", "suites.json", "--confirm-runs", "0"], "--confirm-runs: input should be greater", id="no-runs"),
        pytest.param(["--suites", "suites.json", "--margin", "0.1"], "--fail-on not-proven tolerates", id="margin-alone"),
        pytest.param(["--suites", "suites.json", "--fail-on", "not-proven", "--margin", "3"], "a share from 0 to 1", id="margin"),
        pytest.param(["--suites", "suites.json", "--store", "suites.json"], "is a file", id="store-is-a-file"),
        pytest.param(["--suites", "suites.json", "--baseline", "latest"], "one of the night's own", id="compared-with-itself"),
        pytest.param(["--suites", "suites.json", "--baseline", "no.json"], "--baseline: no.json: no such file", id="no-baseline"),
    ],
)
def test_p40_what_cannot_be_used_is_refused_in_one_line(run_here: Run, place: Place, arguments: list[str], message: str) -> None:
    suites(place)
    before = place.files()
    result = run_here("nightly", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1
    assert place.files() == before


def test_a_baseline_whose_items_were_deleted_is_refused_before_the_night(run_here: Run, place: Place) -> None:
    leave_run(place.folder / "eval-store", run_id := "20260101T100000Z-0001")
    prune_items(Store(place.folder / "eval-store"), before=datetime(2026, 2, 1, tzinfo=UTC), keep=())
    result = run_here("nightly", "--suites", suites(place), "--baseline", run_id)
    assert result.code == 2
    assert result.err.startswith(f"eval-skills: --baseline: nothing can be compared with {run_id}: it holds figures only, ")


def test_p60_a_mistake_in_the_file_names_its_place(run_here: Run, place: Place) -> None:
    path = suites(place, options={"rums": 3})
    result = run_here("nightly", "--suites", path)
    assert result.code == 2
    assert result.err == f"eval-skills: {path}: suites[0].options: unknown key 'rums' (did you mean 'runs'?)\n"


def test_no_suite_is_compared_with_a_run_of_its_own_night(run_here: Run, place: Place) -> None:
    result = run_here("nightly", "--suites", suites(place, baseline="latest"))
    assert result.code == 2
    assert result.err.startswith("eval-skills: baseline latest: the latest run is one of the night's own; ")


def test_the_store_is_there_for_the_viewer_before_prefect_is(
    run_here: Run, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, meanwhile: Callable[[], object], **__: Any) -> None:
        assert not (place.folder / "new").exists()
        meanwhile()
        assert (place.folder / "new").stat().st_mode & 0o777 == 0o700
        raise RunError("Prefect does not start")

    monkeypatch.setattr(command, "call_recorded", never)
    monkeypatch.setattr("eval_skills.cli.running.call_recorded", never)
    calls = (["nightly", "--suites", suites(place)], ["eval", "--skills", "skills/calculator", "--own-tests"])
    for call in calls:
        result = run_here(*call, "--store", "new")
        assert result.err.endswith("eval-skills: Prefect does not start\n")
        (place.folder / "new").rmdir()


def test_a_night_whose_end_prefect_did_not_record_is_told_whole(
    run_here: Run, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = SuiteOutcome(name="sums", run_id="r", remarks=["adder@1.0.0 changed since run r began"])
    summary = NightSummary(night_id="20260101T000000Z-0001", store="s", suites=[suite], unrecorded="connection refused")
    monkeypatch.setattr(command, "call_recorded", lambda *_, **__: summary)
    result = run_here("nightly", "--suites", suites(place), "--exit-on-fail")
    assert result.code == 3
    assert summary.line in result.out
    assert "  note: adder@1.0.0 changed since run r began\n" in result.out
    assert f"night {summary.night_id} is complete; Prefect's records of it are not" in result.err
    assert "(connection refused)" in result.err


def test_what_goes_wrong_after_the_server_is_lost_is_named(run_here: Run, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: Any, **__: Any) -> None:
        raise Unrecorded("20260101T000000Z-0001", "connection refused", 0.0) from httpx.ConnectError("refused")

    def full(*_: Any) -> None:
        raise RunError("cannot write to eval-store: No space left on device")

    monkeypatch.setattr(command, "call_recorded", lost)
    monkeypatch.setattr("eval_skills.engine.nightly.execution.finish_night_without_prefect", full)
    result = run_here("nightly", "--suites", suites(place))
    assert result.code == 3
    assert result.err.endswith("eval-skills: cannot write to eval-store: No space left on device\n")


WRONG = """import json, sys
for line in sys.stdin:
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": "no idea"}), flush=True)
"""


@pytest.mark.slow
def test_a_regression_is_gated_told_as_an_event_and_old_items_go(served: Place, sent_events: list[Any]) -> None:
    path = suites(served)
    first = served.call("nightly", "--suites", path, "--json", "--exit-on-fail", "--keep-days", "1")
    assert first.code == 0, first.err
    assert first.json["gate"] == {"passed": True, "failures": [], "notProven": []}
    assert first.json["pruned"] == {"runs": [], "bytes": 0}
    served.write("skills/calculator/skill.py", WRONG)
    second = served.call("nightly", "--suites", path, "--exit-on-fail")
    assert second.code == 1, second.err
    assert "regressed: " in second.out
    assert "gate failed" in second.out
    (told,) = sent_events
    assert (told.event, told.resource.id) == ("eval-skills.regression", "eval-skills.skill.sums.calculator")
    assert (told.payload["isNew"], told.payload["suite"]) == (True, "sums")
    quiet = served.call("nightly", "--suites", path, "--json")
    assert quiet.code == 0, quiet.err
    assert quiet.json["suites"][0]["skills"][0]["since"] == told.payload["night"]


@pytest.mark.slow
def test_a_night_that_goes_on_is_held_to_the_gate_that_it_began_with(served: Place) -> None:
    path = suites(served)
    assert served.call("nightly", "--suites", path).code == 0
    served.write("skills/calculator/skill.py", WRONG)
    store = str(served.folder / "eval-store")

    def begin_night() -> None:
        request = NightlyRequest(suites=path, store=store, provenance={"gate": {"exitOnFail": True}})
        plan = plan_night(request)
        evaluate_in_process(make_plan(plan.evaluation(plan.suites[0])))

    begin_night()
    resumed = served.call("nightly", "--suites", path, "--resume", "latest")
    assert (resumed.code, "gate failed: " in resumed.out) == (1, True), resumed.err
    begin_night()
    without = served.call("nightly", "--suites", path, "--resume", "latest", "--exit-on-fail=false")
    assert (without.code, "gate failed: " in without.out) == (0, False), without.err


@pytest.mark.slow
def test_two_nights_at_once_on_one_store_are_two_whole_nights(served: Place) -> None:
    path = suites(served, "one", "two")
    both = [served.begin("nightly", "--suites", path, "--keep-days", "1", "--json") for _ in range(2)]
    ended = [process.output(timeout=300) for process in both]
    assert [code for code, *_ in ended] == [0, 0], ended
    documents = [json.loads(out) for _, out, _ in ended]
    nights = Store(served.folder / "eval-store").nights()
    assert set(nights["night_id"]) == {document["nightId"] for document in documents}
    assert len(nights) == 4
    assert len(set(nights["run_id"])) == 4


@pytest.mark.slow
def test_a_suite_that_its_file_does_not_name_any_more_is_told_once(served: Place) -> None:
    assert served.call("nightly", "--suites", suites(served, "one", "two")).code == 0
    path = suites(served, "one")
    second = served.call("nightly", "--suites", path, "--json", "--exit-on-fail")
    assert second.code == 0, second.err
    assert [each for each in second.json["suites"][0]["remarks"] if "suite two, which suites.json does not name" in each]
    third = served.call("nightly", "--suites", path, "--json")
    assert third.json["suites"][0]["remarks"] == []


@pytest.mark.slow
def test_a_night_in_which_nothing_ran_could_not_finish(served: Place) -> None:
    path = suites(served, skills=["nowhere"])
    result = served.call("nightly", "--suites", path)
    assert result.code == 3, result.err
    assert "run failed: " in result.out
    assert served.call("nightly", "--suites", path, "--exit-on-fail").code == 1
