"""The Prefect task that compares one pair of answers."""

from __future__ import annotations

from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from eval_skills.engine.comparison.compare import AnswerComparison


@task(task_run_name="{pair}", persist_result=False, cache_policy=NO_CACHE)
async def compare_pair(pair: str, comparison_id: str) -> State[Any]:
    """Ask the judge about one pair (``task#run``) in both orders; see `AnswerComparison.compare`."""
    comparison = AnswerComparison.of(comparison_id)
    row = await comparison.compare(comparison.pairs[pair])
    if row["outcome"] == "error":
        return Failed(name="Not judged", message=row["error_message"])
    return Completed(name="Tie" if row["outcome"] == "tie" else f"{row['outcome'].upper()} is better")
