"""What the judge was paid where it failed before: it stays in the rows when a call goes on. Plain: no Prefect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval_skills.core.judged_rows import PERHAPS_PAID
from eval_skills.core.models import ItemResult
from eval_skills.scorers.judging.spending import Spending


def item_with_cost_before(result: ItemResult, before: ItemResult | None) -> ItemResult:
    """The item as it was judged now, with what the judge was paid when it failed at it `before`; unknown and known is unknown."""
    if before is None or _paid_nothing(before):
        return result
    cost = Spending(before.judge_tokens, before.judge_cost_usd)
    if not _paid_nothing(result):
        cost.add(result.judge_tokens, result.judge_cost_usd)
    return result.model_copy(update=_columns(cost))


def pair_with_cost_before(row: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """The row of a pair of answers, likewise."""
    if before is None:
        return dict(row)
    cost = Spending(before["judge_tokens"], before["judge_cost_usd"])
    cost.add(row["judge_tokens"], row["judge_cost_usd"])
    return dict(row) | _columns(cost)


def _paid_nothing(result: ItemResult) -> bool:
    """Whether the judge failed at the item for nothing; its tokens are unknown then as they are where it may have been paid."""
    failed = result.error_kind == "judge" and result.judge_tokens is None
    return failed and not any(reason.code in PERHAPS_PAID for reason in result.reasons)


def _columns(cost: Spending) -> dict[str, Any]:
    return {"judge_tokens": cost.tokens, "judge_cost_usd": cost.cost_usd}
