"""An evaluation as a Prefect flow for a Python caller: a server behind it, and silence unless asked otherwise.

Calls that overlap, in threads or one inside another, share one API: the events by which Prefect records task runs all go to the
server that the process sent its first one to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from time import monotonic
from typing import Any

from eval_skills.api.prefect_import import import_flows, quiet
from eval_skills.cli.prefect_server.api_server import CLIENT_SETTINGS, DRAIN_TIMEOUT_S, ApiServer, find_or_start, past_proxies
from eval_skills.cli.prefect_server.loss import Watch, send_what_is_queued
from eval_skills.core.errors import RunError
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.observer import NullObserver, observed_runs
from eval_skills.engine.evaluation.pipeline import finish_without_prefect
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.flows.lost_api import loss_of


def run_with_prefect(request: EvaluateRequest, *, verbose: bool) -> RunSummary:
    """Run the flow `evaluate` here, with the API of the calls that run already, else one that is found or started.

    Where the API is lost once the run has begun, the rest of it is evaluated without Prefect, and a remark says so.

    Raises:
        RunError: the API cannot be had, or was lost before the run had begun.
    """
    with _shared() as shared:
        flows = import_flows()
        server = shared.ready()
        with quiet(not verbose):
            summary = _run(flows.run_here, flows.evaluate, request, server)
        if summary.flow_runs:
            server.wait_until_recorded(summary.flow_runs, summary.task_runs)
        return summary


class _Begun(NullObserver):
    """Notes the run that begins, and when, by the monotonic clock."""

    run_id: str | None = None
    at: float

    def planned(self, plan: RunPlan) -> None:
        self.run_id, self.at = plan.run_id, monotonic()


def _run(run_here: Callable[..., RunSummary], flow: Any, request: EvaluateRequest, server: ApiServer) -> RunSummary:
    begun = _Begun()
    try:
        with observed_runs.by(begun):
            return run_here(flow, request, api_url=server.url, watched=lambda: Watch(server, tell=lambda line: None))
    except Exception as error:
        if (reason := loss_of(error)) is None:
            raise
        if begun.run_id is None:
            raise RunError(f"{_lost(server)} ({reason}); evaluate again") from error
    summary = finish_without_prefect(request, begun.run_id, begun.at)  # what goes wrong from here on is not caused by the loss
    remark = f"{_lost(server)} ({reason}): Prefect's records of run {begun.run_id} are not complete, its results are not affected"
    return replace(summary, remarks=[*summary.remarks, remark])


@dataclass(slots=True)
class _Shared:
    """What the calls that overlap have in common: the first makes it, the last undoes it."""

    variables: dict[str, str]
    server: ApiServer
    proxies: ExitStack
    calls: int = 0
    _problem: str | None = None
    _asking: Lock = field(default_factory=Lock)

    def ready(self) -> ApiServer:
        """The server, which answers; one call asks for all.

        Raises:
            RunError: it does not answer, or has ended.
        """
        with self._asking:
            if self._problem is None and not self.server.answered:
                try:
                    self.server.wait_until_ready()
                except RunError as error:
                    self._problem = str(error)
            if self._problem is not None:
                raise RunError(self._problem)
        if self.server.has_ended:
            raise RunError(f"{_lost(self.server)} (its process has ended); evaluate again when the calls that share it are over")
        return self.server


_lock = Lock()
_of_all_calls: _Shared | None = None
_sent_to: str | None = None
"""The API that outlives calls and that Prefect goes on sending the events of this process to."""


@contextmanager
def _shared() -> Iterator[_Shared]:
    global _of_all_calls, _sent_to
    with _lock:
        if _of_all_calls is None:
            _of_all_calls = _begin()
        shared = _of_all_calls
        shared.calls += 1
    try:
        yield shared
    finally:
        with _lock:
            shared.calls -= 1
            if not shared.calls:
                _of_all_calls = None
                _unset(shared.variables)
                shared.server.stop()
                shared.proxies.close()
                _sent_to = None if shared.server.process else shared.server.url


def _begin() -> _Shared:
    variables = {name: value for name, value in CLIENT_SETTINGS.items() if name not in os.environ}
    os.environ.update(variables)
    try:
        server = find_or_start()
        if _sent_to not in {None, server.url}:
            send_what_is_queued(DRAIN_TIMEOUT_S)  # what sends it ends, and the next call has another one made
        proxies = ExitStack()
        proxies.enter_context(past_proxies(server.url))
        return _Shared(variables, server, proxies)
    except BaseException:
        _unset(variables)
        raise


def _unset(variables: dict[str, str]) -> None:
    """Remove what we have set, unless somebody, such as a skill, has set it to something else since."""
    for name, value in variables.items():
        if os.environ.get(name) == value:
            del os.environ[name]


def _lost(server: ApiServer) -> str:
    return f"{server.name} was lost in the middle of the evaluation"
