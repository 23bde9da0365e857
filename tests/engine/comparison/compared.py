"""A planned comparison of answers, made from its first pair to its last."""

from __future__ import annotations

import asyncio

from eval_skills.engine.comparison.compare import AnswerComparison
from eval_skills.engine.comparison.pairs import ComparisonPlan
from eval_skills.engine.comparison.summary import ComparisonSummary


def compare(plan: ComparisonPlan) -> ComparisonSummary:
    async def all_pairs() -> ComparisonSummary:
        async with AnswerComparison(plan) as comparison:
            await asyncio.gather(*(comparison.compare(pair) for pair in comparison.pairs.values()))
            return comparison.summary(comparison.finish())

    return asyncio.run(all_pairs())
