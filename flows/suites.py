"""The evaluations of a night's suites: in this process one after the other, or through deployments at the same time."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from time import monotonic
from typing import Any

import httpx
import pyarrow.dataset as ds
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment
from prefect.exceptions import ObjectNotFound

from eval_skills.core.store import Store
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.observer import observed_runs
from eval_skills.engine.nightly.execution import Asked, Evaluated, evaluated, reason_of
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.flows.evaluate import evaluate
from eval_skills.flows.lost_api import loss_of
from eval_skills.reporting.stopping import asked_by, resume_words
from eval_skills.tasks.flow_runs import NIGHTLY, Caller, called_by
from eval_skills.tasks.pauses import PERIOD_S, Gate, PauseWatch, StoppedInPrefect
from eval_skills.tasks.run_log import FlowRunLog

POLL_PERIOD_S = 2.0
NOTICED_S = 3 * PERIOD_S
"""So soon it is noticed that the night was suspended."""
NOT_BEGUN_S = 60.0
"""After so long a deployment that has not begun is told of: it may wait for a worker that is not there."""


def evaluate_all(asked: Sequence[Asked], *, timeout_s: float) -> list[Evaluated]:
    """Carry out every evaluation, with results in this order; the error of one is in its result and does not stop the others.

    Those of deployments are started first and waited for at the end, for at most `timeout_s` together.
    """
    deadline = monotonic() + timeout_s
    begun = [_begin(each) if each.via or each.problem else None for each in asked]
    here = [None if each.via or each.problem else _here(each.request) for each in asked]
    gate = Gate()
    with PauseWatch(gate) if any(isinstance(run, FlowRun) for run in begun) else nullcontext():
        return [done or _there(run, each, deadline, gate) for each, run, done in zip(asked, begun, here, strict=True)]


def _here(request: EvaluateRequest) -> Evaluated:
    try:
        with called_by.by(Caller(NIGHTLY)):
            return evaluated(evaluate(request))
    except Exception as error:  # the suites of a night do not depend on each other: it becomes this one's result
        if loss_of(error) is not None:
            raise  # no other suite could be recorded either
        return Evaluated(problems=[reason_of(error)])


def _begin(asked: Asked) -> FlowRun | Evaluated:
    if asked.problem is not None:
        return Evaluated(problems=[asked.problem])
    try:
        flow_run = run_deployment(str(asked.via), parameters={"request": _elsewhere(asked.request)}, timeout=0)
    except ObjectNotFound:
        where = (
            "the Prefect server has no such deployment; correct via, or serve or deploy it (eval-skills serve, prefect deploy)"
        )
        return Evaluated(problems=[f"deployment {asked.via} could not be started: {where}"])
    except Exception as error:  # noqa: BLE001 - becomes this suite's result, as in `_here`
        return Evaluated(problems=[f"deployment {asked.via} could not be started: {reason_of(error)}"])
    assert isinstance(flow_run, FlowRun)
    return flow_run


def _elsewhere(request: EvaluateRequest) -> dict[str, Any]:
    """What the request says, as JSON, and nothing that it leaves open.

    The process that gets it may run in another folder, where ./benchmarks is its own; and what decides the results of a run that
    is resumed must not be said anew.
    """
    return request.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _there(begun: FlowRun | Evaluated | None, asked: Asked, deadline: float, gate: Gate) -> Evaluated:
    if not isinstance(begun, FlowRun):
        return begun or Evaluated()
    try:
        ended = _awaited(begun, asked, deadline, gate)
        if ended is None or _waits(ended):
            late = f"did not {'end' if ended is None else 'begin'} in time"
            return Evaluated(problems=[f"deployment {asked.via} {late}; its flow run is {begun.name}"])
        if ended.state is None or not ended.state.is_completed():
            gate.rest(NOTICED_S)  # it may have ended because the night was suspended
            said = ended.state.message if ended.state else None
            return Evaluated(problems=[f"deployment {asked.via}, flow run {begun.name}: {said or 'it did not complete'}"])
        return _landed(Store(asked.request.store), begun, asked)
    except ObjectNotFound:
        return Evaluated(
            problems=[f"deployment {asked.via}: the Prefect server does not know its flow run {begun.name} any more"]
        )
    except StoppedInPrefect:  # the night itself
        raise
    except Exception as error:  # noqa: BLE001 - becomes this suite's result, as in `_here`
        return Evaluated(problems=[f"deployment {asked.via}: {reason_of(error)}"])


def _awaited(begun: FlowRun, asked: Asked, deadline: float, gate: Gate) -> FlowRun | None:
    """The flow run in its final state, or as it waits to begin at the deadline; None: it runs then, or is unknown.

    Where the night is suspended or cancelled meanwhile, that is raised.
    """
    told_at, waiting = monotonic() + NOT_BEGUN_S, None
    with get_client(sync_client=True) as client:
        while True:
            try:
                flow_run = client.read_flow_run(begun.id)
                if flow_run.state is not None and flow_run.state.is_final():
                    return flow_run
                waiting = flow_run if _waits(flow_run) else None
            except httpx.HTTPError:  # busy or restarting: ask again
                pass
            if monotonic() > deadline:
                return waiting
            if waiting is not None and monotonic() > told_at:
                told_at = deadline
                _tell(f"deployment {asked.via} has not begun its flow run {begun.name} for {NOT_BEGUN_S:g} s: {_NOBODY}")
            gate.rest(POLL_PERIOD_S)


_NOBODY = "no worker or eval-skills serve has a free place for it; the night waits until its time limit (viaTimeoutMinutes)"


def _waits(flow_run: FlowRun) -> bool:
    return flow_run.state is not None and (flow_run.state.is_scheduled() or flow_run.state.is_pending())


def _tell(warning: str) -> None:
    FlowRunLog().say(warning, logging.WARNING)
    observed_runs.observer.unbegun(warning)


def _landed(store: Store, flow_run: FlowRun, asked: Asked) -> Evaluated:
    rows = store.tables.dataset("items").to_table(columns=["run_id"], filter=ds.field("flow_run_id") == str(flow_run.id))
    landed = store.tables.files("items")
    resumed = [run_id for run_id in [asked.request.resume] if run_id in landed]  # it may have had nothing left to do
    run_ids = resumed or sorted(set(rows["run_id"].to_pylist()))
    if not run_ids:
        why = _unfinished(store, flow_run) or f"its run is not in {store.path}; it must write to the same store"
        return Evaluated(problems=[f"deployment {asked.via} completed, but {why}"])
    return Evaluated(run_id=run_ids[-1], reports=read_source(run_ids[-1], store.path).reports)


def _unfinished(store: Store, flow_run: FlowRun) -> str | None:
    """That the run of a flow run left items for a resume, and how it goes on; None where the store has no such run."""
    manifests = (store.find_manifest(run_id) for run_id in reversed(store.unfinished()))
    found = next((each for each in manifests if each is not None and each.flow_run_id == str(flow_run.id)), None)
    if found is None:
        return None
    stopped = None if found.stopped is None else found.stopped.name
    again = resume_words(found.run_id, store.path, stopped, asked_by(found.provenance))
    return f"its run {found.run_id} stopped {f'at its {stopped}' if stopped else 'early'}; continue with: {again}"
