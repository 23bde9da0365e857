from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.diff.gate import gate_failures
from eval_skills.core.diff.model import ReportDiff, SkillDiff
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.core.statistics.rates import DEFAULT_SEED
from tests.tables import each_row

Outcome = Mapping[str, str]
"""For each task its runs, one letter each: p(ass), f(ail), t(imeout), or an error of kind i(nfra), j(udge) or s(kill)."""

STATUS = {"p": "pass", "f": "fail", "t": "timeout", "i": "error", "j": "error", "s": "error"}
KIND = {"i": "infra", "j": "judge", "s": "skill", "t": "timeout"}
BENCHMARK = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": []})
BEFORE = dict(zip("abcdefgh", ["ppp", "ppf", "pff", "ppp", "fff", "ppf", "fff", "ppf"], strict=True))
AFTER = dict(zip("abcdefgh", ["ppp", "ppp", "ppf", "ppp", "pff", "ppp", "fff", "ppp"], strict=True))


def reports(
    outcome: Outcome,
    skill_id: str = "s",
    digests: Mapping[str, str] | None = None,
    scorings: Mapping[str, str] | None = None,
    **columns: Any,
) -> list[SkillCompletionReport]:
    rows = [
        {
            "task_id": task,
            "run_index": run,
            "status": STATUS[letter],
            "error_kind": KIND.get(letter),
            "output": f'"{letter}{run}"',
            "task_digest": (digests or {}).get(task),
            "scoring_digest": (scorings or {}).get(task),
            "skill_id": skill_id,
            "skill_version": "1.0.0",
            "latency_ms": 100.0,
            "score": float(letter == "p"),
        }
        for task, runs in outcome.items()
        for run, letter in enumerate(runs)
    ]
    frame = pd.DataFrame({name: [row[name] for row in rows] for name in rows[0]} | columns)
    return skill_reports(frame, BENCHMARK, 1_000)


def diff(before: Outcome, after: Outcome, **options: Any) -> SkillDiff:
    (only,) = diff_reports(reports(before), reports(after), **options).skills
    return only


def each(count: int, runs: str) -> dict[str, str]:
    return {f"t{index}": runs for index in range(count)}


@pytest.mark.parametrize("more", [pytest.param({}, id="same-tasks"), pytest.param({"new": "j"}, id="other-tasks-beside")])
def test_a_side_on_which_nothing_has_a_verdict_has_no_completion_and_so_no_change(more: Outcome) -> None:
    found = diff(each(8, "p"), {**each(8, "j"), **more})
    rows = {row.metric: (row.before, row.after, row.delta) for row in found.rows}
    assert (rows["completionRate"][1:], rows["compositeScore"][1:]) == ((None, None), (None, None))
    assert (rows["completionRate"][0], rows["errorRate"]) == (1.0, (0.0, 1.0, 1.0))


def test_the_seed_is_that_of_the_draws() -> None:
    statistics = [diff(BEFORE, AFTER, **options).statistics for options in ({}, {"seed": 7})]
    assert [found and found.seed for found in statistics] == [DEFAULT_SEED, 7]


def test_the_statistics_of_the_example() -> None:
    found = diff(BEFORE, AFTER).statistics
    assert found is not None
    assert (found.tasks, found.tasks_better, found.tasks_worse) == (8, 5, 0)
    assert found.mean_difference == pytest.approx(0.2083, abs=5e-5)
    assert (found.interval.lower, found.interval.upper) == pytest.approx((0.064, 0.353), abs=5e-4)
    assert (found.equivalence_interval.lower, found.equivalence_interval.upper) == pytest.approx((-0.169, 0.456), abs=5e-4)
    assert (found.p_value, found.sign_test_p, found.p_floor) == (0.03125, 0.0625, 0.03125)
    assert found.t_test_p == pytest.approx(0.0112, abs=5e-5)
    assert found.correlation == pytest.approx(0.90, abs=5e-3)
    assert found.smallest_effect == pytest.approx(0.2406, abs=5e-4)
    assert (found.test, found.missing) == ("sign_flip_exact", None)


