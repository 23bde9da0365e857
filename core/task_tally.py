"""How often a task was passed and failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eval_skills.core.models import TaskResult
from eval_skills.core.task_pairs import is_missing

Tallies = Mapping[str, "Tally"]
"""By task id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of items with a verdict."""

    passed: int = 0
    failed: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(passed=self.passed + other.passed, failed=self.failed + other.failed)

    @property
    def always_passed(self) -> bool:
        """Whether it was asked, and never failed."""
        return self.passed > 0 and not self.failed

    @property
    def always_failed(self) -> bool:
        """Whether it was asked, and never passed."""
        return self.failed > 0 and not self.passed

    @property
    def mixed(self) -> bool:
        """Whether it did both."""
        return self.passed > 0 and self.failed > 0


def tallies_of(results: Iterable[TaskResult]) -> dict[str, Tally]:
    """The tallies of a report's items; those without a verdict are not counted."""
    found: dict[str, Tally] = {}
    for result in results:
        counted = Tally() if is_missing(result) else Tally(passed=1) if result.passed else Tally(failed=1)
        found[result.task_id] = found.get(result.task_id, Tally()) + counted
    return found


def together(*several: Tallies) -> dict[str, Tally]:
    """The sums by task."""
    found: dict[str, Tally] = {}
    for tallies in several:
        for task, tally in tallies.items():
            found[task] = found.get(task, Tally()) + tally
    return found
