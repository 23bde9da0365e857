"""Does a comparison pass a gate?"""

from __future__ import annotations

from typing import Literal

from eval_skills.core.report_diff import ReportDiff

FailOn = Literal["worse"]


def gate_failures(diff: ReportDiff, fail_on: FailOn) -> list[str]:
    """Why the comparison does not pass, one sentence each; empty where it does.

    It fails on every skill with the verdict `fail_on`, and where nothing could be compared at all, no skill being on both sides
    with a task in common. A gate that evaluated nothing has not passed.
    """
    failures = [
        f"{skill.skill_id}@{skill.skill_version} is {fail_on}: {skill.explanation}" for skill in diff.with_verdict(fail_on)
    ]
    if not any(skill.statistics for skill in diff.skills):
        failures.append("nothing could be compared: no skill has a task that was recorded on both sides")
    return failures
