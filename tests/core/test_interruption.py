"""A Ctrl-C of the user is told apart from a KeyboardInterrupt that code raised itself."""

from __future__ import annotations

import asyncio
import functools
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

import pytest

from eval_skills.core.interruption import ctrl_c_behind


def caught(work: Callable[[], Any]) -> BaseException:
    try:
        work()
    except BaseException as error:  # noqa: BLE001 - that is what is looked at
        return error
    raise AssertionError("it raised nothing")


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def raised() -> NoReturn:
    raise KeyboardInterrupt("mine")


def pressed_and_raised_again() -> None:
    try:
        press()
    except KeyboardInterrupt:
        raise


def pressed_and_translated() -> None:
    try:
        press()
    except KeyboardInterrupt:
        raise ValueError("stopped") from None


def raised_of_a_context_that_is_a_circle() -> None:
    error = ValueError()
    error.__cause__ = error
    raise error


def handler(number: int, frame: FrameType | None) -> None:
    raised()


@pytest.fixture
def sigint() -> Iterator[Callable[[Any], Any]]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield functools.partial(signal.signal, signal.SIGINT)
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(press, id="pressed"),
        pytest.param(pressed_and_raised_again, id="raised-again"),
        pytest.param(pressed_and_translated, id="another-error-because-of-it"),
    ],
)
def test_a_ctrl_c_is_found(work: Callable[[], Any], sigint: Callable[[Any], Any]) -> None:
    assert isinstance(ctrl_c_behind(caught(work)), KeyboardInterrupt)


@pytest.mark.parametrize("installed", [handler, functools.partial(handler)], ids=["function", "partial"])
def test_a_ctrl_c_is_found_where_a_handler_in_python_raises_it(installed: Any, sigint: Callable[[Any], Any]) -> None:
    sigint(installed)
    assert isinstance(ctrl_c_behind(caught(press)), KeyboardInterrupt)
    assert ctrl_c_behind(caught(raised)) is None


def test_the_second_ctrl_c_under_asyncio_is_found(sigint: Callable[[Any], Any]) -> None:
    found: list[KeyboardInterrupt | None] = []

    async def busy() -> None:
        press()  # cancels this at its next wait
        found.append(ctrl_c_behind(caught(press)))

    caught(lambda: asyncio.run(busy()))
    assert [type(each) for each in found] == [KeyboardInterrupt]


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(raised, id="raised"),
        pytest.param(lambda: 1 / 0, id="another-error"),
        pytest.param(raised_of_a_context_that_is_a_circle, id="circle"),
    ],
)
def test_what_code_raises_itself_is_none(work: Callable[[], Any], sigint: Callable[[Any], Any]) -> None:
    assert ctrl_c_behind(caught(work)) is None


def test_an_interrupt_without_a_trace_counts_as_one() -> None:
    interrupt = KeyboardInterrupt()
    assert ctrl_c_behind(interrupt) is interrupt


def test_no_signal_arrives_in_another_thread() -> None:
    found: list[KeyboardInterrupt | None] = []
    thread = threading.Thread(target=lambda: found.append(ctrl_c_behind(KeyboardInterrupt())))
    thread.start()
    thread.join()
    assert found == [None]
