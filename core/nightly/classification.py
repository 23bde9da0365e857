"""The verdict of a night on each skill: regressed, recovered, flaky, suspect, or none of these.

The evidence against a skill is one of two things:

- it is *worse* than a reference: than its good nights, than before it changed, than the pinned baseline, or, slowly, than it was
  at first (see `comparisons`);
- tasks are *newly failing* (`newly_failing`): passed whenever they were asked up to the last good night, and failed whenever
  since. That is for samples too small for a test over tasks, which needs five tasks that differ.

The tasks that moved are then run again (fresh runs). The skill has *regressed* only if that holds: the fresh runs are worse
than the runs so far on the same tasks (the same test, one-sided at 5 %), or the newly failing tasks fail every fresh run and
would do so by being flaky with a chance of at most 5 %. If they fail all fresh runs and that chance is higher, the history
being short, the skill is *suspect*: no alarm, but later nights are not compared with this one, and their runs add to the
evidence. Else it is *flaky*. A skill that regressed stays so until a night finds at least half of what was lost back on those
tasks: then it has *recovered*.

Items without a verdict on the skill can make nothing a regression: what they leave open is *suspect*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from statistics import fmean

from eval_skills.core.diff.diff import SIGNIFICANCE, judge
from eval_skills.core.metrics.tasks import Tallies, Tally, merge_tallies
from eval_skills.core.nightly.comparisons import compare_tallies
from eval_skills.core.nightly.evidence import (
    FALSE_ALARM_CHANCE,
    Against,
    Classification,
    FreshRuns,
    LostEvidence,
    NightVerdict,
    SkillNight,
)
from eval_skills.core.statistics.newly_failing import chance_of_flaky_tasks
from eval_skills.core.text import chance_text, natural_order, plural


def classify(night_id: str, skills: Sequence[SkillNight], fresh: Mapping[int, FreshRuns]) -> list[Classification]:
    """The classification of every skill of a night, in their order; `fresh` holds the fresh runs by the position of the skill."""
    failing = {index: _still_failing(skill, fresh[index]) for index, skill in enumerate(skills) if index in fresh}
    flaky = sum(_flipping(skill, fresh.get(index), failing.get(index, ())) for index, skill in enumerate(skills))
    return [_classify(night_id, skill, fresh.get(index), failing.get(index, []), flaky) for index, skill in enumerate(skills)]


def _still_failing(skill: SkillNight, fresh: FreshRuns) -> list[str]:
    again = fresh.tallies or {}
    return [task for task in skill.newly_failing() if task in again and again[task].always_failed and not again[task].missing]


def _flipping(skill: SkillNight, fresh: FreshRuns | None, failing: Iterable[str]) -> int:
    seen = merge_tallies(skill.before, skill.after, (fresh and fresh.tallies) or {})
    return sum(tally.mixed for task, tally in seen.items() if task not in set(failing))


def _classify(night_id: str, skill: SkillNight, fresh: FreshRuns | None, failing: list[str], flaky: int) -> Classification:
    worse = _confirmed_worse(skill, fresh.tallies) if fresh and fresh.tallies else []
    chance = _chance(skill, fresh, failing, flaky) if fresh and failing else 1.0
    broken = failing if chance <= FALSE_ALARM_CHANCE else []
    if not worse and not broken:
        return _without_regression(skill, fresh, failing, chance, flaky)
    words = [f"worse than {each.name}: {each.explanation}; confirmed by fresh runs" for each in worse]
    if broken:
        flaky_task = f"chance of a flaky task: {chance_text(chance, 2)}"
        words.append(f"{_named(broken)} always passed before and failed every run since ({flaky_task})")
    first = min(worse, key=lambda each: each.since, default=None)  # which says the most of what brought it about
    began = first.since if first else night_id
    tasks = sorted({*broken, *(task for each in worse for task in each.worse_tasks())}, key=natural_order)
    open_before = skill.lost if skill.lost and not _broke_tonight(skill, skill.lost, tasks) else None
    if open_before and began == night_id:
        began = open_before.since
    changed = skill.changes(began)
    what = f"when this changed: {', '.join(changed)}" if changed else "when nothing known changed"
    words.append(f"since {'tonight' if began == night_id else began}, {what}")
    return Classification(
        verdict="regressed",
        explanation="; ".join(words),
        tasks=tasks,
        lost=_lost(open_before.since if open_before else night_id, skill, fresh, tasks),
        rule=first.rule if first else "newly failing",
        began=began,
        changed=changed,
    )


def _broke_tonight(skill: SkillNight, lost: LostEvidence, tasks: Iterable[str]) -> bool:
    """Whether a task is among them that was not `lost` before, and passed last night: more broke than goes on."""
    last = skill.past[-1].tallies if skill.past else {}
    return any(task in last and last[task].always_passed for task in tasks if task not in lost.tasks)


def _confirmed_worse(skill: SkillNight, fresh: Tallies) -> list[Against]:
    """The comparisons that are worse in the fresh runs, too."""
    return [each for each in skill.against if each.verdict == "worse" and _holds(each, fresh)]


def _holds(against: Against, fresh: Tallies) -> bool:
    """Whether the tasks that moved do worse in the fresh runs than on both sides of the comparison together.

    Not than before alone: tasks that were chosen because they did better before than after were lucky before, most of all where
    there is one night before. Their runs on both sides together are not biased by the choice.
    """
    moved = against.worse_tasks()
    together = merge_tallies(_of(against.before, moved), _of(against.after, moved))
    again = compare_tallies(together, _of(fresh, moved), 2 * SIGNIFICANCE)
    if again is None:
        return False
    if against.by_runs:
        return again.missing is None and again.fewer_passes_p is not None and again.fewer_passes_p <= SIGNIFICANCE
    return judge(again, 2 * SIGNIFICANCE)[0] == "worse"


def _of(tallies: Tallies, tasks: Iterable[str]) -> Tallies:
    return {task: tallies[task] for task in tasks if task in tallies}


def _chance(skill: SkillNight, fresh: FreshRuns, failing: list[str], flaky: int) -> float:
    after = merge_tallies(skill.after, fresh.tallies or {})
    return chance_of_flaky_tasks([(skill.before[task].passed, after[task].failed) for task in failing], flaky)


def _without_regression(
    skill: SkillNight, fresh: FreshRuns | None, failing: list[str], chance: float, flaky: int
) -> Classification:
    lost = _of_the_same_tasks(skill)
    since = _still_lost(skill, lost) if lost else None
    if since is not None and since.verdict in ("regressed", "suspect"):
        return since
    found = _suspect(skill, fresh, failing, chance, flaky) or since or _settled(skill, fresh)
    return replace(found, lost=lost) if found.left_open else found  # a night that decides nothing forgets nothing


def _of_the_same_tasks(skill: SkillNight) -> LostEvidence | None:
    """What was lost, but for tasks that changed since: their results are of other tasks. Where items of earlier nights are gone,
    nobody knows which these are.
    """
    if skill.lost is None or skill.unread:
        return skill.lost
    same = [task for task in skill.lost.tasks if task in skill.known or task not in skill.tonight.tallies]
    return replace(skill.lost, tasks=same) if same else None


def _suspect(skill: SkillNight, fresh: FreshRuns | None, failing: list[str], chance: float, flaky: int) -> Classification | None:
    if fresh is not None and fresh.tallies is None:
        return Classification(verdict="suspect", explanation=f"not confirmed: {fresh.problem}", tasks=skill.moved())
    if fresh is not None and (lost := sum(tally.missing for tally in (fresh.tallies or {}).values())):
        words = f"not confirmed: {plural(lost, 'item')} of the fresh runs without a verdict; {_again(skill, fresh.run_id)}"
        return Classification(verdict="suspect", explanation=words, tasks=skill.moved(), left_open=_may_hold(skill, fresh, flaky))
    if failing:
        words = (
            f"{_named(failing)} failed every run since the last good night, and a flaky task could have done so "
            f"({chance_text(chance, 2)})"
        )
        return Classification(verdict="suspect", explanation=words, tasks=failing)
    if skill.left_open() or any(each.left_open for each in skill.against):
        return _open(skill, sorted((task for task, tally in skill.tonight.tallies.items() if tally.missing), key=natural_order))
    return None


def _settled(skill: SkillNight, fresh: FreshRuns | None) -> Classification:
    if fresh is None:
        return _unchanged(skill)
    moved = skill.moved()
    if fresh.of_other_files:
        words = f"could not be judged: {_named(moved)} moved, and fresh runs did not confirm it, but the skill's files changed "
        words += "before them; later nights are not compared with this one"
        return Classification(verdict="suspect", explanation=words, tasks=moved, left_open=True)
    return Classification(verdict="flaky", explanation=f"{_named(moved)} moved, and fresh runs did not confirm it", tasks=moved)


def _may_hold(skill: SkillNight, fresh: FreshRuns, flaky: int) -> bool:
    """Whether the fresh runs would confirm what moved if their items without a verdict had failed."""
    tallies = {
        task: Tally(passed=tally.passed, failed=tally.failed + tally.missing) for task, tally in (fresh.tallies or {}).items()
    }
    worst = replace(fresh, tallies=tallies)
    failing = _still_failing(skill, worst)
    flaky += _flipping(skill, worst, failing) - _flipping(skill, fresh, _still_failing(skill, fresh))
    is_broken = bool(failing) and _chance(skill, worst, failing, flaky) <= FALSE_ALARM_CHANCE
    return is_broken or bool(_confirmed_worse(skill, tallies))


def _again(skill: SkillNight, run_id: str | None) -> str:
    named = run_id or "RUN"
    at = f" --store {quote(skill.store)}" if skill.store else ""
    return f"ask them again with: eval-skills eval --resume {named} --retry-errors{at}; the next night counts what they say then"


def _open(skill: SkillNight, tasks: list[str], lost: LostEvidence | None = None) -> Classification:
    count = plural(sum(tally.missing for tally in skill.tonight.tallies.values()), "item")
    words = f"could not be judged: {count} without a verdict; {_again(skill, skill.run_id)}"
    return Classification(verdict="suspect", explanation=words, tasks=tasks, lost=lost, left_open=True)


def _unchanged(skill: SkillNight) -> Classification:
    if not skill.against and skill.unread:
        runs = plural(len(skill.unread), "earlier night")
        words = f"could not be judged: the items of {runs} are gone or damaged ({_named(skill.unread, 3)}), and there is no other"
        words += " night to compare with; put the files back, or the next night is compared with this one only"
        return Classification(verdict="new", explanation=words, left_open=True)
    if not skill.against and skill.begins_anew:
        anew = (
            "could not be judged: every task, or what judges it, changed since the last night; the next one is compared with this"
        )
        return Classification(verdict="new", explanation=anew, left_open=True)
    if not skill.against:
        return Classification(verdict="new", explanation="nothing to compare with yet")
    shown = skill.against[0]
    verdict: NightVerdict = "better" if shown.verdict == "better" else "steady"
    return Classification(verdict=verdict, explanation=f"against {shown.name}: {shown.explanation}")


def _still_lost(skill: SkillNight, lost: LostEvidence) -> Classification | None:
    """Whether what was lost is back, however the items without a verdict went; None where none of its tasks was asked tonight, or
    no night before is left to say that they are the same."""
    asked = _of(skill.tonight.tallies, lost.tasks)
    if not asked or not skill.past:
        return None
    least, most = completion_by_task(asked), completion_by_task(asked, missing=1.0)
    rate = fmean(least.values())
    words = f"{_named(lost.tasks)}: {rate:.0%} tonight, {lost.expected_rate:.0%} before, {lost.observed_rate:.0%} when lost"
    if rate >= lost.halfway:
        return Classification(verdict="recovered", explanation=f"back: {words}", tasks=lost.tasks)
    if fmean(most.values()) >= lost.halfway:
        return _open(skill, lost.tasks, lost)
    return Classification(verdict="regressed", explanation=f"not back yet: {words}", tasks=lost.tasks, lost=lost)


def _lost(since: str, skill: SkillNight, fresh: FreshRuns | None, tasks: list[str]) -> LostEvidence:
    expected = dict.fromkeys(skill.newly_failing(), 1.0)
    for against in reversed(skill.against):
        expected |= completion_by_task(_of(against.before, tasks))
    observed = completion_by_task(_of(fresh.tallies, tasks)) if fresh and fresh.tallies else {}
    return LostEvidence(
        tasks=tasks,
        expected_rate=fmean(expected[task] for task in tasks),
        observed_rate=fmean(observed.values()) if observed else 0.0,
        since=since,
    )


def completion_by_task(tallies: Tallies, missing: float = 0.0) -> dict[str, float]:
    """The completion rate of each task that was asked, with each item without a verdict counted as `missing`."""
    items = {task: tally.passed + tally.failed + tally.missing for task, tally in tallies.items()}
    return {task: (tally.passed + missing * tally.missing) / items[task] for task, tally in tallies.items() if items[task]}


def _named(tasks: Sequence[str], most: int = 5) -> str:
    rest = len(tasks) - most
    return ", ".join(tasks[:most]) + (f" and {rest} more" if rest > 0 else "")