@pytest.mark.slow
@each_row(
    ("before", "after", "verdict"),
    [
        pytest.param(each(6, "ff"), each(6, "pp"), "better", id="six-of-six-won"),
        pytest.param(each(6, "pp"), each(6, "pf"), "worse", id="six-of-six-lost-in-half"),
        pytest.param(each(4, "f"), each(4, "p"), "inconclusive", id="p42-four-cannot-decide"),
        pytest.param(each(1, "fff"), each(1, "ppp"), "inconclusive", id="p42-one-task-cannot-decide"),
        pytest.param(each(80, "pf"), each(80, "pf"), "equivalent", id="eighty-unchanged"),
        pytest.param(each(20, "pf"), each(20, "pf"), "inconclusive", id="twenty-unchanged-are-too-few"),
        pytest.param(each(4, "fff"), each(4, "ppp"), "inconclusive", id="p35-four-tasks-won-thrice-are-four"),
        pytest.param({"a": "p"}, {"b": "p"}, "inconclusive", id="no-shared-task"),
    ],
)
def test_p49_verdict(before: Outcome, after: Outcome, verdict: str) -> None:
    assert diff(before, after).verdict == verdict


@each_row(
    ("before", "after", "explanation"),
    [
        pytest.param(
            each(4, "f"),
            each(4, "p"),
            "cannot decide at this size: 4 of 4 tasks differ, so p cannot fall below 0.0625",
            id="floor",
        ),
        pytest.param(BEFORE, AFTER | {"d": "ppf"}, "the smallest effect this sample could show is 0.3294", id="smallest-effect"),
        pytest.param({"a": "p"}, {"b": "p"}, "no task was recorded on both sides", id="nothing-shared"),
        pytest.param(each(6, "f"), each(6, "p"), "6 of 6 tasks better, 0 worse; adjusted p = 0.01562", id="decided"),
    ],
)
def test_p42_the_explanation_says_what_the_sample_can_show(before: Outcome, after: Outcome, explanation: str) -> None:
    assert explanation in diff(before, after).explanation


def test_the_margin_of_equivalence_is_an_option() -> None:
    assert diff(each(20, "pf"), each(20, "pf"), equivalence_margin=0.2).verdict == "equivalent"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "min_effect", "verdict"),
    [
        pytest.param(each(6, "pp"), each(6, "pf"), 0.5, "worse", id="as-large-as-asked"),
        pytest.param(each(6, "pp"), each(6, "pf"), 0.51, "inconclusive", id="smaller"),
        pytest.param(each(6, "ff"), each(6, "pf"), 0.51, "inconclusive", id="better-but-smaller"),
        pytest.param(each(10, "f" * 10), each(10, "p" + "f" * 9), 0.1, "better", id="float-dust-at-the-bound"),
        pytest.param(each(200, "f" * 50), each(200, "p" + "f" * 49), 0.04, "equivalent", id="small-and-surely-so"),
    ],
)
def test_p49_a_difference_below_the_least_effect_does_not_count(
    before: Outcome, after: Outcome, min_effect: float, verdict: str
) -> None:
    assert diff(before, after).verdict in {"better", "worse"}
    assert diff(before, after, min_effect=min_effect).verdict == verdict


def test_the_explanation_names_the_least_effect() -> None:
    found = diff(each(6, "pp"), each(6, "pf"), min_effect=0.6)
    assert found.explanation.startswith("smaller than the least effect that counts, 0.6: mean difference -0.5000")


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_p40_a_least_effect_that_is_no_share_is_refused(value: float) -> None:
    with pytest.raises(UsageError, match=r"^min_effect: (input should be|give a finite number)"):
        diff_reports([], [], min_effect=value)


