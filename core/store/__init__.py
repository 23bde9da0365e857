"""Every result on record: journals while runs go on, Parquet afterwards, SQL over all of it.

Names are loaded on first use, so that importing this package costs neither pandas nor pyarrow nor duckdb.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core import lazily

if TYPE_CHECKING:
    from eval_skills.core.store.history import PastRun, past_runs
    from eval_skills.core.store.journal import Journal, latest, read_journal
    from eval_skills.core.store.landing import land, land_items, land_recomputed, land_reports, land_rows
    from eval_skills.core.store.layout import (
        begins_run_id,
        check_run_id,
        derived_run_id,
        is_run_id,
        new_run_id,
        start_date,
        started_at,
    )
    from eval_skills.core.store.manifest import (
        Manifest,
        ManifestBenchmark,
        ManifestSkill,
        ReachedLimit,
        read_manifest,
        write_manifest,
    )
    from eval_skills.core.store.retention import Pruned, prune_items
    from eval_skills.core.store.rows import results_of, table_of
    from eval_skills.core.store.schema import COMPARISON_SCHEMA
    from eval_skills.core.store.sqlite_mirror import mirror_sqlite
    from eval_skills.core.store.store import Store

__all__ = [
    "COMPARISON_SCHEMA", "Journal", "Manifest", "ManifestBenchmark", "ManifestSkill", "PastRun", "Pruned", "ReachedLimit",
    "Store", "begins_run_id", "check_run_id", "derived_run_id", "is_run_id", "land", "land_items", "land_recomputed",
    "land_reports", "land_rows", "latest", "mirror_sqlite", "new_run_id", "past_runs", "prune_items", "read_journal",
    "read_manifest", "results_of", "start_date", "started_at", "table_of", "write_manifest",
]  # fmt: skip

__getattr__ = lazily(
    __name__,
    {
        "history": "PastRun past_runs",
        "journal": "Journal latest read_journal",
        "landing": "land land_items land_recomputed land_reports land_rows",
        "layout": "begins_run_id check_run_id derived_run_id is_run_id new_run_id start_date started_at",
        "manifest": "Manifest ManifestBenchmark ManifestSkill ReachedLimit read_manifest write_manifest",
        "retention": "Pruned prune_items",
        "rows": "results_of table_of",
        "schema": "COMPARISON_SCHEMA",
        "sqlite_mirror": "mirror_sqlite",
        "store": "Store",
    },
)
