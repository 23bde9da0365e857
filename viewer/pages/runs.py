"""The first page: every run of the store, youngest first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from eval_skills.core.errors import InputError, RunError
from eval_skills.core.store.missing import is_landing
from eval_skills.core.viewer_pages import run_page, skill_page
from eval_skills.viewer.live import is_written
from eval_skills.viewer.page import PLACES, TablesPage
from eval_skills.viewer.tables import FORBIDDEN, FORBIDDEN_TOOLS, KNOWN_REPORTS, Column, Row, Table

if TYPE_CHECKING:
    from eval_skills.core.store import Store
    from eval_skills.viewer.site import Site

SQL = f"""
    SELECT run_id, started_at, benchmark, skills, coalesce('stopped: ' || stopped, state) AS state,
        coalesce(nullif(landed_items, 0), priced_of, landed_items) AS landed_items, planned_items,
        completion, ci_lower, ci_upper, missing, forbidden, cost_usd, unpriced, priced_of,
        labelled, coalesce(origin, 'run') AS origin, git_commit
    FROM runs LEFT JOIN (
        SELECT run_id, max(completion_rate) AS completion, arg_max(ci_lower, completion_rate) AS ci_lower,
            arg_max(ci_upper, completion_rate) AS ci_upper, arg_max(missing_items, completion_rate) AS missing,
            any_value(origin) AS origin,
            {FORBIDDEN} AS forbidden,
            sum(list_sum([estimated_usd, earlier_cost_usd, judge_cost_usd, user_cost_usd])) AS cost_usd,
            sum(CASE WHEN estimated_usd IS NULL THEN items ELSE coalesce(cost_unknown_items, 0) END)::BIGINT AS unpriced,
            sum(items)::BIGINT AS priced_of
        FROM {KNOWN_REPORTS} WHERE origin IS DISTINCT FROM 'recompute' GROUP BY run_id
    ) USING (run_id)
    LEFT JOIN (
        SELECT run_id, count(*) AS labelled FROM (
            SELECT run_id, label, comment FROM labels
            QUALIFY row_number() OVER (
                PARTITION BY run_id, skill_id, skill_version, benchmark_id, task_id, run_index ORDER BY labelled_at DESC
            ) = 1
        ) WHERE label IS NOT NULL OR comment IS NOT NULL GROUP BY run_id
    ) USING (run_id)
    {{WHERE shown: run_id}}
    ORDER BY run_id DESC
"""  # noqa: S608 - a constant

COLUMNS = (
    Column(title="Run", of=("run_id",), link=lambda row: run_page(row["run_id"])),
    Column(title="State", of=("state",), kind="state", is_facet=True),
    Column(title="Began (UTC)", of=("started_at",), kind="moment"),
    Column(title="Benchmark", of=("benchmark",), is_facet=True),
    Column(title="Skills", of=("skills",), kind="names", link=lambda row: skill_pages(row), is_facet=True),
    Column(title="Best completion", of=("completion", "ci_lower", "ci_upper", "missing"), kind="interval"),
    FORBIDDEN_TOOLS,
    Column(title="Items", of=("landed_items", "planned_items"), kind="part", is_wide=True),
    Column(title="Cost", of=("cost_usd", "unpriced", "priced_of"), kind="sum", is_wide=True),
    Column(
        title="Labels",
        of=("labelled",),
        kind="count",
        link=lambda row: PLACES["Labels"] if row["labelled"] else None,
        is_wide=True,
        usual=None,
    ),
    Column(title="Origin", of=("origin",), is_facet=True, is_wide=True, usual="run"),
)


def skill_pages(row: Row) -> list[str | None]:
    """The pages of the skills (``id@version``) of a row."""
    return [skill_page(key.rpartition("@")[0]) for key in row["skills"] or ()]


def runs_page(site: Site) -> str:
    """The page as text."""
    table = Table(
        name="runs",
        title="Runs",
        sql=site.limited(SQL),
        columns=COLUMNS,
        selects="comparison",
        note="Completion is that of the best skill, with its interval. Cost is what skills, judges and simulated users were paid "
        "together, in all attempts that say it, and of how many items it is unknown; a dash where nothing is known. "
        "Items are those that are done; of an unfinished run they are in its journal, with their cost, and the SQL does not know "
        "them. Select two runs to compare them.",
    )
    payload = table.payload(site.store)
    _count_what_has_not_landed(payload["rows"], site.store)
    if site.is_live:
        _say_what_is_going_on(payload["rows"], site.store)
    facts = {"Store": site.title, "Runs": f"{len(payload['rows']):,}"}
    return TablesPage(title="Runs", tables=[payload], facts=facts, script="runs_page").render(site.navigation("Runs"))


def _count_what_has_not_landed(rows: list[list[Any]], store: Store) -> None:
    """The items of an unfinished run are those that are done: they are in its journal, and the tables know none of them."""
    run, state, items, cost = _places("Run", "State", "Items", "Cost")
    for row in rows:
        if row[state] != "finished":
            row[items][0], row[cost] = _done(store, row[run])


def _done(store: Store, run_id: str) -> tuple[int | None, list[Any]]:
    """How many items of a run are done, and what they cost as a ``sum``; None where a damaged file hides it."""
    import pyarrow.compute as pc

    from eval_skills.core.store.landing import run_batches

    items, unpriced = 0, 0
    costs: list[float] = []
    try:
        for batch in run_batches(store, run_id):
            items += batch.num_rows
            unpriced += batch.column("cost_usd").null_count
            retried = batch.column("attempts").filter(pc.greater(pc.list_value_length(batch.column("attempts")), 1))
            earlier = [each["cost_usd"] for attempts in retried.to_pylist() for each in attempts[:-1]]
            paid = [pc.sum(batch.column(name)).as_py() for name in ("cost_usd", "judge_cost_usd", "user_cost_usd")]
            costs += [cost for cost in (*paid, *earlier) if cost is not None]
    except (RunError, InputError):  # one damaged file does not hide the other runs; resuming it says what is wrong
        return None, [None, None, None]
    return items, [math.fsum(costs) if costs else None, unpriced, items]


def _places(*titles: str) -> list[int]:
    return [next(place for place, column in enumerate(COLUMNS) if column.title == title) for title in titles]


def _say_what_is_going_on(rows: list[list[Any]], store: Store) -> None:
    """The store knows runs that have not finished; whether somebody works on one is known to this machine alone.

    One whose items have just landed is ``landing`` until its reports, which have all other figures, have landed as well,
    and after a while they are missing.
    """
    run, state, cost = _places("Run", "State", "Cost")
    for row in rows:
        if row[state] != "finished":
            if is_written(store.journal_path(row[run])):
                row[state] = "running"
        elif row[cost][2] is None and (items := store.tables.files("items", [row[run]]).get(row[run])) is not None:
            row[state] = "landing" if is_landing(items) else "no reports"
