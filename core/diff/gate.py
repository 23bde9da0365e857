"""Whether a comparison passes a gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from eval_skills.core.diff.diff import at_lower, interval_text
from eval_skills.core.diff.figures import ROUNDING
from eval_skills.core.diff.model import MissingRule, PairedStatistics, ReportDiff, SkillDiff
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.statistics.losses import Loss, least_tasks, weighed_loss
from eval_skills.core.statistics.paired import tasks_to_prove
from eval_skills.core.text import chance_text, exact, first_of, p_is, plural

FailOn = Literal["worse", "not-proven"]
NON_INFERIORITY_MARGIN = 0.03
TOGETHER = 0.2
"""The share of the significance that is spent on what all skills lost together."""
LEAST_COMPARED = 0.5
"""The share of the earlier side's tasks that must be compared for a gate to judge a skill by them."""
_TASKS_NAMED = 3
_WITHOUT_IT = "name its successor with --map, or leave it out of the earlier side (report convert --skill)"


def gate_failures(diff: ReportDiff, fail_on: FailOn, *, margin: float = NON_INFERIORITY_MARGIN) -> list[str]:
    """Why the comparison does not pass, one sentence each; empty where it does.

    ``worse``: every skill with that verdict fails it, every one that `loss_failure` speaks of, and where none of several does,
    what they lost together. ``not-proven``: every skill of which it is not proven that it lost less than `margin`, that is whose
    equivalence interval does not lie above −margin (a one-sided test at the significance).

    Neither passes what could not be judged: a comparison that items without a verdict leave open, one of which every task, or
    more than half of them, changed or left (or, where such items are ignored, has no verdict on one side), a skill whose items
    are of several versions of its files, one that has a report on the earlier side alone, in whatever version, a version of one
    that left where another one came, and a comparison in which no skill has a task on both sides.
    """
    compared = sum(skill.statistics is not None for skill in diff.skills)
    failures = [failure for skill in diff.skills if (failure := _failure(skill, diff, fail_on, margin, compared))]
    failures += _gone(diff)
    if not failures and fail_on == "worse" and (lost := _lost_together(diff)):
        failures.append(lost)
    if not any(skill.change == "compared" for skill in diff.skills):
        failures.append("nothing could be compared: no skill has a task that was recorded on both sides")
    return failures


def loss_failure(skill: SkillDiff, *, compared: int, significance: float, min_effect: float = 0.0) -> str | None:
    """Why a skill that is not called worse fails all the same, to follow its name; None where it does not.

    It lost at least `min_effect` on the whole, and tasks that passed in every run before failed in every run after as flaky tasks
    seldom do, or fewer runs passed than chance explains; or it lost so much, or on so small a sample, that it may not be passed
    for chance. See `weighed_loss`.
    """
    found, failing = skill.statistics, skill.newly_failing
    if found is None or failing is None or not ROUNDING < -found.mean_difference >= min_effect - ROUNDING:
        return None
    loss = Loss(
        size=-found.mean_difference,
        tasks=found.tasks,
        newly_failing=failing.chance,
        floor=failing.floor,
        fewer_passes=1.0 if found.fewer_passes_p is None else found.fewer_passes_p,
    )
    lost = f"lost {100 * loss.size:.1f} pp"
    weighed = weighed_loss(loss, compared=compared, significance=significance)
    if weighed == "newly failing":
        tasks = f"{plural(len(failing.tasks), 'task')} that passed in every run before failed in every run after"
        named, chance = first_of(failing.tasks, _TASKS_NAMED), chance_text(failing.chance, 2)
        return f"{lost}: {tasks}, {named} (chance of flaky tasks: {chance})"
    if weighed == "fewer runs pass":
        worse = plural(found.tasks_worse, "task")
        return (
            f"{lost}: fewer runs of {worse} passed than before (chance, if no task changed: {chance_text(loss.fewer_passes, 2)})"
        )
    if weighed is None:
        return None
    return (
        f"could not be judged: it {lost}, and {plural(found.tasks, 'task')} with so few runs cannot tell that from chance; "
        f"at least {least_tasks(loss, compared=compared, significance=significance)} tasks can, or more runs of each"
    )


