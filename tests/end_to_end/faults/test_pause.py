"""A run that is paused, resumed or cancelled in Prefect while it works, as the API's clients and the UI do it."""

from __future__ import annotations

import signal
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from tests.end_to_end.faults.conftest import Process, Workplace

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TASKS = 14
ALL = Counter(f"t{n:03d}" for n in range(TASKS))
BEGUN = 6
"""The four tasks that are answered at once, and two that wait until the gate is open."""


def ask(place: Workplace, path: str, **body: Any) -> Any:
    url = f"{place.environment['PREFECT_API_URL']}/{path}"
    return httpx.post(url, json=body, timeout=120, trust_env=False).raise_for_status().json()


def flow_run(place: Workplace) -> Any:
    """The flow run of the workplace's run, as the API has it now."""
    [found] = ask(place, "flow_runs/filter", flow_runs={"name": {"like_": place.store.latest_run()}})
    return found


def set_state(place: Workplace, kind: str, **details: Any) -> None:
    state = {"type": kind, "state_details": details}
    done = ask(place, f"flow_runs/{flow_run(place)['id']}/set_state", state=state, force=kind == "CANCELLING")
    assert done["status"] == "ACCEPT", done


def paused(place: Workplace, *options: str, for_s: float | None = None) -> Process:
    """An evaluation that says that it is paused, with two items in flight; for `for_s`, as Prefect is told."""
    place.furnish(TASKS, free=BEGUN - 2)
    process = place.evaluate("--output-dir", "reports", "--concurrency", "2", *options)
    assert process.wait_until(lambda: place.calls().total() == BEGUN), process.err
    set_state(place, "PAUSED", **({"pause_timeout": str(datetime.now(UTC) + timedelta(seconds=for_s))} if for_s else {}))
    assert process.wait_until(lambda: "paused in Prefect; 2 items in flight finish; resume it there" in process.err), process.err
    return process


def finish_what_is_in_flight(place: Workplace, process: Process) -> None:
    place.open_the_gate()
    assert process.wait_until(lambda: len(place.journal()) == BEGUN), process.err


@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), id="local"),
        pytest.param(("--items-per-task", "5"), id="batches"),
        pytest.param(("--task-runner", "dask"), id="dask"),
    ],
)
def test_a_paused_run_hands_out_nothing_and_goes_on_when_it_is_resumed(workplace: Workplace, options: tuple[str, ...]) -> None:
    process = paused(workplace, *options)
    finish_what_is_in_flight(workplace, process)
    time.sleep(2)  # nothing happens, which no condition shows
    assert workplace.calls().total() == BEGUN
    assert process.popen.poll() is None
    assert ask(workplace, f"flow_runs/{flow_run(workplace)['id']}/resume")["status"] == "ACCEPT"
    assert process.end() == 0, process.err
    assert "resumed in Prefect" in process.err
    assert workplace.landed() == workplace.calls() == ALL
    assert flow_run(workplace)["state_type"] == "COMPLETED"


def test_ctrl_c_ends_a_paused_run(workplace: Workplace) -> None:
    process = paused(workplace)
    finish_what_is_in_flight(workplace, process)
    process.send(signal.SIGINT)
    assert process.end() == 130
    assert f"interrupted after {BEGUN} of {TASKS} items" in process.last_word


def test_a_paused_run_that_is_cancelled_ends_and_says_how_to_go_on(workplace: Workplace) -> None:
    process = paused(workplace)
    finish_what_is_in_flight(workplace, process)
    set_state(workplace, "CANCELLING")
    assert process.end() == 3, process.err
    run_id = workplace.store.latest_run()
    left = f"{TASKS - BEGUN} of {TASKS} items have no result"
    assert process.last_word.endswith(f"{left} (it was cancelled in Prefect); continue with --resume {run_id}")
    assert flow_run(workplace)["state_type"] == "CANCELLED"
    assert workplace.calls().total() == BEGUN
    assert workplace.resume("--output-dir", "reports").end() == 0
    assert workplace.landed() == workplace.calls() == ALL


def test_a_run_that_is_cancelled_stops_what_is_in_flight(workplace: Workplace) -> None:
    workplace.furnish(TASKS, free=BEGUN - 2)
    process = workplace.evaluate("--concurrency", "2")
    assert process.wait_until(lambda: workplace.calls().total() == BEGUN), process.err
    set_state(workplace, "CANCELLING")
    assert process.end() == 3, process.err  # though the gate was never opened
    assert len(workplace.journal()) == BEGUN - 2
    assert workplace.survivors() == []


def test_a_run_that_is_not_resumed_in_time_ends_and_keeps_what_is_done(workplace: Workplace) -> None:
    process = paused(workplace, for_s=15)
    finish_what_is_in_flight(workplace, process)
    deadline = datetime.fromisoformat(flow_run(workplace)["state"]["state_details"]["pause_timeout"])
    assert process.end() == 3, process.err
    assert datetime.now(UTC) > deadline
    assert "it was paused in Prefect and not resumed in time" in process.last_word
    assert flow_run(workplace)["state_type"] == "FAILED"
    assert workplace.resume("--output-dir", "reports").end() == 0
    assert workplace.landed() == workplace.calls() == ALL
