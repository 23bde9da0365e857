"""A flow that someone waits for."""

from __future__ import annotations

import signal
from typing import NoReturn

import httpx
import pytest
from prefect import flow as prefect_flow
from prefect.exceptions import TerminationSignal
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, get_current_settings

from eval_skills.flows import run_here
from eval_skills.tasks.runner import INTERRUPTED_TIMEOUT_S, EventLoopTaskRunner
from tests.flows.hanging_api import hang_when_told


def test_the_heartbeat_is_off_inside_and_as_before_outside() -> None:
    before = PREFECT_FLOWS_HEARTBEAT_FREQUENCY.value()
    assert run_here(lambda given: (given, PREFECT_FLOWS_HEARTBEAT_FREQUENCY.value()), 7) == (7, None)
    assert PREFECT_FLOWS_HEARTBEAT_FREQUENCY.value() == before


def test_a_sigterm_that_prefect_could_not_report_is_that_of_the_program() -> None:
    class Ended(KeyboardInterrupt):
        pass

    def end(*_: object) -> NoReturn:
        raise Ended

    def flow(_: int) -> NoReturn:
        try:
            raise TerminationSignal(signal.SIGTERM)
        finally:
            raise httpx.ReadError("the server is gone")

    before = signal.signal(signal.SIGTERM, end)
    try:
        with pytest.raises(Ended):
            run_here(flow, 7)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("prefect_url")
def test_an_interrupted_flow_is_told_of_twice_and_briefly_and_the_next_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    @prefect_flow(task_runner=EventLoopTaskRunner())
    def interrupts(given: int) -> NoReturn:
        raise KeyboardInterrupt

    waits = hang_when_told(b"CRASHED", monkeypatch)
    before = get_current_settings().model_dump()
    with pytest.raises(KeyboardInterrupt):
        run_here(interrupts, 7)
    assert waits == [INTERRUPTED_TIMEOUT_S] * 2
    assert get_current_settings().model_dump() == before
