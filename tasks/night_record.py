"""A night in the store's table of nights, and what goes when it is over. Plain: no Prefect."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from eval_skills.core.store import Pruned, Store, land_night, prune_items
from eval_skills.tasks.night_past import last_good_runs
from eval_skills.tasks.night_summary import NightSummary, SkillOutcome, SuiteOutcome


def record_night(store: Store, summary: NightSummary) -> str:
    """Write the night's rows, all at once; where they are. Until then no other night knows of this one."""
    rows = [row for suite in summary.suites for row in _rows(suite)]
    finished = {"night_id": summary.night_id, "finished_at": datetime.now(UTC)}
    return land_night(store, summary.night_id, [row | finished for row in rows])


def prune_old_items(store: Store, keep_days: int, pinned: set[str]) -> Pruned:
    """Delete the items of runs older than this many days, but of those that are `pinned` or that later nights need."""
    before = datetime.now(UTC) - timedelta(days=keep_days)
    return prune_items(store, before=before, keep=pinned | last_good_runs(store))


def _rows(suite: SuiteOutcome) -> list[dict[str, Any]]:
    shared = {
        "suite": suite.name,
        "run_id": suite.run_id,
        "benchmark_id": suite.benchmark_id,
        "good": suite.good,
        "last_good_run_id": suite.last_good,
        "baseline": suite.baseline,
    }
    if not suite.skills:
        return [shared | {"verdict": "failed", "explanation": "; ".join(suite.failures)}]
    return [shared | _row(skill) for skill in suite.skills]


def _row(skill: SkillOutcome) -> dict[str, Any]:
    report, ruling, lost = skill.report, skill.ruling, skill.ruling.lost
    last = next((each.diff.statistics for each in skill.against if each.kind == "last good"), None)
    return {
        "skill_id": report.skill_id,
        "skill_version": report.skill_version,
        "verdict": ruling.verdict,
        "completion_rate": report.summary.completion_rate,
        "mean_difference": last.mean_difference if last else None,
        "adjusted_p": last.adjusted_p if last else None,
        "moved_tasks": ruling.tasks,
        "expected_rate": lost.expected_rate if lost else None,
        "observed_rate": lost.observed_rate if lost else None,
        "since_night_id": lost.since if lost else None,
        "confirm_run_id": skill.confirm_run_id,
        "explanation": ruling.explanation,
    }
