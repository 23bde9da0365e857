"""How skills stood in one period, and how they moved against the one before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.diff.model import SkillDiff
from eval_skills.core.models import SkillCompletionReport

Key = tuple[str, str]
"""A skill's ``id@version`` and a benchmark's id."""


@dataclass(frozen=True, slots=True)
class PeriodResult:
    """The last report of one skill on one benchmark in a period, and the run that it comes from."""

    report: SkillCompletionReport
    run_id: str

    @property
    def key(self) -> Key:
        """What tells it from the others of its period."""
        return self.report.skill_key, self.report.benchmark_id

    @property
    def line(self) -> tuple[str, str]:
        """The skill's id and the benchmark's: what it is compared along."""
        return self.report.skill_id, self.report.benchmark_id


def latest_results(runs: Iterable[tuple[str, Sequence[SkillCompletionReport]]]) -> dict[Key, PeriodResult]:
    """Where every skill stood at the end of a period: of several runs in it, given oldest first, the last one counts."""
    found = (PeriodResult(report, run_id) for run_id, reports in runs for report in reports)
    return {result.key: result for result in found}


def comparison_rows(before: Mapping[Key, PeriodResult], after: Mapping[Key, PeriodResult]) -> list[dict[str, Any]]:
    """One row per result of a period, under the names of `COMPARISON_SCHEMA`, as far as they are about the two sides.

    The sides are compared as `diff_reports` compares: paired by task, Holm over the skills of the period. What stood before and
    does not now has no row.
    """
    diff = diff_reports([each.report for each in before.values()], [each.report for each in after.values()])
    return [_row(skill, before, after) for skill in diff.skills if skill.change != "removed"]


def _row(skill: SkillDiff, before: Mapping[Key, PeriodResult], after: Mapping[Key, PeriodResult]) -> dict[str, Any]:
    now = after[f"{skill.skill_id}@{skill.skill_version}", skill.benchmark_id]
    then = before.get((f"{skill.before_skill_id}@{skill.before_version}", skill.benchmark_id))
    row: dict[str, Any] = {
        "skill_id": skill.skill_id,
        "skill_version": skill.skill_version,
        "before_version": skill.before_version,
        "benchmark_id": skill.benchmark_id,
        "benchmark_version": now.report.evaluator_metadata.get("benchmarkVersion"),
        "run_id": now.run_id,
        "before_run_id": then.run_id if then else None,
        "verdict": skill.verdict,
        "explanation": skill.explanation or None,
    }
    interval = now.report.summary.confidence_interval
    row |= {f"ci_{name}": getattr(interval, name) for name in ("lower", "upper", "level", "method")}
    row |= _figures(now.report, "") | (_figures(then.report, "before_") if then else {})
    if then is not None:
        row["completion_delta"] = row["completion_rate"] - row["before_completion_rate"]
    if (statistics := skill.statistics) is not None:
        row |= {name: getattr(statistics, name) for name in ("tasks", "mean_difference", "p_value", "adjusted_p")}
        row |= {"difference_lower": statistics.interval.lower, "difference_upper": statistics.interval.upper}
    return row


def _figures(report: SkillCompletionReport, prefix: str) -> dict[str, Any]:
    summary = report.summary
    return {
        f"{prefix}completion_rate": summary.completion_rate,
        f"{prefix}error_rate": summary.error_rate,
        f"{prefix}p95_ms": report.latency.p95_ms,
        f"{prefix}composite_score": summary.composite_score,
    }
