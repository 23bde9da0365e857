"""What lands beside the items: reports and the like, a few rows each, written all at once and replaced as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from eval_skills.core.store.files import sync_file
from eval_skills.core.store.landing import relative_of
from eval_skills.core.store.rows import report_row
from eval_skills.core.store.tables import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from eval_skills.core.models import SkillCompletionReport
    from eval_skills.core.store.layout import TableName
    from eval_skills.core.store.store import Store


def land_reports(
    store: Store,
    run_id: str,
    date: date | None,
    reports: Iterable[SkillCompletionReport],
    *,
    benchmark_version: str | None = None,
    origin: str = "run",
) -> str:
    """Write one row per report into ``reports/date=…/<run id>.parquet``, replacing what was there; return where that is.

    `benchmark_version` comes from the run's manifest, if there is one and it is not given.
    """
    if benchmark_version is None and (manifest := store.find_manifest(run_id)) is not None:
        benchmark_version = manifest.benchmark.version
    rows = [report_row(report, run_id=run_id, benchmark_version=benchmark_version, origin=origin) for report in reports]
    return _write_rows(store, "reports", run_id, rows, date)


def land_recomputed(
    store: Store, file_id: str, run_id: str, reports: Iterable[SkillCompletionReport], *, benchmark_version: str
) -> str:
    """Write the reports of a run, made anew, beside those that it has: ``reports/date=…/<file id>.parquet``.

    Their rows carry the id of the run and the origin ``recompute``; `file_id` has the shape of a run id. Returns where it is.
    """
    rows = [report_row(report, run_id=run_id, benchmark_version=benchmark_version, origin="recompute") for report in reports]
    return _write_rows(store, "reports", file_id, rows)


def land_comparisons(store: Store, comparison_id: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Write the rows of one period, under the names of `COMPARISON_SCHEMA`, into ``comparisons/date=…/<id>.parquet``.

    The id has the shape of a run id, and the day of its period is its partition. Returns where the file is.
    """
    return _write_rows(store, "comparisons", comparison_id, rows)


def land_samples(store: Store, batch_id: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Write the rows of one batch of a monitor, under the names of `SAMPLE_SCHEMA`, into ``samples/date=…/<batch id>.parquet``.

    The id has the shape of a run id. What was there under it is replaced. Returns where the file is.
    """
    return _write_rows(store, "samples", batch_id, rows)


def land_night(store: Store, night_id: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Write what a night came to, under the names of `NIGHT_SCHEMA`, into ``nights/date=…/<night id>.parquet``, all at once.

    The id has the shape of a run id. Returns where the file is.
    """
    return _write_rows(store, "nights", night_id, rows)


def land_preferences(store: Store, comparison_id: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Write compared answers, under the names of `PREFERENCE_SCHEMA`, into ``preferences/date=…/<comparison id>.parquet``.

    The id has the shape of a run id. What was there under it is replaced. Returns where the file is.
    """
    return _write_rows(store, "preferences", comparison_id, rows)


def land_calibration(store: Store, calibration_id: str, row: Mapping[str, Any]) -> str:
    """Write a calibration, under the names of `CALIBRATION_SCHEMA`, into ``calibrations/date=…/<calibration id>.parquet``.

    The id has the shape of a run id. Returns where the file is.
    """
    return _write_rows(store, "calibrations", calibration_id, [row])


def _write_rows(store: Store, name: TableName, file_id: str, rows: Sequence[Mapping[str, Any]], day: date | None = None) -> str:
    relative = relative_of(store, name, file_id, day)
    scratch = store.tables.scratch(relative, file_id)
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=SCHEMAS[name]), scratch, compression="zstd")
    sync_file(scratch)
    return store.tables.location(store.tables.publish(scratch, relative))
