"""The statements behind the tables of the reports in the viewer, by the names of these tables: what `eval-skills query` is asked.

They read `items_all`, for the page of a run shows its own scoring, whatever scored its answers again later.
"""

# ruff: noqa: S608 - run ids have one form, and what people named is quoted

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from eval_skills.core.models.report import MISSING_KINDS

if TYPE_CHECKING:
    from eval_skills.core.diff.model import SkillDiff

_WITHOUT_VERDICT = ", ".join(f"'{kind}'" for kind in sorted(MISSING_KINDS))
_SKILL = "skill_id || '@' || skill_version AS skill"


def run_statements(run_id: str) -> Mapping[str, str]:
    """Those of the page of a run; the tables of one skill have a statement about all of them."""
    reports, items = f"FROM reports WHERE run_id = '{run_id}'", f"FROM items_all WHERE run_id = '{run_id}'"
    by = f"count(DISTINCT task_id) AS tasks, avg(passed::INT) AS completion, {_share('error', 'timeout')} AS errors"
    return {
        "ranking-table": f"""\
SELECT rank, {_SKILL}, benchmark_id, completion_rate, ci_lower, ci_upper, probability_best, pareto_optimal, partial_score,
    error_rate, consistency_score, flake_rate, p50_ms, p95_ms, composite_score, estimated_usd,
    cost_unknown_items, earlier_cost_usd
{reports}
ORDER BY completion_rate DESC, skill""",
        "dimension-table": f"SELECT {_SKILL}, unnest(map_entries(dimensions), recursive := true)\n{reports}\nORDER BY ALL",
        "judging-table": f"""\
SELECT {_SKILL}, judged_completion_rate, completion_rate, unjudged_items, judge_requests, judge_tokens, judge_cost_usd
{reports}
ORDER BY skill""",
        "matrix-table": f"""\
SELECT benchmark_id, task_id, {_SKILL}, count(*) FILTER (passed) AS passed, count(*) AS runs
{items}
GROUP BY ALL
ORDER BY ALL""",
        "places-table": f"""\
SELECT {_SKILL}, completion_rate, partial_score, p50_ms, p95_ms,
    estimated_usd / nullif(items - coalesce(cost_unknown_items, 0), 0) AS usd_of_an_item,
    items - cost_unknown_items AS priced
{reports}
ORDER BY skill""",
        "group-table": f"""\
SELECT coalesce(error_kind, reason.code) AS reason, count(*) AS items, count(DISTINCT task_id) AS tasks,
    list(DISTINCT skill_id || '@' || skill_version) AS skills, any_value(coalesce(error_message, reason.message)) AS example
FROM (
    SELECT *, unnest(CASE WHEN error_kind IS NULL THEN reasons ELSE [NULL] END) AS reason
    {items} AND NOT passed
)
WHERE NOT coalesce(reason.informational, false)
GROUP BY ALL
ORDER BY items DESC, reason""",
        "tag-table": f"""\
SELECT {_SKILL}, tag, {by}
FROM (SELECT *, unnest(tags) AS tag {items})
GROUP BY ALL
ORDER BY skill, tag""",
        "complexity-table": f"SELECT {_SKILL}, complexity, {by}\n{items}\nGROUP BY ALL\nORDER BY skill, complexity",
        "judge-table": f"SELECT {_SKILL}, judged_completion_rate, judge_requests, judge_tokens, judge_cost_usd\n{reports}",
        "error-table": f"""\
SELECT {_SKILL}, error_kind, count(*) AS items, any_value(error_message) AS message
{items} AND error_kind IS NOT NULL
GROUP BY ALL
ORDER BY skill, items DESC""",
        "grid-table": f"""\
SELECT {_SKILL}, task_id, count(*) FILTER (passed) AS passed, count(*) AS runs, avg(score) AS score, avg(latency_ms) AS latency_ms
{items}
GROUP BY ALL
ORDER BY skill, task_id""",
        "failure-table": f"""\
SELECT {_SKILL}, task_id, run_index + 1 AS run, status, output, reasons, error_kind, error_message
{items} AND NOT passed
ORDER BY skill, task_id, run""",
        "provenance-table": f"SELECT *\nFROM runs\nWHERE run_id = '{run_id}'",
    }