def forbidden_failures(reports: Iterable[SkillCompletionReport]) -> list[str]:
    """Why the later side of a comparison fails whatever its completion: a sentence for each skill that called forbidden tools, or
    of which that is not known."""
    failures = []
    for report in reports:
        called, unknown = report.summary.forbidden_items or 0, report.summary.forbidden_unknown_items or 0
        if called:
            failures.append(f"{report.skill_key} called forbidden tools in {plural(called, 'item')}")
        elif unknown:
            failures.append(f"whether {report.skill_key} called a forbidden tool is unknown in {plural(unknown, 'item')}")
    return failures


def _gone(diff: ReportDiff) -> Iterator[str]:
    """Why the skills of the earlier side fail that nothing on the later one was compared with, neither they nor another version,
    and versions that one which was compared with nothing may have followed."""
    followed = {(skill.before_skill_id, skill.benchmark_id) for skill in diff.skills if skill.change == "compared"}
    added = {(skill.skill_id, skill.benchmark_id): skill.skill_key for skill in diff.skills if skill.change == "added"}
    for skill in diff.skills:
        key = (skill.skill_id, skill.benchmark_id)
        if skill.change == "removed" and (key not in followed or key in added):
            beside = f", where {added[key]} was compared with nothing" if key in added else ""
            yield f"{skill.skill_key} could not be judged: it has no report on the later side{beside}; {_WITHOUT_IT}"


def _failure(skill: SkillDiff, diff: ReportDiff, fail_on: FailOn, margin: float, compared: int) -> str | None:
    name, found = skill.skill_key, skill.statistics
    if skill.change != "compared":
        return None
    if found is None:
        return f"{name} could not be judged: {skill.explanation}"
    if skill.several_versions:
        return f"{name} could not be judged: {skill.several_versions}; evaluate it anew"
    if few := _too_few(skill, found, diff.missing):
        return f"{name} could not be judged: {few}"
    if skill.verdict == "worse":
        return f"{name} is worse: {skill.explanation}"
    if skill.left_open and diff.missing == "bounds":
        return f"{name} could not be judged: {skill.explanation}"
    if fail_on == "worse":
        lost = loss_failure(skill, compared=compared, significance=diff.significance, min_effect=diff.min_effect)
        return lost and f"{name} {lost}"
    judged = at_lower(found) if diff.missing == "bounds" else found
    unproven = not_proven(judged, margin)
    return unproven and f"{name}: {unproven}"


def _lost_together(diff: ReportDiff) -> str | None:
    found = diff.together
    if found is None or found.p_value > TOGETHER * diff.significance or -found.mean_difference < max(diff.min_effect, ROUNDING):
        return None
    return (
        f"{found.skills} skills together lost {-100 * found.mean_difference:.1f} pp on {plural(found.tasks, 'task')} "
        f"({p_is(found.p_value, 2)}), though of none alone it is certain"
    )


def _too_few(skill: SkillDiff, found: PairedStatistics, missing: MissingRule) -> str | None:
    """In words, that less than half of the tasks of the earlier side are compared; None where it is more.

    Tasks without a verdict on one side count as compared where a verdict must hold whatever they would have said.
    """
    ignored = len(skill.tasks_without_verdict) if missing == "ignore" else 0
    lost = len(skill.tasks_incomparable) + len(skill.tasks_only_before)
    if found.tasks >= LEAST_COMPARED * (found.tasks + lost + ignored):
        return None
    said = f"only {found.tasks:,} of {plural(found.tasks + lost + ignored, 'task')} of the earlier side are compared, "
    if not lost:
        return f"{said}the others have no verdict on one side; run them again with --resume RUN --retry-errors"
    why = "changed, left, are judged otherwise or have no verdict" if ignored else "changed, left or are judged otherwise"
    return f"{said}the others {why}; evaluate all of them, or rescore the earlier side by today's tasks"


def not_proven(found: PairedStatistics, margin: float) -> str | None:
    """In words, that it is not proven that less than `margin` was lost; None where it is (one-sided, at the significance)."""
    if found.equivalence_interval.lower > -margin:
        return None
    interval = found.equivalence_interval
    needed = tasks_to_prove(margin, level=interval.level)
    few = f"; where none differs, it takes {plural(needed, 'task')}" if needed is not None and found.tasks < needed else ""
    return f"not proven that it lost less than {exact(margin)}: the mean difference lies in {interval_text(interval)}{few}"
