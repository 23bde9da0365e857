from __future__ import annotations

import random
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Journal, Manifest, Store, land, land_reports, sql, write_manifest
from eval_skills.core.store.sql import VIEWS
from tests.tables import each_row

RUN = "20260101T000000Z-0001"
SIZES, PERCENTS = (1, 2, 5, 10, 19, 20, 99, 100, 101, 250), (50, 95, 99)
JOINED = "SELECT i.date, i.tags, r.landed_items FROM items i JOIN runs r USING (run_id)"
LandRun = Callable[..., str]


@pytest.fixture
def landed(store: Store, land_run: LandRun) -> Store:
    """A store with a run of one item."""
    land_run(RUN, "a")
    return store


@pytest.mark.slow
def test_p57_the_three_views_answer_sql(
    store: Store,
    land_run: LandRun,
    make_report: Callable[..., SkillCompletionReport],
    make_manifest: Callable[..., Manifest],
) -> None:
    write_manifest(store.run_folder(RUN), make_manifest(run_id=RUN))
    land_run(RUN, "a", "b", dimensions={"output_quality": 0.5}, output={"deep": [1, 2]}, tags=["x", "y"])
    land_reports(store, RUN, None, [make_report()])
    row = store.query(
        """
        SELECT i.date, count(*) AS n, max(i.dimensions['output_quality']) AS quality, any_value(i.output ->> '$.deep[1]') AS deep,
               any_value(len(i.tags)) AS tags, max(r.completion_rate) AS rate, any_value(u.state) AS state
        FROM items i JOIN reports r USING (run_id) JOIN runs u USING (run_id) GROUP BY ALL
        """
    ).to_dict("records")[0]
    assert str(row.pop("date"))[:10] == "2026-01-01"
    assert row == {"n": 2, "quality": 0.5, "deep": "2", "tags": 2, "rate": 0.5, "state": "finished"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder", ["eval-store", "it's", pytest.param("runs-[1]*", id="a-pattern"), pytest.param("date=2020-01-01/s", id="a-date")]
)
def test_the_name_of_the_folder_and_missing_digests_change_no_answer(
    tmp_path: Path, make_result: Callable[..., ItemResult], folder: str
) -> None:
    store = Store(tmp_path / folder)
    with Journal(store.journal_path(RUN)) as journal:
        journal.append(make_result("a", run_id=RUN, tags=["x"]))
    land(store, RUN)
    for each in ("with digests", "without"):
        (row,) = Store(store.path).query(JOINED).to_dict("records")
        assert (str(row["date"])[:10], list(row["tags"]), row["landed_items"]) == ("2026-01-01", ["x"], 1), each
        (store.layout.root / "digests.jsonl").unlink(missing_ok=True)


@pytest.mark.slow
@each_row("name", ["items", "reports", "runs", "ITEMS", "main.items"])
def test_a_view_of_an_empty_store_has_its_columns(store: Store, name: str) -> None:
    answer = store.query(f"SELECT * FROM {name}")
    assert len(answer) == 0
    assert "run_id" in answer.columns


@pytest.mark.slow
@each_row("statement", ["DESCRIBE items", "SUMMARIZE items", "VALUES (1)", "WITH a AS (SELECT 1) FROM a", "FROM items;"])
def test_every_form_of_reading_is_a_query(landed: Store, statement: str) -> None:
    assert len(landed.query(statement)) >= 1


def test_reports_that_are_landing_anew_are_waited_for(
    store: Store, monkeypatch: pytest.MonkeyPatch, make_report: Callable[..., SkillCompletionReport]
) -> None:
    """Landing a run that was resumed deletes its reports before it writes the new ones."""
    path = Path(land_reports(store, RUN, None, [make_report()]))
    executed, times = sql._executed, list[int]()

    def landing_anew(*given: Any) -> Any:
        times.append(1)
        reports = path.read_bytes()
        if len(times) == 1:
            path.unlink()
        try:
            return executed(*given)
        finally:
            path.write_bytes(reports)

    monkeypatch.setattr(sql, "_executed", landing_anew)
    assert (len(store.query("SELECT * FROM reports")), len(times)) == (1, 2)


def test_all_views_are_listed(store: Store) -> None:
    assert set(store.query("SHOW TABLES").iloc[:, 0]) == set(VIEWS) >= {"items", "reports", "runs", "comparisons", "nights"}