def comparison_statements(before: str, after: str, skills: Sequence[SkillDiff]) -> Mapping[str, str]:
    """Those of the page that compares two runs; `skills` are in the order of the page."""
    runs = f"run_id IN ('{before}', '{after}')"
    figures = f"""\
SELECT run_id, {_SKILL}, benchmark_id, completion_rate, ci_lower, ci_upper, error_rate, p95_ms, composite_score, estimated_usd
FROM reports
WHERE {runs}"""
    whole = [skill.figures_of_tasks is None for skill in skills]  # else the figures are of some of the tasks, and in no table
    found = {"verdict-table": f"{figures}\nORDER BY skill, run_id"} if all(whole) else {}
    for number, skill in enumerate(skills, start=1):
        one = f"AND {_one_skill(before, after, skill)}"
        rates = f"""\
    SELECT task_id, avg(passed::INT) FILTER (run_id = '{before}') AS rate_a,
        avg(passed::INT) FILTER (run_id = '{after}') AS rate_b
    FROM items_all
    WHERE {runs} {one}
        AND NOT (status = 'error' AND coalesce(error_kind, '') IN ({_WITHOUT_VERDICT}))
    GROUP BY task_id"""
        if whole[number - 1]:
            found[f"figures-{number}"] = f"{figures} {one}\nORDER BY run_id"
        found[f"statistics-{number}"] = f"""\
SELECT count(*) AS tasks, avg(rate_b - rate_a) AS mean_difference, count(*) FILTER (rate_b > rate_a) AS better,
    count(*) FILTER (rate_b < rate_a) AS worse
FROM (
{rates}
)
WHERE rate_a IS NOT NULL AND rate_b IS NOT NULL"""
        found[f"flips-{number}"] = f"""\
FROM (
{rates}
)
WHERE rate_a <> rate_b
ORDER BY rate_b - rate_a, task_id"""
    return found


def _one_skill(before: str, after: str, skill: SkillDiff) -> str:
    """Of each side the version that is compared: there may be others of the same id."""
    sides = ((before, skill.before_skill_id, skill.before_version), (after, skill.skill_id, skill.skill_version))
    named = [
        f"(run_id = '{run}' AND skill_id = {sql_text(skill_id)} AND skill_version = {sql_text(version)})"
        for run, skill_id, version in sides
        if skill_id is not None and version is not None
    ]
    return f"({' OR '.join(named)}) AND benchmark_id = {sql_text(skill.benchmark_id)}"


def without_statements(statements: Mapping[str, str], but: str | None = None) -> Mapping[str, str]:
    """The same tables, of a run that is not finished: the store's tables hold none of it yet, `but` for this one."""
    return {name: statement if name == but else "" for name, statement in statements.items()}


def effect_statements(run_id: str) -> Mapping[str, str]:
    """Those of the page of what an Agent Skill changed."""
    reports = f"FROM reports WHERE run_id = '{run_id}'"
    return {
        "arms": f"""\
SELECT effect_arm, effect_against, effect, effect_lower, effect_upper, effect_verdict, completion_rate, ci_lower, ci_upper,
    total_tokens, estimated_usd, p50_ms
{reports}
ORDER BY effect_arm""",
        "costs": f"SELECT effect_arm, items, total_tokens, estimated_usd, p50_ms\n{reports}\nORDER BY effect_arm",
        **dict.fromkeys(("worse", "task-table"), _by_task(run_id)),
    }


def triggers_statements(run_id: str) -> Mapping[str, str]:
    """Those of the page of whether an Agent Skill was loaded when it should."""
    queries = f"""\
SELECT task_id, tags, count(*) AS runs, count(*) FILTER (passed) AS as_it_should,
    count(*) FILTER (status NOT IN ('pass', 'fail')) AS broke_off, list(skills_loaded) AS loaded
FROM items_all
WHERE run_id = '{run_id}'
GROUP BY ALL
ORDER BY task_id"""
    loads = f"""\
SELECT loaded, tags, count(*) AS runs
FROM (SELECT tags, unnest(skills_loaded) AS loaded FROM items_all WHERE run_id = '{run_id}')
GROUP BY ALL
ORDER BY runs DESC"""
    rates = f"""\
SELECT tags, count(*) AS runs, avg(passed::INT) FILTER (status IN ('pass', 'fail')) AS as_they_should
FROM items_all
WHERE run_id = '{run_id}'
GROUP BY ALL"""
    return {"rates": rates, "loads": loads, **dict.fromkeys(("missed", "alarms", "unknown", "queries"), queries)}


def _by_task(run_id: str) -> str:
    return f"""\
SELECT task_id, {_SKILL}, avg(passed::INT) AS completion, count(*) AS runs
FROM items_all
WHERE run_id = '{run_id}'
GROUP BY ALL
ORDER BY ALL"""


def _share(*statuses: str) -> str:
    return f"avg((status IN ({', '.join(map(repr, statuses))}))::INT)"


def sql_text(text: str) -> str:
    """A text as SQL, without signs that could steer what shows it."""
    quoted = "".join(letter.replace("'", "''") if letter.isprintable() else f"' || chr({ord(letter)}) || '" for letter in text)
    return f"('{quoted}')"
