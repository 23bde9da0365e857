"""The runs of a store as people look back on them: how far each got, and how well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from eval_skills.core.errors import RunError, UsageError

if TYPE_CHECKING:
    from eval_skills.core.store.store import Store

_REPORT_COLUMNS = ["run_id", "skill_id", "skill_version", "benchmark_id", "benchmark_version", "completion_rate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """One run. `state` is ``finished`` or ``unfinished``.

    `items` is how many have a result: landed ones, and of an unfinished run those in its journal; None: its journal is damaged.
    `benchmark` and `planned_items` are None where neither manifest nor reports know them. `best_completion`, in [0, 1], is that
    of its best skill; None where the run has no report.
    """

    run_id: str
    started_at: datetime
    state: str
    benchmark: str | None
    skills: list[str] = field(default_factory=list)
    items: int | None
    planned_items: int | None
    best_completion: float | None


def past_runs(store: Store, *, limit: int | None = None, skill: str | None = None, benchmark: str | None = None) -> list[PastRun]:
    """The runs of the store, youngest first.

    `skill` and `benchmark` keep the runs that had it, by ``id`` (every version of it) or ``id@version``; None keeps all.

    Raises:
        UsageError: `limit` is below 1.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"the limit must be 1 or more; got {limit}")
    reports = _reports_by_run(store)
    rows = [_completed(row, reports.get(row["run_id"], [])) for row in reversed(store.run_table().to_pylist())]
    kept = [row for row in rows if is_meant(skill, row["skills"]) and is_meant(benchmark, [row["benchmark"]])]
    return [_past_run(store, row) for row in kept[:limit]]


def is_meant(name: str | None, keys: Iterable[str | None]) -> bool:
    """Whether one of the keys (``id@version``) is what `name` (an id, or a key) means; None means all."""
    return name is None or any(key is not None and name in (key, key.partition("@")[0]) for key in keys)


def _reports_by_run(store: Store) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in store.tables.dataset("reports").to_table(columns=_REPORT_COLUMNS).to_pylist():
        found.setdefault(row["run_id"], []).append(row)
    return found


def _completed(row: dict[str, Any], reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The run with what its reports know: they lie beside the items, where a manifest may be on another machine."""
    row["best_completion"] = max((report["completion_rate"] for report in reports), default=None)
    row["skills"] = row["skills"] or sorted(f"{report['skill_id']}@{report['skill_version']}" for report in reports)
    if row["benchmark"] is None and reports:
        parts = (reports[0]["benchmark_id"], reports[0]["benchmark_version"])
        row["benchmark"] = "@".join(part for part in parts if part)
    return row


def _past_run(store: Store, row: dict[str, Any]) -> PastRun:
    names = ("run_id", "started_at", "state", "benchmark", "skills", "planned_items", "best_completion")
    items = row["landed_items"] if row["state"] == "finished" else _known_items(store, row["run_id"])
    return PastRun(**{name: row[name] for name in names}, items=items)


def _known_items(store: Store, run_id: str) -> int | None:
    from eval_skills.core.store.landing import run_batches

    try:
        return sum(int(batch.num_rows) for batch in run_batches(store, run_id))
    except RunError:  # one damaged journal does not hide the other runs; resuming it says what is wrong
        return None
