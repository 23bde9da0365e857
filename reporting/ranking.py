"""The one order in which every report and the terminal show skills."""

from __future__ import annotations

from collections.abc import Iterable

from eval_skills.core.models import SkillCompletionReport


def ranked(reports: Iterable[SkillCompletionReport]) -> list[SkillCompletionReport]:
    """The reports, best first: by completion rate, then by composite score, then by ``id@version`` and benchmark.

    Completion comes first because the composite score of a fast skill that is always wrong is 0.5.
    """
    return sorted(reports, key=_place)


def _place(report: SkillCompletionReport) -> tuple[float, float, str, str]:
    summary = report.summary
    return (-summary.completion_rate, -summary.composite_score, report.skill_key, report.benchmark_id)
