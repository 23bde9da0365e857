"""Evaluate: every skill × task × run, landed, aggregated and reported. The core of all other flows."""

# Annotations are objects here, not texts: a served flow reaches its process by value, without the names of this module.

import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import cast
from uuid import UUID

import httpx
from prefect import flow, unmapped
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.runtime import flow_run

from eval_skills.core.config.options import CallOptions
from eval_skills.core.config.values import LOCAL, is_ray
from eval_skills.core.errors import RunError
from eval_skills.core.text import plural
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.cluster.ray import RayExecutor
from eval_skills.engine.evaluation.executor import ItemExecutor, LocalExecutor
from eval_skills.engine.evaluation.observer import observed_runs
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.resume import rest_of
from eval_skills.engine.evaluation.rounds import ItemBatch, Ran, Rounds, batches_of
from eval_skills.engine.evaluation.session import RunRef, RunSession, journal_of
from eval_skills.engine.evaluation.spending import record_stop
from eval_skills.engine.evaluation.summary import (
    RunSummary,
    context_of,
    partial_reports,
    share_run,
    summary_of,
    with_duration,
    writing_reports,
)
from eval_skills.engine.skill_effect.experiment import Experiment, effect_of_reports, experiment_in
from eval_skills.reporting.writing import write_rendered
from eval_skills.tasks.evaluation import (
    aggregate,
    evaluate_batch,
    evaluate_item,
    land_results,
    plan_items,
    publish_artifacts,
    publish_effect,
    render_report,
    retry_delays,
)
from eval_skills.tasks.flow_runs import NIGHTLY, called_by, describe_flow_run, not_planned
from eval_skills.tasks.pauses import EndedInPrefect, StoppedInPrefect
from eval_skills.tasks.prefect_settings import with_settings
from eval_skills.tasks.rate_limits import apply_rate_limits, limit_services
from eval_skills.tasks.run_log import log_conclusion, logged_run
from eval_skills.tasks.runner import PROGRESS_PERIOD_S, EventLoopTaskRunner, LoopFuture, returned, unwalked, unwrap

STAGES, STAGES_OF_A_PART = 3, 1
"""Prefect task runs besides the mapped ones: plan_items, land_results, aggregate; plan_items alone where items are missing."""


@flow(task_runner=EventLoopTaskRunner(), persist_result=False, on_completion=[unwrap])
def evaluate(request: EvaluateRequest) -> RunSummary:
    """Evaluate every item of the request and land the results; no single item can fail it.

    Raises:
        UserError: the request cannot be run.
        RunError: items are missing at the end; `resume` continues the run. Or the store's SQLite mirror cannot be written, or the
            object storage that it is in: what landed is kept here, and published by the next command with this store.
    """
    began = monotonic()
    with logged_run() as log:
        about = named_benchmark(request)
        with not_planned(about, benchmark=about, suite=request.provenance.get("suite")):
            plan = plan_items(request)
        _describe(plan)
        ran = run_items(plan)
        plan, finished = ran.plan, ran.finished
        if ran.is_whole:
            observed_runs.observer.landing(plan)
            land_results(unwalked(plan))
            observed_runs.observer.computing(plan)
            reports = aggregate(unwalked(plan))
        else:
            record_stop(plan, ran.stopped)
            reports = partial_reports(plan)
        summary = replace(
            summary_of(plan, reports, finished, monotonic() - began, ran.stopped),
            flow_runs=(str(flow_run.id),),
            task_runs=ran.task_runs + (STAGES if ran.is_whole else STAGES_OF_A_PART),
        )
        log_conclusion(log, summary)
        if plan.request.format:
            summary = write_reports(summary, plan.request.format, Path(plan.request.output_dir))
        summary = publish_skill_effect(summary, plan)
        summary = _shared(summary, plan)  # last: a run whose object storage is gone has its reports
    summary = with_duration(summary, monotonic() - began)
    return returned(summary.line, summary)


def named_benchmark(request: CallOptions) -> str:
    """What a run is about, before anything is read: the name of its benchmark, or of its file of tasks."""
    return Path(request.tasks or request.benchmark).stem


def _describe(plan: RunPlan) -> None:
    """Name the flow run, and tell the run's observer which it is."""
    observed_runs.observer.recorded(str(flow_run.id))
    describe_flow_run(
        f"{plan.benchmark.id} · {plural(len(plan.skills), 'skill')} · {plan.run_id}",
        benchmark=plan.benchmark.id,
        skills=[skill.id for skill in plan.skills.values()],
        suite=plan.request.provenance.get("suite"),
    )


