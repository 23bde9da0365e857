"""The evaluations of a night's suites: in this process one after the other, or through deployments at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep
from uuid import UUID

import httpx
import pyarrow.dataset as ds
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.store import Store
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.flows.evaluate import evaluate

POLL_PERIOD_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """The result of an evaluation; `run_id` is None where it failed.

    `problems` say why, and which skills were skipped. `flow_runs` and `task_runs` are what Prefect should have recorded.
    """

    run_id: str | None = None
    reports: list[SkillCompletionReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    flow_runs: tuple[str, ...] = ()
    task_runs: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """An evaluation, and the deployment that carries it out; None: this process."""

    request: EvaluateRequest
    via: str | None = None


def evaluate_all(asked: Sequence[Asked], *, timeout_s: float) -> list[Evaluated]:
    """Carry out every evaluation, with results in this order; the error of one is in its result and does not stop the others.

    Those of deployments are started first and waited for at the end, for at most `timeout_s` together.
    """
    deadline = monotonic() + timeout_s
    begun = [_begin(each) if each.via else None for each in asked]
    here = [None if each.via else _here(each.request) for each in asked]
    return [done or _there(run, each, deadline) for each, run, done in zip(asked, begun, here, strict=True)]


def _here(request: EvaluateRequest) -> Evaluated:
    try:
        summary = evaluate(request)
    except Exception as error:  # noqa: BLE001 - the suites of a night do not depend on each other: it becomes this one's result
        return Evaluated(problems=[_told(error)])
    if summary.is_partial:
        return Evaluated(problems=[f"run {summary.run_id} stopped early: {summary.finished} of {summary.planned} items"])
    problems = summary.remarks[: summary.skipped]
    return Evaluated(
        run_id=summary.run_id,
        reports=summary.reports,
        problems=problems,
        flow_runs=summary.flow_runs,
        task_runs=summary.task_runs,
    )


def _begin(asked: Asked) -> FlowRun | Evaluated:
    try:
        flow_run = run_deployment(str(asked.via), parameters={"request": asked.request.to_json()}, timeout=0)
    except Exception as error:  # noqa: BLE001 - as above
        return Evaluated(problems=[f"deployment {asked.via} could not be started: {_told(error)}"])
    assert isinstance(flow_run, FlowRun)
    return flow_run


def _there(begun: FlowRun | Evaluated | None, asked: Asked, deadline: float) -> Evaluated:
    if not isinstance(begun, FlowRun):
        return begun or Evaluated()
    try:
        ended = _awaited(begun.id, deadline)
        if ended is None:
            return Evaluated(problems=[f"deployment {asked.via} did not end in time; its flow run is {begun.name}"])
        if ended.state is None or not ended.state.is_completed():
            said = ended.state.message if ended.state else None
            return Evaluated(problems=[f"deployment {asked.via}, flow run {begun.name}: {said or 'it did not complete'}"])
        return _landed(Store(asked.request.store), begun, asked)
    except Exception as error:  # noqa: BLE001 - as above
        return Evaluated(problems=[f"deployment {asked.via}: {_told(error)}"])


def _awaited(flow_run_id: UUID, deadline: float) -> FlowRun | None:
    """The flow run in its final state; None: it is not there by the deadline."""
    with get_client(sync_client=True) as client:
        while True:
            try:
                flow_run = client.read_flow_run(flow_run_id)
                if flow_run.state is not None and flow_run.state.is_final():
                    return flow_run
            except httpx.HTTPError:  # busy or restarting: ask again
                pass
            if monotonic() > deadline:
                return None
            sleep(POLL_PERIOD_S)


def _landed(store: Store, flow_run: FlowRun, asked: Asked) -> Evaluated:
    rows = store.tables.dataset("items").to_table(columns=["run_id"], filter=ds.field("flow_run_id") == str(flow_run.id))
    run_ids = sorted(set(rows["run_id"].to_pylist()))
    if not run_ids:
        return Evaluated(
            problems=[f"deployment {asked.via} completed, but its run is not in {store.path}; it must write to the same store"]
        )
    return Evaluated(run_id=run_ids[-1], reports=read_source(run_ids[-1], store.path).reports)


def _told(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
