"""Costs and tokens in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import ReportContext, render
from eval_skills.reporting.costs import cost_text, tokens_text
from tests.tables import each_row

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]

KNOWN = {"costUsd": 0.05, "promptTokens": 20, "completionTokens": 10}


@each_row(
    ("given", "cost", "tokens"),
    [
        ({}, "$0.0500", "30 (20 + 10)"),
        (
            {"costUnknownItems": 7, "tokensUnknownItems": 6},
            "at least $0.0500, unknown of 7 of 8 items",
            "at least 30 (20 + 10), unknown of 6 of 8 items",
        ),
        ({"estimatedUSD": None, "totalTokens": None}, "–", "–"),
    ],
)
def test_what_is_unknown_of_some_items_is_said(
    make_report: MakeReport, context: ReportContext, given: dict[str, Any], cost: str, tokens: str
) -> None:
    sums = {"estimatedUSD": 0.05, "totalTokens": 30, "promptTokens": 20, "completionTokens": 10}
    report = make_report(summary={"items": 8}, token_cost=sums | given)
    assert (cost_text(report), tokens_text(report)) == (cost, tokens)
    shown = str(render("markdown", [report], context))
    assert f"| Cost | {cost} |" in shown
    assert f"| Tokens (prompt + completion) | {tokens} |" in shown
    assert shown.count(cost) >= 2  # in the ranking, too


def test_a_report_that_does_not_say_it_is_asked_for_its_items(make_report: MakeReport, make_item: MakeItem) -> None:
    items = [make_item("a", **KNOWN), make_item("b")]
    sums = {"estimatedUSD": 0.05, "totalTokens": 30, "promptTokens": 20, "completionTokens": 10}
    report = make_report(token_cost=sums, taskResults=items)
    assert cost_text(report) == "at least $0.0500, unknown of 1 of 2 items"
    assert tokens_text(report) == "at least 30 (20 + 10), unknown of 1 of 2 items"
