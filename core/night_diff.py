"""The comparisons of one night, judged together."""

from __future__ import annotations

from collections.abc import Sequence

from eval_skills.core.diff_verdict import judge
from eval_skills.core.paired_statistics import holm
from eval_skills.core.report_diff import ReportDiff, SkillDiff


def judged_together(diffs: Sequence[ReportDiff]) -> list[ReportDiff]:
    """The same comparisons with Holm's adjustment over every skill of all of them, and the verdicts that follow from it.

    So the chance that any skill of the night is called worse (or better) where nothing changed stays below the significance,
    however many suites and references there are.
    """
    p_values = iter(holm([skill.statistics.p_value for diff in diffs for skill in diff.skills if skill.statistics is not None]))
    return [
        diff.model_copy(
            update={"skills": [_judged(skill, next(p_values), diff) if skill.statistics else skill for skill in diff.skills]}
        )
        for diff in diffs
    ]


def _judged(skill: SkillDiff, adjusted_p: float, diff: ReportDiff) -> SkillDiff:
    assert skill.statistics is not None
    statistics = skill.statistics.model_copy(update={"adjusted_p": adjusted_p})
    verdict, explanation = judge(statistics, diff.significance, diff.min_effect)
    return skill.model_copy(update={"statistics": statistics, "verdict": verdict, "explanation": explanation})