def test_holm_adjusts_for_the_skills_that_were_tested() -> None:
    names = ("a", "b", "c")
    before = [report for name in names for report in reports(each(5, "f"), name)] + reports(each(3, "p"), "gone")
    after = [report for name in names for report in reports(each(5, "p"), name)] + reports({"x": "p"}, "new")
    found = diff_reports(before, after)
    adjusted = {skill.skill_id: skill.statistics.adjusted_p for skill in found.skills if skill.statistics}
    assert adjusted == {name: pytest.approx(3 / 32) for name in names}
    assert {skill.skill_id: skill.verdict for skill in found.skills} == {
        **dict.fromkeys(names, "inconclusive"),
        "new": None,
        "gone": None,
    }


def test_p48_rows_have_signs_marks_and_decimals() -> None:
    rows = {row.metric: row for row in diff(each(3, "pp"), {"t0": "pp", "t1": "pt", "t2": "ff"}).rows}
    assert rows["completionRate"].delta == pytest.approx(-0.5)
    assert (rows["completionRate"].arrow, rows["completionRate"].good) == ("↓", False)
    assert rows["errorRate"].delta == pytest.approx(1 / 6)
    assert (rows["errorRate"].arrow, rows["errorRate"].good) == ("↑", False)
    assert (rows["p95Ms"].delta, rows["p95Ms"].arrow, rows["p95Ms"].good) == (0.0, "", None)
    assert rows["compositeScore"].delta == pytest.approx(-0.3)


def test_less_latency_is_good_and_unknown_latency_is_neither() -> None:
    faster = diff_reports(reports(each(2, "p")), reports(each(2, "p"), latency_ms=40.0)).skills[0]
    unknown = diff_reports(reports(each(2, "p")), reports(each(2, "p"), latency_ms=None)).skills[0]
    p95 = [next(row for row in skill.rows if row.metric == "p95Ms") for skill in (faster, unknown)]
    assert [(row.delta, row.arrow, row.good) for row in p95] == [(-60.0, "↓", True), (None, "", None)]


def test_float_dust_is_no_change() -> None:
    before, after = reports(each(1, "p")), reports(each(1, "p"))
    dusty = after[0].model_copy(update={"summary": after[0].summary.model_copy(update={"composite_score": 0.98 + 1e-16})})
    row = next(row for row in diff_reports(before, [dusty]).skills[0].rows if row.metric == "compositeScore")
    assert (row.delta, row.arrow, row.good) == (0.0, "", None)


def test_p48_added_and_removed_skills_are_labelled() -> None:
    found = diff_reports(reports(each(1, "p"), "old"), reports(each(1, "f"), "new")).skills
    assert [(skill.skill_id, skill.change, skill.verdict) for skill in found] == [
        ("new", "added", None),
        ("old", "removed", None),
    ]
    assert [(row.before, row.after, row.delta) for skill in found for row in skill.rows if row.metric == "completionRate"] == [
        (None, 0.0, None),
        (1.0, None, None),
    ]


def test_a_mapped_skill_is_compared_with_its_successor() -> None:
    (found,) = diff_reports(reports(each(6, "f"), "old"), reports(each(6, "p"), "new"), mapping={"old": "new"}).skills
    assert (found.skill_id, found.before_skill_id, found.verdict) == ("new", "old", "better")


def test_flips_show_both_outputs() -> None:
    found = diff({"a": "pfp", "b": "ff", "c": "p"}, {"a": "fff", "b": "fp", "c": "p"}).flips
    shown = [(flip.task_id, flip.change, flip.before.output, flip.after.output, flip.after.completion_rate) for flip in found]
    assert shown == [("a", "worse", "p0", "f0", 0.0), ("b", "better", "f0", "p1", 0.5)]


