"""Evaluate: every skill × task × run, landed, aggregated and reported. The core of all other flows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import cast
from uuid import UUID

from prefect import flow, unmapped
from prefect.client.orchestration import get_client
from prefect.runtime import flow_run
from prefect.states import Completed

from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.summary import RunSummary, context_of, partial_reports, summary_of
from eval_skills.flows.items import run_items, task_run_count
from eval_skills.reporting import write_rendered
from eval_skills.tasks.evaluation import aggregate, land_results, plan_items
from eval_skills.tasks.report import publish_artifacts, render_report
from eval_skills.tasks.runner import EventLoopTaskRunner, unwalked

STAGES = 3
"""Prefect task runs besides the mapped ones: plan_items, land_results, aggregate."""


@flow(task_runner=EventLoopTaskRunner(), persist_result=False)
def evaluate(request: EvaluateRequest) -> RunSummary:
    """Evaluate every item of the request and land the results; no single item can fail it.

    Raises:
        UserError: the request cannot be run.
        RunError: items are missing at the end; `resume` continues the run.
    """
    began = monotonic()
    plan = plan_items(request)
    name_flow_run(f"{plan.benchmark.id} · {len(plan.skills)} skills · {plan.run_id}")
    finished = plan.finished + run_items(plan)
    if finished == plan.planned:
        land_results(unwalked(plan))
        reports = aggregate(unwalked(plan))
    else:
        reports = partial_reports(plan)
    summary = replace(
        summary_of(plan, reports, finished, monotonic() - began),
        flow_runs=(str(flow_run.id),),
        task_runs=task_run_count(plan) + STAGES,
    )
    if plan.request.format:
        summary = write_reports(summary, plan.request.format, Path(plan.request.output_dir))
    # Prefect returns the data of this state to the caller, and shows its message in the UI.
    return cast("RunSummary", Completed(message=summary.line, data=summary))


def name_flow_run(name: str) -> None:
    """Give the current flow run a readable name; it is known only after planning."""
    with get_client(sync_client=True) as client:
        client.set_flow_run_name(UUID(flow_run.id), name)


def write_reports(summary: RunSummary, formats: list[str], folder: Path) -> RunSummary:
    """Render each format in a mapped Prefect task run, write the files, publish artifacts; returns the summary with the files."""
    context = context_of(summary)
    distinct = list(dict.fromkeys(formats))
    rendered = render_report.map(distinct, reports=unmapped(summary.reports), context=unmapped(context)).result()
    files = write_rendered(dict(zip(distinct, rendered, strict=True)), folder, context)
    publish_artifacts(unwalked(summary.reports), unwalked(context), summary.benchmark.id)
    return replace(summary, report_files=files, task_runs=summary.task_runs + len(distinct) + 1)
