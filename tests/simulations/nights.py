"""Nights: how often an unchanged skill raises an alarm, and how soon a drop is found."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev

import numpy as np

from eval_skills.core.metrics.tasks import Tallies, Tally, merge_tallies
from eval_skills.core.nightly.classification import classify
from eval_skills.core.nightly.comparisons import SKILL_FILES, judged
from eval_skills.core.nightly.evidence import BAD, WATCHED, Classification, FreshRuns, LostEvidence, Night, SkillNight
from eval_skills.core.statistics.rates import DEFAULT_SEED
from tests.simulations.draws import Chances

NIGHTS, BEFORE, FRESH_RUNS = 60, 30, 6
"""Nights of a history without a change; good nights before a change; fresh runs of a task that moved."""


@dataclass
class History:
    """A skill with a chance to pass each task, and what nights remember of it. `digest` stands for its files."""

    chances: Chances
    runs: int
    random: np.random.Generator
    digest: str = "first"
    past: deque[Night] = field(default_factory=deque)
    lost: LostEvidence | None = None
    count: int = 0

    def night(self) -> Classification:
        """Tonight, ruled by the rules of `nightly`, and remembered as it does."""
        self.count += 1
        asked = self._asked(range(len(self.chances)), self.runs)
        tonight = Night(night_id=f"night {self.count}", tallies=asked, made_of={SKILL_FILES: self.digest})
        (skill,) = judged([SkillNight(suite="", tonight=tonight, past=list(self.past), lost=self.lost)])
        moved = [int(task) for task in skill.moved()]
        fresh = self._asked(moved, FRESH_RUNS)
        (found,) = classify(tonight.night_id, [skill], {0: FreshRuns(tallies=fresh)} if moved else {})
        self._remember(tonight, fresh, found)
        return found

    def _asked(self, tasks: range | list[int], runs: int) -> dict[str, Tally]:
        passed = self.random.binomial(runs, self.chances[tasks])
        return {f"{task:02}": Tally(passed=int(p), failed=runs - int(p)) for task, p in zip(tasks, passed, strict=True)}

    def _remember(self, tonight: Night, fresh: Tallies, found: Classification) -> None:
        self.lost = found.lost
        if found.verdict in BAD:
            self.past.append(replace(tonight, good=False, tallies=merge_tallies(tonight.tallies, fresh)))
            return
        good = [night for night in self.past if night.good][-(WATCHED - 1) :]
        self.past = deque([*good, tonight])


Suite = Callable[[np.random.Generator, int], Chances]


def three_in_ten_flaky(random: np.random.Generator, tasks: int) -> Chances:
    """Seven in ten tasks always pass, the others with chances between 0.5 and 0.99."""
    return np.where(np.arange(tasks) < 0.7 * tasks, 1.0, random.uniform(0.5, 0.99, tasks))


def all_flaky(random: np.random.Generator, tasks: int) -> Chances:
    """Every task passes with a chance between 0.5 and 0.99."""
    return random.uniform(0.5, 0.99, tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happens to a skill after its good nights, and by which night it is to be found.

    Every task's chance falls by `drop`, at once or evenly over `over` nights, or the first `broken` tasks pass with the chance
    `still` from then on.
    `noticed`: the files of the skill changed with it. `drop` 0 without broken tasks is no change: alarms are false ones.
    """

    name: str
    tasks: int = 20
    runs: int = 3
    suite: Suite = three_in_ten_flaky
    drop: float = 0.0
    over: int = 1
    broken: int = 0
    still: float = 0.0
    noticed: bool = False
    by: int = 1


UNCHANGED = (
    Change(name="20 × 3, 30 % flaky"),
    Change(name="50 × 3, 30 % flaky", tasks=50),
    Change(name="20 × 3, all flaky", suite=all_flaky),
    Change(name="50 × 3, all flaky", tasks=50, suite=all_flaky),
    Change(name="20 × 1, 30 % flaky", runs=1),
    Change(name="4 × 3, all flaky", tasks=4, suite=all_flaky),
    Change(name="4 × 10, all flaky", tasks=4, runs=10, suite=all_flaky),
)
CHANGES = (
    Change(name="20 × 3, −20 points", drop=0.2, by=3),
    Change(name="50 × 3, −10 points", tasks=50, drop=0.1, by=3),
    Change(name="20 × 3, −10 points", drop=0.1, by=7),
    Change(name="20 × 3, −10 points, new files", drop=0.1, by=7, noticed=True),
    Change(name="20 × 3, 1 task broken", broken=1),
    Change(name="20 × 3, 2 tasks broken", broken=2),
    Change(name="20 × 3, 3 tasks broken", broken=3),
    Change(name="20 × 3, 2 tasks pass 1 in 10", broken=2, still=0.1),
    Change(name="4 × 3, all tasks pass 1 in 3", tasks=4, broken=4, still=1 / 3, by=2),
    Change(name="4 × 10, all tasks pass 1 in 10", tasks=4, runs=10, broken=4, still=0.1),
    Change(name="20 × 3, −0.5 points a night for 30 nights", drop=0.15, over=30, by=30),
    Change(name="20 × 3, −0.1 points a night for 60 nights", drop=0.06, over=60, by=60),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What happens, and how often the skill is called regressed: of a change by its night, of no change per night.

    `error` is the Monte-Carlo standard error over whole histories: a false alarm may last several nights.
    """

    change: Change
    share: float
    error: float


def simulate(draws: int, *, changes: Sequence[Change] = (*UNCHANGED, *CHANGES), seed: int = DEFAULT_SEED) -> list[Row]:
    """By change, through the rules of `nightly`: in this many histories each, of which a quarter where nothing changes."""
    return [_row(change, draws if change in CHANGES else max(2, draws // 4), seed) for change in changes]


def table(rows: Sequence[Row]) -> str:
    """As Markdown."""
    lines = ["| skill | regressed | of |", "|---|--:|---|"]
    for row in rows:
        change = row.change
        of = f"changes, by night {change.by}" if change in CHANGES else f"nights, of {NIGHTS}, without a change"
        lines.append(f"| {change.name} | {row.share:.2%} ± {row.error:.2%} | {of} |")
    return "\n".join(lines)


def _row(change: Change, draws: int, seed: int) -> Row:
    shares = [_share(change, np.random.default_rng([seed, draw])) for draw in range(draws)]
    return Row(change=change, share=fmean(shares), error=stdev(shares) / math.sqrt(draws))


def _share(change: Change, random: np.random.Generator) -> float:
    if change in CHANGES:
        return float(_is_found(change, random))
    history = History(change.suite(random, change.tasks), change.runs, random)
    return sum(history.night().verdict == "regressed" for _ in range(NIGHTS)) / (NIGHTS - 1)


def _is_found(change: Change, random: np.random.Generator) -> bool:
    chances = change.suite(random, change.tasks)
    history = History(chances, change.runs, random)
    for _ in range(BEFORE):
        history.night()
    history.lost = None  # a false alarm before is no finding
    history.digest = "second" if change.noticed else "first"
    for night in range(1, change.by + 1):
        lowered = np.clip(chances - change.drop * min(1.0, night / change.over), 0, 1)
        history.chances = np.where(np.arange(change.tasks) < change.broken, change.still, lowered)
        if history.night().verdict == "regressed":
            return True
    return False
