"""Kill -9 at any moment: nothing that is finished is lost, doubled, or asked again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.end_to_end.faults.conftest import Process, Workplace

pytestmark = pytest.mark.timeout(900)

TASKS, CONCURRENCY = 24, 4


class Victim:
    """One run that is killed at chosen moments, and the account of what it may cost."""

    def __init__(self, place: Workplace, *options: str) -> None:
        self.place = place
        self._options = ("--concurrency", str(CONCURRENCY), "--output-dir", str(place.folder / "reports"), *options)
        self._kills = 0
        self._recorded: dict[str, int] = {}

    def kill_after(self, lines: int) -> None:
        """Kill when the journal has grown by so many lines; at 0 as soon as the run can be resumed."""
        target = len(self.place.journal()) + lines
        self.kill_when(lambda: self.place.has_begun() and len(self.place.journal()) >= target)

    def kill_when(self, moment: Callable[[], bool]) -> None:
        """Start or go on, and kill -9 the process group as soon as `moment` has come."""
        process = self._go_on()
        process.wait_until(moment)
        process.kill()
        self._kills += 1
        self._check_calls()
        calls = self.place.calls()
        for task in {*self.place.journal(), *self.place.landed()}:
            self._recorded.setdefault(task, calls[task])

    def finish(self, *, cwd: Path | None = None) -> None:
        """Go on to the end from whatever folder, and check the whole account."""
        process = self._go_on(cwd)
        assert process.end() == 0, process.err
        self._check_calls()
        assert self.place.landed() == Counter(f"t{n:03d}" for n in range(TASKS))
        assert self.place.has_no_journal()
        assert len(self.place.store.run_ids()) == 1
        assert self.place.store.reports()["completion_rate"].tolist() == [1.0]
        assert {".json", ".md"} <= set(self.place.reports())

    def _go_on(self, cwd: Path | None = None) -> Process:
        if self.place.has_begun():
            return self.place.resume(*self._options, cwd=cwd)
        return self.place.evaluate(*self._options)

    def _check_calls(self) -> None:
        calls = self.place.calls()
        assert {task: calls[task] for task in self._recorded} == self._recorded, "what is on record was asked again"
        assert sum(count - 1 for count in calls.values()) <= self._kills * CONCURRENCY


@pytest.mark.slow
def test_p53_killed_at_its_manifest_then_at_lines_then_while_landing_then_while_reporting(workplace: Workplace) -> None:
    workplace.furnish(tasks=TASKS, persistent=True)
    victim = Victim(workplace)
    victim.kill_after(lines=0)
    victim.kill_after(lines=9)
    victim.kill_when(workplace.is_landing)
    victim.kill_when(lambda: bool(workplace.reports()))
    victim.finish()


@pytest.mark.slow
def test_one_shot_skills_killed_after_three_answers(workplace: Workplace) -> None:
    workplace.furnish(tasks=TASKS, persistent=False)
    victim = Victim(workplace)
    victim.kill_after(lines=3)
    victim.finish()


@pytest.mark.slow
def test_items_that_share_a_task_run_are_kept_one_by_one_and_any_folder_can_go_on(workplace: Workplace, tmp_path: Path) -> None:
    workplace.furnish(tasks=TASKS, persistent=True)
    victim = Victim(workplace, "--items-per-task", "6")
    victim.kill_after(lines=9)
    elsewhere = tmp_path / "else" / "where"
    elsewhere.mkdir(parents=True)
    victim.finish(cwd=elsewhere)


@pytest.mark.slow
def test_a_kill_before_a_run_has_begun_leaves_nothing_to_resume(workplace: Workplace) -> None:
    workplace.furnish(tasks=TASKS)
    process = workplace.evaluate()
    process.kill()
    resumed = workplace.resume()
    assert resumed.end() == 2
    assert "nothing to resume" in resumed.last_word


@pytest.mark.slow
def test_batches_of_a_one_shot_skill_killed_at_random_moments(workplace: Workplace) -> None:
    chance = random.Random("batches")
    workplace.furnish(tasks=TASKS, persistent=False)
    victim = Victim(workplace, "--items-per-task", "6")
    for _ in range(3):
        end = monotonic() + chance.uniform(0.5, 5)
        victim.kill_when(lambda end=end: monotonic() > end)  # type: ignore[misc]
    victim.finish()
