"""Whether an effect passes a gate."""

from __future__ import annotations

from typing import Literal

from eval_skills.core.diff.diff import SIGNIFICANCE, at_lower
from eval_skills.core.diff.figures import ROUNDING
from eval_skills.core.diff.gate import loss_failure
from eval_skills.core.skill_effect.model import ArmComparison, SkillEffect

FailOn = Literal["worse", "not-better"]
"""What fails a gate: that the Agent Skill makes it worse, or also that it is not proven to make it better."""


def gate_failures(effect: SkillEffect, fail_on: FailOn) -> list[str]:
    """Why the gate fails; a comparison that could not be made, or not be believed, has not passed."""
    found = [*filter(None, [effect.unfinished]), *(f"set-up error: {problem}" for problem in effect.problems)]
    for each in effect.comparisons:
        name, verdict = f"with − {each.against}", each.diff.verdict
        if each.diff.statistics is None:
            found.append(f"{name} could not be compared")
        elif each.diff.several_versions:
            found.append(f"{name} could not be compared: {each.diff.several_versions}")
        elif verdict == "worse" or (fail_on == "not-better" and verdict != "better"):
            found.append(f"{name} is {verdict}")
        elif each.diff.left_open and not _lost_nothing(each):
            found.append(f"{name}: items without a verdict leave open whether it is worse")
        elif lost := loss_failure(each.diff, compared=len(effect.comparisons), significance=SIGNIFICANCE):
            found.append(f"{name} {lost}")
        elif each.rests_on_errors and (fail_on == "not-better" or each.verdict_of_answers == "worse"):
            found.append(f"{name} is {verdict} only as items without an answer count as not passed: {of_answers(each)}")
    if fail_on == "not-better" and effect.never_loaded:
        found.append("the Agent Skill was never loaded, so no difference is its content's")
    return found


def _lost_nothing(found: ArmComparison) -> bool:
    """Whether nothing was lost on the whole even if every item without a verdict had gone against the Agent Skill."""
    statistics = found.diff.statistics
    return statistics is not None and at_lower(statistics).mean_difference >= -ROUNDING


def of_answers(found: ArmComparison) -> str:
    """``of the answered items alone it is inconclusive``."""
    return f"of the answered items alone it is {found.verdict_of_answers}"
