"""How often each task was passed and failed over several runs, read off their items."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from eval_skills.core.task_pairs import MISSING_KINDS
from eval_skills.core.task_tally import Tally

if TYPE_CHECKING:
    from eval_skills.core.store.store import Store

_KEY = ["skill_id", "skill_version", "task_id", "task_digest"]
_COLUMNS = [*_KEY, "passed", "status", "error_kind"]


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """How a skill did on a task, as that task was, in one run; items without a verdict (`MISSING_KINDS`) are not counted."""

    run_id: str
    skill_id: str
    skill_version: str
    task_id: str
    task_digest: str | None
    tally: Tally


def task_outcomes(store: Store, run_ids: Iterable[str]) -> list[TaskOutcome]:
    """The outcomes of these runs, in the order of the runs; a run without items (any more) has none."""
    found: list[TaskOutcome] = []
    for run_id, path in store.tables.files("items", set(run_ids)).items():
        try:
            with pq.ParquetFile(path, filesystem=store.tables.filesystem) as file:
                table = file.read(columns=_COLUMNS)
        except FileNotFoundError:  # another night has just pruned it
            continue
        found += _outcomes(run_id, table)
    return found


def _outcomes(run_id: str, table: pa.Table) -> Iterable[TaskOutcome]:
    groups = table.group_by([*_KEY, "passed", "status", "error_kind"]).aggregate([([], "count_all")]).to_pylist()
    tallies: dict[tuple[str, str, str, str | None], Tally] = {}
    for row in groups:
        key = (row["skill_id"], row["skill_version"], row["task_id"], row["task_digest"])
        missing = row["status"] == "error" and row["error_kind"] in MISSING_KINDS
        count = 0 if missing else row["count_all"]
        tallies[key] = tallies.get(key, Tally()) + (Tally(passed=count) if row["passed"] else Tally(failed=count))
    return [TaskOutcome(run_id, *key, tally) for key, tally in tallies.items()]
