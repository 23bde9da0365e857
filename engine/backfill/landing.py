"""What a period of a backfill came to: how its rows land, and what has landed before."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from eval_skills.core.store import COMPARISON_SCHEMA, Store, derived_run_id, land_rows
from eval_skills.engine.backfill.periods import PeriodWork
from eval_skills.engine.evaluation.summary import RunSummary

_OF_THE_CALL = frozenset({"comparison_id", "backfilled_at"})


@dataclass(frozen=True, slots=True)
class PeriodOutcome:
    """What one period came to: its rows as they landed, and the evaluations that it took.

    `unjudged` are the items that the judge failed, `judge_said` is the first thing that it said then.
    """

    rows: list[dict[str, Any]]
    remarks: list[str] = field(default_factory=list)
    runs: list[RunSummary] = field(default_factory=list)
    unjudged: int = 0
    judge_said: str = ""


def land_period(
    store: Store, mode: str, work: PeriodWork, rows: list[dict[str, Any]], *, unjudged: int
) -> tuple[list[dict[str, Any]], bool]:
    """The rows of a period as they land, and whether they are new: the same trouble every night is one row."""
    comparison_id = derived_run_id(work.period.start, work.digest, set(store.tables.files("comparisons")))
    common = {
        "comparison_id": comparison_id,
        "mode": mode,
        "period": work.period.name,
        "period_start": work.period.start,
        "period_end": work.period.end,
        "revision": work.sources[-1].name if mode == "replay" else None,
        "backfilled_at": datetime.now(UTC),
        "digest": work.digest,
        "unjudged_items": unjudged,
    }
    complete = [row | common for row in rows]
    if work.is_repeated and _said(complete) == _said(before := landed_rows(store, {work.digest})[work.digest]):
        return before, False
    land_rows(store, "comparisons", comparison_id, complete)
    return complete, True


def landed_rows(store: Store, digests: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """The rows of periods that have landed, by digest; of several backfills of one period those of the last."""
    if not digests:
        return {}
    import pyarrow.dataset as ds

    table = store.tables.dataset("comparisons").to_table(filter=ds.field("digest").isin(sorted(digests)))
    found: dict[str, list[dict[str, Any]]] = {digest: [] for digest in digests}
    for row in table.to_pylist():
        same = found[row["digest"]]
        if same and same[0]["backfilled_at"] < row["backfilled_at"]:
            same.clear()
        if not same or same[0]["comparison_id"] == row["comparison_id"]:
            same.append(row)
    return found


def _said(rows: list[dict[str, Any]]) -> list[list[Any]]:
    own = [name for name in COMPARISON_SCHEMA.names if name not in _OF_THE_CALL]
    return [[row.get(name) for name in own] for row in rows]