def test_p14_items_without_a_verdict_are_shown_with_bounds() -> None:
    found = diff({"a": "pp", "b": "pi", "c": "ff", "d": "ff"}, {"a": "pj", "b": "ii", "c": "fs", "d": "ft"}).statistics
    assert found is not None
    assert found.missing is not None
    assert (found.missing.before, found.missing.after) == (1, 3)
    assert (found.tasks, found.mean_difference) == (3, 0.0), "b has no verdict after; the others went as before"
    assert (found.missing.lower, found.missing.upper) == pytest.approx((-0.375, 0.125))


RUN_THEM = "run them again with --resume RUN --retry-errors"
JUDGE_THEM = "only the judge failed: judge them again with rescore RUN, which calls no skill, and compare the run it names"
JUDGE_IT = JUDGE_THEM.replace("them", "it")


class TestAnOutage:
    def test_it_is_no_regression_and_the_gate_neither_passes_nor_says_worse(self) -> None:
        found = diff_reports(reports(each(20, "ppp")), reports(each(20, "iii")))
        (skill,) = found.skills
        assert (skill.verdict, skill.statistics) == ("inconclusive", None)
        said = "60 items without a verdict (0 before, 60 after); run them again with --resume RUN --retry-errors"
        assert skill.explanation == said
        assert gate_failures(found, "worse") == [f"s@1.0.0 could not be judged: {said}"]

    @pytest.mark.parametrize(
        ("after", "said"),
        [
            pytest.param(each(20, "jj"), "40 items without a verdict (0 before, 40 after); " + JUDGE_THEM, id="judges-alone"),
            pytest.param(each(2, "f") | {"a": "j"}, "1 item without a verdict (0 before, 1 after); " + JUDGE_IT, id="one"),
            pytest.param(each(19, "j") | {"a": "i"}, "20 items without a verdict (0 before, 20 after); " + RUN_THEM, id="infra"),
        ],
    )
    def test_that_of_the_judge_alone_needs_no_call_of_the_skill(self, after: Outcome, said: str) -> None:
        found = diff(dict.fromkeys(after, "f"), after)
        assert found.explanation.startswith(said)
        assert "judgesAlone" not in str(found.to_json()), "the documented JSON stays as it is"

    def test_a_loss_that_holds_at_both_bounds_is_told_with_that(self) -> None:
        found = diff(each(20, "pp"), each(18, "ff") | {"t18": "ii", "t19": "fi"})
        assert found.verdict == "worse"
        assert found.explanation.endswith("it holds however the 3 items without a verdict would have gone")
        assert len(found.flips) == 19

    def test_one_that_the_missing_could_undo_is_open(self) -> None:
        lost = each(6, "f") | {f"m{index}": "i" for index in range(14)}
        before = dict.fromkeys(lost, "p")
        found = diff_reports(reports(before), reports(lost))
        (skill,) = found.skills
        assert skill.verdict == "worse", "the six failures hold even if the other fourteen had passed"
        (skill,) = diff_reports(reports(before | {"m0": "f"}), reports(lost | {"m0": "i", "t0": "i"})).skills
        assert skill.verdict == "inconclusive"
        assert skill.explanation.startswith("15 items without a verdict (0 before, 15 after); run them again with --resume")
        assert skill.explanation.endswith("the mean difference lies between -0.9500 and -0.2000")

    def test_the_same_in_both_runs_decides_nothing(self) -> None:
        down = {f"t{index}": "i" for index in range(10)}
        assert diff(each(20, "p") | down, each(20, "p") | down).verdict == "inconclusive"

    def test_ignored_it_is_judged_by_the_rest_and_says_so(self) -> None:
        before, after = each(8, "pf"), each(8, "fi")
        assert diff(before, after).verdict == "inconclusive"
        found = diff(before, after, missing="ignore")
        assert found.verdict == "worse"
        assert found.explanation.endswith("; assumed that the 8 items without a verdict went like the others")


