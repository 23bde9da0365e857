"""SQL over the landed tables, through DuckDB, for reading only; of several scorings of the same items one is current."""

from __future__ import annotations

import re
import threading
from contextvars import copy_context
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from eval_skills.core.errors import UsageError
from eval_skills.core.store.schema import RUN_SCHEMA, SCHEMAS
from eval_skills.core.store.tables import empty_table
from eval_skills.core.store.verify import name_missing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable

    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    from eval_skills.core.store.store import Store


_KEY = ("skill_id", "skill_version", "task_id", "run_index")


def current_items(store: Store, items: ds.Dataset) -> ds.Dataset:
    """The rows of all `items` without those that a later scoring of the same item replaces.

    `rescore` lands its scorings beside the run whose answers it judged. The last one that was made counts; what it left out keeps
    the scoring it had.
    """
    # a manifest alone says of which run: to look for their rows would open all files
    chains = _chains(store, store.rescorings())
    replaced = [expression for of, scorings in chains.items() for expression in _replaced(items, [of, *scorings])]
    return items.filter(~reduce(or_, replaced)) if replaced else items


def _chains(store: Store, rescorings: list[str]) -> dict[str, list[str]]:
    """The scorings of each run, in the order in which they were made; one whose manifest does not name its run is none."""
    manifests = [manifest for run_id in rescorings if (manifest := store.find_manifest(run_id)) is not None]
    chains: dict[str, list[str]] = {}
    for manifest in sorted(manifests, key=lambda manifest: (manifest.created_at, manifest.run_id)):
        if of := manifest.provenance.get("of"):
            chains.setdefault(str(of), []).append(manifest.run_id)
    return chains


def _replaced(items: ds.Dataset, chain: list[str]) -> list[pc.Expression]:
    """For each scoring but the last, the condition of its rows that a later one has, too."""
    import pyarrow.dataset as ds

    table = items.to_table(columns=["run_id", *_KEY], filter=ds.field("run_id").isin(chain))
    keys: dict[str, set[tuple[Any, ...]]] = {run_id: set() for run_id in chain}
    for row in table.to_pylist():
        keys[row["run_id"]].add(tuple(row[name] for name in _KEY))
    conditions, later = [], set[tuple[Any, ...]]()
    for newer, older in zip(chain[:0:-1], chain[-2::-1], strict=True):
        later |= keys[newer]
        condition = ds.field("run_id") == older
        for kept in keys[older] - later:
            condition &= ~reduce(and_, (ds.field(name) == value for name, value in zip(_KEY, kept, strict=True)))
        conditions.append(condition)
    return conditions


VIEWS = (
    "items",
    "items_all",
    "reports",
    "runs",
    "comparisons",
    "samples",
    "nights",
    "preferences",
    "calibrations",
    "labels",
    "turns",
)

_TURNS = """
CREATE TEMP VIEW turns AS
SELECT run_id, started_at, skill_id, skill_version, benchmark_id, benchmark_version, task_id, run_index, part.*, date
FROM (
    SELECT run_id, started_at, skill_id, skill_version, benchmark_id, benchmark_version, task_id, run_index, date,
        unnest(turns) AS part
    FROM items
)
"""
"""The columns of `TURN_SCHEMA`."""

# DuckDB opens no file at all: it reads the views through Arrow, so they are all that a statement can reach
_SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


_OF_THE_STATEMENT = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
"""Errors that no file is the cause of."""


def state_of(store: Store, statement: str) -> Hashable | None:
    """What a statement reads, as it is now: as long as this is the same, so is its answer. None where that cannot be told."""
    if not store.tables.is_local:
        return None
    words = _words(statement.lower())
    said = _tables_in(words) | ({"items", "reports"} if "runs" in words else set())
    states = {name: tuple(store.tables.states(name).items()) for name in SCHEMAS if name in said}
    runs = tuple(store.run_states().items()) if words & {"runs", "items", "turns"} else ()
    return (*states.items(), runs)


