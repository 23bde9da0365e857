"""Kill -9 in the middle of a backfill, and the same call again: nothing is lost, done twice, or left behind."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.end_to_end.faults.conftest import Workplace

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
DAYS, TASKS = 3, 6


def commit_days(workplace: Workplace) -> Path:
    """The skill of the workplace in a repository of its own, one commit a day."""
    repository = workplace.folder / "skills"
    for day in range(1, DAYS + 1):
        (repository / "logged" / "README.md").write_text(f"day {day}")
        for arguments in (["init", "--quiet"], ["add", "-A"], ["commit", "--quiet", "-m", f"day {day}"]):
            moment = f"2026-03-0{day}T12:00:00Z"
            kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
            subprocess.run(
                ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments],
                cwd=repository, env=kept | {"GIT_COMMITTER_DATE": moment, "GIT_AUTHOR_DATE": moment}, check=True,
            )  # fmt: skip
    return repository


def test_p53_a_killed_replay_goes_on_and_calls_no_skill_twice(workplace: Workplace) -> None:
    workplace.furnish(TASKS, free=TASKS - 1)
    repository = commit_days(workplace)
    call = ("backfill", "--mode", "replay", "--skills-repo", "skills", "--tasks", "tasks.json", "--store", "store", "--json")
    # the last task of the first day waits: by then the others of that day are in its journal
    process = workplace.call(*call, "--concurrency", "1")
    assert process.wait_until(lambda: len(workplace.calls()) == TASKS), process.err
    assert process.wait_until(lambda: len(workplace.journal()) == TASKS - 1), process.err
    process.kill()
    assert any((workplace.folder / "store" / "worktrees").iterdir())
    workplace.open_the_gate()
    again = workplace.call(*call, "--concurrency", "1")
    assert again.end() == 0, again.err
    found = json.loads(again.out)
    assert (len(found["done"]), found["upToDate"]) == (DAYS, [])
    assert workplace.calls() == {
        f"t{n:03d}": DAYS + (n == TASKS - 1) for n in range(TASKS)
    }  # the one that was cut off, once more
    assert len(workplace.store.run_ids()) == DAYS
    assert workplace.landed() == dict.fromkeys((f"t{n:03d}" for n in range(TASKS)), DAYS)
    assert workplace.has_no_journal()
    assert not any((workplace.folder / "store" / "worktrees").iterdir())
    worktrees = subprocess.run(["git", "worktree", "list"], cwd=repository, capture_output=True, text=True, check=True).stdout
    assert len(worktrees.splitlines()) == 1
    third = workplace.call(*call)
    assert third.end() == 0, third.err
    assert json.loads(third.out)["summary"] == f"nothing to do: {DAYS} periods up to date; do it again with --force"
    assert len(workplace.store.run_ids()) == DAYS
