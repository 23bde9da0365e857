"""What rescoring changed: the same answers by both scorings, without what was not called or not judged."""

from __future__ import annotations

from collections.abc import Sequence

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.diff.model import DiffRow, ReportDiff, SkillDiff
from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.result import ItemKey
from eval_skills.core.text import plural
from eval_skills.engine.rescoring.plan import JUDGED_AGAIN, Rescoring
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.reporting.diff.report import DiffDocument

Reports = Sequence[SkillCompletionReport]

_CARRIED_OVER = frozenset({"p95Ms", "latencyMs", "costUsd", "tokens"})
"""Figures of the call, which a rescoring does not repeat."""


def rescoring_diff(plan: Rescoring) -> DiffDocument:
    """The original run compared with its rescoring, which must have landed."""
    then, now = (read_source(run_id, plan.store.path).reports for run_id in (plan.of, plan.run_id))
    here = [report.model_copy(update={"benchmark_id": plan.basis.benchmark.id}) for report in then]
    diff, remarks = difference_of_scorings(here, now)
    return DiffDocument(
        diff=diff, before=f"{plan.of} as scored then", after=f"{plan.run_id} as scored today", failures=None, remarks=remarks
    )


def difference_of_scorings(before: Reports, after: Reports) -> tuple[ReportDiff, list[str]]:
    """Two scorings of the same answers, and remarks on them.

    There is no latency in it, since nothing was called. An item whose scoring failed before and that has a verdict now, or on
    which the judge fails now, is not a change of the skill: it is in no test and no flip, and of the figures that it moves no
    change is told.
    """
    broken = {key for key, item in _items(before) if item.status == "error" and item.error_kind in JUDGED_AGAIN}
    fresh = {key for key, item in _items(after) if key in broken and item.status in ("pass", "fail")}
    failed = {key for key, item in _items(after) if item.error_kind == "judge"}
    kept = _without(before, fresh | failed)
    diff = diff_reports(kept, _without(after, fresh | failed))
    moved = {skill for skill, _, _ in fresh | failed}
    emptied = {own.skill_key for own, left in zip(before, kept, strict=True) if own.task_results and not left.task_results}
    keys = [skill.skill_key for skill in diff.skills]
    skills = [_shown(skill, key in moved, key in emptied) for skill, key in zip(diff.skills, keys, strict=True)]
    remarks = [f"{plural(len(fresh), 'item')} not judged before and judged now: counted as no change"] if fresh else []
    remarks += [f"{plural(len(failed), 'item')} not judged now, since the judge failed: counted as no change"] if failed else []
    return diff.model_copy(update={"skills": skills}), remarks


def _items(reports: Reports) -> list[tuple[ItemKey, TaskResult]]:
    return [((report.skill_key, item.task_id, item.run_index), item) for report in reports for item in report.task_results]


def _without(reports: Reports, keys: set[ItemKey]) -> list[SkillCompletionReport]:
    """The reports without these items; with no digests of tasks and scorings, which differ on purpose."""
    kept = [
        [
            item.model_copy(update={"task_digest": None, "scoring_digest": None})
            for item in report.task_results
            if (report.skill_key, item.task_id, item.run_index) not in keys
        ]
        for report in reports
    ]
    return [report.model_copy(update={"task_results": items}) for report, items in zip(reports, kept, strict=True)]


def _shown(skill: SkillDiff, judged_first: bool, is_emptied: bool) -> SkillDiff:
    rows: list[DiffRow] = [row for row in skill.rows if row.metric not in _CARRIED_OVER]
    if judged_first:
        rows = [row.model_copy(update={"delta": None, "arrow": "", "good": None, "significant": False}) for row in rows]
    explanation = "not comparable: no item has a verdict by both scorings" if is_emptied else skill.explanation
    return skill.model_copy(update={"rows": rows, "explanation": explanation})
