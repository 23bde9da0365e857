"""Changes as people read them: sign, unit, direction, and whether it is welcome."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.diff.model import DiffRow, FlipSide, PairedStatistics, SkillDiff
from eval_skills.reporting.diff.figures import (
    flips_shown,
    lineage,
    names_shown,
    shown_row,
    side_text,
    statistics_lines,
    summary_of_skills,
    summary_of_tasks,
    verdict_text,
    worst_first,
)
from eval_skills.reporting.numbers import points
from tests.tables import each_row


def row(metric: str, before: float | None, after: float | None, **fields: Any) -> DiffRow:
    delta = None if before is None or after is None else after - before
    return DiffRow.model_validate(
        {"metric": metric, "before": before, "after": after, "delta": delta, "arrow": "", "good": None} | fields
    )


@each_row(
    ("given", "shown"),
    [
        pytest.param(
            row("completionRate", 1.0, 0.65, arrow="↓", good=False, significant=True),
            ("completion", "100.0 %", "65.0 %", "-35.0 pp", "↓", "✘ bad"),
            id="completion",
        ),
        pytest.param(
            row("errorRate", 0.1, 0.05, arrow="↓", good=True, significant=True),
            ("errors", "10.0 %", "5.0 %", "-5.0 pp", "↓", "✔ good"),
            id="errors",
        ),
        pytest.param(
            row("p95Ms", 80.0, 1580.0, arrow="↑", good=False),
            ("P95", "80.0 ms", "1,580 ms", "+1,500.0 ms", "", ""),
            id="p95-has-no-test-and-so-no-mark",
        ),
        pytest.param(
            row("compositeScore", 0.5, 0.5625, arrow="↑", good=True),
            ("composite", "0.5000", "0.5625", "+0.0625", "", ""),
            id="p48-composite-is-not-rounded-to-an-integer",
        ),
        pytest.param(
            row("latencyMs", 100.0, 112.0, ratio=1.12, arrow="↑", good=False, significant=True),
            ("latency", "100 ms", "112 ms", "+12.0 %", "↑", "✘ bad"),
            id="what-is-compared-by-its-ratio",
        ),
        pytest.param(
            row("tokens", 4000.0, 1.0, ratio=0.00025), ("tokens", "4,000", "1", "-99.98 %", "", ""), id="something-is-left"
        ),
        pytest.param(
            row("costUsd", 1e-10, 1e6, ratio=1e16),
            ("cost", "$0.0000000001", "$1,000,000.00", "× 1e+16", "", ""),
            id="mistaken-unit",
        ),
        pytest.param(row("costUsd", 0.0, 2e-7), ("cost", "$0.00", "$0.0000002", "+0.0000002 USD", "", ""), id="tiny-cost"),
        pytest.param(
            row("completionRate", 1.0, 1 / 3000), ("completion", "100.0 %", "0.03 %", "-99.97 pp", "", ""), id="one-left"
        ),
        pytest.param(row("completionRate", 0.5, 0.5), ("completion", "50.0 %", "50.0 %", "0.0 pp", "", ""), id="unmoved"),
        pytest.param(row("p95Ms", None, 5.0), ("P95", "–", "5.0 ms", "–", "", ""), id="unknown-is-a-dash"),
    ],
)
def test_p48_a_row_has_sign_unit_arrow_and_a_mark_of_its_own(given: DiffRow, shown: tuple[str, ...]) -> None:
    found = shown_row(given)
    assert (found.name, found.before, found.after, found.delta, found.arrow, found.mark) == shown


@each_row(
    ("value", "text"),
    [
        (0.125, "+12.5 pp"),
        (-0.0004, "-0.04 pp"),
        (0.0, "0.0 pp"),
        (-0.0, "0.0 pp"),
        (-1.4e-17, "0.0 pp"),
        (0.000004, "+0.0004 pp"),
        (1.0, "+100.0 pp"),
        (1.0 - 1e-12, "+100.0 pp"),
        (-0.99967, "-99.97 pp"),
    ],
)
def test_a_small_difference_is_not_shown_as_none(value: float, text: str) -> None:
    assert points(value) == text


AT_BOUND = {
    "pValue": 0.5, "adjustedP": 0.5, "equivalenceInterval": {"lower": -0.2, "upper": 0.2, "level": 0.9, "method": "t"}
}  # fmt: skip
STATISTICS = {
    "tasks": 8, "tasksBetter": 5, "tasksWorse": 1, "meanDifference": 0.2083, "equivalenceMargin": 0.05, "correlation": 0.9,
    "interval": {"lower": 0.064, "upper": 0.353, "level": 0.95, "method": "t"},
    "equivalenceInterval": {"lower": 0.093, "upper": 0.324, "level": 0.9, "method": "t"},
    "test": "sign_flip_exact", "seed": 1, "pValue": 0.0625, "adjustedP": 0.125, "signTestP": 0.0625, "tTestP": 0.01,
    "pFloor": 0.03125, "smallestEffect": 0.199, "tasksNeeded": 120,
    "missing": {"before": 1, "after": 2, "lower": -0.1, "upper": 0.3, "atLower": AT_BOUND, "atUpper": AT_BOUND},
}  # fmt: skip


@each_row(
    ("changes", "name", "text"),
    [
        ({}, "tasks compared", "8: 5 better, 1 worse"),
        ({}, "mean difference", "+20.8 pp, 95 % interval +6.4 pp to +35.3 pp"),
        ({}, "sign-flip test", "p = 0.0625 (exact); Holm over the skills: p = 0.125"),
        ({"test": "sign_flip_drawn"}, "sign-flip test", "p = 0.0625 (10,000 draws, seed 1); Holm over the skills: p = 0.125"),
        ({}, "floor", "6 differing tasks can give no p below 0.03125"),
        ({"pValue": 0.0, "adjustedP": 2e-323}, "sign-flip test", "p < 1e-300 (exact); Holm over the skills: p < 1e-300"),
        ({"signTestP": 0.0}, "sign test", "p < 1e-300"),
        ({"pFloor": 0.0}, "floor", "6 differing tasks can give a p < 1e-300"),
        ({}, "correlation", "r = 0.90 between both sides' tasks"),
        ({"correlation": None}, "correlation", "–"),
        ({}, "sensitivity", "this sample could only have shown ±19.9 pp or more; ±5 pp needs about 120 tasks"),
        ({"tasksNeeded": None}, "sensitivity", "this sample could only have shown ±19.9 pp or more"),
        (
            {"adjustedP": 0.0312, "smallestEffect": 0.577},
            "sensitivity",
            "a sample like this finds ±57.7 pp four times out of five, smaller ones less often; ±5 pp needs about 120 tasks",
        ),
        ({"adjustedP": 0.0312, "tasksNeeded": None}, "sensitivity", "this sample could only have shown ±19.9 pp or more"),
        (
            {"smallestEffect": None},
            "sensitivity",
            "what this sample could have shown is not known: the tasks' differences do not vary",
        ),
        ({}, "without a verdict", "3 items (1 before, 2 after): the mean difference lies between -10.0 pp and +30.0 pp"),
    ],
)
def test_p42_the_statistics_in_words(changes: dict[str, Any], name: str, text: str) -> None:
    assert dict(statistics_lines(PairedStatistics.model_validate(STATISTICS | changes)))[name] == text


def test_where_no_task_differs_nothing_is_tested_and_nothing_said_of_tests() -> None:
    same = {"tasksBetter": 0, "tasksWorse": 0, "meanDifference": 0.0, "pValue": 1.0, "correlation": None, "smallestEffect": None}
    lines = dict(statistics_lines(PairedStatistics.model_validate(STATISTICS | same | {"missing": None})))
    assert lines == {
        "tasks compared": "8: 0 better, 0 worse",
        "mean difference": "0.0 pp, 95 % interval +6.4 pp to +35.3 pp",
    }


def test_p14_nothing_missing_is_not_mentioned() -> None:
    found = PairedStatistics.model_validate(STATISTICS | {"missing": None})
    assert "without a verdict" not in dict(statistics_lines(found))


def skill(**fields: Any) -> SkillDiff:
    base = {"skillId": "s", "skillVersion": "2.0.0", "benchmarkId": "b", "change": "compared", "rows": []}
    return SkillDiff.model_validate(base | fields)


@each_row(
    ("fields", "name", "verdict"),
    [
        pytest.param({"beforeSkillId": "s", "beforeVersion": "2.0.0", "verdict": "worse"}, "s@2.0.0", "✘ worse", id="same"),
        pytest.param(
            {"beforeSkillId": "r", "beforeVersion": "1.0.0", "verdict": "better"},
            "s@2.0.0 (before: r@1.0.0)", "✔ better", id="successor",
        ),
        pytest.param(
            {"beforeSkillId": "s", "beforeVersion": "2.0.0", "verdict": "equivalent"}, "s@2.0.0", "equivalent", id="equivalent"
        ),
        pytest.param({"change": "added"}, "s@2.0.0", "added", id="p48-added"),
        pytest.param({"change": "removed"}, "s@2.0.0", "removed", id="p48-removed"),
    ],
)  # fmt: skip
def test_a_skill_is_named_and_labelled(fields: dict[str, Any], name: str, verdict: str) -> None:
    assert (lineage(skill(**fields)), verdict_text(skill(**fields))) == (name, verdict)


def test_what_got_worse_is_shown_first_and_the_rest_is_counted() -> None:
    def flip(task: str, before: float, after: float) -> dict[str, Any]:
        sides = {
            name: {"completionRate": rate, "runIndex": 0, "status": "pass"}
            for name, rate in (("before", before), ("after", after))
        }
        return {"taskId": task, "change": "better" if after > before else "worse", **sides}

    flips = [flip("up", 0.0, 1.0), flip("down-a-little", 1.0, 0.5), flip("down", 1.0, 0.0)]
    flips += [flip("b10", 1.0, 0.5), flip("b9", 1.0, 0.5)]
    shown, more = flips_shown(skill(flips=flips), 3)
    assert ([each.task_id for each in shown], more) == (["down", "b9", "b10"], 2)


@pytest.mark.parametrize(("names", "text"), [([], ""), (["a", "b"], "a, b"), (["a", "b", "c", "d"], "a, b and 2 more")])
def test_long_lists_are_cut(names: list[str], text: str) -> None:
    assert names_shown(names, 2) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param({"runs": 1}, "fail", id="the-only-run"),
        pytest.param({"runs": 3, "run_index": 1}, "fail (run 2 of 3; 66.7 % passed)", id="one-of-several"),
        pytest.param({}, "fail (66.7 % passed)", id="of-an-earlier-version"),
    ],
)
def test_a_run_is_counted_from_one(fields: dict[str, Any], text: str) -> None:
    assert side_text(FlipSide.model_validate({"completion_rate": 2 / 3, "run_index": 0, "status": "fail"} | fields)) == text


def of_verdict(skill_id: str, verdict: str | None, mean: float | None = None, change: str = "compared") -> SkillDiff:
    statistics = None if mean is None else PairedStatistics.model_construct(**dict[str, Any](mean_difference=mean))
    about: dict[str, Any] = {"skill_id": skill_id, "skill_version": "1.0.0", "benchmark_id": "b", "before_skill_id": skill_id}
    named: dict[str, Any] = {"before_version": "1.0.0", "change": change, "verdict": verdict, "statistics": statistics}
    return SkillDiff.model_construct(**about, **named)


def test_what_lost_most_comes_first_and_one_line_says_how_many_did() -> None:
    given = [
        of_verdict("up", "better", 0.2), of_verdict("new", None, change="added"), of_verdict("down", "worse", -0.1),
        of_verdict("open", "inconclusive", -0.35), of_verdict("same", "equivalent", 0.0), of_verdict("far-down", "worse", -0.3),
    ]  # fmt: skip
    assert [skill.skill_id for skill in worst_first(given)] == ["far-down", "down", "open", "same", "up", "new"]
    assert summary_of_skills(given) == (
        "6 skills: 1 better, 2 worse, 1 equivalent, 1 inconclusive, 1 added; the biggest loss: open@1.0.0, -35.0 pp"
    )


def test_one_line_says_how_the_tasks_of_all_skills_did() -> None:
    counts: dict[str, Any] = {"tasks": 5, "tasks_better": 1, "tasks_worse": 2}
    apart: dict[str, Any] = {"tasks_changed": ["a"], "tasks_only_before": ["b", "c"], "tasks_only_after": []}
    compared = SkillDiff.model_construct(statistics=PairedStatistics.model_construct(**counts), **apart)
    nothing: dict[str, Any] = {name: [] for name in apart} | {"tasks_without_verdict": ["d"]}
    alone = SkillDiff.model_construct(statistics=None, **nothing)
    text = "tasks of all skills: 2 got worse, 1 got better, 2 equal, 4 not comparable"
    assert summary_of_tasks([compared, alone]) == text


def test_where_nothing_was_lost_no_loss_is_named() -> None:
    assert summary_of_skills([of_verdict("up", "better", 0.2)]) == "1 skill: 1 better, 0 worse, 0 equivalent, 0 inconclusive"
