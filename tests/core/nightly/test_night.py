"""The verdicts of a night, from outcomes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval_skills.core.diff.diff import diff_reports, judged_together
from eval_skills.core.nightly.classification import classify
from eval_skills.core.nightly.comparisons import judged
from eval_skills.core.nightly.evidence import Classification, FreshRuns, LostEvidence, SkillNight
from tests.core.nightly.night_figures import NIGHT, Outcome, each, night, report, skill_night
from tests.tables import each_row


def ruled(skill: SkillNight, fresh: Outcome | None = None, *others: SkillNight) -> Classification:
    runs = {} if fresh is None else {0: FreshRuns(tallies=night(fresh).tallies, run_id="20260102T000100Z-0003")}
    return classify(NIGHT, [skill, *others], runs)[0]


ONE_BROKEN = each(20, "p", t3="f")
SEVEN_BROKEN = each(20, "p") | each(7, "f")


@each_row(
    ("before", "tonight", "moved"),
    [
        pytest.param(each(20, "p"), each(20, "p"), [], id="nothing"),
        pytest.param(each(20, "p"), ONE_BROKEN, ["t3"], id="newly-failing-where-no-test-can-decide"),
        pytest.param(each(20, "pp", t3="pf"), each(20, "pp", t3="ff"), [], id="failed-before-too"),
        pytest.param(each(20, "pp"), each(20, "pp", t3="pf"), [], id="fails-only-sometimes"),
        pytest.param(
            each(8, "ppp"), each(8, "pff"), [f"t{n}" for n in range(8)], id="worse-by-the-test-though-none-always-fails"
        ),
        pytest.param(each(20, "f"), each(20, "p"), [], id="better"),
    ],
)
def test_what_moved_is_asked_again(before: Outcome, tonight: Outcome, moved: list[str]) -> None:
    assert skill_night(tonight, before).moved() == moved


@each_row(
    ("before", "tonight", "fresh", "verdict"),
    [
        pytest.param(each(20, "p"), ONE_BROKEN, {"t3": "ffffff"}, "regressed", id="one-task-fails-every-run"),
        pytest.param(each(20, "p"), ONE_BROKEN, {"t3": "fffffp"}, "flaky", id="one-fresh-run-passes"),
        pytest.param(each(20, "p"), ONE_BROKEN, {"t3": "fffff"}, "suspect", id="too-few-runs-to-decide"),
        pytest.param(each(20, "p"), SEVEN_BROKEN, each(7, "ff"), "regressed", id="seven-tasks-need-few-runs"),
        pytest.param(each(8, "ppp"), each(8, "pff"), each(8, "ffp"), "regressed", id="worse-and-worse-again"),
        pytest.param(each(8, "ppp"), each(8, "pff"), each(8, "ppp"), "flaky", id="worse-and-not-again"),
        pytest.param(each(8, "ppp"), each(8, "pff"), each(8, "ppp", t0="f", t1="f"), "flaky", id="two-of-eight-again"),
        pytest.param(each(20, "p"), ONE_BROKEN, {"t3": "iiiiii"}, "suspect", id="fresh-runs-without-a-verdict-decide-nothing"),
    ],
)
def test_only_what_holds_is_a_regression(before: Outcome, tonight: Outcome, fresh: Outcome, verdict: str) -> None:
    assert ruled(skill_night(tonight, before), fresh).verdict == verdict


@each_row(
    ("tonight", "fresh", "verdict"),
    [
        pytest.param(each(4, 9 * "f" + "p"), each(4, "ffffpf"), "regressed", id="four-tasks-that-pass-one-in-ten"),
        pytest.param(each(4, 9 * "f" + "p"), each(4, "pppppp"), "flaky", id="a-bad-night"),
        pytest.param(each(4, 9 * "f" + "p"), each(4, "fiffpf"), "suspect", id="fresh-runs-without-a-verdict"),
        pytest.param(each(4, 10 * "p", t0=9 * "f" + "p"), {"t0": "ffffff"}, "regressed", id="one-task"),
        pytest.param(each(4, 10 * "p", t0=9 * "f" + "p"), {"t0": "fffffp"}, "flaky", id="one-task-that-was-lucky-before"),
        pytest.param(each(4, 10 * "p", t0=7 * "p" + "fff"), None, "steady", id="what-chance-explains"),
    ],
)
def test_many_runs_of_few_tasks_are_evidence(tonight: Outcome, fresh: Outcome | None, verdict: str) -> None:
    skill = skill_night(tonight, each(4, 10 * "p"))
    assert skill.moved() == sorted(fresh or ())
    found = ruled(skill, fresh)
    assert found.verdict == verdict
    if verdict == "regressed":
        assert "fewer runs of" in found.explanation


def test_what_was_won_on_the_whole_is_no_loss_by_runs() -> None:
    assert skill_night({"t0": 20 * "pf", "t1": "p", "t2": "p"}, {"t0": 40 * "p", "t1": "f", "t2": "f"}).moved() == []


def test_runs_of_few_tasks_with_items_missing_leave_it_open() -> None:
    found = ruled(skill_night(each(4, 8 * "f" + "pi"), each(4, 10 * "p")))
    assert (found.verdict, found.left_open) == ("suspect", True)


def test_the_runs_of_few_tasks_are_weighed_among_all_skills_of_the_night() -> None:
    def moved(skills: int) -> set[str]:
        night = skill_night(each(4, 10 * "p", t0="pp" + 8 * "f"), each(4, 10 * "p"))
        return {task for skill in judged([night] * skills) for task in skill.moved()}

    assert moved(3) == {"t0"}  # 0.00036 each
    assert moved(4) == set()


def test_the_explanation_names_the_tasks_and_the_chance() -> None:
    found = ruled(skill_night(ONE_BROKEN, each(20, "p")), {"t3": "ffffff"})
    assert found.explanation.startswith("t3 always passed before and failed every run since (chance of a flaky task: 0.049")
    assert found.lost == LostEvidence(tasks=["t3"], expected_rate=1.0, observed_rate=0.0, since=NIGHT)


def test_where_tasks_flip_one_more_is_no_alarm_until_its_history_has_grown() -> None:
    flipping = {f"x{number}": "pf" for number in range(5)}
    young = skill_night(ONE_BROKEN | flipping, each(20, "p") | flipping)
    assert ruled(young, {"t3": "ffffff"}).verdict == "suspect"
    grown = skill_night(ONE_BROKEN | flipping, each(20, "pppp") | flipping)
    assert ruled(grown, {"t3": "ffffff"}).verdict == "regressed"


def test_tasks_that_flip_in_another_skill_of_the_night_count_too() -> None:
    other = skill_night({f"x{number}": "pf" for number in range(5)}, {f"x{number}": "pf" for number in range(5)})
    assert ruled(skill_night(ONE_BROKEN, each(20, "p")), {"t3": "ffffff"}, other).verdict == "suspect"


def test_a_suspect_is_decided_by_the_runs_of_later_nights() -> None:
    flipping = {f"x{number}": "pf" for number in range(2)}
    skill = skill_night(ONE_BROKEN | flipping, each(20, "p") | flipping)
    assert ruled(skill, {"t3": "ffffff"}).verdict == "suspect"
    since = night({"t3": "f" * 20} | each(3, "p") | flipping, "since", good=False)
    later = skill_night(ONE_BROKEN | flipping, past=[night(each(20, "p") | flipping), since])
    assert ruled(later, {"t3": "ffffff"}).verdict == "regressed"


def test_what_could_not_be_confirmed_is_suspect_and_says_why() -> None:
    skill = skill_night(ONE_BROKEN, each(20, "p"))
    (found,) = classify(NIGHT, [skill], {0: FreshRuns(tallies=None, problem="the service is down")})
    assert (found.verdict, found.explanation) == ("suspect", "not confirmed: the service is down")


LOST = LostEvidence(tasks=["t1", "t2"], expected_rate=1.0, observed_rate=0.0, since="20260101T000000Z-0001")


@each_row(
    ("tonight", "verdict", "since"),
    [
        pytest.param(each(20, "p"), "recovered", None, id="all-back"),
        pytest.param(each(20, "p", t1="f"), "recovered", None, id="half-back"),
        pytest.param(each(20, "p", t1="f", t2="f"), "regressed", LOST.since, id="not-back"),
        pytest.param({"t0": "p"}, "steady", None, id="its-tasks-are-gone"),
    ],
)
def test_a_regression_lasts_until_half_of_it_is_back(tonight: Outcome, verdict: str, since: str | None) -> None:
    found = ruled(skill_night(tonight, tonight, lost=LOST))
    assert (found.verdict, found.lost.since if found.lost else None) == (verdict, since)


@pytest.mark.parametrize(
    ("past", "unread", "verdict", "left"),
    [
        pytest.param({"t0": "p"}, [], "steady", None, id="changed-beside-others"),
        pytest.param({"t0": "p", "t2": "f"}, [], "regressed", replace(LOST, tasks=["t2"]), id="one-of-two-changed"),
        pytest.param({"t0": "p"}, ["run"], "recovered", None, id="perhaps-changed"),
        pytest.param(None, [], "new", None, id="all-changed"),
        pytest.param(None, ["run"], "new", LOST, id="items-gone"),
    ],
)
def test_what_was_lost_is_not_back_by_other_tasks(
    past: Outcome | None, unread: list[str], verdict: str, left: LostEvidence | None
) -> None:
    before = [] if past is None else [past]
    found = ruled(skill_night(each(3, "p", t2="f"), *before, lost=LOST, unread=unread, begins_anew=past is None))
    assert (found.verdict, found.lost, found.left_open) == (verdict, left, past is None)


def test_a_regression_that_goes_on_keeps_its_first_night() -> None:
    found = ruled(skill_night(each(20, "p", t1="f"), each(20, "p"), lost=LOST), {"t1": "ffffff"})
    assert found.lost is not None
    assert (found.verdict, found.lost.since, found.began) == ("regressed", LOST.since, LOST.since)


def test_what_breaks_while_another_task_is_broken_is_a_regression_of_its_own_night() -> None:
    past = [night(each(20, "p"), "good"), night(each(20, "p", t1="f"), "bad", good=False)]
    found = ruled(skill_night(SEVEN_BROKEN, past=past, lost=LOST), each(7, "ffffff"))
    assert found.lost is not None
    assert (found.verdict, found.tasks) == ("regressed", [f"t{number}" for number in range(7)])
    assert found.lost.since == found.began == NIGHT


def test_one_recovery_does_not_hide_a_new_suspect() -> None:
    found = ruled(skill_night(ONE_BROKEN, each(20, "p"), lost=LOST), {"t3": "fff"})
    assert found.verdict == "suspect"


@pytest.mark.parametrize(
    ("before", "tonight", "verdict"),
    [
        pytest.param(None, each(3, "p"), "new", id="nothing-to-compare-with"),
        pytest.param(each(20, "p"), each(20, "p"), "steady", id="the-same"),
        pytest.param(each(20, "f"), each(20, "p"), "better", id="better"),
    ],
)
def test_without_anything_against_it(before: Outcome | None, tonight: Outcome, verdict: str) -> None:
    assert ruled(skill_night(tonight, *([before] if before else []))).verdict == verdict


def test_a_baseline_is_as_good_a_reference_as_a_night() -> None:
    skill = skill_night(each(8, "fff"), pinned=each(8, "ppp"))
    assert skill.newly_failing() == []
    found = ruled(skill, each(8, "fff"))
    assert found.verdict == "regressed"
    assert found.explanation.startswith("worse than the baseline (reference)")


def test_p42_every_comparison_of_the_night_is_adjusted_for_all_others() -> None:
    alone = diff_reports([report(each(5, "p"))], [report(each(5, "f"))])
    assert [skill.verdict for skill in alone.skills] == ["worse"]
    assert alone.skills[0].statistics is not None
    together = judged_together([alone, diff_reports([report(each(5, "p"))], [report(each(5, "p"))])])
    assert [skill.verdict for diff in together for skill in diff.skills] == ["inconclusive", "inconclusive"]
    statistics = together[0].skills[0].statistics
    assert statistics is not None
    assert statistics.adjusted_p == pytest.approx(2 * alone.skills[0].statistics.p_value)


def test_the_good_nights_are_pooled_so_one_lucky_night_is_no_reference() -> None:
    usual = [{f"t{task}": "ppf" if (task + number) % 2 else "pff" for task in range(20)} for number in range(10)]
    lucky = each(20, "ppp")
    assert skill_night(usual[0], lucky).against[0].verdict == "worse"
    pooled = skill_night(usual[0], *usual[1:], lucky)
    assert (pooled.against[0].name, pooled.against[0].verdict) == ("10 good nights", "inconclusive")


def test_all_nights_since_a_change_are_compared_with_those_before() -> None:
    new, old = ({"skill files": digest} for digest in ("sha256:new", "sha256:old"))
    worse = each(20, "ppp") | each(3, "ppf")
    before = [night(each(20, "ppp"), f"night {number}", made_of=old) for number in range(3)]
    since = [
        night(worse | each(3, "ppp", **{f"t{5 + number}": "ppf"}), f"night {3 + number}", made_of=new) for number in range(5)
    ]
    skill = skill_night(worse, past=before + since)
    assert [against.rule for against in skill.against] == ["good nights"]  # what it is made of tonight is not known
    (skill,) = judged([replace(skill, tonight=replace(skill.tonight, made_of=new))])
    assert [(against.rule, against.since, against.verdict) for against in skill.against] == [
        ("good nights", NIGHT, "inconclusive"),
        ("since change", "night 3", "worse"),
    ]
    found = ruled(skill, dict.fromkeys(skill.moved(), "ffffff"))
    assert (found.rule, found.began, found.changed) == ("since change", "night 3", ["skill files sha256:old → sha256:new"])
    assert found.explanation.endswith("since night 3, when this changed: skill files sha256:old → sha256:new")


def test_nights_that_each_lose_a_little_are_found() -> None:
    past = [each(20, "p" * 10) | each(number // 2, "p" * 9 + "f") for number in range(40)]
    rules = {against.rule for against in skill_night(past[-1], *past).against if against.verdict == "worse"}
    assert "slow drop" in rules


@each_row(
    ("tonight", "open_"),
    [
        pytest.param(each(20, "ppp", t3="iii"), True, id="a-task-that-always-passed"),
        pytest.param(each(20, "ppp", t3="ffi"), True, id="that-failed-and-is-open"),
        pytest.param(each(20, "ppp") | each(7, "iii"), True, id="an-outage"),
        pytest.param(each(20, "ppp", t3="ppi"), False, id="nothing-could-come-of-it"),
    ],
)
def test_what_items_without_a_verdict_leave_open_is_suspect_and_never_a_regression(tonight: Outcome, open_: bool) -> None:
    skill = skill_night(tonight, *[each(20, "ppp")] * 5)
    found = ruled(skill)
    assert skill.moved() == []
    assert (found.verdict, found.left_open) == (("suspect", True) if open_ else ("steady", False))


@each_row(
    ("fresh", "open_"),
    [
        pytest.param({"t3": "fffffi"}, True, id="one-dropped-connection-passes-no-gate"),
        pytest.param({"t3": "iiiiii"}, True, id="an-outage"),
        pytest.param({"t3": "fffffpi"}, False, id="it-passed-whatever-the-rest-says"),
        pytest.param({"t3": "fffi"}, False, id="too-few-runs-to-decide"),
    ],
)
def test_fresh_runs_without_a_verdict_leave_open_what_they_would_confirm_if_they_had_failed(fresh: Outcome, open_: bool) -> None:
    found = ruled(skill_night(ONE_BROKEN, each(20, "p")), fresh)
    assert (found.verdict, found.left_open) == ("suspect", open_)
    assert "eval --resume 20260102T000100Z-0003 --retry-errors" in found.explanation


@pytest.mark.parametrize(("again", "verdict"), [("pppppp", "suspect"), ("ffffff", "regressed")])
def test_fresh_runs_of_changed_files_may_confirm_and_refute_nothing(again: str, verdict: str) -> None:
    fresh = FreshRuns(tallies=night({"t3": again}).tallies, of_other_files=True)
    (found,) = classify(NIGHT, [skill_night(ONE_BROKEN, each(20, "p"))], {0: fresh})
    assert (found.verdict, found.left_open) == (verdict, verdict == "suspect")


@pytest.mark.parametrize(
    "skill",
    [
        pytest.param(skill_night(each(20, "p", t9="i"), each(20, "p"), lost=LOST), id="it-may-be-worse-elsewhere"),
        pytest.param(replace(skill_night({"x": "p"}, lost=LOST), begins_anew=True), id="other-tasks-for-one-night"),
        pytest.param(replace(skill_night({"x": "p"}, lost=LOST), unread=["run"]), id="nothing-to-compare-with-for-one-night"),
    ],
)
def test_a_night_that_cannot_be_judged_forgets_no_regression(skill: SkillNight) -> None:
    found = ruled(skill)
    assert (found.left_open, found.lost) == (True, LOST)


def test_whether_what_was_lost_is_back_stays_open_with_it() -> None:
    found = ruled(skill_night(each(20, "p", t1="i", t2="i"), each(20, "p"), lost=LOST))
    assert (found.verdict, found.left_open, found.lost) == ("suspect", True, LOST)