def write_reports(summary: RunSummary, formats: list[str], folder: Path) -> RunSummary:
    """Render each format in a mapped Prefect task run, write the files, publish artifacts; returns the summary with the files."""
    context = context_of(summary)
    distinct = list(dict.fromkeys(formats))
    observed_runs.observer.reporting(distinct)
    rendered = render_report.map(
        distinct, reports=unmapped(unwalked(summary.reports)), context=unmapped(unwalked(context))
    ).result()
    with writing_reports(summary, distinct):
        files = write_rendered(dict(zip(distinct, rendered, strict=True)), folder, context)
    if not summary.is_partial:
        observed_runs.observer.reported(files)
    publish_artifacts(unwalked(summary.reports), unwalked(context), summary.benchmark.id)
    return replace(summary, report_files=files, task_runs=summary.task_runs + len(distinct) + 1)


def publish_skill_effect(summary: RunSummary, plan: RunPlan) -> RunSummary:
    """Publish what the Agent Skill of an experiment changes, where the run is one and is whole; returns the summary."""
    experiment = _experiment(plan)
    if experiment is None or summary.is_partial or not all(report.task_results for report in summary.reports):
        return summary
    effect = effect_of_reports(experiment, summary.reports, summary.run_id, summary.benchmark)
    publish_effect(unwalked(effect))
    return replace(summary, task_runs=summary.task_runs + 1)


def _shared(summary: RunSummary, plan: RunPlan) -> RunSummary:
    """Bring a whole run to object storage, or to the SQLite mirror; returns the summary.

    In a night the run is compared here all the same where that cannot be done just now: what the night records in object storage
    is published with it, and the night fails where that is not possible either.
    """
    problem = None if summary.is_partial else share_run(plan)
    if problem is None:
        return summary
    if called_by.observer.name != NIGHTLY:
        raise problem
    return replace(summary, remarks=[*summary.remarks, str(problem)])


def _experiment(plan: RunPlan) -> Experiment | None:
    manifest = plan.store.manifest(plan.run_id)
    return experiment_in(manifest.provenance) if manifest.has_arms else None


PROGRESS_AFTER_S, PROGRESS_TIMEOUT_S = 5.0, 10.0


def run_items(plan: RunPlan) -> Ran:
    """Evaluate every item of `plan`; no single item can fail it.

    Raises:
        RunError: an item has no result although nothing stopped the run; what is done is kept. Also where the flow run was
            paused in Prefect and not resumed in time.
        EndedInPrefect: it was cancelled there.
    """
    observed_runs.observer.planned(plan)
    if not plan.items and plan.baseline is None:
        return Ran(plan, plan.finished)
    task_runs, is_cut = 0, False
    with open_session(plan) as session:
        rest = rest_of(plan) if plan.request.resume else plan
        rounds = Rounds(rest)
        while not is_cut and (items := rounds.next()):
            with _ended_in_prefect(rest, session):
                cause, submitted = _evaluate(replace(rest, items=items), rest, session)
                EventLoopTaskRunner.current().wait_while_paused()
            task_runs += submitted
            missing = len(rounds.begun) - session.counts.total()
            if missing and (session.is_unwritable or not session.stopped):
                # the items that were left say only that the run stopped
                why = cause if session.write_error is None else session.write_error.partition(";")[0]
                raise RunError(f"{missing} of {rest.planned} items have no result ({why}); {rest.going_on()}")
            is_cut = missing > 0
    done = rest.finished + session.counts.total()
    return Ran(rest, done, session.stopped_at, task_runs) if is_cut else Ran(rounds.settled(), done, task_runs=task_runs)


@contextmanager
def _ended_in_prefect(plan: RunPlan, session: RunSession) -> Iterator[None]:
    """Where the flow run is cancelled in Prefect, or not resumed in time, say what is left and how to go on."""
    try:
        yield
    except (StoppedInPrefect, EndedInPrefect) as ended:
        missing = plan.planned - plan.finished - session.counts.total()
        going_on = plan.going_on(whole_night=isinstance(ended, EndedInPrefect))
        raise type(ended)(f"{missing} of {plan.planned} items have no result ({ended}); {going_on}") from None