class TestAChangedTask:
    def test_it_is_listed_apart_and_enters_no_verdict(self) -> None:
        digests = {f"t{index}": "old" for index in range(10)}
        before, after = (
            reports(each(10, "p"), digests=digests),
            reports(each(10, "f"), digests=digests | {"t0": "new", "t1": "new"}),
        )
        (found,) = diff_reports(before, after).skills
        assert (found.tasks_changed, found.statistics and found.statistics.tasks) == (["t0", "t1"], 8)
        assert {flip.task_id for flip in found.flips} == {f"t{index}" for index in range(2, 10)}

    def test_where_all_are_nothing_is_compared_and_no_gate_passes(self) -> None:
        before, after = (reports(each(8, side), digests=dict.fromkeys(each(8, ""), side)) for side in "pf")
        found = diff_reports(before, after)
        assert (found.skills[0].verdict, found.skills[0].explanation) == ("inconclusive", "not comparable: every task changed")
        assert gate_failures(found, "worse") == ["s@1.0.0 could not be judged: not comparable: every task changed"]

    def test_a_report_that_knows_no_digests_is_paired_by_the_ids(self) -> None:
        known = reports(each(8, "p"), digests=dict.fromkeys(each(8, ""), "new"))
        (found,) = diff_reports(reports(each(8, "p")), known).skills
        assert (found.tasks_changed, found.statistics and found.statistics.tasks) == ([], 8)


class TestATaskThatIsJudgedOtherwise:
    def test_it_is_listed_apart_and_enters_no_verdict(self) -> None:
        before = reports(each(10, "p"), scorings=dict.fromkeys(each(10, ""), "old"))
        after = reports(each(10, "f"), scorings=dict.fromkeys(each(10, ""), "old") | {"t0": "new"})
        (found,) = diff_reports(before, after).skills
        assert (found.tasks_judged_otherwise, found.tasks_changed) == (["t0"], [])
        assert (found.statistics and found.statistics.tasks, len(found.flips)) == (9, 9)

    def test_one_that_changed_as_well_is_listed_once(self) -> None:
        before, after = (reports(each(2, "p"), digests={"t0": side}, scorings={"t0": side, "t1": side}) for side in "ab")
        (found,) = diff_reports(before, after).skills
        assert (found.tasks_changed, found.tasks_judged_otherwise) == (["t0"], ["t1"])
        assert found.tasks_incomparable == ["t0", "t1"]

    def test_where_all_are_no_gate_passes(self) -> None:
        before, after = (reports(each(8, "p"), scorings=dict.fromkeys(each(8, ""), side)) for side in "ab")
        (failure,) = gate_failures(diff_reports(before, after), "worse")
        assert failure.startswith("s@1.0.0 could not be judged: not comparable: other scorers, another version of their code")

    def test_where_all_are_items_without_a_verdict_are_said(self) -> None:
        before = reports(each(8, "p"), scorings=dict.fromkeys(each(8, ""), "a"))
        after = reports(each(8, "p") | {"t0": "j", "t1": "i"}, scorings=dict.fromkeys(each(8, ""), "b"))
        (found,) = diff_reports(before, after).skills
        assert found.explanation.partition("judge every task; ")[2].startswith("2 items without a verdict (0 before, 2 after)")

    def test_a_report_that_does_not_know_what_judged_it_is_compared(self) -> None:
        known = reports(each(8, "p"), scorings=dict.fromkeys(each(8, ""), "new"))
        for sides in ((known, reports(each(8, "p"))), (reports(each(8, "p")), known)):
            assert diff_reports(*sides).skills[0].tasks_judged_otherwise == []


