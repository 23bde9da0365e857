"""The verdict of a night on each skill: regressed, recovered, flaky, suspect, or none of these.

The evidence against a skill is one of two things:

- it is *worse* than in the last good night or than the pinned baseline, by the paired test over tasks, adjusted by Holm's
  procedure over the whole night (`judged_together`);
- tasks are *newly failing* (`newly_failing`): passed whenever they were asked up to the last good night, and failed whenever
  since. That is for samples too small for a test over tasks, which needs five tasks that differ.

The tasks that moved are then run again (fresh runs). The skill has *regressed* only if that holds: the fresh runs are worse
than the same reference on the same tasks (the same test, one-sided at 5 %), or the newly failing tasks fail every fresh run and
would do so by being flaky with a chance of at most 5 %. If they fail all fresh runs and that chance is higher, the history
being short, the skill is *suspect*: no alarm, but later nights are not compared with this one, and their runs add to the
evidence. Else
it is *flaky*. A skill that regressed stays so until a night finds at least half of what was lost back on those tasks: then it
has *recovered*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from eval_skills.core.diff.diff import SIGNIFICANCE, diff_reports
from eval_skills.core.diff.tasks import is_missing
from eval_skills.core.metrics.tasks import merge_tallies
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.nightly.evidence import (
    FALSE_ALARM_CHANCE,
    Classification,
    FreshRuns,
    LostEvidence,
    NightVerdict,
    SkillNight,
    chance_of_flaky_tasks,
)
from eval_skills.core.text import plural


def classify(night_id: str, skills: Sequence[SkillNight], fresh: Mapping[int, FreshRuns]) -> list[Classification]:
    """The classification of every skill of a night, in their order; `fresh` holds the fresh runs by the position of the skill."""
    failing = {index: _still_failing(skill, fresh[index]) for index, skill in enumerate(skills) if index in fresh}
    flaky = sum(_flipping(skill, fresh.get(index), failing.get(index, ())) for index, skill in enumerate(skills))
    return [_classify(night_id, skill, fresh.get(index), failing.get(index, []), flaky) for index, skill in enumerate(skills)]


def _still_failing(skill: SkillNight, fresh: FreshRuns) -> list[str]:
    again = fresh.tallies()
    return [task for task in skill.newly_failing() if task in again and again[task].always_failed]


def _flipping(skill: SkillNight, fresh: FreshRuns | None, failing: Iterable[str]) -> int:
    seen = merge_tallies(skill.before, skill.after, fresh.tallies() if fresh else {})
    return sum(tally.mixed for task, tally in seen.items() if task not in set(failing))


def _classify(night_id: str, skill: SkillNight, fresh: FreshRuns | None, failing: list[str], flaky: int) -> Classification:
    worse, words = _confirmed_worse(skill, fresh) if fresh else ([], [])
    chance = _chance(skill, fresh, failing, flaky) if fresh and failing else 1.0
    if failing and chance <= FALSE_ALARM_CHANCE:
        words.append(f"{_named(failing)} always passed before and failed every run since (chance of a flaky task: {chance:.2g})")
    elif not worse:
        return _without_regression(skill, fresh, failing, chance)
    tasks = sorted({*worse, *(failing if chance <= FALSE_ALARM_CHANCE else ())})
    return Classification(
        verdict="regressed", explanation="; ".join(words), tasks=tasks, lost=_lost(night_id, skill, fresh, tasks)
    )


def _confirmed_worse(skill: SkillNight, fresh: FreshRuns) -> tuple[list[str], list[str]]:
    """The tasks of every comparison that is worse in the fresh runs, too, and a sentence for each."""
    tasks: list[str] = []
    words: list[str] = []
    for against in skill.against:
        moved = against.worse_tasks()
        if fresh.report is None or not moved:
            continue
        sides = ([narrowed(against.before, moved)], [narrowed(fresh.report, moved)])
        (again,) = diff_reports(*sides, significance=2 * SIGNIFICANCE).skills
        if again.verdict == "worse":
            tasks += moved
            words.append(f"worse than the {against.kind} ({against.name}): {against.diff.explanation}; confirmed by fresh runs")
    return tasks, words


def _chance(skill: SkillNight, fresh: FreshRuns, failing: list[str], flaky: int) -> float:
    after = merge_tallies(skill.after, fresh.tallies())
    return chance_of_flaky_tasks([(skill.before[task].passed, after[task].failed) for task in failing], flaky)


def _without_regression(skill: SkillNight, fresh: FreshRuns | None, failing: list[str], chance: float) -> Classification:
    since = _still_lost(skill, skill.lost) if skill.lost else None
    if since is not None and since.verdict == "regressed":
        return since
    if fresh is not None and fresh.report is None:
        return Classification(verdict="suspect", explanation=f"not confirmed: {fresh.problem}", tasks=skill.moved())
    if fresh is not None and fresh.report is not None and (lost := sum(map(is_missing, fresh.report.task_results))):
        explanation = f"not confirmed: {plural(lost, 'item')} of the fresh runs without a verdict"
        return Classification(verdict="suspect", explanation=explanation, tasks=skill.moved())
    if failing:
        words = (
            f"{_named(failing)} failed every run since the last good night, and a flaky task could have done so ({chance:.2g})"
        )
        return Classification(verdict="suspect", explanation=words, tasks=failing)
    if since is not None:
        return since
    if fresh is not None:
        moved = skill.moved()
        return Classification(
            verdict="flaky", explanation=f"{_named(moved)} moved, and fresh runs did not confirm it", tasks=moved
        )
    return _unchanged(skill)


def _unchanged(skill: SkillNight) -> Classification:
    if not skill.against:
        return Classification(verdict="new", explanation="nothing to compare with yet")
    shown = skill.against[0]
    verdict: NightVerdict = "better" if shown.diff.verdict == "better" else "steady"
    return Classification(verdict=verdict, explanation=f"against the {shown.kind} ({shown.name}): {shown.diff.explanation}")


def _still_lost(skill: SkillNight, lost: LostEvidence) -> Classification | None:
    """Whether what was lost is back; None where none of its tasks was asked tonight."""
    rates = completion_by_task(skill.report, lost.tasks)
    if not rates:
        return None
    rate = fmean(rates.values())
    words = f"{_named(lost.tasks)}: {rate:.0%} tonight, {lost.expected_rate:.0%} before, {lost.observed_rate:.0%} when lost"
    if rate >= lost.halfway:
        return Classification(verdict="recovered", explanation=f"back: {words}", tasks=lost.tasks)
    return Classification(verdict="regressed", explanation=f"not back yet: {words}", tasks=lost.tasks, lost=lost)


def _lost(night_id: str, skill: SkillNight, fresh: FreshRuns | None, tasks: list[str]) -> LostEvidence:
    expected = dict.fromkeys(skill.newly_failing(), 1.0)
    for against in reversed(skill.against):
        expected |= completion_by_task(against.before, tasks)
    observed = completion_by_task(fresh.report, tasks) if fresh and fresh.report else {}
    return LostEvidence(
        tasks=tasks,
        expected_rate=fmean(expected[task] for task in tasks),
        observed_rate=fmean(observed.values()) if observed else 0.0,
        since=skill.lost.since if skill.lost else night_id,
    )


def narrowed(report: SkillCompletionReport, tasks: Iterable[str]) -> SkillCompletionReport:
    """The report with the items of these tasks only; its figures stay those of the whole."""
    kept = set(tasks)
    return report.model_copy(update={"task_results": [result for result in report.task_results if result.task_id in kept]})


def completion_by_task(report: SkillCompletionReport, tasks: Iterable[str]) -> dict[str, float]:
    """The completion rate of each of these tasks that was asked; an item without a verdict did not pass."""
    runs: dict[str, list[bool]] = {}
    for result in narrowed(report, tasks).task_results:
        runs.setdefault(result.task_id, []).append(result.passed)
    return {task: fmean(passed) for task, passed in runs.items()}


def _named(tasks: Sequence[str], most: int = 5) -> str:
    rest = len(tasks) - most
    return ", ".join(tasks[:most]) + (f" and {rest} more" if rest > 0 else "")
