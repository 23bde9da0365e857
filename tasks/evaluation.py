"""The Prefect tasks of an evaluation: plan it, evaluate each item (or batch of items), land the results, aggregate them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import TaskRunContext
from prefect.states import Cancelled, Completed, Failed
from prefect.tasks import Task

from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Store, land, write_manifest
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.handover import plan_made_of
from eval_skills.engine.evaluation.plan import Item, RunPlan, make_plan
from eval_skills.engine.evaluation.resume import continuing, resumed_plan, run_begun_by
from eval_skills.engine.evaluation.retries import JITTER, final_result, give_back_slot, take_slot
from eval_skills.engine.evaluation.rounds import record_decisions
from eval_skills.engine.evaluation.session import RunRef, RunSession, manifest_of
from eval_skills.engine.evaluation.summary import landed_reports
from eval_skills.engine.judging.preflight import check_judges_ready
from eval_skills.tasks.pauses import began_after, flow_run_here


@task(persist_result=False, cache_policy=NO_CACHE)
def plan_items(request: EvaluateRequest) -> RunPlan:
    """Plan skills × tasks × runs, minus what the journal holds. A new run gets its manifest, and can be resumed from then on.

    A flow run that was suspended in Prefect, or is tried again there, begins again in another process: it goes on with its run.
    """
    own = flow_run_here()
    if own is not None and not request.resume:
        begun = run_begun_by(str(own.id), Store(request.store), began_after(own))
        request = request if begun is None else continuing(request, begun)
    made = plan_made_of(request)
    if request.resume:
        resumed = made or resumed_plan(request)
        resumed.remarks.extend(check_judges_ready(resumed.scorings, simulators=resumed.calls_skills) if resumed.items else ())
        return resumed
    plan = made or make_plan(request)
    plan.remarks.extend(check_judges_ready(plan.scorings, simulators=plan.calls_skills))
    manifest = manifest_of(plan).model_copy(update={"flow_run_id": None if own is None else str(own.id)})
    write_manifest(plan.store.run_folder(plan.run_id), manifest, secrets=plan.secrets())
    return plan


NOT_STARTED = "left for --resume: the run stopped at the first item that did not pass"


@dataclass(frozen=True, slots=True)
class ItemBatch:
    """Consecutive items that share one Prefect task run; each keeps its own time limit, retries and journal line."""

    items: tuple[Item, ...]

    def __str__(self) -> str:
        return f"{self.items[0]} +{len(self.items) - 1}" if len(self.items) > 1 else str(self.items[0])


async def is_transient(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:
    """Prefect's retry condition: only errors that another attempt may not have. The wait must not hold a place of the runner."""
    transient = isinstance(state.data, Outcome) and state.data.transient
    if transient:
        give_back_slot()
    return transient


@task(task_run_name="{item}", persist_result=False, cache_policy=NO_CACHE, retry_condition_fn=is_transient)
async def evaluate_item(item: Item, run: RunRef, retries: int = 0) -> State[Any]:
    """Call the skill once and score its answer; see `execution.execute` for what can go wrong."""
    session, task_run = RunSession.of(run), _current_task_run()
    await session.not_before(item)
    await take_slot()
    if session.stopped:
        return Cancelled(message=NOT_STARTED)
    outcome = await session.attempt(item, last=task_run.run_count > retries, task_run_id=str(task_run.id))
    return state_of(outcome)


@task(task_run_name="{batch}", persist_result=False, cache_policy=NO_CACHE)
async def evaluate_batch(batch: ItemBatch, run: RunRef, retries: int = 0) -> State[Any]:
    """Evaluate the items of a batch one after the other, each with its own retries."""
    session, task_run_id = RunSession.of(run), str(_current_task_run().id)
    counts: Counter[str] = Counter()
    for item in batch.items:
        if session.stopped:
            return Cancelled(message=NOT_STARTED)
        counts[(await final_result(session, item, retries, task_run_id)).status] += 1
    message = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    failed = counts["error"] + counts["timeout"]
    return Failed(name="Some errors", message=message) if failed else Completed(name="Finished", message=message)


@task(persist_result=False, cache_policy=NO_CACHE)
def land_results(plan: RunPlan) -> str:
    """Move a finished run's items into the store's `items` table; the journal goes only after the table reads back whole."""
    record_decisions(plan)
    return land(plan.store, plan.run_id)


@task(persist_result=False, cache_policy=NO_CACHE)
def aggregate(plan: RunPlan) -> list[SkillCompletionReport]:
    """Aggregate a landed run into one report per skill; see `landed_reports`."""
    return landed_reports(plan)


def retry_delays(retries: int) -> dict[str, Any]:
    """The options that give `evaluate_item` its retries."""
    return {"retries": retries, "retry_delay_seconds": [float(n + 1) for n in range(retries)], "retry_jitter_factor": JITTER}


def state_of(outcome: Outcome) -> State[Any]:
    """The state that the Prefect UI shows of an attempt: a wrong answer is a completed task run, an error a failed one."""
    result = outcome.result
    message = _message(result)
    if result.status == "pass":
        return Completed(name="Passed", message=message)
    if result.status == "fail":
        return Completed(name="Failed check", message=message)
    return Failed(name="TimedOut" if result.status == "timeout" else "Failed", message=message, data=outcome)


def _current_task_run() -> TaskRun:
    context = TaskRunContext.get()
    if context is None:
        raise RuntimeError("items are evaluated inside Prefect task runs; outside them use execution.execute")
    return context.task_run


def _message(result: ItemResult) -> str:
    score = "" if result.score is None else f"score {result.score:.4g}"
    latency = "" if result.latency_ms is None else f"{result.latency_ms:.0f} ms"
    reasons = "; ".join(reason.text for reason in result.reasons[:3])
    return " · ".join(part for part in (score, latency, reasons[:300]) if part)
