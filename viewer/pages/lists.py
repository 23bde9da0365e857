"""The lists: skills, nights, monitors, calibrations of judges, preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core.viewer_pages import run_page, skill_page
from eval_skills.viewer.page import TablesPage
from eval_skills.viewer.tables import BEGAN, FORBIDDEN, FORBIDDEN_TOOLS, KNOWN_REPORTS, Column, Row, Table

if TYPE_CHECKING:
    from eval_skills.viewer.site import Site


def _run(name: str) -> Column:
    return Column(title=name.replace("_", " ").capitalize().replace(" id", ""), of=(name,), link=lambda row: _page_of(row[name]))


def _page_of(run_id: str | None) -> str | None:
    return run_page(run_id) if run_id else None


def _skill(row: Row) -> str | None:
    return skill_page(row["skill_id"]) if row["skill_id"] else None


SKILLS = Table(
    name="skills",
    title="Skills",
    sql=f"""
        SELECT skill_id, skill_version, benchmark_id, last(completion_rate ORDER BY run_id) AS completion_rate,
            last(ci_lower ORDER BY run_id) AS ci_lower, last(ci_upper ORDER BY run_id) AS ci_upper,
            last(missing_items ORDER BY run_id) AS missing, last(p95_ms ORDER BY run_id) AS p95_ms,
            last(estimated_usd ORDER BY run_id) AS estimated_usd,
            last(cost_unknown_items ORDER BY run_id) AS unpriced, last(items ORDER BY run_id) AS priced_of,
            last(flake_rate ORDER BY run_id) AS flake_rate, count(*) AS runs, max({BEGAN}) AS last_began, max(run_id) AS run_id
        FROM {KNOWN_REPORTS} WHERE coalesce(origin, 'run') IN ('run', 'replay') {{AND shown: run_id}}
        GROUP BY skill_id, skill_version, benchmark_id
        ORDER BY last_began DESC, skill_id, skill_version, benchmark_id
    """,  # noqa: S608 - constants
    columns=(
        Column(title="Skill", of=("skill_id",), link=_skill, is_facet=True),
        Column(title="Version", of=("skill_version",)),
        Column(title="Benchmark", of=("benchmark_id",), is_facet=True),
        Column(title="Last completion", of=("completion_rate", "ci_lower", "ci_upper", "missing"), kind="interval"),
        Column(title="Flaky", of=("flake_rate",), kind="rate", is_wide=True),
        Column(title="P95", of=("p95_ms",), kind="ms", is_wide=True),
        Column(title="Cost of a run", of=("estimated_usd", "unpriced", "priced_of"), kind="sum", is_wide=True),
        Column(title="Runs", of=("runs",), kind="count"),
        Column(title="Last run", of=("run_id",), link=lambda row: run_page(row["run_id"])),
        Column(title="Last run began (UTC)", of=("last_began",), kind="moment", is_wide=True),
    ),
)

NIGHTS = Table(
    name="nights",
    title="Nights",
    sql=f"""
        SELECT night_id, finished_at, suite, skill_id, skill_version, benchmark_id, verdict, forbidden, good, completion_rate,
            mean_difference, adjusted_p, run_id, last_good_run_id, explanation, moved_tasks, changed
        FROM nights LEFT JOIN (
            SELECT run_id, skill_id, skill_version, benchmark_id, {FORBIDDEN} AS forbidden FROM reports GROUP BY ALL
        ) USING (run_id, skill_id, skill_version, benchmark_id)
        {{WHERE shown: run_id}}
        ORDER BY night_id DESC, suite, skill_id
    """,  # noqa: S608 - a constant
    columns=(
        Column(title="Night (UTC)", of=("finished_at",), kind="moment"),
        Column(title="Verdict", of=("verdict",), kind="verdict", is_facet=True),  # what a narrow screen shows first
        Column(title="Skill", of=("skill_id",), link=_skill, is_facet=True),
        Column(title="Suite", of=("suite",), is_facet=True),
        FORBIDDEN_TOOLS,
        Column(title="Completion", of=("completion_rate",), kind="rate"),
        Column(title="Why", of=("explanation",)),
        Column(title="Difference", of=("mean_difference",), kind="points"),
        Column(title="Adjusted p", of=("adjusted_p",), kind="p", is_wide=True),
        Column(title="Version", of=("skill_version",), is_wide=True),
        Column(title="Changed", of=("changed",), kind="names", is_wide=True),
        _run("run_id"),
    ),
)

MONITORS = Table(
    name="monitors",
    title="Monitored samples",
    sql="""
        SELECT monitor_id, monitor_run_id, skill_id, timestamp, sampled_at, status, score, query_preview, output_preview,
            list_transform(reasons, lambda reason: reason.message) AS why, latency_ms, cost_usd, source,
            skill_id IN (SELECT skill_id FROM reports) AS evaluated
        FROM samples ORDER BY sampled_at DESC LIMIT 20000
    """,
    columns=(
        Column(title="Sampled (UTC)", of=("sampled_at",), kind="moment"),
        Column(title="Monitor", of=("monitor_id",), is_facet=True),
        Column(title="Skill", of=("skill_id",), link=lambda row: _skill(row) if row["evaluated"] else None, is_facet=True),
        Column(title="Verdict", of=("status",), kind="verdict", is_facet=True),
        Column(title="Score", of=("score",), kind="score"),
        Column(title="Asked", of=("query_preview",)),
        Column(title="Answered", of=("output_preview",)),
        Column(title="Why", of=("why",), kind="names"),
        Column(title="Latency", of=("latency_ms",), kind="ms", is_wide=True),
        Column(title="Place in the log", of=("source",), is_wide=True),
        Column(title="Monitor run", of=("monitor_run_id",)),
    ),
    note="The last 20,000 samples.",
)

CALIBRATIONS = Table(
    name="calibrations",
    title="Calibrations of judges",
    sql="""
        SELECT calibration_id, calibrated_at, model, prompt, benchmark_id, labels, tasks, unjudged,
            accuracy, accuracy_lower, accuracy_upper, kappa, kappa_lower, kappa_upper,
            sensitivity, sensitivity_lower, sensitivity_upper, specificity, specificity_lower, specificity_upper,
            human_pass_rate, judge_pass_rate, run_id
        FROM calibrations {WHERE shown: run_id} ORDER BY calibrated_at DESC
    """,
    columns=(
        Column(title="Calibrated (UTC)", of=("calibrated_at",), kind="moment"),
        Column(title="Model", of=("model",), is_facet=True),
        Column(title="Prompt", of=("prompt",), is_wide=True),
        Column(title="Benchmark", of=("benchmark_id",), is_facet=True),
        Column(title="Labels", of=("labels",), kind="count"),
        Column(title="Not judged", of=("unjudged",), kind="count"),
        Column(title="Accuracy", of=("accuracy", "accuracy_lower", "accuracy_upper"), kind="interval"),
        Column(title="Kappa", of=("kappa",), kind="score"),
        Column(title="Sensitivity", of=("sensitivity", "sensitivity_lower", "sensitivity_upper"), kind="interval", is_wide=True),
        Column(title="Specificity", of=("specificity", "specificity_lower", "specificity_upper"), kind="interval", is_wide=True),
        Column(title="People passed", of=("human_pass_rate",), kind="rate"),
        Column(title="Judge passed", of=("judge_pass_rate",), kind="rate"),
        _run("run_id"),
    ),
    note="The last calibration of a judge and benchmark is in force.",
)

PREFERENCES = Table(
    name="preferences",
    title="Preferences",
    sql="""
        SELECT comparison_id, compared_at, run_a, run_b, skill_a, skill_b, benchmark_id, task_id, run_index, outcome,
            coalesce(reasoning_a_first, reasoning_b_first, error_message) AS why, judge_model, judge_agreement, judge_cost_usd
        FROM preferences {WHERE shown: run_a, run_b} ORDER BY compared_at DESC, task_id LIMIT 20000
    """,
    columns=(
        Column(title="Compared (UTC)", of=("compared_at",), kind="moment"),
        Column(title="Benchmark", of=("benchmark_id",), is_facet=True),
        Column(title="Task", of=("task_id",)),
        Column(title="Skill a", of=("skill_a",), is_facet=True),
        Column(title="Skill b", of=("skill_b",), is_facet=True),
        Column(title="Better", of=("outcome",), kind="verdict", is_facet=True),
        Column(title="Why", of=("why",)),
        Column(title="Judge", of=("judge_model",), is_wide=True),
        Column(title="Agreement", of=("judge_agreement",), kind="rate", is_wide=True),
        _run("run_a"),
        _run("run_b"),
    ),
    note="The last 20,000 pairs of answers.",
)

LISTS = {"Skills": SKILLS, "Nights": NIGHTS, "Monitors": MONITORS, "Calibrations": CALIBRATIONS, "Preferences": PREFERENCES}
"""By the place in the bar that leads to it."""


def list_page(site: Site, place: str) -> str:
    """The page of one of `LISTS` as text."""
    table = LISTS[place]
    payload = site.payload(table)
    facts = {"Store": site.title, "Rows": f"{len(payload['rows']):,}"}
    return TablesPage(title=table.title, tables=[payload], facts=facts).render(site.navigation(place))
