"""The comparisons of a night, from the tallies of its skills: pure, and the same in a simulation.

Every skill is compared by the paired test over tasks, adjusted by Holm's procedure over the whole night, and by the runs of its
tasks (`fewer_passes_p`), since the test over tasks decides nothing where fewer than five differ:

- tonight with its *good nights*, at most `POOLED`, whatever the skill's version was then: each task's runs of all of them are
  pooled, so that one lucky or unlucky night hardly moves what later ones are compared with;
- where the skill changed lately, all nights *since the change*, pooled with tonight, with the good nights before it;
- tonight with the pinned *baseline*.

Beside these, a cumulative test looks for a *slow drop* (`lasting_drop`), at a level of its own: nights that each lose a little
move the pooled nights along with them, but not the first of the series.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

import numpy as np

from eval_skills.core.diff.diff import EQUIVALENCE_MARGIN, SIGNIFICANCE, at_lower, judge, judged_together
from eval_skills.core.diff.model import PairedStatistics, ReportDiff, SkillDiff
from eval_skills.core.diff.tasks import TaskPairs
from eval_skills.core.metrics.tasks import Tallies, Tally, merge_tallies
from eval_skills.core.models import TaskResult
from eval_skills.core.nightly.evidence import POOLED, Against, Night, Rule, SkillNight
from eval_skills.core.statistics.drops import lasting_drop
from eval_skills.core.statistics.losses import fewer_pass
from eval_skills.core.statistics.rates import DEFAULT_SEED
from eval_skills.core.text import chance_text, plural

_item = partial(TaskResult, task_id="", run_index=0)
_PASS, _FAIL = _item(status="pass", passed=True), _item(status="fail", passed=False)
_MISSING = _item(status="error", passed=False, error_kind="infra")


def judged(skills: Sequence[SkillNight]) -> list[SkillNight]:
    """The skills of a night with their comparisons, adjusted for one another."""
    paired = [_paired(skill) for skill in skills]
    compared = [each.statistics for found in paired for each in found if each.statistics]
    verdicts = iter(_adjusted(compared))
    ruled = [[_ruled(each, next(verdicts), len(compared)) if each.statistics else each for each in found] for found in paired]
    return [replace(skill, against=[*found, *_slow_drop(skill)]) for skill, found in zip(skills, ruled, strict=True)]


def compare_tallies(before: Tallies, after: Tallies, significance: float = SIGNIFICANCE) -> PairedStatistics | None:
    """The paired statistics of the tasks on both sides; None where no task has a verdict on both."""
    tasks = sorted(before.keys() & after.keys())
    then, now = ([_items(side[task]) for task in tasks] for side in (before, after))
    pairs = TaskPairs(tasks=tasks, before=then, after=now, only_before=[], only_after=[], changed=[])
    return pairs.statistics(margin=EQUIVALENCE_MARGIN, significance=significance, seed=DEFAULT_SEED) if tasks else None


def _items(tally: Tally) -> list[TaskResult]:
    return [_PASS] * tally.passed + [_FAIL] * tally.failed + [_MISSING] * tally.missing


def _paired(skill: SkillNight) -> list[Against]:
    now, tonight = skill.tonight.tallies, skill.tonight.night_id
    found = []
    if skill.good:
        name = plural(len(skill.good), "good night")
        found.append(_against("good nights", name, skill.before, now, tonight))
    if changed := _since_change(skill):
        found.append(changed)
    if skill.pinned is not None:
        name, before = skill.pinned
        found.append(_against("baseline", f"the baseline ({name})", before, now, tonight))
    return found


def _against(rule: Rule, name: str, before: Tallies, after: Tallies, since: str) -> Against:
    statistics = compare_tallies(before, after)
    explanation = "" if statistics else "no task with a verdict on both sides"
    return Against(rule=rule, name=name, before=before, after=after, since=since, statistics=statistics, explanation=explanation)


def _since_change(skill: SkillNight) -> Against | None:
    """All nights since the skill last changed, against the good ones before; None if it changed tonight, not, or long ago."""
    since: list[Night] = []
    for night in reversed(skill.past):
        if _skill_of(night) != _skill_of(skill.tonight):
            break
        since.append(night)
    before = [night for night in skill.past[: len(skill.past) - len(since)] if night.good][-POOLED:]
    if not 0 < len(since) < POOLED or not before:
        return None
    return _against(
        "since change",
        f"{plural(len(before), 'good night')} before the skill changed",
        merge_tallies(*(night.tallies for night in before)),
        merge_tallies(*(night.tallies for night in since), skill.tonight.tallies),
        since[-1].night_id,
    )


SKILL_FILES, SKILL_VERSION = "skill files", "skill version"
"""Names in `Night.made_of` of what a change of the skill is seen by."""


def _skill_of(night: Night) -> str | None:
    return night.made_of.get(SKILL_FILES) or night.made_of.get(SKILL_VERSION)


def _adjusted(found: Sequence[PairedStatistics]) -> list[SkillDiff]:
    """Each with its verdict after Holm's adjustment for all the others."""
    skills = [
        SkillDiff(skill_id="", skill_version="", benchmark_id="", rows=[], change="compared", statistics=each) for each in found
    ]
    diff = ReportDiff(skills=skills, significance=SIGNIFICANCE, equivalence_margin=EQUIVALENCE_MARGIN)
    return judged_together([diff])[0].skills


