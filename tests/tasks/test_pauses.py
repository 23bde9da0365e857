"""Whether an item may begin: not while the flow run is paused, and never again once it has to end."""

from __future__ import annotations

import asyncio
import threading
from time import monotonic

import pytest
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.exceptions import Pause
from prefect.states import Cancelling, Running, Suspended

from eval_skills.engine.evaluation.retries import ConcurrencySlot
from eval_skills.tasks import pauses
from eval_skills.tasks.pauses import EndedInPrefect, Gate, Lineage, PauseWatch, StoppedInPrefect


def test_a_gate_is_open_until_it_is_closed() -> None:
    gate = Gate()
    assert gate.wait(0)
    gate.close()
    assert not gate.wait(0)
    gate.open()
    assert gate.wait(0)


def test_an_ending_is_raised_whenever_it_is_waited_and_nothing_opens_the_gate_again() -> None:
    gate = Gate()
    gate.close(StoppedInPrefect("over"))
    gate.open()
    for _ in range(2):
        with pytest.raises(StoppedInPrefect, match="over"):
            gate.wait_until_open()


def test_an_ending_is_raised_from_a_rest_at_once_and_a_closed_gate_lengthens_it() -> None:
    gate = Gate()
    threading.Timer(0.05, gate.close, [StoppedInPrefect("suspended")]).start()
    began = monotonic()
    with pytest.raises(StoppedInPrefect, match="suspended"):
        gate.rest(600.0)
    assert monotonic() - began < 60
    paused, began = Gate(), monotonic()
    paused.close()
    threading.Timer(0.3, paused.open).start()
    paused.rest(0.0)
    assert monotonic() - began >= 0.3


def test_the_first_ending_counts() -> None:
    gate = Gate()
    gate.close(StoppedInPrefect("cancelled"))
    gate.close(StoppedInPrefect("late"))
    with pytest.raises(StoppedInPrefect, match="cancelled"):
        gate.wait(0)


async def _waits_and_then_works(gate: Gate, slot: ConcurrencySlot) -> None:
    gate.close()
    taking = asyncio.create_task(slot.take())
    await asyncio.sleep(0)
    assert not slot.is_working
    assert not taking.done()
    gate.open()
    await taking
    assert slot.is_working


def test_a_slot_is_not_working_before_the_gate_is_open() -> None:
    async def scene() -> None:
        gate = Gate()
        slot = ConcurrencySlot(asyncio.Semaphore(1), gate.passed)
        await _waits_and_then_works(gate, slot)
        slot.give_back()
        assert not slot.is_working

    asyncio.run(scene())


def test_an_item_that_keeps_its_slot_waits_before_its_next_attempt() -> None:
    async def scene() -> None:
        gate = Gate()
        slot = ConcurrencySlot(asyncio.Semaphore(1), gate.passed)
        await slot.take()
        await _waits_and_then_works(gate, slot)

    asyncio.run(scene())


@flow
def left_alone() -> None: ...


def test_a_cancelled_run_of_a_deployment_that_nothing_terminates_ends_itself(
    prefect_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What serves it may be gone, and nobody else would ever end the process."""

    gate = Gate()
    watch = PauseWatch(gate)
    with get_client(sync_client=True) as client:
        flow_run = client.create_flow_run(left_alone)
        lineage = Lineage((flow_run.id,), deployed=(True,))
        states: list[State | None] = [Cancelling()]
        watch._follow(lineage, states, client)
        assert not gate.wait(0), "no item begins, and what serves it has its minute"
        monkeypatch.setattr(pauses, "TERMINATED_S", 0.0)
        watch._follow(lineage, states, client)
        with pytest.raises(EndedInPrefect, match="cancelled in Prefect"):
            gate.wait(0)
        ended = client.read_flow_run(flow_run.id).state
    assert ended is not None
    assert ended.is_cancelled()


@pytest.mark.parametrize("is_deployed", [True, False], ids=["via-a-deployment", "in-the-same-process"])
def test_a_cancelled_part_of_a_run_ends_here_unless_it_has_a_process_of_its_own(prefect_url: str, is_deployed: bool) -> None:
    gate = Gate()
    with get_client(sync_client=True) as client:
        part, whole = client.create_flow_run(left_alone), client.create_flow_run(left_alone)
        lineage = Lineage((part.id, whole.id), deployed=(is_deployed, True))
        PauseWatch(gate)._follow(lineage, [Cancelling(), Running()], client)
        if is_deployed:
            assert not gate.wait(0), "what serves it terminates its process"
        else:
            with pytest.raises(StoppedInPrefect, match="cancelled in Prefect"):
                gate.wait(0)


@pytest.mark.parametrize(("is_deployed", "ending"), [(True, StoppedInPrefect), (False, Pause)], ids=["via", "here"])
def test_a_part_of_a_suspended_run_that_has_a_process_of_its_own_fails(
    prefect_url: str, is_deployed: bool, ending: type[BaseException]
) -> None:
    """Prefect suspends no part of a run: its flow run would stay *Running*, and its place in the deployment's limit taken."""
    gate = Gate()
    with get_client(sync_client=True) as client:
        part, whole = client.create_flow_run(left_alone), client.create_flow_run(left_alone)
        lineage = Lineage((part.id, whole.id), deployed=(is_deployed, True))
        PauseWatch(gate)._follow(lineage, [Running(), Suspended(timeout_seconds=300)], client)
        with pytest.raises(ending):
            gate.wait(0)
        state = client.read_flow_run(part.id).state
    assert state is not None
    assert state.is_failed() == is_deployed