@each_row(
    ("after", "digests", "said"),
    [
        pytest.param(each(8, "p"), {}, "", id="all-are-compared"),
        pytest.param(
            each(8, "p"),
            {"t0": "new", "t1": "new"},
            "2 tasks of the earlier side changed, left or are judged otherwise, and were not compared",
            id="changed",
        ),
        pytest.param(
            each(7, "p"), {}, "1 task of the earlier side changed, left or is judged otherwise, and was not compared", id="left"
        ),
        pytest.param(each(10, "p"), {}, "2 tasks of the later side are new, and were not compared", id="new"),
        pytest.param(
            each(9, "p"),
            {"t0": "new"},
            "1 task of the earlier side changed, left or is judged otherwise, and was not compared; "
            "1 task of the later side is new, and was not compared",
            id="changed-and-new",
        ),
    ],
)
def test_how_many_tasks_are_not_compared_is_said(after: Outcome, digests: dict[str, str], said: str) -> None:
    old = dict.fromkeys(each(8, ""), "old")
    found = diff_reports(reports(each(8, "p"), digests=old), reports(after, digests=old | digests))
    assert found.not_compared == said
    two = diff_reports(
        reports(each(8, "p"), digests=old) + reports(each(8, "p"), "z", digests=old),
        reports(after, digests=old | digests) + reports(after, "z", digests=old | digests),
    )
    assert two.not_compared == said, "a task of two skills counts once"


class TestNotProven:
    def test_what_is_proven_to_have_lost_less_than_the_margin_passes(self) -> None:
        assert gate_failures(diff_reports(reports(each(200, "p")), reports(each(200, "p"))), "not-proven") == []

    def test_a_sample_that_proves_nothing_does_not(self) -> None:
        (failure,) = gate_failures(diff_reports(reports(each(20, "p")), reports(each(20, "p"))), "not-proven")
        assert failure.startswith("s@1.0.0: not proven that it lost less than 0.03: the mean difference lies in 90 % [-0.1")

    def test_what_is_missing_counts_as_lost(self) -> None:
        after = each(190, "p") | {f"t{index}": "i" for index in range(190, 200)}
        found = diff_reports(reports(each(200, "p")), reports(after), missing="ignore")
        assert gate_failures(found, "not-proven") == []
        assert gate_failures(diff_reports(reports(each(200, "p")), reports(after)), "not-proven", margin=0.03) != []


def test_tasks_of_one_side_are_named() -> None:
    found = diff({"a": "p", "b": "p"}, {"b": "p", "c": "p"})
    assert (found.tasks_only_before, found.tasks_only_after) == (["a"], ["c"])
    assert found.statistics is not None
    assert found.statistics.tasks == 1


def test_figures_are_of_the_shared_tasks_where_the_sides_hold_others_too() -> None:
    """A run of a part of the tasks is neither better nor faster for it: the reports say 50 % and 100 %."""
    before = reports(
        {"a": "pp", "b": "pt", "c": "ff", "d": "ff"}, latency_ms=[10.0, 10.0, 20.0, 30.0, 900.0, 900.0, 900.0, 900.0]
    )
    after = reports({"a": "pp", "b": "pt"}, latency_ms=[10.0, 10.0, 20.0, 30.0])
    (alone,) = diff_reports(reports({"a": "pp", "b": "pt"}, latency_ms=[10.0, 10.0, 20.0, 30.0]), after).skills
    (found,) = diff_reports(before, after).skills
    assert found.rows == alone.rows
    assert [(row.metric, row.before, row.delta) for row in found.rows[:3]] == [
        ("completionRate", 0.75, 0.0), ("errorRate", 0.25, 0.0), ("p95Ms", 30.0, 0.0),
    ]  # fmt: skip
    assert (found.figures_of_tasks, alone.figures_of_tasks) == (2, None)
    assert found.explanation == f"{alone.explanation}; the figures are those of the 2 tasks compared"


def test_no_change_is_told_where_no_task_is_shared() -> None:
    found = diff({"a": "f"}, {"b": "p"})
    assert [(row.before, row.after, row.delta, row.arrow) for row in found.rows][:1] == [(0.0, 1.0, None, "")]
    assert found.explanation == "cannot decide: no task was recorded on both sides"


