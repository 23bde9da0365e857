"""The gate of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.diff.gate import gate_failures
from eval_skills.core.diff.model import ReportDiff
from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting.ranking import caveats
from tests.core.diff.test_diff import Outcome, each, reports
from tests.tables import each_row

STATISTICS = {
    "tasks": 8, "tasksBetter": 0, "tasksWorse": 8, "meanDifference": -1.0, "equivalenceMargin": 0.05, "correlation": None,
    "interval": {"lower": -1.0, "upper": -0.9, "level": 0.95, "method": "constant"},
    "equivalenceInterval": {"lower": -1.0, "upper": -0.9, "level": 0.9, "method": "constant"},
    "test": "sign_flip_exact", "seed": 1, "pValue": 0.01, "adjustedP": 0.01, "signTestP": 0.01, "tTestP": None, "pFloor": 0.01,
    "smallestEffect": None, "tasksNeeded": None,
}  # fmt: skip


def skill(skill_id: str, verdict: str | None, *, change: str = "compared", compared: bool = True) -> dict[str, Any]:
    return {
        "skillId": skill_id,
        "skillVersion": "1.0.0",
        "benchmarkId": "b",
        "change": change,
        "rows": [],
        "verdict": verdict,
        "explanation": "because",
        "statistics": STATISTICS if compared else None,
    }


ADDED = skill("new", None, change="added", compared=False)
GONE = skill("gone", None, change="removed", compared=False)
IS_GONE = (
    "gone@1.0.0 could not be judged: it has no report on the later side; "
    "name its successor with --map, or leave it out of the earlier side (report convert --skill)"
)
UNSHARED = skill("x", "inconclusive", compared=False)
NOTHING = "nothing could be compared: no skill has a task that was recorded on both sides"


@each_row(
    ("skills", "failures"),
    [
        pytest.param([skill("a", "better"), skill("b", "inconclusive"), ADDED], [], id="passes"),
        pytest.param([skill("a", "worse"), skill("b", "better")], ["a@1.0.0 is worse: because"], id="one-is-worse"),
        pytest.param([], [NOTHING], id="p40-no-skill"),
        pytest.param([ADDED], [NOTHING], id="p40-only-added"),
        pytest.param([skill("a", "better"), GONE], [IS_GONE], id="p40-one-is-gone"),
        pytest.param([GONE], [IS_GONE, NOTHING], id="p40-all-are-gone"),
        pytest.param(
            [skill("a", "better") | {"beforeSkillId": "a"}, skill("a", None, change="removed", compared=False)],
            [],
            id="another-version-is-there",
        ),
        pytest.param(
            [
                skill("a", "better") | {"beforeSkillId": "a"},
                skill("a", None, change="removed", compared=False) | {"skillVersion": "2.0.0"},
                skill("a", None, change="added", compared=False) | {"skillVersion": "2.1.0"},
            ],
            [
                "a@2.0.0 could not be judged: it has no report on the later side, where a@2.1.0 was compared with nothing; "
                "name its successor with --map, or leave it out of the earlier side (report convert --skill)"
            ],
            id="one-of-two-versions-may-have-a-successor",
        ),
        pytest.param([UNSHARED], ["x@1.0.0 could not be judged: because"], id="p40-no-shared-task"),
        pytest.param([UNSHARED, skill("a", "equivalent")], ["x@1.0.0 could not be judged: because"], id="one-was-compared"),
    ],
)
def test_p49_what_a_gate_fails_on(skills: list[dict[str, Any]], failures: list[str]) -> None:
    diff = ReportDiff.model_validate({"skills": skills, "significance": 0.05, "equivalenceMargin": 0.05})
    assert gate_failures(diff, "worse") == failures


def test_p40_nothing_is_proven_of_a_skill_that_is_gone() -> None:
    proven = {**STATISTICS, "equivalenceInterval": {"lower": -0.01, "upper": 0.01, "level": 0.9, "method": "t"}}
    same = {**skill("a", "equivalent"), "statistics": proven}
    diff = ReportDiff.model_validate({"skills": [same, GONE], "significance": 0.05, "equivalenceMargin": 0.05})
    assert gate_failures(diff, "not-proven", margin=0.03) == [IS_GONE]


@pytest.mark.slow
@each_row(
    ("before", "after", "said"),
    [
        pytest.param(
            each(4, "ppp"), each(4, "fff"),
            "lost 100.0 pp: 4 tasks that passed in every run before failed in every run after, t0, t1, t2 and 1 more"
            " (chance of flaky tasks: 6e-08)",
            id="four-tasks-thrice",
        ),
        pytest.param(
            {**each(99, "ppp"), "z": "ppp"}, {**each(99, "ppp"), "z": "fff"},
            "lost 1.0 pp: 1 task that passed in every run before failed in every run after, z (chance of flaky tasks: 0.016)",
            id="one-of-a-hundred",
        ),
        pytest.param(
            {"a": "ppp", "b": "ppf", "c": "ppp"}, {"a": "fff", "b": "pff", "c": "ppp"}, None,
            id="beside-a-task-that-flips-it-may-be-chance",
        ),
        pytest.param(
            {"a": "ppp", "b": "ppf"}, {"a": "fff", "b": "pff"},
            "could not be judged: it lost 66.7 pp, and 2 tasks with so few runs cannot tell that from chance; "
            "at least 8 tasks can, or more runs of each",
            id="half-is-not-passed-for-chance",
        ),
        pytest.param(each(5, "p"), {**each(5, "f"), "t0": "p"}, "could not be judged: it lost 80.0 pp", id="four-of-five-once"),
        pytest.param(
            each(4, 10 * "p"), each(4, 9 * "f" + "p"),
            "lost 90.0 pp: fewer runs of 4 tasks passed than before (chance, if no task changed: 1.3e-17)",
            id="one-lucky-run-hides-no-broken-task",
        ),
        pytest.param(
            {"a": 100 * "p"}, {"a": 50 * "pf"},
            "lost 50.0 pp: fewer runs of 1 task passed than before (chance, if no task changed: 2.2e-19)",
            id="many-runs-of-one-task",
        ),
        pytest.param(
            each(20, 10 * "p"), {**each(20, 10 * "p"), **each(4, 9 * "f" + "p")}, "lost 18.0 pp: fewer runs of 4 tasks passed",
            id="four-of-twenty-nearly-broken",
        ),
        pytest.param(
            {**each(12, 9 * "p" + "f"), **each(4, 10 * "p")}, {**each(12, 10 * "p"), **each(4, 9 * "f" + "p")},
            "lost 23.3 pp: fewer runs of 4 tasks passed", id="small-gains-of-others-hide-none",
        ),
        pytest.param({"a": "ppp", "b": "fff"}, {"a": "fff", "b": "ppp"}, None, id="as-much-was-won"),
        pytest.param(
            each(4, "p"), each(4, "f"),
            "could not be judged: it lost 100.0 pp, and 4 tasks with so few runs cannot tell that from chance; "
            "at least 5 tasks can, or more runs of each",
            id="four-tasks-once",
        ),
        pytest.param(each(5, "p"), {**each(5, "p"), "t0": "f"}, None, id="five-tasks-could-have-shown-it"),
        pytest.param(each(2, "pp"), {"t0": "pp", "t1": "fp"}, None, id="two-tasks-twice-could-have-shown-it"),
        pytest.param(each(1, "pp"), each(1, "pf"), "could not be judged: it lost 50.0 pp, and 1 task with", id="one-task-twice"),
        pytest.param(each(4, "p"), each(4, "p"), None, id="nothing-was-lost"),
        pytest.param({"a": "ppp"}, {"a": "ffi"}, "could not be judged: 1 item without a verdict", id="an-outage-is-no-loss"),
    ],
)  # fmt: skip
def test_a_gate_on_few_tasks_knows_a_loss_when_it_sees_one(before: Outcome, after: Outcome, said: str | None) -> None:
    failures = gate_failures(diff_reports(reports(before), reports(after)), "worse")
    assert [failure.startswith(f"s@1.0.0 {said}") for failure in failures] == [True] * (said is not None)


def test_a_loss_is_weighed_among_all_skills() -> None:
    sides = [[report for name in "abcd" for report in reports(each(5, letter), name)] for letter in "pf"]
    failures = gate_failures(diff_reports(*sides), "worse")
    assert len(failures) == 4
    assert all("5 tasks with so few runs cannot tell that from chance; at least 7 tasks can" in failure for failure in failures)


def test_a_loss_must_be_less_likely_by_chance_where_several_are_compared() -> None:
    def failures(names: str) -> list[str]:
        sides = ([report for name in names for report in reports(each(1, runs), name)] for runs in ("ppp", "fff"))
        return gate_failures(diff_reports(*sides), "worse")

    assert failures("a")[0].startswith("a@1.0.0 lost 100.0 pp")  # by chance in 1 of 64
    assert all("could not be judged" in failure for failure in failures("ab"))  # in 1 of 64 of two


def many(count: int, outcome: Callable[[int], Outcome]) -> list[SkillCompletionReport]:
    return [report for number in range(count) for report in reports(outcome(number), f"s{number:02}")]


def with_outcomes(report: SkillCompletionReport, passed: Iterable[bool]) -> SkillCompletionReport:
    """Whether each of its items passed: made of its items, which takes a tenth of the time that a report of rows takes."""
    pairs = zip(report.task_results, passed, strict=True)
    told = [
        item.model_copy(update={"passed": bool(is_passed), "status": "pass" if is_passed else "fail"})
        for item, is_passed in pairs
    ]
    return report.model_copy(update={"task_results": told})


class TestWhatManySkillsLoseTogether:
    def lost(self, number: int) -> Outcome:
        """Seven of twenty tasks, others for each skill."""
        return each(20, "p") | {f"t{(number * 7 + place) % 20}": "f" for place in range(7)}

    @pytest.mark.slow
    def test_is_no_chance_though_it_may_be_of_each(self) -> None:
        found = diff_reports(many(10, lambda _: each(20, "p")), many(10, self.lost))
        assert {skill.verdict for skill in found.skills} == {"inconclusive"}
        (failure,) = gate_failures(found, "worse")
        assert failure.startswith("10 skills together lost 35.0 pp on 20 tasks (p = 9.5e-07), though of none alone")
        (alone,) = diff_reports(many(1, lambda _: each(20, "p")), many(1, self.lost)).skills
        assert alone.verdict == "worse"

    @pytest.mark.slow
    def test_beside_a_skill_that_fails_alone_it_is_not_said(self) -> None:
        broken = reports(each(20, "f"), "broken")
        before = many(9, lambda _: each(20, "p")) + reports(each(20, "p"), "broken")
        assert [failure.split()[0] for failure in gate_failures(diff_reports(before, many(9, self.lost) + broken), "worse")] == [
            "broken@1.0.0"
        ]

    @pytest.mark.slow
    @pytest.mark.parametrize("min_effect", [0.3, 0.36])
    def test_only_what_counts_does(self, min_effect: float) -> None:
        found = diff_reports(many(10, lambda _: each(20, "p")), many(10, self.lost), min_effect=min_effect)
        assert len(gate_failures(found, "worse")) == (min_effect < 0.35)

    @pytest.mark.slow
    def test_gains_of_others_count_against_it(self) -> None:
        better = [report for name in "wxyz" for report in reports(each(20, "p"), name)]
        worst = [report for name in "wxyz" for report in reports(each(20, "f"), name)]
        found = diff_reports(many(10, lambda _: each(20, "p")) + worst, many(10, self.lost) + better)
        assert (found.together and found.together.mean_difference) == pytest.approx((4 - 3.5) / 14)
        assert gate_failures(found, "worse") == []

    @pytest.mark.slow
    def test_where_nothing_changed_it_is_seldom_said(self) -> None:
        random, p_values = np.random.default_rng(1), []
        whole = many(4, lambda _: each(12, "p"))
        for _ in range(100):
            sides = random.random((2, 4, 12)) < np.linspace(0.3, 0.95, 12)
            before, after = ([with_outcomes(*pair) for pair in zip(whole, side, strict=True)] for side in sides)
            together = diff_reports(before, after).together
            p_values.append(together.p_value if together else 0.0)
        assert sum(p_value <= 0.05 for p_value in p_values) <= 11  # 5 are expected, and 11 are three standard errors

    def test_one_skill_is_none_together(self) -> None:
        assert diff_reports(many(1, self.lost), many(1, self.lost)).together is None


@pytest.mark.parametrize(("min_effect", "failures"), [(0.02, 1), (0.0201, 0)])
def test_only_a_loss_that_counts_fails_a_gate(min_effect: float, failures: int) -> None:
    before, after = {**each(49, "ppp"), "z": "ppp"}, {**each(49, "ppp"), "z": "fff"}
    assert len(gate_failures(diff_reports(reports(before), reports(after), min_effect=min_effect), "worse")) == failures


def test_a_loss_beside_ignored_items_that_nothing_could_show_is_not_passed() -> None:
    found = diff_reports(reports({"a": "pi"}), reports({"a": "fi"}), missing="ignore")
    assert [failure.partition(":")[0] for failure in gate_failures(found, "worse")] == ["s@1.0.0 could not be judged"]


class TestHowManyTasksAreCompared:
    def test_a_gate_on_less_than_half_of_the_tasks_does_not_pass(self) -> None:
        whole = reports(each(12, "p"))
        (failure,) = gate_failures(diff_reports(whole, reports(each(5, "p"))), "worse")
        assert failure.startswith("s@1.0.0 could not be judged: only 5 of 12 tasks of the earlier side are compared")
        for fail_on in ("worse", "not-proven"):
            assert len(gate_failures(diff_reports(whole, reports(each(5, "p"))), fail_on)) == 1
        assert gate_failures(diff_reports(whole, reports(each(6, "p"))), "worse") == []
        assert gate_failures(diff_reports(reports(each(6, "p")), reports(each(100, "p"))), "worse") == []

    def test_nor_are_tasks_of_which_a_side_has_no_verdict_where_these_are_ignored(self) -> None:
        whole = reports(each(12, "pp"))
        for fail_on in ("worse", "not-proven"):
            (failure,) = gate_failures(diff_reports(whole, reports(each(12, "pp") | each(7, "ii")), missing="ignore"), fail_on)
            assert failure == (
                "s@1.0.0 could not be judged: only 5 of 12 tasks of the earlier side are compared, the others have no verdict on "
                "one side; run them again with --resume RUN --retry-errors"
            )
        few = reports({task: runs for task, runs in (each(12, "pp") | each(6, "ii")).items() if task != "t11"})
        (failure,) = gate_failures(diff_reports(whole, few, missing="ignore"), "worse")
        assert "the others changed, left, are judged otherwise or have no verdict; evaluate all" in failure
        assert gate_failures(diff_reports(whole, reports(each(12, "pp") | each(6, "ii")), missing="ignore"), "worse") == []

    def test_changed_tasks_are_not_compared_either(self) -> None:
        old, new = (dict.fromkeys(each(12, ""), "old") | dict.fromkeys(each(7, ""), side) for side in ("old", "new"))
        asked = (reports(each(12, "p"), digests=digests) for digests in (old, new))
        judged = (reports(each(12, "p"), scorings=digests) for digests in (old, new))
        assert [len(gate_failures(diff_reports(*sides), "worse")) for sides in (asked, judged)] == [1, 1]


class TestProvenToBeNoWorse:
    def test_how_many_tasks_it_takes_at_least(self) -> None:
        for tasks, margin, said in [(98, 0.03, "; where none differs, it takes 99 tasks"), (99, 0.03, None), (9, 0.0, "]")]:
            whole = reports(each(tasks, "ppp"))
            failures = gate_failures(diff_reports(whole, whole), "not-proven", margin=margin)
            assert [failure.endswith(said or "") for failure in failures] == [True] * (said is not None)

    def test_one_lost_task_of_a_hundred_is_no_proof_that_less_than_three_of_a_hundred_are_lost(self) -> None:
        whole = reports(each(100, "p"))
        assert gate_failures(diff_reports(whole, whole), "not-proven") == []
        for missing in ({}, {"t0": "i"}):
            found = diff_reports(whole, reports({**each(100, "p"), "t0": "f", **missing}))
            (failure,) = gate_failures(found, "not-proven")
            assert "not proven that it lost less than 0.03" in failure
            assert failure.endswith("]"), "there are enough tasks"


class TestSeveralVersionsOfASkillsFiles:
    def test_no_gate_passes_and_the_comparison_says_so(self) -> None:
        whole = reports(each(9, "pp"), skill_digest="sha256:1")
        mixed = reports(each(9, "pp"), skill_digest=["sha256:1"] * 16 + ["sha256:2"] * 2)
        said = "its files changed before its run was continued: 16 items are of sha256:1 and 2 items are of sha256:2"
        for sides, side in (((whole, mixed), "after"), ((mixed, whole), "before")):
            found = diff_reports(*sides)
            assert found.skills[0].explanation.endswith(f"; {side}, {said}")
            for fail_on in ("worse", "not-proven"):
                assert gate_failures(found, fail_on) == [f"s@1.0.0 could not be judged: {side}, {said}; evaluate it anew"]
        assert gate_failures(diff_reports(whole, whole), "worse") == []
        assert caveats(mixed) == [f"s@1.0.0: {said}"]

    def test_items_that_do_not_say_their_version_are_of_one(self) -> None:
        assert caveats(reports(each(3, "p"), skill_digest=["sha256:1", None, None])) == []
