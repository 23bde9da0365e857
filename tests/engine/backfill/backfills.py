"""A backfill without Prefect around it, and a store for it to work on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from eval_skills.core.store import Store
from eval_skills.engine.backfill.backfill import BackfillSession, Evaluate
from eval_skills.engine.backfill.comparison import PeriodOutcome
from eval_skills.engine.backfill.request import BackfillRequest
from eval_skills.engine.backfill.summary import BackfillSummary, backfill_summary
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.summary import RunSummary

DAY = timedelta(days=1)
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
TASKS = [f"t{number}" for number in range(8)]
RIGHT, WRONG = dict.fromkeys(TASKS, "right"), dict.fromkeys(TASKS, "wrong")


def nobody(_: EvaluateRequest) -> RunSummary:
    raise AssertionError("nothing is called here")


def backfill(
    store: Store, mode: str = "recompute", *, stop_after: int | None = None, evaluate: Evaluate = nobody, **options: Any
) -> BackfillSummary:
    """The work of the flow, without Prefect around it."""
    request = BackfillRequest.model_validate({"mode": mode, "store": store.path, **options})
    outcomes: dict[str, PeriodOutcome] = {}
    with BackfillSession.begin(request, evaluate) as session:
        for work in islice(session.pending(), stop_after):
            outcomes[work.digest] = session.carry_out(work)
        return backfill_summary(session.plan, outcomes)


def content(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def shown(summary: BackfillSummary) -> list[tuple[Any, ...]]:
    return [(row["period"], row.get("completion_rate"), row.get("completion_delta"), row.get("verdict")) for row in summary.rows]


Days = Callable[..., list[str]]
"""One run for each of these answers, a day apart."""
