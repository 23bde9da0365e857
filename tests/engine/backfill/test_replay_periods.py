"""Which commit of a time a replay evaluates: the last of each period, and none that is dated in the future."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.engine.backfill.comparison import land_period
from eval_skills.engine.backfill.plan import BackfillPlan, plan_backfill
from eval_skills.engine.backfill.request import BackfillRequest

Plan = Callable[..., BackfillPlan]
LATER = "2099-01-01T12:00:00Z"


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """The plan of a replay of commits of these dates, whose messages count from 0."""
    folder = tmp_path / "repository"
    folder.mkdir()

    def git(*words: str, **environ: str) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *words]
        return subprocess.run(command, cwd=folder, env=kept | environ, check=True, capture_output=True, text=True).stdout

    def make(*dates: str, **options: Any) -> BackfillPlan:
        git("init", "--quiet")
        for number, date in enumerate(dates):
            (folder / "skill.json").write_text(f"{number}")
            git("add", "skill.json")
            git("commit", "--quiet", "-m", f"{number}", GIT_COMMITTER_DATE=date, GIT_AUTHOR_DATE="2026-01-01T00:00:00Z")
        request = BackfillRequest(mode="replay", skills_repo=str(folder), store=str(tmp_path / "store"), **options)
        return plan_backfill(request)

    return make


def evaluated(plan: BackfillPlan, tmp_path: Path) -> list[tuple[str, str]]:
    """The period of each commit and its message."""

    def message(commit: str) -> str:
        words = ["git", "-C", str(tmp_path / "repository"), "log", "--no-walk", "--format=%s", commit]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()

    return [(work.period.name, message(work.sources[0].name)) for work in plan.works]


@pytest.mark.parametrize(
    ("dates", "found"),
    [
        pytest.param(["2026-03-01T12:00:00Z"] * 3, [("2026-03-01", "2")], id="of-one-second-as-a-rebase-makes-them"),
        pytest.param(["2026-03-01T12:00:00Z", "2026-03-01T11:00:00Z"], [("2026-03-01", "1")], id="clock-set-back"),
        pytest.param(["2026-03-01T23:30:00Z", "2026-03-02T00:30:00+14:00"], [("2026-03-01", "1")], id="days-are-utc"),
        pytest.param(
            ["2026-03-05T12:00:00Z", "2026-03-03T12:00:00Z"], [("2026-03-03", "1"), ("2026-03-05", "0")], id="oldest-period-first"
        ),
    ],
)
def test_the_last_commit_of_a_period_is_what_stood_there_in_the_end(
    plan: Plan, tmp_path: Path, dates: list[str], found: list[tuple[str, str]]
) -> None:
    assert evaluated(plan(*dates), tmp_path) == found


@pytest.mark.parametrize("every", ["day", "week"])
def test_a_period_is_the_same_one_in_another_window(plan: Plan, every: str) -> None:
    """What it is compared with decides its figures, too: else it would land a second time, compared with nothing."""
    dates = ["2026-03-01T12:00:00Z", "2026-03-10T08:00:00Z", "2026-03-10T12:00:00Z", "2026-03-17T12:00:00Z"]
    whole = plan(*dates, every=every)
    later = plan(every=every, since=datetime(2026, 3, 10, 10, tzinfo=UTC))
    assert [work.digest for work in later.works] == [work.digest for work in whole.works[1:]]


def test_what_was_compared_with_nothing_is_done_again_where_what_came_before_is_evaluated_now(plan: Plan) -> None:
    since = datetime(2026, 3, 2, tzinfo=UTC)
    plan("2026-03-01T12:00:00Z", "2026-03-02T12:00:00Z")
    later = plan(since=since)
    row = {"skill_id": "s", "skill_version": "1", "benchmark_id": "b", "completion_rate": 1.0, "error_rate": 0.0}
    land_period(later.store, "replay", later.works[0], [row], unjudged=0)
    assert [work.landed for work in plan(since=since).works] == [True]
    assert [work.landed for work in plan().works] == [False, False]


def test_a_commit_of_a_time_to_come_is_left_out_unless_it_is_asked_for(plan: Plan, tmp_path: Path) -> None:
    """It would be the last run of its skill for as long as that time has not come."""
    made = plan("2026-03-01T12:00:00Z", LATER)
    assert evaluated(made, tmp_path) == [("2026-03-01", "0")]
    assert made.remarks[0].startswith("1 commit left out: dated in the future, so a clock was or is wrong; --until with")


def test_one_that_is_asked_for_is_there(plan: Plan, tmp_path: Path) -> None:
    assert evaluated(plan(LATER, until=datetime(2100, 1, 1, tzinfo=UTC)), tmp_path) == [("2099-01-01", "0")]


def test_where_nothing_else_is_there_it_is_said(plan: Plan) -> None:
    with pytest.raises(UsageError, match=r"no commit of .* is from this time; 1 commit left out: dated in the future"):
        plan(LATER)
