"""What a skill cost and how many tokens it took, in words: what is unknown of some items is said, never counted as 0."""

from __future__ import annotations

from collections.abc import Sequence

from eval_skills.core.models import Attempt, SkillCompletionReport
from eval_skills.core.models.report import EarlierAttempts
from eval_skills.core.text import plural
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


def earlier_text(report: SkillCompletionReport) -> str | None:
    """What the attempts before the last took beside that: ``3 attempts; $1.50; 3,000 tokens``.

    None where there was none, and where nothing is known of what any attempt took.
    """
    cost = report.token_cost
    if (found := cost.earlier_attempts) is None:
        return None
    known = (found.estimated_usd, found.total_tokens, cost.estimated_usd, cost.total_tokens)
    if all(each is None for each in known):
        return None
    return f"{plural(found.attempts, 'attempt')}; {_usd(found)}; {_tokens(found)}"


def _usd(found: EarlierAttempts) -> str:
    if found.estimated_usd is None:
        return "cost unknown"
    return numbers.at_least(numbers.usd(found.estimated_usd), found.cost_unknown_attempts, found.attempts, "attempt")


def _tokens(found: EarlierAttempts) -> str:
    if found.total_tokens is None:
        return "tokens unknown"
    return numbers.at_least(plural(found.total_tokens, "token"), found.tokens_unknown_attempts, found.attempts, "attempt")


EARLIER = "Earlier attempts, beside these"
"""The title of `earlier_text`, below the cost."""


def earlier_figures(report: SkillCompletionReport) -> list[tuple[str, str]]:
    """That figure, where there is something to say."""
    text = earlier_text(report)
    return [] if text is None else [(EARLIER, text)]


def attempts_text(attempts: Sequence[Attempt]) -> str | None:
    """How many attempts an item had, and what those before the last cost, where it is known: ``2; the earlier one $0.5000``."""
    earlier = EarlierAttempts.of([(each.cost_usd, each.tokens) for each in attempts[:-1]])
    if not attempts:
        return None
    if earlier is None or earlier.estimated_usd is None:
        return f"{len(attempts):,}"
    return f"{len(attempts):,}; the earlier {'one' if earlier.attempts == 1 else 'ones'} {_usd(earlier)}"


def _items(report: SkillCompletionReport) -> int:
    return report.summary.items or len(report.task_results)
