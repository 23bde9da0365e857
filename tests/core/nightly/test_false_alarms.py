"""A/A nights: nothing ever changes, and the share of nights that raise an alarm is counted; and real breaks are found."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from eval_skills.core.diff.diff import diff_reports, judged_together
from eval_skills.core.metrics.tasks import Tally, count_tallies, merge_tallies
from eval_skills.core.nightly.classification import classify
from eval_skills.core.nightly.evidence import BAD, Against, Classification, FreshRuns, LostEvidence, SkillNight
from tests.core.nightly.night_figures import report

TASKS, NIGHTS, FRESH_RUNS = 20, 30, 6
Chances = list[float]


class Subject:
    """A skill with a fixed chance to pass each task, and what nights remember of it."""

    def __init__(self, chances: Chances, runs: int, draw: random.Random) -> None:
        self.chances, self.runs, self.draw = chances, runs, draw
        self.good: list[dict[str, str]] = []
        self.since: dict[str, Tally] = {}
        self.lost: LostEvidence | None = None

    def asked(self, tasks: list[str], runs: int) -> dict[str, str]:
        return {task: "".join("fp"[self.draw.random() < self.chances[int(task[1:])]] for _ in range(runs)) for task in tasks}

    def remember(self, tonight: dict[str, str], fresh: dict[str, str], classification: Classification) -> None:
        if classification.verdict in BAD:
            self.since = merge_tallies(
                self.since, count_tallies(report(tonight).task_results), count_tallies(report(fresh).task_results)
            )
        else:
            self.good, self.since = [*self.good, tonight][-30:], {}
        self.lost = classification.lost


def night(number: int, subjects: list[Subject]) -> list[Classification]:
    tonight = [subject.asked([f"t{index}" for index in range(TASKS)], subject.runs) for subject in subjects]
    reports = [report(outcome) for outcome in tonight]
    diffs = [
        diff_reports([report(subject.good[-1])], [now]) if subject.good else None
        for subject, now in zip(subjects, reports, strict=True)
    ]
    judged = iter(judged_together([diff for diff in diffs if diff is not None]))
    skills = []
    for subject, now, diff in zip(subjects, reports, diffs, strict=True):
        against = (
            [Against(kind="last good", name="", before=report(subject.good[-1]), diff=next(judged).skills[0])] if diff else []
        )
        before = merge_tallies(*(count_tallies(report(outcome).task_results) for outcome in subject.good))
        after = merge_tallies(subject.since, count_tallies(now.task_results))
        skills.append(SkillNight(suite="", report=now, against=against, before=before, after=after, lost=subject.lost))
    again = [subject.asked(skill.moved(), FRESH_RUNS) for subject, skill in zip(subjects, skills, strict=True)]
    fresh = {index: FreshRuns(report=report(outcome)) for index, outcome in enumerate(again) if outcome}
    classifications = classify(f"night {number}", skills, fresh)
    for subject, outcome, fresh_outcome, classification in zip(subjects, tonight, again, classifications, strict=True):
        subject.remember(outcome, fresh_outcome, classification)
    return classifications


def false_alarms(chances: Callable[[random.Random], Chances], runs: int, skills: int, months: int) -> float:
    """The share of nights, the first left out, in which a skill newly regressed though nothing changed."""
    draw, alarms = random.Random(20261121), 0
    for _ in range(months):
        subjects = [Subject(chances(draw), runs, draw) for _ in range(skills)]
        for number in range(NIGHTS):
            alarms += any(each.lost and each.lost.since == f"night {number}" for each in night(number, subjects))
    return alarms / (months * (NIGHTS - 1))


SUITES: dict[str, Callable[[random.Random], Chances]] = {
    "uniform": lambda draw: [draw.random() for _ in range(TASKS)],
    "mostly-good": lambda draw: [draw.betavariate(8, 2) for _ in range(TASKS)],
    "mostly-settled": lambda draw: [draw.betavariate(0.5, 0.2) for _ in range(TASKS)],
    "steady-but-one-that-fools-most": lambda draw: [1.0] * (TASKS - 1) + [1 / 7],
    "steady-but-three-that-rarely-fail": lambda draw: [1.0] * (TASKS - 3) + [0.9] * 3,
}


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("suite", SUITES)
def test_p42_nights_without_a_change_raise_an_alarm_in_at_most_one_of_twenty(suite: str, runs: int) -> None:
    assert false_alarms(SUITES[suite], runs, skills=3, months=2) <= 0.05


@pytest.mark.parametrize(("runs", "broken"), [pytest.param(1, 1, id="one-task"), pytest.param(3, 4, id="four-tasks")])
def test_a_real_break_is_found_the_same_night(runs: int, broken: int) -> None:
    subject = Subject([1.0] * TASKS, runs, random.Random(1))
    assert [night(number, [subject])[0].verdict for number in range(2)] == ["new", "steady"]
    subject.chances = [0.0] * broken + [1.0] * (TASKS - broken)
    assert night(2, [subject])[0].verdict == "regressed"
    subject.chances = [1.0] * TASKS
    assert [night(number, [subject])[0].verdict for number in (3, 4)] == ["recovered", "steady"]
