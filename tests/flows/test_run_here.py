"""A flow that someone waits for."""

from __future__ import annotations

import signal
from typing import NoReturn

import httpx
import pytest
from prefect.exceptions import TerminationSignal
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY

from eval_skills.flows import run_here


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
