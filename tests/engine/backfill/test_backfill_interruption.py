"""A backfill that was stopped, killed or called twice at a time leaves no period half done."""

from __future__ import annotations

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store
from eval_skills.engine.backfill.backfill import BackfillSession
from eval_skills.engine.backfill.plan import plan_backfill
from eval_skills.engine.backfill.request import BackfillRequest
from tests.engine.backfill.backfills import RIGHT, WRONG, Days, backfill, nobody, shown
from tests.warm_command import WarmCommand

KILLED = """
import os, sys
from eval_skills.engine.backfill import backfill as session
from eval_skills.engine.backfill.request import BackfillRequest
real, calls = getattr(session, sys.argv[2]), []
def second_time_die(*arguments, **options):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), 9)
    return real(*arguments, **options)
setattr(session, sys.argv[2], second_time_die)
with session.BackfillSession.begin(BackfillRequest(mode="rescore", store=sys.argv[1]), None) as work:
    for period in work.plan.pending:
        work.carry_out(period)
"""


@pytest.mark.slow
def test_a_stopped_backfill_goes_on_where_it_ended(store: Store, days: Days) -> None:
    days(RIGHT, WRONG, RIGHT)
    assert backfill(store, stop_after=1).done == ["2026-03-01"]
    rest = backfill(store)
    assert (rest.up_to_date, rest.done) == (["2026-03-01"], ["2026-03-02", "2026-03-03"])
    assert shown(rest)[1:] == [("2026-03-02", 0.0, -1.0, "worse"), ("2026-03-03", 1.0, 1.0, "better")]
    assert len(store.comparisons()) == 3


@pytest.mark.slow
@pytest.mark.parametrize("step", ["rescore", "land_period"])
def test_a_kill_leaves_no_period_half_done(store: Store, days: Days, step: str, warm_command: WarmCommand) -> None:
    days(RIGHT, WRONG)
    code, _, said = warm_command.python(KILLED, store.path, step).output(timeout=120)
    assert code == -9, said
    assert list(store.comparisons()["period"]) == ["2026-03-01"]
    assert backfill(store, "rescore").done == ["2026-03-02"]
    assert len(store.run_ids()) == 4
    assert store.unfinished() == []


@pytest.mark.slow
def test_a_period_that_another_machine_landed_meanwhile_is_there_once(store: Store, days: Days) -> None:
    days(RIGHT, WRONG)
    session = BackfillSession(plan_backfill(BackfillRequest(mode="recompute", store=store.path)), nobody)
    theirs = backfill(store)  # before this one, as its plan knows, had landed anything
    outcomes = [session.carry_out(work) for work in session.pending()]
    assert [row["comparison_id"] for each in outcomes for row in each.rows] == [row["comparison_id"] for row in theirs.rows]
    assert len(store.comparisons()) == 2


@pytest.mark.slow
def test_two_at_once_are_refused(store: Store, days: Days) -> None:
    days(RIGHT)
    request = BackfillRequest(mode="recompute", store=store.path)
    with BackfillSession.begin(request, nobody), pytest.raises(UsageError, match="is being written by process"):
        backfill(store)
    assert backfill(store).done == ["2026-03-01"]
