"""The one order of skills, and their shared ranks in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from eval_skills.cli.output.ranking import FIGURES
from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import ReportContext, ranked, render
from eval_skills.reporting.html.across import points
from eval_skills.reporting.lines import headline
from eval_skills.reporting.notebook import result_table
from eval_skills.reporting.ranking import completion_text, rank_interval, rank_text, ranking_notes, ties_line
from eval_skills.reporting.summary import append_job_summary
from eval_skills.reporting.table import skill_rows

MakeReport = Callable[..., SkillCompletionReport]


def test_completion_then_composite_then_key_whatever_the_order_given(make_report: MakeReport) -> None:
    best = make_report("z", summary={"completionRate": 0.9, "compositeScore": 0.1})
    faster = make_report("y", summary={"completionRate": 0.8, "compositeScore": 0.9})
    slower = make_report("a", summary={"completionRate": 0.8, "compositeScore": 0.5})
    twin = make_report("b", summary={"completionRate": 0.8, "compositeScore": 0.5})
    expected = [best, faster, slower, twin]
    assert all(ranked(order) == expected for order in permutations(expected))


def test_p32_two_versions_of_one_skill_are_two_rows(make_report: MakeReport) -> None:
    newer, older = make_report(skillVersion="2.0.0"), make_report(skillVersion="1.0.0")
    assert [report.skill_key for report in ranked([newer, older])] == ["echo@1.0.0", "echo@2.0.0"]


def place(rank: int, last: int, **fields: Any) -> dict[str, Any]:
    known = {"adjustedP": 0.5, "probabilityBest": 0.25, "rankLower": 1, "rankUpper": 3, "shrunkCompletionRate": 0.7}
    return {"rank": rank, "lastRank": last, "rankedSkills": 3, "paretoOptimal": rank == 1, **known, **fields}


MISSING = {"missingItems": 6, "judgedCompletionRate": 0.875, "completionUpperBound": 0.9, "completionRate": 0.6}
DOWN = {"missingItems": 20, "judgedCompletionRate": None, "completionUpperBound": 1.0, "completionRate": 0.0}


@pytest.fixture
def four(make_report: MakeReport) -> list[SkillCompletionReport]:
    """Two that share ranks, of which one lacks items, one behind them that completed more, and one of which nothing is known."""
    return [
        make_report("best", summary={"completionRate": 0.9}, ranking=place(1, 2)),
        make_report("lacking", summary=MISSING, ranking=place(1, 2)),
        make_report("behind", summary={"completionRate": 0.7}, ranking=place(3, 3, rankLower=3)),
        make_report("down", summary=DOWN),
    ]


def test_those_that_share_ranks_stand_together_and_the_unknown_come_last(four: list[SkillCompletionReport]) -> None:
    assert all(ranked(order) == four for order in permutations(four))


def test_of_several_benchmarks_the_order_is_that_of_completion(
    four: list[SkillCompletionReport], make_report: MakeReport
) -> None:
    rates = [report.summary.completion_rate for report in ranked([*four, make_report("other", benchmarkId="another")])]
    assert rates == sorted(rates, reverse=True)


def test_shared_ranks_are_a_range(four: list[SkillCompletionReport], make_report: MakeReport) -> None:
    assert [rank_text(report, 9) for report in [*four, make_report("alone")]] == ["1–2", "1–2", "3", "–", "9"]
    assert [rank_interval(report.ranking) for report in four] == ["1 to 3", "1 to 3", "3", "–"]


def test_what_leads_is_said_of_the_items_that_its_correction_is_of(make_report: MakeReport) -> None:
    summary = {"completionRate": 0.5, "missingItems": 6, "judgedCompletionRate": 0.875, "completionUpperBound": 0.9}
    best = make_report("best", summary=summary, ranking=place(1, 2))
    other = make_report("other", summary={"completionRate": 0.4}, ranking=place(1, 2))
    assert ranking_notes([best, other])[0].startswith(
        "best@1.0.0 leads with 87.5 % of the items with a verdict, or 70.0 % when corrected for being picked;"
    )


def test_what_is_to_be_known_of_a_ranking(four: list[SkillCompletionReport], make_report: MakeReport) -> None:
    assert ranking_notes(four) == [
        "best@1.0.0 leads with 90.0 %, or 70.0 % when corrected for being picked; the chance that it is truly best is 25.0 %",
        "skills with the same ranks cannot be told apart on these tasks",
        "best trade-offs of completion, P95 and cost: best@1.0.0, lacking@1.0.0",
        "* 6 items of lacking@1.0.0 without a verdict: completion lies between 60.0 % and 90.0 %; of the others 87.5 % passed",
        "* 20 items of down@1.0.0 without a verdict: completion lies between 0.0 % and 100.0 %",
    ]
    assert ranking_notes([make_report("alone")]) == []
    assert not any("leads" in note for note in ranking_notes([four[0], four[0]]))
    assert ties_line([f"s{number}" for number in range(7)]).endswith(
        "cannot tell s0, s1, s2, s3, s4, and 2 more from a selected skill; --keep-ties keeps them"
    )


def test_every_report_shows_shared_ranks_and_marks_missing_items(
    four: list[SkillCompletionReport], context: ReportContext, tmp_path: Any
) -> None:
    append_job_summary(four, context, line="", gate_passed=None, environ={"GITHUB_STEP_SUMMARY": str(tmp_path / "summary")})
    texts = [str(render("markdown", four, context)), str(render("html", four, context)), (tmp_path / "summary").read_text()]
    for text in texts:
        assert "1–2" in text
        assert "25.0 %" in text
        assert "items of lacking@1.0.0 without a verdict" in text
    rows = skill_rows(four, context)
    assert [(row["rank"], row["last_rank"], row["probability_best"]) for row in rows] == [
        (1, 2, 0.25), (1, 2, 0.25), (3, 3, 0.25), (4, None, None),
    ]  # fmt: skip
    assert [row["missing_items"] for row in rows] == [None, 6, None, 20]


def test_of_a_skill_without_any_verdict_no_figure_of_verdicts_is_shown(
    four: list[SkillCompletionReport], context: ReportContext, tmp_path: Any
) -> None:
    down = [four[3]]
    append_job_summary(down, context, line="", gate_passed=None, environ={"GITHUB_STEP_SUMMARY": str(tmp_path / "summary")})
    [row] = [line for line in (tmp_path / "summary").read_text().splitlines() if line.startswith("| – |")]
    assert row == r"| – | down@1.0.0 | – \* | – | 5.0 % | 1,234 ms | – |"
    text = str(render("markdown", down, context))
    assert r"| – | down@1.0.0 | **–** \* | – |" in text
    assert "| Completion | – (–) |" in text
    assert "| Composite | – |" in text
    (page_row,) = re.findall(r'<tr data-skill="down@1.0.0">.*?</tr>', str(render("html", down, context)), re.DOTALL)
    assert "<strong>– *</strong>" in page_row
    assert "data-lower" not in page_row
    assert "completion –" in headline(down[0])
    assert completion_text(down[0]) == "– *"
    assert [FIGURES[name](down[0]) for name in ("95 % interval", "composite")] == ["–", "–"]
    assert [points(down)[0].get(name) for name in ("completion", "lower", "upper")] == [None, None, None]
    assert "<meter" not in result_table(down)
