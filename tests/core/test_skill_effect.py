from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.core.skill_effect import Arm, SkillEffect, skill_effect

BENCHMARK = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": []})
STATUS = {"p": "pass", "f": "fail", "i": "error"}
LOADED, NOT_LOADED, UNKNOWN = ["csv-tools"], list[str](), None


def report(arm: Arm, outcome: Mapping[str, str], loads: list[str] | None = None, **columns: object) -> SkillCompletionReport:
    """The report of an arm: by task its runs, a letter each: p(ass), f(ail), or an error of kind i(nfra)."""
    rows = [
        {
            "skill_id": f"csv-tools-{arm}",
            "skill_version": "1.0.0",
            "task_id": task,
            "run_index": run,
            "status": STATUS[letter],
            "score": float(letter == "p"),
            "error_kind": "infra" if letter == "i" else None,
            "latency_ms": 1000.0,
            "task_digest": f"digest of {task}",
            "skills_loaded": loads,
            **columns,
        }
        for task, runs in outcome.items()
        for run, letter in enumerate(runs)
    ]
    (made,) = skill_reports(pd.DataFrame(rows), BENCHMARK, 60_000)
    return made


def effect(**arms: SkillCompletionReport) -> SkillEffect:
    names: dict[str, Arm] = {"with_": "with", "without": "without", "old": "old", "sham": "sham"}
    return skill_effect({names[name]: made for name, made in arms.items()}, names=["csv-tools"], agent="custom")


def every(count: int, runs: str) -> dict[str, str]:
    return {f"t{index:02}": runs for index in range(count)}


def test_a_proven_gain_is_the_share_of_what_was_left() -> None:
    found = effect(with_=report("with", every(12, "ppp")), without=report("without", every(12, "pff")))
    (comparison,) = found.comparisons
    assert (comparison.against, comparison.diff.verdict) == ("without", "better")
    assert comparison.diff.statistics is not None
    assert comparison.diff.statistics.mean_difference == pytest.approx(2 / 3)
    assert comparison.gain == pytest.approx(1.0)


def test_where_nothing_was_left_the_gain_is_undefined() -> None:
    found = effect(with_=report("with", every(4, "pf")), without=report("without", every(4, "pp")))
    assert found.comparisons[0].gain is None


def test_the_tasks_that_lost_are_listed_the_largest_loss_first() -> None:
    ours = {"a": "pff", "b": "fff", "c": "ppp", "d": "ppp"}
    theirs = {"a": "ppf", "b": "ppp", "c": "fff", "d": "ppp"}
    found = effect(with_=report("with", ours), without=report("without", theirs))
    assert [task.task_id for task in found.worse("without")] == ["b", "a"]


def test_an_outage_is_not_a_loss() -> None:
    found = effect(with_=report("with", {"a": "iii", "b": "pp"}), without=report("without", {"a": "ppp", "b": "pp"}))
    assert found.worse("without") == []
    assert found.tasks[0].rates == {"with": None, "without": 1.0}
    assert any("3 items without a verdict" in remark for remark in found.remarks)


def test_an_arm_without_that_loaded_the_skill_is_an_error_of_the_set_up() -> None:
    found = effect(with_=report("with", every(3, "p"), LOADED), without=report("without", every(3, "f"), LOADED))
    (problem,) = found.problems
    assert problem.startswith("3 items of the arm without loaded the Agent Skill (t00#1, t01#1, t02#1)")


@pytest.mark.parametrize(
    ("loads", "rate", "remark"),
    [
        pytest.param(LOADED, 1.0, None, id="loaded"),
        pytest.param(NOT_LOADED, 0.0, "was never loaded where it was installed", id="never-loaded"),
        pytest.param(UNKNOWN, None, "with: whether the Agent Skill was loaded is unknown in 3 items", id="unknown-is-not-never"),
    ],
)
def test_loads_of_the_arm_with(loads: list[str] | None, rate: float | None, remark: str | None) -> None:
    found = effect(with_=report("with", every(3, "p"), loads), without=report("without", every(3, "f"), NOT_LOADED))
    assert found.arms[0].load_rate == rate
    assert found.problems == []
    assert [bool(remark and remark in each) for each in found.remarks] == ([] if remark is None else [True])


def test_what_came_out_the_same_everywhere_says_nothing() -> None:
    ours = report("with", {"easy": "pp", "hard": "ff", "telling": "pp"}, dimensions={"file": 1.0, "rows": 0.5})
    theirs = report("without", {"easy": "pp", "hard": "ff", "telling": "ff"}, dimensions={"file": 1.0, "rows": 0.0})
    found = effect(with_=ours, without=theirs).undiscerning
    assert [(each.task_id, each.check, each.passed) for each in found] == [
        ("easy", None, True),
        ("hard", None, False),
        ("telling", "file", True),
    ]


def test_all_comparisons_are_one_family() -> None:
    ours, others = (
        report("with", every(9, "pp")),
        {**every(9, "pp"), "t00": "ff", "t01": "ff", "t02": "ff", "t03": "ff", "t04": "ff"},
    )
    alone = effect(with_=ours, without=report("without", others)).comparisons[0].diff.statistics
    three = effect(with_=ours, without=report("without", others), sham=report("sham", others)).comparisons[0].diff.statistics
    assert alone is not None
    assert three is not None
    assert three.adjusted_p == pytest.approx(2 * alone.adjusted_p)


def test_costs_are_means_of_the_items_that_know_them() -> None:
    ours = report("with", every(2, "p"), LOADED, cost_usd=0.5, prompt_tokens=90.0, completion_tokens=10.0, steps=4.0)
    arms = effect(with_=ours, without=report("without", every(2, "f"), NOT_LOADED)).arms
    assert (arms[0].cost_usd, arms[0].tokens, arms[0].steps) == (0.5, 100.0, 4.0)
    assert (arms[1].cost_usd, arms[1].tokens, arms[1].steps) == (None, None, None)


def test_an_effect_needs_two_arms() -> None:
    with pytest.raises(InputError, match="needs the arm with and another one; there is with"):
        effect(with_=report("with", every(2, "p")))


def test_turns_are_compared_where_both_arms_know_them() -> None:
    ours = report("with", every(9, "pp"), LOADED, steps=4.0)
    theirs = report("without", every(9, "ff"), NOT_LOADED, steps=2.0)
    (comparison,) = effect(with_=ours, without=theirs).comparisons
    (row,) = [row for row in comparison.diff.rows if row.metric == "steps"]
    assert row.ratio == pytest.approx(2.0)
    assert (row.significant, row.good) == (True, False)
    (unknown,) = effect(with_=ours, without=report("without", every(9, "ff"), NOT_LOADED)).comparisons
    assert "steps" not in [row.metric for row in unknown.diff.rows]
