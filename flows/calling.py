"""Calling a flow in this process, for someone who waits for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

T = TypeVar("T")


def run_here(flow: Callable[[Any], T], request: Any) -> T:
    """Run `flow` here and now.

    Without Prefect's heartbeat, which tells automations that a flow run somewhere else still lives: its thread sleeps in whole
    seconds, and the end of every flow (and subflow) would wait for it.
    """
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        return flow(request)