def _ruled(against: Against, found: SkillDiff, compared: int) -> Against:
    assert found.statistics is not None
    assert found.verdict is not None
    worst, _ = judge(at_lower(found.statistics), SIGNIFICANCE, missing="ignore")
    left_open = found.verdict != "worse" and worst == "worse" and found.statistics.missing is not None
    ruled = replace(
        against, statistics=found.statistics, verdict=found.verdict, explanation=found.explanation, left_open=left_open
    )
    return _ruled_by_runs(ruled, found.statistics, compared) if ruled.verdict != "worse" else ruled


def _ruled_by_runs(against: Against, found: PairedStatistics, compared: int) -> Against:
    """Where the test over tasks does not say worse, the runs of the tasks may; with items missing, they leave it open."""
    chance = found.fewer_passes_p
    if chance is None or found.mean_difference >= 0 or not fewer_pass(chance, compared=compared, significance=SIGNIFICANCE):
        return against
    if found.missing is not None:
        return replace(against, left_open=True)
    words = (
        f"mean difference {found.mean_difference:+z.4f}; fewer runs of {plural(found.tasks_worse, 'task')} passed "
        f"(chance, if no task changed: {chance_text(chance, 2)})"
    )
    return replace(against, verdict="worse", explanation=words, by_runs=True)


def _slow_drop(skill: SkillNight) -> list[Against]:
    """The nights since the skill came down for good, against those before; at most one."""
    nights = [night for night in (*skill.past, skill.tonight) if any(tally.rate is not None for tally in night.tallies.values())]
    usual = {task: tally.rate for task, tally in merge_tallies(*(night.tallies for night in nights)).items()}
    shifts = [
        [
            tally.rate - expected
            for task, tally in night.tallies.items()
            if tally.rate is not None and (expected := usual[task]) is not None
        ]
        for night in nights
    ]
    drop = lasting_drop(np.array([fmean(each) for each in shifts]), np.array([float(len(each)) for each in shifts]))
    if drop is None:
        return []
    before, after = (merge_tallies(*(night.tallies for night in part)) for part in (nights[: drop.at], nights[drop.at :]))
    statistics = compare_tallies(before, after)
    if statistics is None or (statistics.missing is not None and statistics.missing.upper >= 0):
        return []
    words = (
        f"{statistics.mean_difference:+z.4f} on average over {plural(len(nights) - drop.at, 'night')}; "
        f"test for lasting drops: p = {drop.p:.4g}"
    )
    name, since = plural(drop.at, "night") + " before", nights[drop.at].night_id
    return [
        Against(
            rule="slow drop",
            name=name,
            before=before,
            after=after,
            since=since,
            statistics=statistics,
            verdict="worse",
            explanation=words,
        )
    ]
