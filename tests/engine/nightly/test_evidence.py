"""Nights over a store whose runs are written by hand: what is compared with what."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval_skills.core.metrics.tasks import Tally
from eval_skills.core.nightly.classification import classify
from eval_skills.core.nightly.evidence import Classification, NightVerdict
from eval_skills.core.store import land_reports, prune_items
from eval_skills.core.store.digests import DIGESTS_FILE
from eval_skills.engine.nightly.events import record_night
from eval_skills.engine.nightly.evidence import SuiteRun, gather, suite_run
from eval_skills.engine.nightly.execution import Evaluated, confirmed, suite_outcome
from eval_skills.engine.nightly.history import PastNight, SuiteHistory, compared, needed_runs, suite_history
from eval_skills.engine.nightly.plan import NightPlan
from eval_skills.engine.nightly.request import NightlyRequest, Suite
from eval_skills.engine.nightly.summary import NightSummary, SkillOutcome, SuiteOutcome
from eval_skills.engine.stored_runs.reports import read_source
from tests.engine.nightly.made_nights import BROKEN, FINE, SUITE, TASKS, Nights, Outcome, told, verdicts


def test_a_skill_that_cannot_be_reached_still_has_its_last_good_night(nights: Nights) -> None:
    first = nights.night(FINE)
    report = first.skills[0].report
    (evidence,) = nights.evidence(SuiteRun(suite=SUITE, run_id="20260102T000000Z-0001", reports=[], unreachable=[report]))
    (down,) = suite_outcome(evidence, [], {}, None).skills
    assert (down.classification.verdict, down.last_good) == ("failed", first.run_id)


def test_a_night_whose_date_is_yet_to_come_is_no_night_before_another(nights: Nights) -> None:
    suite = nights.night(FINE)
    assert suite_history(nights.store, SUITE.name).to_come is None
    later = [f"{datetime.now(UTC) + timedelta(days=days):%Y%m%dT%H%M%SZ}-9999" for days in (9, 8)]
    for night_id in later:
        record_night(nights.store, NightSummary(night_id=night_id, store=nights.store.path, suites=[suite]))
    history = suite_history(nights.store, SUITE.name, before="20260102T000000Z-0000")
    assert (history.to_come, len(history.nights)) == (later[0], 1)


def test_a_night_that_begins_is_after_all_others_unless_a_clock_went_back_by_seconds(nights: Nights) -> None:
    nights.night(FINE)
    seconds_before = "20251231T235950Z-0000"
    assert suite_history(nights.store, SUITE.name, before=seconds_before, begins=True).to_come == "20260101T000000Z-9999"
    assert suite_history(nights.store, SUITE.name, before=seconds_before).to_come is None, "a night that is resumed later"
    assert suite_history(nights.store, SUITE.name, before="20260101T000001Z-0000", begins=True).to_come is None


@pytest.mark.parametrize("earlier", [0, 1], ids=["nothing-else", "an-earlier-night"])
def test_a_night_to_come_fails_a_suite_that_has_nothing_else_to_compare_with(nights: Nights, earlier: int) -> None:
    for _ in range(earlier):
        nights.night(FINE)
    (evidence,) = nights.evidence(nights.run(FINE, 9))
    history = replace(evidence.history, to_come="20990101T000000Z-9999")
    told = suite_outcome(replace(evidence, history=history, skills=[], run=SuiteRun(suite=SUITE)), [], {}, None)
    said, quiet = (told.remarks, told.failures) if earlier else (told.failures, told.remarks)
    assert quiet == []
    assert said[0].startswith("night 20990101T000000Z-9999 is dated in the future, so a clock was or is wrong, and nothing is ")
    file = "nights/date=*/20990101T000000Z-9999.parquet"
    assert said[0].endswith(f"set the clock, or append .wrong-clock to the name of {file}, and it never counts")


def test_a_night_without_any_verdict_has_no_completion(nights: Nights) -> None:
    first = nights.night(FINE)
    (evidence,) = nights.evidence(nights.run(dict.fromkeys(TASKS, "i"), 2))
    down = suite_outcome(evidence, [], {}, None)
    summary = NightSummary(night_id="20260102T000000Z-9999", store=nights.store.path, suites=[down])
    record_night(nights.store, summary)
    rows = nights.store.tables.dataset("nights").to_table().sort_by("night_id").to_pylist()
    assert [(row["skill_id"], row["completion_rate"]) for row in rows] == [("adder", 1.0), ("adder", None)]
    assert summary.to_json()["suites"][0]["skills"][0]["completionRate"] is None
    reached = replace(down, skills=[replace(down.skills[0], classification=first.skills[0].classification)])
    assert reached.points_up_to("tonight", SuiteHistory()) == {}, "the rate of an outage is not 0"
    assert first.points_up_to("tonight", SuiteHistory()) == {"adder@1.0.0": [("tonight", 1.0)]}


@pytest.mark.slow
def test_a_week_of_nights(nights: Nights) -> None:
    first, second = nights.night(FINE), nights.night(FINE)
    third = nights.night(BROKEN, {"t3": "ffffff"})
    fourth = nights.night(BROKEN, {"t3": "ffffff"})
    fifth, sixth = nights.night(FINE), nights.night(FINE)
    assert verdicts(first, second, third, fourth, fifth, sixth) == [
        "new", "steady", "regressed", "regressed", "recovered", "steady",
    ]  # fmt: skip
    assert [suite.last_good for suite in (third, fourth, fifth)] == [second.run_id] * 3
    assert sixth.last_good == fifth.run_id
    since = {skill.classification.lost.since for suite in (third, fourth) for skill in suite.skills if skill.classification.lost}
    assert since == {"20260103T000000Z-9999"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tonight", "fresh", "number"),
    [
        pytest.param(FINE | {"t3": "i"}, None, 1, id="of-the-night"),
        pytest.param(BROKEN, {"t3": "fffffi"}, 2, id="fresh-runs"),
    ],
)
def test_what_has_no_verdict_is_asked_again_by_a_command_that_names_the_run_and_the_store(
    nights: Nights, tonight: Outcome, fresh: Outcome | None, number: int
) -> None:
    nights.night(FINE)
    (found,) = nights.night(tonight, fresh).skills
    command = f"eval-skills eval --resume 20260102T000000Z-{number:04} --retry-errors --store {nights.store.path};"
    assert command in found.classification.explanation


@pytest.mark.slow
def test_a_recovery_is_told_after_a_night_that_left_it_open(nights: Nights) -> None:
    nights.night(FINE)
    nights.night(FINE | {"t3": "f", "t4": "f"}, {"t3": "ffffff", "t4": "ffffff"})
    later = [nights.night(outcome) for outcome in (FINE | dict.fromkeys(TASKS[7:16], "i"), FINE, FINE)]
    assert verdicts(*later) == ["suspect", "recovered", "steady"]
    rows = nights.store.nights().sort_values("night_id").to_dict("records")
    assert [list(row["moved_tasks"]) for row in rows] == [[], ["t3", "t4"], ["t3", "t4"], ["t3", "t4"], []]


@pytest.mark.slow
def test_a_suspect_night_is_no_reference_and_its_runs_add_to_the_evidence(nights: Nights) -> None:
    flipping = {f"x{number}": "pf" for number in range(3)}
    found = [nights.night(FINE | flipping)]
    found += [nights.night(BROKEN | flipping, {"t3": "ffffff"}) for _ in range(5)]
    assert verdicts(*found) == ["new", "suspect", "suspect", "suspect", "suspect", "regressed"]


def test_a_task_that_was_changed_is_another_task(nights: Nights) -> None:
    nights.night(FINE)
    (evidence,) = nights.evidence(nights.run(BROKEN, 2, digests={"t3": "changed"}))
    assert evidence.skills[0].moved() == []
    ((_, diff),) = evidence.diffs
    assert diff.skills[0].tasks_changed == ["t3"]
    assert diff.skills[0].statistics is not None
    assert diff.skills[0].statistics.tasks == 19


def test_a_task_that_is_judged_by_another_scorer_is_not_compared(nights: Nights) -> None:
    nights.night(FINE, scoring_digest="sha256:1")
    (evidence,) = nights.evidence(nights.run(BROKEN, 2, scoring_digest="sha256:2"))
    assert evidence.skills[0].moved() == []
    (found,) = classify("tonight", evidence.skills, {})
    assert (found.verdict, found.left_open) == ("new", True)
    assert found.explanation.startswith("could not be judged: every task, or what judges it, changed since the last night")


@pytest.mark.slow
@pytest.mark.parametrize(("letter", "is_reached"), [("i", False), ("pi", True), ("f", True)], ids=["down", "in-part", "failed"])
def test_a_skill_that_was_down_is_told_where_its_report_lists_no_items(nights: Nights, letter: str, is_reached: bool) -> None:
    found = nights.run(dict.fromkeys(TASKS, letter), 1)
    (report,) = [*found.reports, *found.unreachable]
    run = suite_run(SUITE, "20260101T000000Z-0001", [report.model_copy(update={"task_results": []})])
    assert bool(run.reports) == is_reached
    assert run.failures == ([] if is_reached else ["adder@1.0.0: 20 of 20 items have no verdict on it"])
    down = [SkillOutcome(report=each, classification=Classification(verdict="new", explanation="")) for each in run.reports]
    night = NightSummary(night_id="tonight", store="s", suites=[SuiteOutcome(name="s", run_id=run.run_id, skills=down)])
    assert night.without_verdict == letter.count("i") * 20 * is_reached


def test_fresh_runs_of_more_items_than_a_report_lists_are_read_from_the_store(nights: Nights) -> None:
    nights.night(FINE)
    evidence = nights.evidence(nights.run(BROKEN, 2))
    again = nights.run({"t3": "ffffff"}, 2, number=2, beside={"2.0.0": {"t3": "pp"}})
    figures = [report.model_copy(update={"task_results": []}) for report in again.reports]
    plan = NightPlan("tonight", NightlyRequest(suites="suites.yaml", store=nights.store.path), nights.store, [SUITE], [])
    fresh, _ = confirmed(plan, evidence, lambda asked: [Evaluated(run_id=again.run_id, reports=figures)])
    assert fresh[0].tallies == {"t3": Tally(failed=6)}


def test_fresh_runs_are_no_change_of_the_benchmark_where_a_clock_dates_them_before_their_night(nights: Nights) -> None:
    night = PastNight("20260102T000000Z-9999", "20260102T000000Z-0001", None, "adder", "1.0.0", "sums", good=False, judge=None)
    nights.run(BROKEN, 2, benchmark_digest="whole")
    fresh = nights.run({"t3": "f"}, 1, number=9, benchmark_digest="part")
    (evidence,) = nights.evidence(nights.run(BROKEN, 3, benchmark_digest="whole"))
    history = replace(evidence.history, nights=[replace(night, confirm_run_id=fresh.run_id)])
    (skill,) = gather(nights.store, "tonight", [evidence.run], [history], None)[0].skills
    assert skill.tonight.changes(skill.past[0]) == []
    assert skill.past[0].tallies["t3"].failed == 2


def test_a_night_whose_every_task_changed_passes_no_gate_and_the_next_one_is_compared_with_it(nights: Nights) -> None:
    nights.night(FINE)
    anew = nights.night(FINE, digests=dict.fromkeys(TASKS, "other"))
    assert (verdicts(anew), [skill.classification.left_open for skill in anew.skills]) == (["new"], [True])
    assert not NightSummary(night_id="n", store="s", suites=[anew]).gate_passed
    later = nights.night(FINE, digests=dict.fromkeys(TASKS, "other"))
    assert (verdicts(later), [skill.classification.left_open for skill in later.skills]) == (["steady"], [False])


@pytest.mark.slow
def test_a_suite_that_never_ran_is_compared_with_the_nights_of_its_skills_in_others(nights: Nights) -> None:
    nights.night(FINE)
    (evidence,) = nights.evidence(nights.run(BROKEN, 2, SUITE.model_copy(update={"name": "renamed"})))
    assert (evidence.skills[0].moved(), evidence.history.last) == (["t3"], [])
    other = nights.run(
        dict.fromkeys(TASKS, "f"), 3, SUITE.model_copy(update={"name": "another"}), digests=dict.fromkeys(TASKS, "other")
    )
    (found,) = classify("tonight", nights.evidence(other)[0].skills, {})
    assert (found.verdict, found.left_open) == ("new", False), "other tasks of the same benchmark are no change of this suite"


@pytest.mark.slow
@pytest.mark.parametrize("first", ["skill down", "did not run", "suspect", "beside a good one"])
def test_a_renamed_suite_is_compared_with_others_until_it_has_a_good_night_of_its_own(nights: Nights, first: str) -> None:
    renamed = SUITE.model_copy(update={"name": "renamed"})
    nights.night(FINE)
    day = next(nights.days)
    run = nights.run(dict.fromkeys(TASKS, "i"), day, renamed)
    (down,) = run.unreachable
    verdict: NightVerdict = "suspect" if first == "suspect" else "failed"
    outcomes = [SkillOutcome(report=down, classification=Classification(verdict=verdict, explanation="an outage"))]
    if first == "beside a good one":
        good = Classification(verdict="new", explanation="nothing to compare with yet")
        outcomes.append(SkillOutcome(report=down.model_copy(update={"skill_id": "neighbour"}), classification=good))
    ended = SuiteOutcome(name="renamed", run_id=run.run_id, benchmark_id="sums", skills=outcomes)
    if first == "did not run":
        ended = SuiteOutcome(name="renamed", run_id=None, failures=["no such folder"])
    record_night(nights.store, NightSummary(night_id=f"202601{day:02}T000000Z-9999", store="s", suites=[ended]))
    worse = nights.night(FINE | dict.fromkeys(TASKS[:9], "f"), FINE | dict.fromkeys(TASKS[:9], "ffffff"), suite=renamed)
    assert verdicts(worse) == ["regressed"]
    assert verdicts(nights.night(FINE, suite=renamed)) == ["recovered"], "what was lost under the new name is remembered"
    assert {night.of_others for night in suite_history(nights.store, "renamed").nights} == {False}, "it has nights of its own now"


@pytest.mark.slow
def test_a_skill_that_came_from_another_suite_is_compared_with_its_nights_there(nights: Nights) -> None:
    """Two suites were merged: what broke on the way was new, a good night, and what later nights were compared with."""
    nights.night(FINE)
    before = nights.night(FINE, suite=OTHER, skill_id="multiplier")
    worse = nights.night(dict.fromkeys(TASKS, "f"), dict.fromkeys(TASKS, "ffffff"), skill_id="multiplier")
    assert (verdicts(worse), worse.last_good) == (["regressed"], before.run_id)
    assert verdicts(nights.night(FINE, skill_id="multiplier")) == ["recovered"]
    of_others = [night for night in suite_history(nights.store, SUITE.name).nights if night.of_others]
    assert of_others == [], "it has a good night here now"


def test_a_skill_that_could_not_be_reached_before_is_only_new(nights: Nights) -> None:
    nights.night(dict.fromkeys(TASKS, "i"))
    (evidence,) = nights.evidence(nights.run(FINE, 2, digests=dict.fromkeys(TASKS, "other")))
    (found,) = classify("tonight", evidence.skills, {})
    assert (found.verdict, found.left_open) == ("new", False)


@pytest.mark.slow
def test_a_run_of_an_earlier_version_does_not_say_what_judged_it_and_is_compared(nights: Nights) -> None:
    nights.night(FINE)
    (evidence,) = nights.evidence(nights.run(BROKEN, 2, scoring_digest="sha256:2"))
    assert evidence.skills[0].moved() == ["t3"]


def test_p14_a_skill_that_nobody_reaches_failed_and_did_not_regress(nights: Nights) -> None:
    nights.night(FINE)
    run = nights.run(dict.fromkeys(TASKS, "i"), 2)
    assert (run.reports, len(run.unreachable)) == ([], 1)
    assert run.failures == ["adder@1.0.0 could not be reached: connection refused"]
    (evidence,) = nights.evidence(run)
    assert (evidence.diffs, evidence.skills) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("outcome", [dict.fromkeys(TASKS, "j"), FINE | {"t3": "j"}])
def test_p13_what_the_judge_did_not_judge_is_no_regression_and_no_good_night(nights: Nights, outcome: Outcome) -> None:
    nights.night(FINE)
    run = nights.run(outcome, 2)
    assert (run.reports, len(run.unreachable)) == ([], 1)
    count = list(outcome.values()).count("j")
    assert run.failures == [f"adder@1.0.0: judge: {count} of 20 items could not be judged: no such key"]
    assert not nights.night(outcome).good


@pytest.mark.slow
def test_a_skill_whose_simulated_user_failed_is_no_regression_and_no_good_night(nights: Nights) -> None:
    nights.night(FINE)
    run = nights.run(outcome := FINE | {"t3": "s"}, 2)
    assert (run.reports, len(run.unreachable)) == ([], 1)
    assert run.failures == ["adder@1.0.0: simulated users: 1 of 20 items could not be brought to an end: talks rubbish"]
    assert not nights.night(outcome).good


@pytest.mark.slow
def test_a_few_items_that_nobody_reached_are_no_newly_failing_tasks(nights: Nights) -> None:
    nights.night(FINE)
    (evidence,) = nights.evidence(nights.run(FINE | {"t3": "i"}, 2))
    assert evidence.skills[0].moved() == []


@pytest.mark.slow
def test_a_pinned_baseline_is_compared_beside_the_last_good_night_and_both_are_adjusted_together(nights: Nights) -> None:
    pinned = nights.run(FINE, 1, number=7).run_id
    nights.night(FINE)
    (evidence,) = nights.evidence(nights.run(dict.fromkeys(TASKS, "f"), 2), baseline=pinned)
    assert [reference.kind for reference, _ in evidence.diffs] == ["last good", "baseline"]
    statistics = [skill.statistics for _, diff in evidence.diffs for skill in diff.skills]
    assert all(each is not None and each.adjusted_p == pytest.approx(min(1.0, 2 * each.p_value)) for each in statistics)


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["20250101T000000Z-0001", "nowhere.json"])
def test_a_baseline_that_is_not_there_is_a_failure_of_the_suite_and_hides_nothing_else(nights: Nights, missing: str) -> None:
    nights.night(FINE)
    (evidence,) = nights.evidence(nights.run(FINE, 2), baseline=missing)
    assert evidence.run.failures[0].startswith("baseline: ")
    assert not evidence.run.failures[0].endswith("or latest")
    assert [reference.kind for reference, _ in evidence.diffs] == ["last good"]


OTHER = SUITE.model_copy(update={"name": "others"})


@pytest.mark.slow
@pytest.mark.parametrize(
    "suite", [SUITE, SUITE.model_copy(update={"baseline": "20250101T000000Z-0000"})], ids=["fine", "no baseline"]
)
def test_the_table_of_nights_is_good_exactly_where_the_suite_is(nights: Nights, suite: Suite) -> None:
    nights.night(FINE)
    ended = nights.night(FINE, suite=suite)
    rows = nights.store.nights().query("night_id > '20260102'").to_dict("records")
    assert {row["good"] for row in rows if row["skill_id"] == "adder"} == {True}, "later nights may be compared with it"
    assert all(row["good"] for row in rows) is ended.good is (suite is SUITE)
    said = [(row["verdict"], row["explanation"], row["run_id"]) for row in rows if pd.isna(row["skill_id"])]
    assert said == [("failed", failure, ended.run_id) for failure in ended.failures]
    assert nights.night(FINE).last_good == ended.run_id, "the next night is compared with it"


@pytest.mark.slow
def test_a_baseline_that_nothing_is_compared_with_is_a_failure_of_the_suite(nights: Nights) -> None:
    nights.night(FINE)
    changed = nights.run(FINE, 1, number=7, digests=dict.fromkeys(TASKS, "older")).run_id
    foreign = nights.run(FINE, 1, number=8, skill_id="multiplier").run_id
    for pinned in (changed, foreign):
        for suite, of_the_night in ((SUITE, pinned), (SUITE.model_copy(update={"baseline": pinned}), None)):
            (evidence,) = nights.evidence(nights.run(FINE, 2, suite), baseline=of_the_night)
            assert [each.partition(": it")[0] for each in evidence.run.failures] == [
                f"baseline: nothing could be compared with {pinned}"
            ]


def test_of_a_baseline_whose_items_were_deleted_that_is_said(nights: Nights) -> None:
    pinned = nights.run(FINE, 1).run_id
    assert pinned is not None
    land_reports(nights.store, pinned, None, read_source(pinned, nights.store.path).reports)
    prune_items(nights.store, before=datetime.now(UTC), keep=())
    (evidence,) = nights.evidence(nights.run(FINE, 2, SUITE.model_copy(update={"baseline": pinned})))
    (said,) = evidence.run.failures
    assert said.startswith(f"baseline: nothing could be compared with {pinned}: it holds figures only, as reports of runs whose ")


@pytest.mark.slow
def test_the_baseline_of_a_night_may_be_for_some_of_its_suites_alone(nights: Nights) -> None:
    pinned = nights.run(FINE, 1, number=7).run_id
    runs = [nights.run(FINE, 2), nights.run(FINE, 2, OTHER, number=3, skill_id="multiplier")]
    assert [evidence.run.failures for evidence in nights.evidence(*runs, baseline=pinned)] == [[], []]


@pytest.mark.slow
def test_suites_have_pasts_of_their_own(nights: Nights) -> None:
    other = SUITE.model_copy(update={"name": "others"})
    first = nights.night(FINE)
    second = nights.night(FINE, suite=other)
    assert [night.run_id for night in suite_history(nights.store, "sums").nights] == [first.run_id]
    assert [night.run_id for night in suite_history(nights.store, "others").nights] == [second.run_id]


@pytest.mark.slow
def test_p95_a_skill_that_is_down_does_not_freeze_its_neighbours(nights: Nights) -> None:
    first = nights.night(FINE)
    second = nights.night(FINE, neighbour=True)
    assert (second.good, second.skills[0].good) == (False, True)
    third = nights.night(FINE)
    assert third.last_good == second.run_id != first.run_id
    assert third.skills[0].against[0].name == "2 good nights"


@pytest.mark.slow
def test_a_skill_that_is_gone_is_missed_every_night_until_it_is_back(nights: Nights) -> None:
    first, second, third = nights.night(FINE, neighbour=True), nights.night(FINE), nights.night(FINE)
    told = [[(last.skill_key, last.run_id) for last in night.gone] for night in (first, second, third)]
    assert told == [[], [("neighbour@1.0.0", first.run_id)], [("neighbour@1.0.0", first.run_id)]]
    assert not second.good
    frame = nights.store.nights()
    rows = frame[frame["skill_id"] == "neighbour"].sort_values("night_id").to_dict("records")
    assert [(row["verdict"], bool(row["good"]), pd.isna(row["run_id"])) for row in rows[1:]] == [("gone", False, True)] * 2
    assert needed_runs(nights.store) == {str(night.run_id) for night in (first, second, third)}
    assert nights.night(FINE, neighbour=True).gone == []


@pytest.mark.slow
@pytest.mark.parametrize("retired", ["neighbour", "neighbour@1.0.0"])
def test_a_retired_skill_is_not_missed_and_then_forgotten(nights: Nights, retired: str) -> None:
    nights.night(FINE, neighbour=True)
    nights.night(FINE)
    assert nights.night(FINE, suite=SUITE.model_copy(update={"retired": [retired]})).gone == []
    assert nights.night(FINE).gone == []


@pytest.mark.slow
def test_nights_of_earlier_versions_are_read_skill_by_skill(nights: Nights) -> None:
    first = nights.night(FINE)
    (path,) = nights.store.tables.files("nights").values()
    table = pq.ParquetFile(path).read().drop_columns(["rule", "began_night_id", "changed", "judge"])
    table = table.set_column(table.column_names.index("good"), "good", pa.array([False]))  # a neighbour had regressed
    pq.write_table(table, path)
    (nights.store.layout.root / DIGESTS_FILE).unlink()  # an older version wrote none
    second = nights.night(FINE)
    assert (verdicts(second), second.last_good) == (["steady"], first.run_id)


def test_nights_with_another_judge_are_no_reference() -> None:
    judges = {"n1": None, "n2": "small (v1)", "n3": "large (v1)"}
    nights = [PastNight(name, name, None, "adder", "1.0.0", "sums", True, judge) for name, judge in judges.items()]
    assert [night.night_id for night in compared(nights, "large (v1)")] == ["n1", "n3"]
    assert [night.night_id for night in compared(nights)] == ["n1", "n2", "n3"]


@pytest.mark.slow
def test_a_change_is_named_with_the_night_in_which_it_came(nights: Nights) -> None:
    nights.night(FINE, skill_digest="sha256:1")
    bad = nights.night(BROKEN, {"t3": "ffffff"}, skill_version="1.1.0", skill_digest="sha256:2")
    found = bad.skills[0].classification
    assert (found.rule, found.began) == ("newly failing", "20260102T000000Z-9999")
    assert found.changed == ["skill version 1.0.0 → 1.1.0", "skill files sha256:1 → sha256:2"]
    row = nights.store.nights().to_dict("records")[-1]
    assert (row["rule"], row["began_night_id"], list(row["changed"])) == (found.rule, found.began, found.changed)


@pytest.mark.slow
def test_tasks_that_no_night_before_had_are_named(nights: Nights) -> None:
    assert told(nights, FINE, 9).remarks == []  # there is nothing to compare with at all
    nights.night(FINE)
    edited = dict.fromkeys(sorted(TASKS)[:4], "edited")
    found = told(nights, FINE, 2, digests=edited)
    assert found.remarks == [
        f"adder@1.0.0: 4 of {len(TASKS)} tasks not compared, since no night before had them as they are now "
        f"({', '.join(sorted(TASKS)[:3])} and 1 more); the next night is compared with this one on them"
    ]
    nights.night(FINE, digests=edited)
    assert told(nights, FINE, 3, digests=edited).remarks == []


@pytest.mark.slow
def test_tasks_of_the_last_night_that_are_not_asked_any_more_are_named(nights: Nights) -> None:
    nights.night(FINE)
    fewer = dict.fromkeys(TASKS[8:], "p")
    assert told(nights, fewer, 2).remarks == [
        "adder@1.0.0: 8 tasks of the last night not asked any more (t0, t1, t2 and 5 more), so that a loss there is not seen"
    ]
    nights.night(fewer)
    assert told(nights, fewer, 3).remarks == [], "it is said once"


@pytest.mark.slow
def test_a_night_without_the_task_that_had_regressed_says_so(nights: Nights) -> None:
    nights.night(FINE)
    assert verdicts(nights.night(BROKEN, {"t3": "ffffff"})) == ["regressed"]
    without = {task: letters for task, letters in FINE.items() if task != "t3"}
    assert told(nights, without, 3).remarks == [
        "adder@1.0.0: 1 task of the last night not asked any more (t3), so that a loss there is not seen; "
        "t3 had regressed and was not back"
    ]


@pytest.mark.slow
def test_p57_nights_answer_sql(nights: Nights) -> None:
    nights.night(FINE)
    nights.night(BROKEN, {"t3": "ffffff"})
    answer = nights.store.query("SELECT suite, verdict, good, moved_tasks FROM nights ORDER BY night_id DESC LIMIT 1")
    row = answer.to_dict("records")[0]
    assert (row["suite"], row["verdict"], row["good"], list(row["moved_tasks"])) == ("sums", "regressed", False, ["t3"])
    lost = suite_history(nights.store, "sums").nights[-1].lost
    assert lost is not None
    assert lost.tasks == ["t3"]