def test_reports_without_task_results_cannot_be_judged() -> None:
    bare = [report.model_copy(update={"task_results": []}) for report in reports(each(9, "p"))]
    (found,) = diff_reports(bare, reports(each(9, "f"))).skills
    assert (found.change, found.verdict, found.statistics) == ("compared", "inconclusive", None)


def test_a_run_reported_twice_is_refused() -> None:
    (report,) = reports(each(1, "p"))
    doubled = report.model_copy(update={"task_results": report.task_results * 2})
    with pytest.raises(InputError, match=r"holds t0#1 twice"):
        diff_reports([report], [doubled])


@each_row("value", [0.0, 1.0, -0.1, float("nan")])
@each_row("option", ["significance", "equivalence_margin"])
def test_p40_a_level_that_is_none_is_refused(option: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"^{option}: (input should be|give a finite number)"):
        diff_reports([], [], **{option: value})  # type: ignore[arg-type]


def test_nothing_compared_with_nothing_is_an_empty_diff() -> None:
    assert diff_reports([], []).skills == []


def test_a_gate_asks_for_a_verdict() -> None:
    found = diff_reports(
        reports(each(8, "p"), "x") + reports(each(8, "p"), "y"), reports(each(8, "f"), "x") + reports(each(8, "p"), "y")
    )
    assert [skill.skill_id for skill in found.skills if skill.verdict == "worse"] == ["x"]


def test_order_of_skills_and_items_never_changes_a_figure() -> None:
    before, after = reports(BEFORE, "x") + reports(AFTER, "y"), reports(AFTER, "x") + reports(BEFORE, "y")
    reversed_before = [report.model_copy(update={"task_results": report.task_results[::-1]}) for report in before[::-1]]
    found, again = diff_reports(before, after), diff_reports(reversed_before, after[::-1])
    assert {skill.skill_id: skill for skill in found.skills} == {skill.skill_id: skill for skill in again.skills}


def test_a_diff_survives_json() -> None:
    found = diff_reports(reports(BEFORE), reports(AFTER))
    assert ReportDiff.model_validate(found.to_json()) == found


@pytest.mark.slow
def test_p42_halves_of_the_same_repeats_are_hardly_ever_called_different() -> None:
    stored = random.Random(20261121)
    chances = [stored.random() for _ in range(12)]
    (whole,) = reports(
        {
            f"t{index:02}": "".join("p" if stored.random() < chance else "f" for _ in range(8))
            for index, chance in enumerate(chances)
        }
    )
    called = 0
    for seed in range(500):
        first, second = halves(whole, random.Random(seed))
        called += diff_reports([first], [second]).skills[0].verdict in {"better", "worse"}
    assert 0 < called <= 25  # of 8 % it would be more in 99 of 100 cases


def halves(report: SkillCompletionReport, split: random.Random) -> Sequence[SkillCompletionReport]:
    """The runs of every task, dealt out at random into two reports of equal size."""
    sides: tuple[list[Any], list[Any]] = ([], [])
    for task in sorted({result.task_id for result in report.task_results}):
        runs = [result for result in report.task_results if result.task_id == task]
        split.shuffle(runs)
        sides[0].extend(runs[: len(runs) // 2])
        sides[1].extend(runs[len(runs) // 2 :])
    return [report.model_copy(update={"task_results": side}) for side in sides]


@pytest.mark.parametrize(
    ("without", "said"),
    [("before", "the report before holds"), ("after", "the report after holds"), ("before after", "both reports hold")],
)
def test_reports_that_hold_figures_only_say_so_and_call_no_task_new_or_gone(without: str, said: str) -> None:
    sides = {"before": reports(each(3, "p")), "after": reports(each(3, "f"))}
    for side in without.split():
        sides[side] = [report.model_copy(update={"task_results": []}) for report in sides[side]]
    found = diff_reports(sides["before"], sides["after"])
    assert found.skills[0].explanation.startswith(f"not comparable: {said} figures only, as those of runs of more than 100,000")
    assert (found.skills[0].verdict, found.not_compared) == ("inconclusive", "")
