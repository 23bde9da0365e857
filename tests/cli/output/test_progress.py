"""The plain lines of a run that goes on for a while."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console

from eval_skills.cli.output import progress
from eval_skills.core.models import ItemResult
from tests.engine.evaluations import MakePlan


@pytest.mark.parametrize(
    ("done_before", "said"),
    [
        pytest.param(0, "1/3 done: 0 passed, 0 failed, 1 error", id="a-new-run"),
        pytest.param(
            2, "3/3 done, 2 of them before; since then 0 passed, 0 failed, 1 error", id="of-a-resumed-one-only-the-rest"
        ),
    ],
)
def test_items_are_counted_by_status(
    make_plan_of: MakePlan, monkeypatch: pytest.MonkeyPatch, done_before: int, said: str
) -> None:
    monkeypatch.setattr(progress, "PLAIN_PERIOD_S", 0.0)
    plan = make_plan_of("ok", "wrong", "die")
    out = StringIO()
    with progress.LiveDisplay(Console(file=out, width=200, color_system=None)) as display:
        display.planned(plan.narrowed(plan.items[done_before:]))
        display.finished(
            ItemResult(
                run_id=plan.run_id, started_at=datetime(2026, 1, 1, tzinfo=UTC), skill_id="moody", skill_version="1.0.0",
                benchmark_id="tasks", benchmark_version="0.0.0", task_id="die", run_index=0, status="error", passed=False,
            )
        )  # fmt: skip
    assert out.getvalue().splitlines()[-1] == said


def test_what_happens_after_the_last_item_is_named(make_plan_of: MakePlan) -> None:
    plan = make_plan_of("ok", "wrong")
    with progress.LiveDisplay(Console(file=StringIO(), width=200, force_terminal=True)) as display:
        display.planned(plan)
        display.landing(plan)
        assert display.doing == "landing 2 items in the store …"
        display.computing(plan)
        assert display.doing == "computing the figures of 1 skill …"
        display.reporting(["json", "html"])
        assert display.doing == "writing reports: json, html …"
        display.reported([])
        assert display.doing == "finishing in Prefect …"
