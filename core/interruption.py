"""Telling a Ctrl-C of the user from a KeyboardInterrupt that somebody else's code raised itself."""

from __future__ import annotations

import dis
import functools
import signal
import threading
from collections.abc import Iterator
from types import CodeType, TracebackType

from eval_skills.core.errors import causes_of

_RAISE = dis.opmap["RAISE_VARARGS"]


def ctrl_c_behind(error: BaseException) -> KeyboardInterrupt | None:
    """The KeyboardInterrupt of a signal that is `error`, or that `error` was raised from; None where no signal was the cause.

    Python handles signals in the main thread alone, and between instructions: the interrupt comes out of any of them but of a
    `raise`, unless a handler that is written in Python raises it, as asyncio's does at the second Ctrl-C. Where code of C raises
    one by itself, it counts as the user's: to stop is safer than to go on.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    return next((each for each in causes_of(error) if isinstance(each, KeyboardInterrupt) and _is_of_a_signal(each)), None)


def _is_of_a_signal(interrupt: KeyboardInterrupt) -> bool:
    steps = list(_steps(interrupt.__traceback__))
    if not steps:
        return True
    code, at = steps[-1]
    raised_by_itself = code.co_code[at : at + 1] == bytes([_RAISE])
    return not raised_by_itself or _code_of_handler() in [code for code, _ in steps]


def _steps(trace: TracebackType | None) -> Iterator[tuple[CodeType, int]]:
    while trace is not None:
        yield trace.tb_frame.f_code, trace.tb_lasti
        trace = trace.tb_next


def _code_of_handler() -> object:
    """The code that Python runs at Ctrl-C; a new object where there is none in Python."""
    handler = signal.getsignal(signal.SIGINT)
    while isinstance(handler, functools.partial):
        handler = handler.func
    return getattr(handler, "__code__", object())