@pytest.mark.slow
@each_row(
    "statement",
    [
        pytest.param("COPY (SELECT 1) TO '{folder}/stolen.csv'", id="copy"),
        pytest.param("EXPLAIN ANALYZE COPY (SELECT 1) TO '{folder}/stolen.csv'", id="explain-analyze"),
        pytest.param("ATTACH '{folder}/stolen.db'", id="attach"),
        pytest.param("EXPORT DATABASE '{folder}/stolen'", id="export"),
        pytest.param("SELECT * FROM read_csv('{folder}/secret.csv')", id="read-csv"),
        pytest.param("SELECT * FROM '{folder}/secret.csv'", id="read-by-name"),
        pytest.param("SELECT * FROM read_text('{folder}/secret.csv')", id="read-text"),
        pytest.param("SELECT * FROM read_parquet('{folder}/store/items/*/*.parquet')", id="read-around-the-view"),
        pytest.param("SELECT items.*, f.* FROM items, read_parquet('{landed}') f", id="read-what-the-view-reads"),
        pytest.param("SELECT * FROM glob('{folder}/*')", id="glob"),
        pytest.param("INSTALL httpfs", id="install"),
        pytest.param("LOAD httpfs", id="load"),
        pytest.param("SET enable_external_access = true", id="set"),
        pytest.param("DROP VIEW items", id="drop"),
        pytest.param("CREATE TABLE t AS SELECT 1", id="create"),
        pytest.param("PRAGMA database_list", id="pragma"),
        pytest.param("CALL pragma_version()", id="call"),
        pytest.param("SELECT 1; SELECT 2", id="two"),
        pytest.param("SELECT 1; COPY (SELECT 1) TO '{folder}/stolen.csv'", id="hidden-second"),
        pytest.param("SELECT * FROM landed", id="python-variable"),
        pytest.param("SELECT nope FROM items", id="unknown-column"),
        pytest.param("SELEC 1", id="typo"),
        pytest.param("", id="empty"),
        pytest.param("-- nothing", id="comment"),
    ],
)
def test_a_query_only_reads_and_only_the_views(landed: Store, tmp_path: Path, statement: str) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with pytest.raises(
        UsageError, match=r"^(the query failed: |a query is one SELECT over items, items_all, reports, runs, [a-z, ]+; this is )"
    ) as caught:
        landed.query(statement.format(folder=tmp_path, landed=landed.tables.files("items")[RUN]))
    assert "\n" not in str(caught.value)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["secret.csv", "store"]


@pytest.mark.slow
def test_moments_are_utc_wherever_the_machine_stands(store: Store, land_run: LandRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    land_run(RUN, "a")
    assert store.query("SELECT strftime(started_at, '%H:%M') AS at FROM items")["at"][0] == "23:38"


@pytest.mark.slow
def test_quantile_disc_is_the_nearest_rank(store: Store, make_result: Callable[..., ItemResult]) -> None:
    values = {size: [round(random.Random(size + n).uniform(0, 500), 1) for n in range(size)] for size in SIZES}
    with Journal(store.journal_path(RUN)) as journal:
        for size, latencies in values.items():
            for number, value in enumerate(latencies):
                journal.append(make_result(f"t{number}", run_id=RUN, skill_id=f"s{size}", latency_ms=value))
    land(store, RUN)
    quantiles = ", ".join(f"quantile_disc(latency_ms, {percent / 100}) AS p{percent}" for percent in PERCENTS)
    found = store.query(f"SELECT skill_id, {quantiles} FROM items GROUP BY skill_id").to_dict("records")
    # rank ⌈p·n⌉ in whole numbers: -(-p·n // 100)
    assert {row.pop("skill_id"): row for row in found} == {
        f"s{size}": {f"p{percent}": sorted(latencies)[-(-percent * size // 100) - 1] for percent in PERCENTS}
        for size, latencies in values.items()
    }


def test_an_interruption_is_one_also_where_the_query_has_just_closed_its_connection() -> None:
    closed, connection, main = threading.Event(), duckdb.connect(":memory:"), threading.main_thread()

    def ending() -> pa.Table:
        connection.close()
        signal.pthread_kill(main.ident or 0, signal.SIGINT)
        assert closed.wait(60)
        return pa.table({})

    def interrupt() -> None:
        closed.set()
        connection.interrupt()

    with pytest.raises(KeyboardInterrupt):
        sql._interruptible(ending, interrupt)
