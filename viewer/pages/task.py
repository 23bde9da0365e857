"""A task of a run: what was asked and expected, the answers of all skills to it, and how it went in every run of the store."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from eval_skills.core.models.report import MISSING_KINDS
from eval_skills.core.text import plural
from eval_skills.core.viewer_pages import NoSuchPageError, item_page, run_page, skill_page, task_page
from eval_skills.reporting.html.payload import answers_payload
from eval_skills.viewer.items import items_of
from eval_skills.viewer.labels import labels_of, to_label
from eval_skills.viewer.page import AnswerPage
from eval_skills.viewer.statements import sql_text
from eval_skills.viewer.tables import Column, Table

if TYPE_CHECKING:
    from eval_skills.viewer.site import Site


def task_page_of(site: Site, run_id: str, key: str) -> str:
    """The page as text.

    Raises:
        NoSuchPageError: the run has no task of that key, or the export does not have the run.
        UserError: the run cannot be read.
    """
    run = items_of(site, run_id)
    if key not in run.tasks_by_page:
        raise NoSuchPageError(f"run {run_id} has no task of that page; {run_page(run_id)} lists its tasks")
    benchmark_id, task_id = run.tasks_by_page[key]
    items = run.items(benchmark_id, task_id)
    task = run.tasks.get(task_id)
    data = answers_payload(benchmark_id, task, [(item.result.skill_key, item.shown) for item in items])
    said = labels_of(site.store, run_id)
    for row, item in zip(data["items"], items, strict=True):
        row["page"] = item_page(run_id, benchmark_id, task_id, item.result.skill_key, item.result.run_index)
        row["labelling"] = to_label(row["page"], run_id, said)
    history = _history(site, benchmark_id, task_id)
    passed = sum(item.result.passed for item in items)
    return AnswerPage(
        title=task_id,
        about=task.description if task else "",
        data=data,
        facts={
            "Benchmark": benchmark_id,
            "Passed": f"{passed:,} of {plural(len(items), 'answer')}",
            "Over the store": flakiness(history),
        },
        script="task_page",
        trail={f"Run {run_id}": run_page(run_id)},
        tables=[history],
        remarks=run.remarks,
    ).render(site.navigation("Runs"))


def _history(site: Site, benchmark_id: str, task_id: str) -> dict[str, Any]:
    table = history_of(site, benchmark_id, task_id)
    if site.is_live:
        return table.payload(site.store, of_runs=_runs_with(site, benchmark_id))
    return table.payload(site.store, rows=_all_histories(site).get((benchmark_id, task_id), []))


@lru_cache(maxsize=2)
def _all_histories(site: Site) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The rows of every task's history, asked once: an export has a page for each."""
    from eval_skills.core.store.sql import query

    table = query(site.store, _statement("benchmark_id, task_id, ", "true", site))
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        found.setdefault((row["benchmark_id"], row["task_id"]), []).append(row)
    return found


def _runs_with(site: Site, benchmark_id: str) -> frozenset[str]:
    """The runs that may hold items of a benchmark: all but those whose reports are of others alone."""
    asked: dict[str, set[str]] = {}
    for row in site.store.tables.rows("reports", ["run_id", "benchmark_id"]):
        asked.setdefault(row["run_id"], set()).add(row["benchmark_id"])
    return frozenset(run_id for run_id in site.store.run_ids() if benchmark_id in asked.get(run_id, {benchmark_id}))


def history_of(site: Site, benchmark_id: str, task_id: str) -> Table:
    """How the task went in every run, by skill."""
    asked = f"benchmark_id = {sql_text(benchmark_id)} AND task_id = {sql_text(task_id)}"
    return Table(
        name="history",
        title="This task in every run",
        sql=_statement("", asked, site),
        columns=(
            Column(title="Run", of=("run_id",), link=lambda row: task_page(row["run_id"], benchmark_id, task_id)),
            Column(title="Began (UTC)", of=("began",), kind="moment"),
            Column(title="Skill", of=("skill",), link=lambda row: skill_page(row["skill"].rpartition("@")[0]), is_facet=True),
            Column(title="Passed", of=("passed",), kind="count"),
            Column(title="Runs", of=("runs",), kind="count"),
            Column(title="Share", of=("rate",), kind="rate"),
            Column(title="Flaky", of=("flaky",), kind="sign", is_facet=True),
            Column(title="Score", of=("score",), kind="score", is_wide=True),
            Column(title="Latency", of=("latency_ms",), kind="ms", is_wide=True),
            Column(title="Cost", of=("cost_usd",), kind="usd", is_wide=True),
            Column(title="Version of the task", of=("task_digest",), is_facet=True, is_wide=True),
        ),
        note="Flaky: some runs of the task passed and others did not, within one evaluation; unknown of one run with a verdict. "
        "The version changes with the task.",
    )


def flakiness(history: dict[str, Any]) -> str:
    """How often the task passed in all that the store has, and in how many evaluations it was flaky."""
    titles = [column["title"] for column in history["columns"]]
    passed, runs = (sum(row[titles.index(title)] for row in history["rows"]) for title in ("Passed", "Runs"))
    found = [row[titles.index("Flaky")] for row in history["rows"]]
    flaky, several = found.count(True), len(found) - found.count(None)
    said = f"passed {passed:,} of {plural(runs, 'time')}"
    return f"{said}, flaky in {flaky:,} of {plural(several, 'evaluation')} with several runs" if several else said


_MISSING = f"coalesce(status = 'error' AND error_kind IN ({', '.join(map(repr, sorted(MISSING_KINDS)))}), false)"


def _statement(more: str, condition: str, site: Site) -> str:
    return f"""
        SELECT {more}run_id, min(started_at) AS began, skill_id || '@' || skill_version AS skill,
            count(*) FILTER (passed) AS passed, count(*) AS runs, count(*) FILTER (NOT {_MISSING}) AS judged,
            CASE WHEN judged > 0 THEN count(*) FILTER (passed) / count(*) END AS rate,
            CASE WHEN judged > 1 THEN count(*) FILTER (passed) BETWEEN 1 AND judged - 1 END AS flaky,
            avg(score) AS score, avg(latency_ms) AS latency_ms,
            CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END AS cost_usd, any_value(task_digest) AS task_digest
        FROM items
        WHERE {condition} {site.condition("AND")}
        GROUP BY {more}run_id, skill_id, skill_version
        ORDER BY run_id DESC, skill
    """  # noqa: S608 - the texts are quoted
