from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.models import ItemResult, Reason, SkillCompletionReport
from eval_skills.core.store import Journal, Manifest, Store, land, land_reports, mirror_sqlite, sqlite_mirror, write_manifest
from eval_skills.core.store.schema import ITEM_SCHEMA, REPORT_SCHEMA, RUN_SCHEMA

OTHER = "20260101T000000Z-0001"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results.db")


@pytest.fixture
def finished(
    store: Store,
    run_id: str,
    land_run: Callable[..., str],
    make_report: Callable[..., SkillCompletionReport],
    make_manifest: Callable[..., Manifest],
) -> Store:
    for each in (OTHER, run_id):
        write_manifest(store.run_folder(each), make_manifest(run_id=each))
        land_run(each, "a", "b", dimensions={"output_quality": 0.5}, tags=["x"], reasons=[Reason(code="É", message="m")])
        land_reports(store, each, None, [make_report()])
    return store


def rows(path: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def test_the_dataset_lies_beside_the_sqlite_file(finished: Store, tmp_path: Path) -> None:
    assert mirror_sqlite(finished, OTHER) == tmp_path / "results.db"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["results.db", "results.store"]
    assert len(Store(tmp_path / "results.db").items()) == 4


def test_a_mirrored_run_reads_back(finished: Store, run_id: str) -> None:
    path = mirror_sqlite(finished, run_id)
    for name, schema in (("items", ITEM_SCHEMA), ("reports", REPORT_SCHEMA), ("runs", RUN_SCHEMA)):
        assert [row[1] for row in rows(path, f"PRAGMA table_info({name})")] == schema.names
    query = "SELECT task_id, passed, score, started_at, tags, dimensions, reasons FROM items ORDER BY task_id"
    task_id, passed, score, moment, tags, dimensions, reasons = rows(path, query)[0]
    assert (task_id, passed, score, moment) == ("a", 1, 1.0, "2026-11-21T23:38:25.123456Z")
    assert (json.loads(tags), json.loads(dimensions)) == (["x"], {"output_quality": 0.5})
    assert json.loads(reasons) == [{"code": "É", "message": "m", "where": "", "informational": False}]
    assert rows(path, "SELECT skill_id, completion_rate FROM reports") == [("adder", 0.5)]
    assert rows(path, "SELECT run_id, state, landed_items FROM runs") == [(run_id, "finished", 2)]


def test_mirroring_again_changes_nothing(finished: Store, run_id: str) -> None:
    for each in (run_id, OTHER, run_id, run_id):
        path = mirror_sqlite(finished, each)
    assert rows(path, "SELECT run_id, count(*) FROM items GROUP BY 1 ORDER BY 1") == [(OTHER, 2), (run_id, 2)]
    assert rows(path, "SELECT count(*) FROM reports") == rows(path, "SELECT count(*) FROM runs") == [(2,)]


def test_a_run_that_grew_is_replaced(finished: Store, run_id: str, make_result: Callable[..., ItemResult]) -> None:
    path = mirror_sqlite(finished, run_id)
    with Journal(finished.journal_path(run_id)) as journal:
        journal.append(make_result("a", status="fail", passed=False, score=0.0))
        journal.append(make_result("c"))
    land(finished, run_id)
    mirror_sqlite(finished, run_id)
    assert rows(path, "SELECT task_id, status FROM items ORDER BY 1") == [("a", "fail"), ("b", "pass"), ("c", "pass")]


def test_a_failure_halfway_changes_nothing(finished: Store, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = mirror_sqlite(finished, run_id)

    class PowerCut(BaseException): ...

    def cut(value: Any) -> Any:
        raise PowerCut

    monkeypatch.setattr(sqlite_mirror, "_sqlite_value", cut)
    with pytest.raises(PowerCut):
        mirror_sqlite(finished, run_id)
    assert rows(path, "SELECT count(*) FROM items") == [(2,)]


def test_columns_that_an_older_file_lacks_are_added(finished: Store, run_id: str) -> None:
    assert finished.layout.sqlite is not None
    with closing(sqlite3.connect(finished.layout.sqlite)) as connection, connection:
        connection.execute("CREATE TABLE items (run_id TEXT, mine TEXT)")
        connection.execute("INSERT INTO items VALUES ('x', 'kept')")
    path = mirror_sqlite(finished, run_id)
    assert rows(path, "SELECT run_id, mine, status FROM items ORDER BY 1") == [
        (run_id, None, "pass"),
        (run_id, None, "pass"),
        ("x", "kept", None),
    ]


def test_a_file_that_is_no_database_is_refused(finished: Store, run_id: str, tmp_path: Path) -> None:
    (tmp_path / "results.db").write_text("these are notes, not a database" * 100)
    with pytest.raises(UsageError, match="is not a file that SQLite can use"):
        mirror_sqlite(finished, run_id)


def test_a_database_that_stays_locked_is_an_error(finished: Store, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = mirror_sqlite(finished, run_id)
    monkeypatch.setattr(sqlite_mirror, "_BUSY_TIMEOUT_S", 0.05)
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(RunError, match="database is locked; end what else uses it"):
            mirror_sqlite(finished, run_id)


def test_a_store_without_an_sqlite_file_says_so(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(UsageError, match="has no SQLite file"):
        mirror_sqlite(Store(tmp_path), run_id)