@contextmanager
def open_session(plan: RunPlan) -> Iterator[RunSession]:
    """The session of the run, open on the flow's event loop."""
    runner = EventLoopTaskRunner.current()
    runner.limit(plan.request.concurrency)
    if plan.judges is not None:
        apply_rate_limits(plan.scorings)
    with journal_of(plan) as journal:
        session = RunSession(plan, journal, observed_runs.observer, flow_run.id, _executor(plan))
        with runner.holding(session, observed_runs.observer):
            yield session


def _executor(plan: RunPlan) -> ItemExecutor:
    if plan.request.task_runner == LOCAL:
        executor = LocalExecutor(plan)
        if executor.services is not None:
            limit_services(executor.services)
        return executor
    if is_ray(plan.request.task_runner):
        return RayExecutor(plan)
    from eval_skills.engine.evaluation.cluster.dask import DaskExecutor  # an extra, and a second to import

    return DaskExecutor(plan)


def _evaluate(part: RunPlan, whole: RunPlan, session: RunSession) -> tuple[str, int]:
    """Evaluate the items of `part`; returns why a task run may have left none of its items' results, and how many there were."""
    progress, submitted = _Progress(whole, session), 0
    cause = "their task runs did not end"
    under_way: deque[tuple[ItemBatch, LoopFuture]] = deque()

    def may_go_on() -> bool:
        progress.show()
        return not session.stopped

    for batch, future in _map(part, may_go_on):
        submitted += 1
        under_way.append((batch, future))
        while under_way and under_way[0][1].is_done:
            cause = _problem(*under_way.popleft(), session) or cause
    for batch, future in under_way:
        EventLoopTaskRunner.current().wait_for(future, progress.show)
        cause = _problem(batch, future, session) or cause
    return cause, submitted


def _map(plan: RunPlan, may_go_on: Callable[[], bool]) -> Iterator[tuple[ItemBatch, LoopFuture]]:
    """Map the Prefect task that evaluates items over those of the plan, as long as it `may_go_on`; each future has its items."""
    runner, batches = EventLoopTaskRunner.current(), batches_of(plan)
    fixed = {"run": unmapped(RunRef(plan.run_id)), "retries": unmapped(plan.request.retries)}
    experiment = _experiment(plan)

    def labels(work: Item | ItemBatch) -> frozenset[str]:
        if experiment is None:
            return frozenset()
        items = work.items if isinstance(work, ItemBatch) else (work,)
        return frozenset().union(*(experiment.labels_of(item.skill) for item in items))

    if all(len(batch.items) == 1 for batch in batches):
        single = evaluate_item.with_options(**retry_delays(plan.request.retries))
        futures = runner.map_in_turn(single, plan.items, may_go_on=may_go_on, labels=labels, **fixed)
    else:
        futures = runner.map_in_turn(evaluate_batch, batches, may_go_on=may_go_on, labels=labels, **fixed)
    return zip(batches, futures, strict=False)  # where it may not go on, the last batches have none


def _problem(batch: ItemBatch, future: LoopFuture, session: RunSession) -> str | None:
    """How a task run ended, if it left an item without a result; if all its items have one, even a failure explains nothing."""
    future.wait()
    if all(session.has_result(item) for item in batch.items):
        return None
    return future.state.message or f"a task run ended as {future.state.name}"


class _Progress:
    """The progress artifact of a run that takes longer than `PROGRESS_AFTER_S`, updated at most once a second."""

    def __init__(self, plan: RunPlan, session: RunSession) -> None:
        self._plan, self._session = plan, session
        self._artifact: UUID | None = None
        self._shown_at = monotonic() + PROGRESS_AFTER_S - PROGRESS_PERIOD_S

    def show(self) -> None:
        if monotonic() - self._shown_at < PROGRESS_PERIOD_S:
            return
        percent = 100 * (self._plan.finished + self._session.counts.total()) / self._plan.planned
        try:
            with with_settings(client={"max_retries": 0}, api={"request_timeout": PROGRESS_TIMEOUT_S}):
                self._write(percent)
            self._shown_at = monotonic()
        except httpx.HTTPError:  # a server that is busy, hangs or is gone must neither end nor hold up the run: no artifact, then
            self._shown_at = math.inf

    def _write(self, percent: float) -> None:
        if self._artifact is None:
            key = f"eval-skills-progress-{self._plan.benchmark.id}".replace("_", "-")
            self._artifact = cast("UUID", create_progress_artifact(percent, key=key, description=f"Run {self._plan.run_id}"))
        else:
            update_progress_artifact(self._artifact, percent)
