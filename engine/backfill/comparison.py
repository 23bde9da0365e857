"""The results of one period compared with the one before, and how these comparisons land."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.diff.model import SkillDiff
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.store import COMPARISON_SCHEMA, Store, derived_run_id, land_rows
from eval_skills.core.store.rows import interval_columns
from eval_skills.engine.backfill.periods import PeriodWork
from eval_skills.engine.evaluation.summary import RunSummary

_OF_THE_CALL = frozenset({"comparison_id", "backfilled_at"})

Key = tuple[str, str]
"""A skill's ``id@version`` and a benchmark's id."""


@dataclass(frozen=True, slots=True)
class PeriodResult:
    """The last report of one skill on one benchmark in a period, and its run."""

    report: SkillCompletionReport
    run_id: str

    @property
    def key(self) -> Key:
        """What distinguishes it from the others of its period."""
        return self.report.skill_key, self.report.benchmark_id

    @property
    def line(self) -> tuple[str, str]:
        """The skill's id and the benchmark's, by which it is compared with other periods."""
        return self.report.skill_id, self.report.benchmark_id


def latest_results(runs: Iterable[tuple[str, Sequence[SkillCompletionReport]]]) -> dict[Key, PeriodResult]:
    """The result of every skill in a period: of several runs, given oldest first, the last one counts."""
    found = (PeriodResult(report, run_id) for run_id, reports in runs for report in reports)
    return {result.key: result for result in found}


def comparison_rows(before: Mapping[Key, PeriodResult], after: Mapping[Key, PeriodResult]) -> list[dict[str, Any]]:
    """One row per result of a period, with the columns of `COMPARISON_SCHEMA` that are about the two sides.

    The sides are compared as `diff_reports` compares: paired by task, Holm over the skills of the period. A skill without a
    result in this period has no row.
    """
    diff = diff_reports([each.report for each in before.values()], [each.report for each in after.values()])
    return [_row(skill, before, after) for skill in diff.skills if skill.change != "removed"]


def _row(skill: SkillDiff, before: Mapping[Key, PeriodResult], after: Mapping[Key, PeriodResult]) -> dict[str, Any]:
    now = after[skill.skill_key, skill.benchmark_id]
    then = before.get((skill.before_key, skill.benchmark_id)) if skill.before_key is not None else None
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
    row |= interval_columns(now.report.summary.confidence_interval)
    row |= _figures(now.report, "") | (_figures(then.report, "before_") if then else {})
    if None not in (row["completion_rate"], row.get("before_completion_rate")):
        row["completion_delta"] = next(figure.delta for figure in skill.rows if figure.metric == "completionRate")
    if (statistics := skill.statistics) is not None:
        row |= {name: getattr(statistics, name) for name in ("tasks", "mean_difference", "p_value", "adjusted_p")}
        row |= {"difference_lower": statistics.interval.lower, "difference_upper": statistics.interval.upper}
    return row


def _figures(report: SkillCompletionReport, prefix: str) -> dict[str, Any]:
    summary = report.summary
    return {
        f"{prefix}completion_rate": summary.known_completion,
        f"{prefix}error_rate": summary.error_rate,
        f"{prefix}p95_ms": report.latency.p95_ms,
        f"{prefix}composite_score": summary.composite_score if summary.has_verdict else None,
    }


@dataclass(frozen=True, slots=True)
class PeriodOutcome:
    """The result of one period: its rows as they landed, and its evaluations.

    `unjudged` counts the items on which the judge failed, `judge_said` is its first error.
    """

    rows: list[dict[str, Any]]
    remarks: list[str] = field(default_factory=list)
    runs: list[RunSummary] = field(default_factory=list)
    unjudged: int = 0
    judge_said: str = ""


def land_period(
    store: Store, mode: str, work: PeriodWork, rows: list[dict[str, Any]], *, unjudged: int
) -> tuple[list[dict[str, Any]], bool]:
    """Land the rows of a period, and whether they are new.

    An unchanged result of a period that is done again does not land again, nor does what another machine has landed meanwhile.
    """
    if work.is_first and (theirs := _landed_meanwhile(store, work)):
        return theirs, False
    comparison_id = derived_run_id(work.period.start, work.digest, set(store.tables.files("comparisons")))
    common = {
        "comparison_id": comparison_id,
        "mode": mode,
        "period": work.period.name,
        "period_start": work.period.start,
        "period_end": work.period.end,
        "revision": work.sources[-1].name if mode == "replay" else None,
        "backfilled_at": datetime.now(UTC),
        "digest": work.digest,
        "unjudged_items": unjudged,
    }
    complete = [row | common for row in rows]
    if (work.is_repeated or work.is_behind) and _said(complete) == _said(
        before := landed_rows(store, {work.digest})[work.digest]
    ):
        return before, False
    land_rows(store, "comparisons", comparison_id, complete)
    return complete, True


def _landed_meanwhile(store: Store, work: PeriodWork) -> list[dict[str, Any]]:
    """The rows of a period that this call is not the first to land after all; none where it is."""
    own = derived_run_id(work.period.start, work.digest)  # only where it is taken the rows are worth a look
    return landed_rows(store, {work.digest})[work.digest] if own in store.tables.files("comparisons") else []


def landed_rows(store: Store, digests: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """The landed rows of periods, by digest; of several backfills of one period those of the last."""
    if not digests:
        return {}
    import pyarrow.dataset as ds

    table = store.tables.dataset("comparisons").to_table(filter=ds.field("digest").isin(sorted(digests)))
    found: dict[str, list[dict[str, Any]]] = {digest: [] for digest in digests}
    for row in table.to_pylist():
        same = found[row["digest"]]
        if same and same[0]["backfilled_at"] < row["backfilled_at"]:
            same.clear()
        if not same or same[0]["comparison_id"] == row["comparison_id"]:
            same.append(row)
    return found


def _said(rows: list[dict[str, Any]]) -> list[list[Any]]:
    own = [name for name in COMPARISON_SCHEMA.names if name not in _OF_THE_CALL]
    return [[row.get(name) for name in own] for row in rows]
