"""`history`: which runs it lists, and how to go on with those that stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from eval_skills.core.store import Store, land_rows, write_manifest
from eval_skills.core.store.files import RunLock
from eval_skills.core.store.manifest import EXPERIMENT as SKILL_EFFECT
from eval_skills.core.store.manifest import TRIGGERS
from eval_skills.engine.nightly.interruption import night_lock
from tests.tables import each_row

Run = Callable[..., Any]
LONG_AGO = 1_700_000_000
FIRST, SECOND, THIRD = "20260101T100000Z-0001", "20260102T100000Z-0002", "20260103T100000Z-0003"


@pytest.fixture(autouse=True)
def three_runs(past: Callable[..., str]) -> None:
    past(FIRST, passed=4)
    past(SECOND, passed=1, skill_id="subber", benchmark_id="differences")
    past(THIRD, landed=False)


@pytest.mark.slow
@each_row(
    ("arguments", "ids"),
    [
        pytest.param([], [THIRD, SECOND, FIRST], id="youngest-first"),
        pytest.param(["--limit", "2"], [THIRD, SECOND], id="limit"),
        pytest.param(["--skill", "subber"], [SECOND], id="skill"),
        pytest.param(["--skill", "adder@1.0.0", "--limit", "1"], [THIRD], id="skill-and-version-then-limit"),
        pytest.param(["--skill", "adder@1.0.1"], [], id="other-version"),
        pytest.param(["--benchmark", "sums"], [THIRD, FIRST], id="benchmark"),
        pytest.param(["--benchmark", "differences@2.0.0"], [SECOND], id="benchmark-and-version"),
        pytest.param(["--benchmark", "sum"], [], id="a-part-of-an-id-is-no-id"),
    ],
)
def test_p57_p59_runs_are_listed_youngest_first_and_each_option_narrows(
    run_here: Run, arguments: list[str], ids: list[str]
) -> None:
    result = run_here("history", *arguments, "--json")
    assert (result.code, result.err) == (0, "")
    assert [entry["runId"] for entry in result.json] == ids


@pytest.mark.slow
def test_a_run_says_how_far_and_how_well_it_went(run_here: Run) -> None:
    third, second, first = run_here("history", "--json").json
    assert first == {
        "runId": FIRST, "startedAt": "2026-01-01T10:00:00+00:00", "benchmark": "sums@2.0.0", "skills": ["adder@1.0.0"],
        "items": 4, "plannedItems": 4, "bestCompletion": 1.0, "state": "finished", "stopped": None, "lacksReports": False,
        "origin": "run", "judging": None, "effect": None, "changes": None, "beingEvaluated": None, "resume": None,
    }  # fmt: skip
    assert second["bestCompletion"] == 0.25
    assert (third["items"], third["plannedItems"], third["bestCompletion"], third["state"]) == (2, 4, None, "unfinished")


UNJUDGED = {"status": "error", "error_kind": "judge", "passed": False, "score": None}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judged", "entry", "cell"),
    [
        pytest.param(
            [{"judge_tokens": 100, "judge_cost_usd": 0.25}, {"judge_tokens": 0, "judge_cost_usd": 0.0}],
            {"judgeTokens": 100, "judgeUSD": 0.25, "unjudgedItems": 0}, "$0.2500", id="paid",
        ),
        pytest.param(
            [{"judge_tokens": 100}, {"judge_tokens": 7, "judge_cost_usd": 0.25}, UNJUDGED],
            {"judgeTokens": 107, "judgeUSD": None, "unjudgedItems": 1}, "unknown, 1 not judged", id="p38-unknown-price",
        ),
        pytest.param(
            [UNJUDGED] * 4, {"judgeTokens": None, "judgeUSD": None, "unjudgedItems": 4}, "–, 4 not judged", id="judge-down"
        ),
    ],
)  # fmt: skip
def test_a_judged_run_says_what_judging_each_skill_took(
    run_here: Run, past: Callable[..., str], judged: list[dict[str, Any]], entry: dict[str, Any], cell: str
) -> None:
    past("20260104T100000Z-0004", judged=judged)
    assert run_here("history", "--json", "--limit", "1").json[0]["judging"] == [{"skill": "adder@1.0.0", **entry}]
    shown = run_here("history").out
    head, row, *_ = shown.splitlines()
    assert "judging" in head
    assert cell in row
    assert shown.count(cell) == 1


def test_where_nothing_was_judged_there_is_no_column(run_here: Run) -> None:
    assert "judging" not in run_here("history").out


def test_p54_an_unfinished_run_comes_with_the_command_that_goes_on_with_it(place: Any, run_here: Run) -> None:
    said = run_here("history").out
    assert f"continue with  eval-skills eval --resume {THIRD} --store {place.folder / 'eval-store'}\n" in said
    assert "2/4" in said
    assert said.count("eval --resume") == 1


@pytest.mark.parametrize(
    ("origin", "provenance", "said"),
    [
        pytest.param(
            "run", {SKILL_EFFECT: {"names": ["s"], "arms": {}}}, "continue with eval-skills skill-effect --resume {run} --store ",
            id="skill-effect",
        ),
        pytest.param("run", {TRIGGERS: {}}, "continue with eval-skills triggers --resume {run} --store ", id="triggers"),
        pytest.param(
            "rescore", {"of": FIRST}, f"{{run}} is a scoring that did not land: call eval-skills rescore {FIRST} --store ",
            id="rescore",
        ),
        pytest.param(
            "replay", {"period": "2026-01-03"}, "{run} is the period 2026-01-03 of a backfill: make the same call of ",
            id="replay",
        ),
    ],
)  # fmt: skip
def test_a_run_goes_on_with_the_command_that_asked_for_it(
    place: Any, run_here: Run, origin: str, provenance: dict[str, Any], said: str
) -> None:
    store = Store(place.folder / "eval-store")
    then = store.manifest(THIRD)
    changed = {"provenance": provenance, "request": then.request | {"origin": origin}}
    write_manifest(store.run_folder(THIRD), then.model_copy(update=changed))
    shown = " ".join(run_here("history", "--all").out.split())
    assert said.format(run=THIRD) in shown
    assert "eval-skills eval --resume" not in shown


@pytest.mark.slow
@pytest.mark.parametrize(("suites", "named"), [("my suites.yaml", "'my suites.yaml'"), (None, "FILE")], ids=["file", "unknown"])
def test_a_run_of_an_interrupted_night_goes_on_with_the_night(
    place: Any, run_here: Run, past: Callable[..., str], suites: str | None, named: str
) -> None:
    fourth = past("20260103T110000Z-0004", landed=False)
    night, store = "20260103T095959Z-000a", Store(place.folder / "eval-store")
    about = {"suite": "s", "night": night} | ({"suites": suites} if suites else {})
    for run_id in (THIRD, fourth):
        write_manifest(store.run_folder(run_id), store.manifest(run_id).model_copy(update={"provenance": about}))
    expected = f"eval-skills nightly --suites {named} --resume {night} --store {store.path}"
    said = run_here("history").out
    assert said.count(f"continue with  {expected}\n") == said.count("continue with") == 1
    assert [entry["resume"] for entry in run_here("history", "--json").json] == [expected, expected, None, None]
    land_rows(store, "nights", night, [_row(night)])
    assert run_here("history", "--json").json[0]["resume"] == f"eval-skills eval --resume {fourth} --store {store.path}"


def _row(night: str) -> dict[str, Any]:
    finished_at = datetime(2026, 1, 3, tzinfo=UTC)
    return {"night_id": night, "finished_at": finished_at, "suite": "s", "good": False, "verdict": "failed"}


@pytest.mark.slow
def test_a_night_that_ended_between_two_runs_is_named(place: Any, run_here: Run) -> None:
    night, store = "20260102T095959Z-000a", Store(place.folder / "eval-store")
    about = {"suite": "s", "night": night, "suites": "suites.yaml"}
    write_manifest(store.run_folder(SECOND), store.manifest(SECOND).model_copy(update={"provenance": about}))
    command = f"eval-skills nightly --suites suites.yaml --resume {night} --store {store.path}"
    assert f"a night has no verdicts; unless it still goes on, continue with  {command}\n" in run_here("history").out
    assert [entry["resume"] for entry in run_here("history", "--json").json][1:] == [command, None]
    land_rows(store, "nights", night, [_row(night)])
    assert "a night has no verdicts" not in run_here("history").out
    rows = store.layout.root / store.tables.relative(store.tables.files("nights")[night])
    rows.write_bytes(rows.read_bytes()[:-9])
    said = run_here("history").out
    assert f"a night has no verdicts; unless it still goes on, continue with  {command}\n" in said, "it is recorded again"
    rows.rename(f"{rows}.wrong-clock")
    assert "a night has no verdicts" not in run_here("history").out


@pytest.mark.parametrize("of_a_night", [True, False], ids=["night", "run"])
def test_what_goes_on_just_now_has_no_command_that_is_refused(place: Any, run_here: Run, of_a_night: bool) -> None:
    night, store = "20260103T095959Z-000a", Store(place.folder / "eval-store")
    if of_a_night:
        about = {"suite": "s", "night": night, "suites": "suites.yaml"}
        write_manifest(store.run_folder(THIRD), store.manifest(THIRD).model_copy(update={"provenance": about}))
    with night_lock(store, night) if of_a_night else RunLock(store.journal_path(THIRD)):
        said, document = run_here("history").out, run_here("history", "--json").json
    goes_on = f"night {night}" if of_a_night else f"run {THIRD}"
    assert f"{goes_on} is being evaluated just now\n" in said
    assert "continue with" not in said
    assert [(entry["beingEvaluated"], entry["resume"]) for entry in document] == [(goes_on, None), *[(None, None)] * 2]
    assert run_here("history", "--json").json[0]["beingEvaluated"] is None


@pytest.mark.slow
def test_a_run_without_a_manifest_has_no_command_that_cannot_work(place: Any, run_here: Run) -> None:
    (place.folder / "eval-store/runs" / THIRD / "manifest.json").unlink()
    assert run_here("history", "--json").json[0]["resume"] is None
    said = run_here("history").out
    assert f"{THIRD} cannot be continued, for its manifest is missing: evaluate again" in " ".join(said.split())
    assert "continue with" not in said


def test_a_damaged_journal_hides_no_other_run(place: Any, run_here: Run) -> None:
    (place.folder / "eval-store/runs" / THIRD / "journal.jsonl").write_text("no json\n{}\n")
    entries = run_here("history", "--json").json
    assert [(entry["runId"], entry["items"]) for entry in entries] == [(THIRD, None), (SECOND, 4), (FIRST, 4)]
    assert "–/4" in run_here("history").out


def test_a_run_whose_manifest_is_gone_is_known_by_its_reports(place: Any, run_here: Run) -> None:
    (place.folder / "eval-store/runs" / FIRST / "manifest.json").unlink()
    entry = run_here("history", "--json").json[-1]
    assert (entry["skills"], entry["benchmark"], entry["items"]) == (["adder@1.0.0"], "sums@2.0.0", 4)
    assert entry["plannedItems"] is None


def test_a_landed_run_without_reports_says_what_is_missing_and_what_to_do(place: Any, run_here: Run) -> None:
    """As where only one of the two tables was copied here, and no list of digests says that there was another."""
    store = place.folder / "eval-store"
    (reports,) = store.glob(f"reports/*/{FIRST}.parquet")
    reports.unlink()
    (store / "digests.jsonl").unlink()
    assert not run_here("history", "--json").json[-1]["lacksReports"], "it may just be landing"
    (items,) = store.glob(f"items/*/{FIRST}.parquet")
    os.utime(items, (LONG_AGO, LONG_AGO))
    result = run_here("history")
    assert "no reports" in next(line for line in result.out.splitlines() if line.startswith(FIRST))
    again = f"make them anew from the items with eval-skills store verify --repair --store {store}"
    assert f"{FIRST} has no reports, so no figures; {again}" in " ".join(result.out.split())
    assert f"{FIRST}.parquet: these reports are not there, though their items are" in result.err
    assert [run["lacksReports"] for run in run_here("history", "--json").json] == [False, False, True]
    assert f"{FIRST}.parquet: these reports are not there" in run_here("trend").err, "a point is not just left out"
    assert run_here("store", "verify", "--repair").code == 0
    assert [run["lacksReports"] for run in run_here("history", "--json").json] == [False, False, False]


def test_no_match_is_said(place: Any, run_here: Run) -> None:
    result = run_here("history", "--skill", "nobody")
    assert (result.code, result.out) == (0, f"no run in {place.folder / 'eval-store'} matches\n")
    (place.folder / "new").mkdir()  # as an evaluation that begins makes it
    assert run_here("history", "--store", "new").out == f"no run in {place.folder / 'new'} yet\n"


@pytest.mark.parametrize("command", [["history"], ["trend", "--skill", "adder"], ["query", "SELECT 1"]], ids=lambda it: it[0])
def test_p40_a_store_that_is_not_there_is_named_and_no_empty_history(place: Any, run_here: Run, command: list[str]) -> None:
    before = place.files()
    result = run_here(*command, "--store", "nope")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert f"--store {place.folder / 'nope'}: no such store" in result.err
    assert place.files() == before


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "x"])
def test_p40_a_limit_that_makes_no_sense_is_refused(run_here: Run, value: str) -> None:
    result = run_here("history", "--limit", value)
    assert (result.code, result.out) == (2, "")
    assert "--limit" in result.err


def rewrite_manifest(place: Any, run_id: str, change: Callable[[dict[str, Any]], Any]) -> None:
    path = place.folder / "eval-store/runs" / run_id / "manifest.json"
    data = json.loads(path.read_text())
    del data["crc32"]
    change(data)
    path.write_text(json.dumps(data))


def test_each_run_says_what_changed_since_the_one_before_it_of_its_benchmark_and_skill(place: Any, run_here: Run) -> None:
    rewrite_manifest(place, FIRST, lambda data: data["versions"].update({"python": "3.11.1"}))
    rewrite_manifest(place, THIRD, lambda data: (data["versions"].update({"python": "3.12.0"}), data.update(platform="Linux")))
    third, second, first = run_here("history", "--json").json
    assert third["changes"] == {
        "since": FIRST,
        "changed": [{"kind": "environment", "name": "python", "before": "3.11.1", "after": "3.12.0", "skill": None}],
    }
    assert (second["changes"], first["changes"]) == (None, None)


def test_a_change_of_a_skill_names_it(place: Any, run_here: Run, past: Callable[..., str]) -> None:
    past("20260104T100000Z-0004", skill_version="1.1.0")
    entry = run_here("history", "--limit", "1", "--json").json[0]
    assert entry["changes"]["since"] == THIRD
    assert entry["changes"]["changed"] == [
        {"kind": "skill", "name": "version", "before": "1.0.0", "after": "1.1.0", "skill": "adder"}
    ]


def test_a_version_that_ran_beside_another_one_is_compared_with_itself(
    place: Any, run_here: Run, past: Callable[..., str]
) -> None:
    rewrite_manifest(place, FIRST, lambda data: data["skills"].append({"key": "adder@2.0.0"}))
    past("20260104T100000Z-0004")
    rewrite_manifest(place, THIRD, lambda data: data["skills"].append({"key": "adder@2.0.0"}))
    fourth, third, *_ = run_here("history", "--json").json
    assert (fourth["changes"]["changed"], third["changes"]["changed"]) == ([], [])


def test_the_last_column_says_what_changed(run_here: Run, past: Callable[..., str]) -> None:
    past("20260104T100000Z-0004", skill_version="1.1.0")
    head, fourth, third, *_ = run_here("history").out.splitlines()
    assert head.split()[-1] == "changed"
    assert (fourth.split()[-1], third.split()[-1]) == ("skill", "nothing")


def test_in_a_pipe_nothing_is_cut(run_here: Run, past: Callable[..., str]) -> None:
    past("20260105T100000Z-0005", skill_id="a-skill-with-a-name-that-leaves-no-room-for-anything-else-in-a-line" * 3)
    shown = run_here("history").out.splitlines()
    assert "a-skill-with-a-name-that-leaves-no-room-for-anything-else-in-a-line" * 3 in shown[1]
    assert (shown[0].split()[-1], "…" in shown[1]) == ("changed", False)


def test_later_work_on_a_run_is_no_run_of_its_own_unless_it_is_asked_for(place: Any, run_here: Run) -> None:
    rewrite_manifest(place, SECOND, lambda data: data["request"].update(origin="rescore"))
    assert [entry["runId"] for entry in run_here("history", "--json").json] == [THIRD, FIRST]
    everything = run_here("history", "--all", "--json").json
    assert [(entry["runId"], entry["origin"]) for entry in everything] == [(THIRD, "run"), (SECOND, "rescore"), (FIRST, "run")]
    assert " rescore" in run_here("history", "--all").out


def test_runs_whose_items_were_cleared_away_keep_their_counts(place: Any, run_here: Run) -> None:
    for path in (place.folder / "eval-store/items").rglob(f"{FIRST}.parquet"):
        path.unlink()
    entry = run_here("history", "--json").json[-1]
    assert (entry["runId"], entry["state"], entry["items"]) == (FIRST, "finished", 4)


def test_a_run_without_a_verdict_has_no_best_completion(run_here: Run, past: Callable[..., str]) -> None:
    down = {"status": "error", "error_kind": "infra", "passed": False, "score": None}
    past("20260104T100000Z-0004", judged=[down] * 4)
    assert run_here("history", "--limit", "1", "--json").json[0]["bestCompletion"] is None
