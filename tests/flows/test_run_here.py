"""A flow that someone waits for."""

from __future__ import annotations

from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY

from eval_skills.flows import run_here


def test_the_heartbeat_is_off_inside_and_as_before_outside() -> None:
    before = PREFECT_FLOWS_HEARTBEAT_FREQUENCY.value()
    assert run_here(lambda given: (given, PREFECT_FLOWS_HEARTBEAT_FREQUENCY.value()), 7) == (7, None)
    assert PREFECT_FLOWS_HEARTBEAT_FREQUENCY.value() == before
