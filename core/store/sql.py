"""SQL over the landed tables, through DuckDB, for reading only; of several scorings of the same items one is current."""

# ruff: noqa: S608 - run ids have one form, and paths are quoted

from __future__ import annotations

import re
import threading
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from eval_skills.core.errors import UsageError
from eval_skills.core.store.missing import name_missing
from eval_skills.core.store.parquet_reading import DELETED, DeletedError, of_what_is_there
from eval_skills.core.store.schema import RUN_SCHEMA, SCHEMAS
from eval_skills.core.store.scorings import chains
from eval_skills.core.store.views import Source, create_table, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable

    from eval_skills.core.store.layout import TableName
    from eval_skills.core.store.store import Store


ALL_ITEMS = "SELECT * FROM items_all"
_KEY = "skill_id, skill_version, task_id, run_index"
_ANSWERED = "coalesce(CAST(attempts[-1].started_at AS VARCHAR), '')"
"""When the answer of an item was asked for: what a later scoring of the same answer keeps."""


def current_items(store: Store, items: Source) -> str:
    """A SELECT over all `items` but those that a later scoring of the same item replaces; the view ``items_all`` has all.

    `rescore` lands its scorings beside the run whose answers it judged. The one that was asked for last counts; what it left out
    keeps the scoring it had, and so does what was asked again since: a scoring of an answer that the run no longer has counts no
    more.
    """
    # a manifest alone says of which run: to look for their rows would open all files
    landed = items.files.keys()
    scorings = chains(store, [run_id for run_id in store.rescorings() if run_id in landed])
    known = [[of, *(each.run_id for each in chain)] for of, chain in scorings.items()]
    later = {run_id: chain[place + 1 :] for chain in known for place, run_id in enumerate(chain[:-1]) if run_id in landed}
    if not later:
        return ALL_ITEMS
    scored = {run_id: chain[0] for chain in known if chain[0] in landed for run_id in chain[1:]}
    replaced = " UNION ALL ".join(_answers(items.select(newer), older) for older, newer in later.items())
    given = " UNION ALL ".join(_answers(items.select([of]), run_id) for run_id, of in scored.items())
    parts = [
        items.select(rest) if (rest := landed - later.keys() - scored.keys()) else "",
        _joined(items.select(asked), f"ANTI JOIN ({replaced})") if (asked := later.keys() - scored.keys()) else "",
        _joined(items.select(scored.keys()), f"SEMI JOIN ({given})", f"ANTI JOIN ({replaced})") if scored else "",
    ]
    return " UNION ALL BY NAME ".join(filter(None, parts))


def _answers(select: str, run_id: str) -> str:
    """The answers of a SELECT, as those of this run."""
    return f"SELECT '{run_id}' AS run_id, {_KEY}, {_ANSWERED} AS answered FROM ({select})"


def _joined(select: str, *joins: str) -> str:
    """The rows of a SELECT whose answers are, or are not, in other rows."""
    using = f" USING (run_id, {_KEY}, answered) "
    return f"SELECT * EXCLUDE (answered) FROM (SELECT *, {_ANSWERED} AS answered FROM ({select})) {using.join([*joins, ''])}"


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

# the files of the views are all that DuckDB opens
_SETTINGS = ("SET TimeZone = 'UTC'", "SET python_enable_replacements = false")
_LOCKS = ("SET enable_external_access = false", "SET lock_configuration = true")


_OF_THE_STATEMENT = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
"""Errors that no file is the cause of."""


def state_of(store: Store, statement: str) -> Hashable:
    """What a statement reads, as it is now: as long as this is the same, so is its answer."""
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
        InputError: all files of a table are damaged, or files are deleted faster than they are read.
    """

    def answer() -> pa.Table:
        return of_what_is_there(lambda: _answer(store, statement, of_runs))

    try:
        try:
            return answer()
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            if isinstance(error, _OF_THE_STATEMENT) or not _leave_out_damaged(store, statement.lower()):
                raise
        return answer()
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
            sources = _sources(store, statement, of_runs)
            try:
                return _executed(connection, store, statement, sources)
            except (duckdb.Error, pa.ArrowException, OSError):
                listed = (path for source in sources.values() for path in source.files.values())
                if (gone := next(filter(store.tables.is_another, listed), None)) is None:
                    raise
                raise DeletedError(f"{DELETED}; call again", source=gone) from None

    return _interruptible(executed, connection.interrupt)


def _executed(connection: duckdb.DuckDBPyConnection, store: Store, statement: str, sources: dict[TableName, Source]) -> pa.Table:
    runs = store.run_list() if "runs" in _words(statement.lower()) else None
    paths = [path for source in sources.values() for path in source.paths]
    if paths:
        _refuse_files(statement)
    _create_views(connection, sources, _current(store, statement, sources), runs)
    for setting in (*_SETTINGS, f"SET allowed_paths = [{', '.join(map(quoted, paths))}]", *_LOCKS):
        connection.execute(setting)
    return connection.sql(statement).to_arrow_table()


def _refuse_files(statement: str) -> None:
    """Raise what DuckDB says of a statement that names a file: those of the views are there for the views alone, which know which
    of them are damaged."""
    with duckdb.connect(":memory:") as connection:
        _create_views(connection, {name: Source(name) for name in SCHEMAS}, ALL_ITEMS, None)
        for setting in (*_SETTINGS, *_LOCKS):
            connection.execute(setting)
        connection.sql(statement)


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
            with suppress(duckdb.ConnectionException):  # it has just been closed, by work that is at its end
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


def _sources(store: Store, statement: str, of_runs: Collection[str] | None) -> dict[TableName, Source]:
    """What a statement is not about stays empty: listing a year of files takes time."""
    words = _words(statement.lower())
    said = _tables_in(words)
    name_missing(store, *(name for name in SCHEMAS if name in said or "runs" in words))
    return {
        name: Source.of(store.tables, name, of_runs if name == "items" else None) if name in said else Source(name)
        for name in SCHEMAS
    }


def _current(store: Store, statement: str, sources: dict[TableName, Source]) -> str:
    """The SELECT of the view ``items``; where the statement is not about it, no manifest is opened for that."""
    return current_items(store, sources["items"]) if _words(statement.lower()) & {"items", "turns"} else ALL_ITEMS


def _create_views(
    connection: duckdb.DuckDBPyConnection, sources: dict[TableName, Source], current: str, runs: list[dict[str, Any]] | None
) -> None:
    for name, source in sources.items():
        source.create(connection, "items_all" if name == "items" else name)
    connection.execute(f"CREATE TEMP VIEW items AS {current}")
    connection.execute(_TURNS)
    create_table(connection, "runs", RUN_SCHEMA, runs or [])
