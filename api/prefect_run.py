"""An evaluation as a Prefect flow for a Python caller: a server behind it, and silence unless asked otherwise."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from eval_skills.cli.prefect_server.private import CLIENT_SETTINGS, apply, prefect_api
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.summary import RunSummary


def run_with_prefect(request: EvaluateRequest, *, verbose: bool) -> RunSummary:
    """Run the flow `evaluate` here, with the API that `prefect_api` finds or starts."""
    with _environment_kept():
        apply(CLIENT_SETTINGS)
        from eval_skills import flows

        flow = flows.evaluate  # loads Prefect, which sets its loggers up, before the address of a server that will be gone is set
        with prefect_api(verbose=True) as server, _quiet(verbose):
            server.wait_until_ready()
            summary: RunSummary = flows.run_here(flow, request, api_url=server.url)
            server.wait_until_recorded(summary.flow_runs, summary.task_runs)
            return summary


@contextmanager
def _environment_kept() -> Iterator[None]:
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _quiet(verbose: bool) -> Iterator[None]:
    """Let Prefect's loggers print nothing; what they send to its API is left as it is."""
    loggers = [
        logging.getLogger(),
        *(each for each in logging.root.manager.loggerDict.values() if isinstance(each, logging.Logger)),
    ]
    handlers = {
        handler for logger in loggers for handler in logger.handlers if type(handler).__module__ == "prefect.logging.handlers"
    }
    printing = [handler for handler in handlers if isinstance(handler, logging.StreamHandler) and not verbose]
    levels = [handler.level for handler in printing]
    for handler in printing:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in zip(printing, levels, strict=True):
            handler.setLevel(level)
