"""The first page: every run of the store, youngest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eval_skills.core.store.history import known_items
from eval_skills.core.viewer_pages import run_page, skill_page
from eval_skills.viewer.live import is_written
from eval_skills.viewer.page import PLACES, TablesPage
from eval_skills.viewer.tables import KNOWN_REPORTS, Column, Row, Table

if TYPE_CHECKING:
    from eval_skills.core.store import Store
    from eval_skills.viewer.site import Site

SQL = f"""
    SELECT run_id, started_at, benchmark, skills, coalesce('stopped: ' || stopped, state) AS state, landed_items, planned_items,
        completion, ci_lower, ci_upper, cost_usd, unpriced, priced_of,
        labelled, coalesce(origin, 'run') AS origin, git_commit
    FROM runs LEFT JOIN (
        SELECT run_id, max(completion_rate) AS completion, arg_max(ci_lower, completion_rate) AS ci_lower,
            arg_max(ci_upper, completion_rate) AS ci_upper, any_value(origin) AS origin,
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
    {{chosen}}
    ORDER BY run_id DESC
"""  # noqa: S608 - a constant

COLUMNS = (
    Column(title="Run", of=("run_id",), link=lambda row: run_page(row["run_id"])),
    Column(title="State", of=("state",), kind="state", is_facet=True),
    Column(title="Began (UTC)", of=("started_at",), kind="moment"),
    Column(title="Benchmark", of=("benchmark",), is_facet=True),
    Column(title="Skills", of=("skills",), kind="names", link=lambda row: skill_pages(row), is_facet=True),
    Column(title="Best completion", of=("completion", "ci_lower", "ci_upper"), kind="interval"),
    Column(title="Items", of=("landed_items",), kind="count", is_wide=True),
    Column(title="Planned", of=("planned_items",), kind="count", is_wide=True),
    Column(title="Cost", of=("cost_usd", "unpriced", "priced_of"), kind="sum", is_wide=True),
    Column(
        title="Labels",
        of=("labelled",),
        kind="count",
        link=lambda row: PLACES["Labels"] if row["labelled"] else None,
        is_wide=True,
    ),
    Column(title="Origin", of=("origin",), is_facet=True, is_wide=True),
)


def skill_pages(row: Row) -> list[str | None]:
    """The pages of the skills (``id@version``) of a row."""
    return [skill_page(key.rpartition("@")[0]) for key in row["skills"] or ()]


def runs_page(site: Site) -> str:
    """The page as text."""
    table = Table(
        name="runs",
        title="Runs",
        sql=SQL.replace("{chosen}", site.condition()),
        columns=COLUMNS,
        selects="comparison",
        note="Completion is that of the best skill, with its interval. Cost is what skills, judges and simulated users were paid "
        "together, in all attempts that say it, and of how many items it is unknown; a dash where nothing is known. "
        "Items are those that are done. Select two runs to compare them.",
    )
    payload = table.payload(site.store)
    _count_what_has_not_landed(payload["rows"], site.store)
    if site.is_live:
        _say_what_is_running(payload["rows"], site.store)
    facts = {"Store": site.title, "Runs": f"{len(payload['rows']):,}"}
    return TablesPage(title="Runs", tables=[payload], facts=facts, script="runs_page").render(site.navigation("Runs"))


def _count_what_has_not_landed(rows: list[list[Any]], store: Store) -> None:
    """The items of an unfinished run are those that are done: they are in its journal, and the tables know none of them."""
    run, state, items = _places("Run", "State", "Items")
    for row in rows:
        if row[state] != "finished":
            row[items] = known_items(store, row[run])


def _places(*titles: str) -> list[int]:
    return [next(place for place, column in enumerate(COLUMNS) if column.title == title) for title in titles]


def _say_what_is_running(rows: list[list[Any]], store: Store) -> None:
    """The store knows runs that have not finished; whether somebody works on one is known to this machine alone."""
    run, state = _places("Run", "State")
    for row in rows:
        if row[state] == "unfinished" and is_written(store.journal_path(row[run])):
            row[state] = "running"
