"""Costs and tokens in words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from eval_skills.core.models import Attempt, SkillCompletionReport
from eval_skills.reporting import ReportContext, render
from eval_skills.reporting.costs import attempts_text, cost_text, earlier_text, tokens_text
from eval_skills.reporting.html.across import totals
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
    least, _, unknown = cost.partition(", ")
    cell = f'{least.replace("at least", "≥")}<small class="detail wraps">{unknown}</small></td>' if unknown else f">{cost}</td>"
    assert cell in str(render("html", [report], context))


def test_a_report_that_does_not_say_it_is_asked_for_its_items(make_report: MakeReport, make_item: MakeItem) -> None:
    items = [make_item("a", **KNOWN), make_item("b")]
    sums = {"estimatedUSD": 0.05, "totalTokens": 30, "promptTokens": 20, "completionTokens": 10}
    report = make_report(token_cost=sums, taskResults=items)
    assert cost_text(report) == "at least $0.0500, unknown of 1 of 2 items"
    assert tokens_text(report) == "at least 30 (20 + 10), unknown of 1 of 2 items"


EARLIER = {"attempts": 3, "estimatedUSD": 1.5, "costUnknownAttempts": 0, "totalTokens": 3000, "tokensUnknownAttempts": 0}


@each_row(
    ("given", "text"),
    [
        (EARLIER, "3 attempts; $1.50; 3,000 tokens"),
        (
            EARLIER | {"costUnknownAttempts": 1, "totalTokens": None},
            "3 attempts; at least $1.50, unknown of 1 of 3 attempts; tokens unknown",
        ),
        (EARLIER | {"estimatedUSD": None, "totalTokens": None}, "3 attempts; cost unknown; tokens unknown"),
    ],
)
def test_what_earlier_attempts_took_is_said_below_the_cost(
    make_report: MakeReport, context: ReportContext, given: dict[str, Any], text: str
) -> None:
    report = make_report(token_cost={"estimatedUSD": 0.75, "earlierAttempts": given})
    assert earlier_text(report) == text
    for kind in ("markdown", "html"):
        assert text in str(render(kind, [report], context)), kind
    assert ("Cost of earlier attempts, beside it" in dict(totals([report]))) == (given["estimatedUSD"] is not None)


def test_nothing_is_said_of_attempts_where_nobody_says_what_they_take(make_report: MakeReport) -> None:
    silent = EARLIER | {"estimatedUSD": None, "totalTokens": None}
    assert earlier_text(make_report(token_cost={"totalTokens": None, "earlierAttempts": silent})) is None
    assert earlier_text(make_report()) is None


def test_an_item_says_what_its_earlier_attempts_cost() -> None:
    tried = [Attempt(started_at=datetime.now(UTC), cost_usd=cost) for cost in (0.5, None, 0.25)]
    assert attempts_text(tried) == "3; the earlier ones at least $0.5000, unknown of 1 of 2 attempts"
    assert attempts_text([tried[0], tried[2]]) == "2; the earlier one $0.5000"
    assert (attempts_text(tried[1:]), attempts_text([])) == ("2", None)
