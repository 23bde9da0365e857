"""A place in the run's concurrency: taken once, given back once, whoever asks how often."""

from __future__ import annotations

import asyncio

import pytest

from eval_skills.engine.evaluation.retries import ConcurrencySlot, current_slot, give_back_slot, take_slot


async def test_taking_twice_takes_one_place_and_giving_back_twice_frees_one() -> None:
    semaphore = asyncio.Semaphore(2)
    slot = ConcurrencySlot(semaphore)
    await slot.take()
    await slot.take()
    assert semaphore._value == 1
    slot.give_back()
    slot.give_back()
    assert semaphore._value == 2


async def test_a_slot_that_was_given_back_lets_another_in_and_waits_for_its_turn_again() -> None:
    semaphore = asyncio.Semaphore(1)
    first, second = ConcurrencySlot(semaphore), ConcurrencySlot(semaphore)
    await first.take()
    first.give_back()
    await asyncio.wait_for(second.take(), timeout=60)
    again = asyncio.create_task(first.take())
    await asyncio.sleep(0)
    assert not again.done()
    second.give_back()
    await asyncio.wait_for(again, timeout=60)


async def test_a_wait_that_is_cancelled_holds_nothing() -> None:
    semaphore = asyncio.Semaphore(1)
    first, second = ConcurrencySlot(semaphore), ConcurrencySlot(semaphore)
    await first.take()
    waiting = asyncio.create_task(second.take())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    second.give_back()
    first.give_back()
    assert semaphore._value == 1


async def test_outside_the_runner_there_is_no_slot_and_nothing_to_do() -> None:
    assert current_slot.get() is None
    await take_slot()
    give_back_slot()


@pytest.mark.parametrize("times", [1, 3])
async def test_the_current_slot_is_the_one_that_is_taken_and_given_back(times: int) -> None:
    semaphore = asyncio.Semaphore(1)
    token = current_slot.set(ConcurrencySlot(semaphore))
    for _ in range(times):
        await take_slot()
        assert semaphore.locked()
        give_back_slot()
        assert not semaphore.locked()
    current_slot.reset(token)
