"""What a skill cost and how many tokens it took, in words: what is unknown of some items is said, never counted as 0."""

from __future__ import annotations

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import numbers


def cost_text(report: SkillCompletionReport) -> str:
    """``$0.0800``, or ``at least $0.0500, unknown of 7 of 8 items``; a dash where it is unknown of all."""
    usd = report.token_cost.estimated_usd
    return numbers.UNKNOWN if usd is None else numbers.at_least(numbers.usd(usd), report.cost_unknown_items, _items(report))


def tokens_text(report: SkillCompletionReport) -> str:
    """Those read and written together, and each: ``330 (300 + 30)``; as `cost_text` where they are unknown."""
    cost = report.token_cost
    if cost.total_tokens is None:
        return numbers.UNKNOWN
    shown = f"{cost.total_tokens:,} ({numbers.count(cost.prompt_tokens)} + {numbers.count(cost.completion_tokens)})"
    return numbers.at_least(shown, report.tokens_unknown_items, _items(report))


def _items(report: SkillCompletionReport) -> int:
    return report.summary.items or len(report.task_results)
