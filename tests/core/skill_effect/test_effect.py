from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.core.models.response import ToolCall
from eval_skills.core.skill_effect.effect import skill_effect
from eval_skills.core.skill_effect.model import Arm, SkillEffect
from eval_skills.reporting.skill_effect.figures import title
from tests.tables import each_row

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


@pytest.mark.parametrize(
    ("loads", "never", "remarks"),
    [
        pytest.param(
            [["pdf"], [], []],
            False,
            ["with: the Agent Skill was loaded in 1 of 3 items; a difference in the others is not its content's"],
            id="seldom",
        ),
        pytest.param(
            [None, [], []],
            False,
            [
                "with: whether the Agent Skill was loaded is unknown in 1 item",
                "with: the Agent Skill was loaded in 0 of 2 items; a difference in the others is not its content's",
            ],
            id="unknown-and-not-loaded-is-not-never",
        ),
        pytest.param([["pdf"], ["pdf"], ["pdf"]], False, [], id="always"),
    ],
)
def test_in_how_many_items_it_was_loaded_is_said(loads: list[list[str] | None], never: bool, remarks: list[str]) -> None:
    ours = report("with", every(3, "p"))
    items = [item.model_copy(update={"skills_loaded": each}) for item, each in zip(ours.task_results, loads, strict=True)]
    found = effect(with_=ours.model_copy(update={"task_results": items}), without=report("without", every(3, "f"), NOT_LOADED))
    assert (found.never_loaded, found.remarks) == (never, remarks)


def test_what_came_out_the_same_everywhere_says_nothing() -> None:
    ours = report("with", {"easy": "pp", "hard": "ff", "telling": "pp"}, dimensions={"file": 1.0, "rows": 0.5})
    theirs = report("without", {"easy": "pp", "hard": "ff", "telling": "ff"}, dimensions={"file": 1.0, "rows": 0.0})
    found = effect(with_=ours, without=theirs).undiscerning
    assert [(each.task_id, each.check, each.passed) for each in found] == [
        ("easy", None, True),
        ("hard", None, False),
        ("telling", "file", True),
    ]


def test_a_task_that_an_arm_has_no_verdict_of_may_say_something() -> None:
    found = effect(with_=report("with", {"a": "pp", "b": "pp"}), without=report("without", {"a": "ii", "b": "pp"}))
    assert [each.task_id for each in found.undiscerning] == ["b"]


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


@pytest.mark.parametrize("kind", ["infra", "skill"])
def test_a_skill_is_not_never_loaded_where_the_agent_answered_nothing(kind: str) -> None:
    ours = report("with", every(3, "p"), NOT_LOADED)
    found = effect(with_=broken(ours, kind=kind), without=report("without", every(3, "f"), NOT_LOADED))
    assert not found.never_loaded
    assert any("the agent answered no item of the arm with" in problem for problem in found.problems)
    assert not any("loaded" in remark for remark in found.remarks)


def test_a_skill_is_not_never_loaded_where_that_is_unknown_beside_an_outage() -> None:
    ours = broken(report("with", every(3, "p"), NOT_LOADED), "t00#1", kind="infra")
    items = [each.model_copy(update={"skills_loaded": UNKNOWN}) if each.task_id == "t01" else each for each in ours.task_results]
    found = effect(with_=ours.model_copy(update={"task_results": items}), without=report("without", every(3, "f"), NOT_LOADED))
    assert not found.never_loaded
    assert "with: whether the Agent Skill was loaded is unknown in 1 item" in found.remarks


def broken(report: SkillCompletionReport, *items: str, kind: str = "skill", **found: object) -> SkillCompletionReport:
    """The report with errors of this kind in place of these items, each ``TASK#RUN``, or of all."""
    status = "timeout" if kind == "timeout" else "error"
    lost = {"status": status, "passed": False, "error_kind": kind, "error_message": "the agent ended with exit code 3", **found}
    results = [
        each.model_copy(update=lost) if not items or f"{each.task_id}#{each.run_index + 1}" in items else each
        for each in report.task_results
    ]
    return report.model_copy(update={"task_results": results})


@pytest.mark.parametrize("kind", ["skill", "infra", "timeout"])
def test_an_arm_without_any_answer_is_an_error_of_the_set_up(kind: str) -> None:
    found = effect(with_=report("with", every(9, "pp")), without=broken(report("without", every(9, "ff")), kind=kind))
    (problem,) = found.problems
    assert problem.startswith("the agent answered no item of the arm without (the agent ended with exit code 3)")