def query(store: Store, statement: str, *, of_runs: Collection[str] | None = None) -> pa.Table:
    """The answer to one SELECT over the views named in `VIEWS` (all but `runs` also have `date`).

    Who knows that only items `of_runs` matter to the statement spares it the files of the others.

    `items` has each item once, with its current scoring (see `current_items`); `items_all` has every scoring. `turns` has one row
    for each turn of those of `items` that are conversations.

    The statement cannot read or write files, load extensions or change settings. Moments are in UTC. Ctrl-C ends it.

    Raises:
        KeyboardInterrupt: it was interrupted; it has ended, or does so within moments in a thread of its own.
        UsageError: it is not exactly one SELECT (or WITH, VALUES, DESCRIBE, SUMMARIZE), or DuckDB refuses it.
    """
    try:
        try:
            return _answer(store, statement, of_runs)
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            if isinstance(error, _OF_THE_STATEMENT) or not _leave_out_damaged(store, statement.lower()):
                raise
        return _answer(store, statement, of_runs)
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise UsageError(f"the query failed: {' '.join(str(error).split())}") from None


def _leave_out_damaged(store: Store, said: str) -> bool:
    left_out = [store.tables.leave_out_damaged(name) for name in SCHEMAS if name in _tables_in(_words(said))]
    return any(left_out)


def _words(said: str) -> set[str]:
    return set(re.findall(r"\w+", said))


def _tables_in(words: set[str]) -> set[str]:
    """The words, and the table of which the views among them are made."""
    return words | {"items"} if words & {"items_all", "turns"} else words


def _answer(store: Store, statement: str, of_runs: Collection[str] | None) -> pa.Table:
    connection = duckdb.connect(":memory:")

    def executed() -> pa.Table:
        with connection:
            _check(connection, statement)
            for name, view in _views(store, statement, of_runs).items():
                connection.register(name, view)
            connection.execute(_TURNS)
            for setting in _SETTINGS:
                connection.execute(setting)
            return connection.sql(statement).to_arrow_table()

    return _interruptible(executed, connection.interrupt)


_FAREWELL_S, _AGAIN_S = 0.5, 0.02


def _interruptible(work: Callable[[], pa.Table], interrupt: Callable[[], object]) -> pa.Table:
    """What `work` returns or raises. It is done in a thread: a signal reaches Python only between the calls of the main one, and
    one call executes a whole statement.

    An interruption of the wait is one of the work, too: `interrupt` is called until it has ended, for half a second at most.
    """
    results: list[pa.Table | BaseException] = []

    def work_off() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            results.append(error)

    worker = threading.Thread(target=copy_context().run, args=(work_off,), name="eval-skills-query", daemon=True)
    try:
        worker.start()
        worker.join()
    except BaseException:
        for _ in range(round(_FAREWELL_S / _AGAIN_S)):
            interrupt()
            worker.join(_AGAIN_S)
            if not worker.is_alive():
                break
        raise
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]


def _check(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    kinds = [part.type for part in connection.extract_statements(statement)]
    if kinds != [duckdb.StatementType.SELECT]:
        found = ", ".join(kind.name for kind in kinds) or "nothing"
        raise UsageError(f"a query is one SELECT over {', '.join(VIEWS)}; this is {found}")


def _views(store: Store, statement: str, of_runs: Collection[str] | None) -> dict[str, Any]:
    """What a statement is not about stays empty: listing a year of files takes time, and `runs` opens every manifest."""
    words = _words(statement.lower())
    said = _tables_in(words)
    name_missing(store, *(name for name in SCHEMAS if name in said or "runs" in words))
    tables: dict[str, Any] = {
        name: store.tables.dataset(name, of_runs if name == "items" else None) if name in said else empty_table(name)
        for name in SCHEMAS
    }
    scorings = tables["items"]
    if words & {"items", "turns"}:
        tables["items"] = current_items(store, scorings)
    return {**tables, "items_all": scorings, "runs": store.run_table() if "runs" in words else RUN_SCHEMA.empty_table()}
