"""Prefect in a program that is not about Prefect: its logging, its random numbers and what it prints stay its own."""

from __future__ import annotations

import logging
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from threading import Lock
from types import ModuleType
from typing import Any

_QUEUES = ("EventsWorker", "APILogWorker")
"""Loggers of Prefect whose names do not say so."""

_DRAWING = ("prefect.utilities.math", "websockets.client", "websockets.asyncio.connection")
"""What draws from Python's `random` while a flow runs: for jitter, and for the payload of pings."""

_importing = Lock()
_is_quiet: ContextVar[bool] = ContextVar("eval_skills_prefect_is_quiet", default=False)


def import_flows() -> ModuleType:
    """The package of flows, with Prefect loaded; the caller's loggers, handlers and random numbers are as they were.

    Prefect's lines go to a handler of the logger ``prefect``. Where the caller has imported Prefect before, its logging stays as
    it is.
    """
    with _importing:
        return _flows()


@cache
def _flows() -> ModuleType:
    from eval_skills import flows

    if "prefect.main" in sys.modules:
        import_module("eval_skills.flows.evaluate")
    else:
        state = random.getstate()
        with _logging_kept():
            import_module("eval_skills.flows.evaluate")
        random.setstate(state)
    _draw_apart()
    return flows


def _draw_apart() -> None:
    """Let Prefect and what it uses draw from a generator of their own: with the program's, each call would change its numbers.

    Putting the program's generator back afterwards would make a skill that draws from it get the same numbers in each call.
    """
    import coolname

    own = random.Random()  # noqa: S311
    coolname.replace_random(own)
    for name in _DRAWING:
        with suppress(ImportError):  # another version may do without
            module: Any = import_module(name)
            if getattr(module, "random", None) is random:
                module.random = own


@contextmanager
def quiet(is_quiet: bool) -> Iterator[None]:
    """Inside, Prefect prints nothing, or prints after all; what it sends to its API is left as it is."""
    printing = {each for logger in _loggers() for each in logger.handlers if _prints_for_prefect(each)}
    for place in (*printing, *map(logging.getLogger, _QUEUES)):
        place.addFilter(_is_wanted)  # one that is there already is not added again
    token = _is_quiet.set(is_quiet)
    try:
        yield
    finally:
        _is_quiet.reset(token)


def _is_wanted(record: logging.LogRecord) -> bool:
    return not (_is_quiet.get() and (_is_of_prefect(record.name) or record.name in _QUEUES))


@contextmanager
def _logging_kept() -> Iterator[None]:
    """Import Prefect inside: it closes every handler that it finds, and configures the loggers of others, the root logger too."""
    before = {each: (each.level, each.propagate, each.handlers[:]) for each in _loggers()}
    internals: Any = logging
    named, listed = dict(internals._handlers), internals._handlerList[:]
    internals._handlers.clear()
    internals._handlerList.clear()
    try:
        yield
    finally:
        internals._handlers.update(named)
        internals._handlerList[:0] = listed
        for logger in _loggers():
            added = [each for each in logger.handlers if _prints_for_prefect(each)]
            if added and not _is_of_prefect(logger.name):
                _restore(logger, *before.get(logger, (logging.NOTSET, True, [])))
                if logger is logging.root:
                    logging.getLogger("prefect").handlers.extend(added)


def _restore(logger: logging.Logger, level: int, propagate: bool, handlers: list[logging.Handler]) -> None:
    logger.setLevel(level)
    logger.propagate = propagate
    logger.handlers[:] = handlers


def _loggers() -> list[logging.Logger]:
    known = list(logging.root.manager.loggerDict.values())
    return [logging.root, *(each for each in known if isinstance(each, logging.Logger))]


def _is_of_prefect(name: str) -> bool:
    return name == "prefect" or name.startswith("prefect.")


def _prints_for_prefect(handler: logging.Handler) -> bool:
    return isinstance(handler, logging.StreamHandler) and type(handler).__module__ == "prefect.logging.handlers"