def test_a_verdict_that_rests_on_errors_of_the_agent_says_so() -> None:
    every_second = [f"t{task:02}#2" for task in range(9)]
    theirs = broken(report("without", every(9, "pp")), *every_second)
    found = effect(with_=report("with", every(9, "pp")), without=theirs)
    (comparison,) = found.comparisons
    assert (comparison.diff.verdict, comparison.verdict_of_answers, comparison.rests_on_errors) == (
        "better",
        "inconclusive",
        True,
    )
    assert found.arms[1].unanswered_items == 9
    assert "without: 9 items without an answer count as not passed (the agent ended with exit code 3)" in found.remarks


def test_answers_that_were_cut_are_counted_by_arm() -> None:
    cut = [{"code": "ANSWER_CUT", "message": "the answer was cut", "informational": True}]
    theirs = report("without", every(9, "f"), reasons=cut)
    found = effect(with_=report("with", every(9, "p")), without=theirs)
    (said,) = [remark for remark in found.remarks if "cut" in remark]
    assert said.startswith("without: the answer was cut in 9 of 9 items, and judged as it is (ANSWER_CUT; t00#1, t01#1")


def test_a_verdict_that_holds_without_the_errors_does_not_rest_on_them() -> None:
    theirs = broken(report("without", every(9, "ff")), "t00#1")
    (comparison,) = effect(with_=report("with", every(9, "pp")), without=theirs).comparisons
    assert (comparison.verdict_of_answers, comparison.rests_on_errors) == ("better", False)


def test_copies_of_a_task_are_runs_of_it() -> None:
    ours, theirs = report("with", every(8, "p")), report("without", every(8, "f"))
    copies = {f"t{task:02}": "t00" for task in range(1, 8)}
    found = skill_effect({"with": ours, "without": theirs}, names=["csv-tools"], agent="custom", copies=copies)
    (comparison,) = found.comparisons
    assert comparison.diff.statistics is not None
    assert (comparison.diff.statistics.tasks, comparison.diff.verdict) == (1, "inconclusive")
    assert (found.arms[0].tasks, found.arms[0].items) == (1, 8)
    assert any(remark.startswith("7 tasks ask the same as another one") for remark in found.remarks)
    assert title(found) == "csv-tools on custom: 1 task, 8 runs of each in every arm"


def test_tasks_that_have_copies_have_more_runs_than_the_others() -> None:
    reports: dict[Arm, SkillCompletionReport] = {
        "with": report("with", every(8, "p")),
        "without": report("without", every(8, "f")),
    }
    found = skill_effect(reports, names=["csv-tools"], agent="custom", copies={"t01": "t00", "t02": "t00"})
    assert title(found) == "csv-tools on custom: 6 tasks, 1 to 3 runs of each in every arm"


def test_costs_that_only_some_items_know_are_said_to_be_theirs() -> None:
    rich = report("with", every(4, "p"), LOADED, cost_usd=0.5)
    items = [each.model_copy(update={"cost_usd": None}) if each.task_id == "t00" else each for each in rich.task_results]
    found = effect(with_=rich.model_copy(update={"task_results": items}), without=report("without", every(4, "f"), NOT_LOADED))
    assert found.remarks == ["with: cost known of 3 of 4 items only; the figures are theirs"]


@each_row(
    ("arguments", "is_problem"),
    [
        pytest.param({"path": "/srv/mine/csv-tools/SKILL.md"}, True, id="file"),
        pytest.param("cd /srv/mine/csv-tools && cat SKILL.md", True, id="unread-text"),
        pytest.param({"command": ["ls", "/srv/mine/csv-tools"]}, True, id="listing"),
        pytest.param({"path": "/srv/mine/csv-tools/evals/files/sales.csv"}, False, id="a-file-of-the-tasks"),
        pytest.param({"path": "/srv/mine/csv-tools-2/SKILL.md"}, False, id="another-folder"),
        pytest.param({"path": "/srv/mine/sales.csv"}, False, id="beside"),
    ],
)
def test_an_arm_that_looks_where_the_skill_comes_from_is_an_error_of_the_set_up(arguments: object, is_problem: bool) -> None:
    theirs = broken(report("without", every(2, "f")), "t00#1", tool_calls=[ToolCall(name="read", arguments=arguments)])
    reports: dict[Arm, SkillCompletionReport] = {"with": report("with", every(2, "p")), "without": theirs}
    found = skill_effect(reports, names=["csv-tools"], agent="custom", sources=["/srv/mine/csv-tools"])
    assert [bool("looked into the Agent Skill's own folder (t00#1)" in each) for each in found.problems] == [True] * is_problem


def test_an_arm_has_no_completion_where_nothing_was_judged() -> None:
    judged = broken(report("without", every(3, "pp")), "t00#1", kind="judge")
    found = effect(with_=broken(report("with", every(3, "pp")), kind="judge"), without=judged)
    assert (found.arms[0].completion_rate, found.arms[0].interval) == (None, None)
    assert found.arms[1].completion_rate == 1.0
    assert found.problems == []
