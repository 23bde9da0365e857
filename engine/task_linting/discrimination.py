"""What stored runs say of a benchmark: tasks that never told two skills apart, and how small a difference all of them show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from eval_skills.core.models import Benchmark
from eval_skills.core.models.report import MISSING_KINDS
from eval_skills.core.statistics.paired import tasks_needed
from eval_skills.core.statistics.planning import Counts
from eval_skills.core.store import Store
from eval_skills.core.store.store import is_primary
from eval_skills.core.text import plural
from eval_skills.engine.definition.benchmark import digests_of_the_same
from eval_skills.engine.planning.plan import StoredSample, shown_effect, task_chances
from eval_skills.engine.task_linting.finding import Finding

if TYPE_CHECKING:
    import pandas as pd

ENOUGH_ITEMS, ENOUGH_SKILLS = 10, 2
"""Fewer stored items of a task, or fewer skills, do not show that it tells nobody apart."""

COMMON_EFFECT = 0.1
"""A difference in the completion rate that people want to see."""

_COLUMNS = ["run_id", "skill_id", "skill_version", "task_id", "task_digest", "passed", "error_kind", "origin"]


@dataclass(frozen=True, slots=True)
class StoredItems:
    """The stored items of the tasks as they are today, with a verdict; `older` are of tasks that were changed since."""

    rows: pd.DataFrame
    older: int

    @classmethod
    def of(cls, store: Store, benchmark: Benchmark, folder: Path | None) -> StoredItems:
        """Those of this benchmark, by its id; runs that repeat others (rescored, confirmed) do not count twice."""
        rows = store.items(benchmark_id=benchmark.id, columns=_COLUMNS)
        counts = [is_primary(origin) for origin in rows["origin"]]
        rows = rows[np.array(counts, dtype=bool) & ~rows["error_kind"].isin(MISSING_KINDS).to_numpy(dtype=bool)]
        digests = digests_of_the_same(benchmark, folder)
        known = {task.id: digests[f"task/{task.id}"] for task in benchmark.tasks}
        today = [digest in known.get(task, ()) for task, digest in zip(rows["task_id"], rows["task_digest"], strict=True)]
        now = rows[np.array(today, dtype=bool)]
        now = now.assign(skill=now["skill_id"] + "@" + now["skill_version"])
        return cls(now, len(rows) - len(now))

    @property
    def sample(self) -> StoredSample | None:
        """The items as counts by skill and task; None where there are none."""
        if self.rows.empty:
            return None
        counted = (rows.groupby("task_id")["passed"].agg(["sum", "count"]) for _, rows in self.rows.groupby("skill"))
        skills = [Counts(each["sum"].to_numpy(dtype=np.int64), each["count"].to_numpy(dtype=np.int64)) for each in counted]
        return StoredSample("", skills, None, None, None)


def never_discriminating(stored: StoredItems) -> list[Finding]:
    """The tasks that every skill passed in every run, or that none ever did, over at least ten items of two skills."""
    found = []
    for task, rows in stored.rows.groupby("task_id", sort=False):
        items, passed, skills = len(rows), int(rows["passed"].sum()), rows["skill"].nunique()
        if items < ENOUGH_ITEMS or skills < ENOUGH_SKILLS or 0 < passed < items:
            continue
        runs = plural(rows["run_id"].nunique(), "run")
        message = f"{'passed' if passed else 'failed'} in all {items:,} stored items ({skills:,} skills, {runs})"
        fix = (
            "make it harder, or keep it as a test of what must never break" if passed else "check what it expects, then its input"
        )
        found.append(Finding("never-discriminates", "warning", str(task), message, fix))
    return found


@dataclass(frozen=True, slots=True)
class Resolution:
    """The smallest difference between the completion rates of two skills that is shown in 80 % at alpha 0.05.

    `difference` is None where none is. `needed` are the tasks that show `COMMON_EFFECT`. `basis` says where the figures are from.
    """

    difference: float | None
    needed: int | None
    basis: str

    @classmethod
    def of(cls, tasks: int, runs: int, sample: StoredSample | None) -> Resolution:
        """By `statistics.paired.smallest_effect`, from what stored runs say of the tasks, or from usual figures."""
        chances, assumed = task_chances(sample)
        figures = f"completion {100 * chances.rate:.0f} %, flakiness {100 * chances.flakiness:.0f} %"
        basis = figures + (" from stored runs" if sample is not None and not assumed else " assumed" if sample is None else "")
        needed = tasks_needed(chances.spread(runs), COMMON_EFFECT)
        return cls(shown_effect(chances, tasks, runs, 1), needed, basis)


def too_few_tasks(tasks: int, runs: int, found: Resolution) -> list[Finding]:
    """A note where a difference of ten points would not be shown."""
    if found.difference is not None and found.difference <= COMMON_EFFECT:
        return []
    size = f"{plural(tasks, 'task')} × {plural(runs, 'run')}"
    shows = "no difference" if found.difference is None else f"only a difference of {100 * found.difference:.1f} points or more"
    message = f"{size} show {shows} between two skills (in 80 %, at alpha 0.05; {found.basis})"
    more = "" if found.needed is None else f"; about {plural(found.needed, 'task')} show {100 * COMMON_EFFECT:.0f} points"
    return [Finding("smallest-difference", "note", None, message, f"add tasks, or runs of each{more}")]
