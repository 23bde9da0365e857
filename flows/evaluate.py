"""Evaluate: every skill × task × run, landed and summed up. The core of all other flows.

The last stage of a flow: report files and artifacts.
"""

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
from eval_skills.engine.evaluation.reports import partial_reports
from eval_skills.engine.evaluation.summary import RunSummary, context_of, summary_of
from eval_skills.flows.items import run_items, task_run_count
from eval_skills.reporting import write_rendered
from eval_skills.tasks.evaluation import plan_items
from eval_skills.tasks.report import publish_artifacts, render_report
from eval_skills.tasks.results import aggregate, land_results
from eval_skills.tasks.runner import EventLoopTaskRunner, unwalked

STAGES = 3
"""Task runs besides the mapped ones: plan_items, land_results, aggregate."""


@flow(task_runner=EventLoopTaskRunner(), persist_result=False)
def evaluate(request: EvaluateRequest) -> RunSummary:
    """Evaluate every item of the request and land the results; no single item can fail it.

    Raises:
        UserError: the request cannot be run.
        RunError: items are missing at the end; `resume` goes on.
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
    # Prefect hands its caller the data of a returned state, and shows the message in its UI.
    return cast("RunSummary", Completed(message=summary.line, data=summary))


def name_flow_run(name: str) -> None:
    """Give the current flow run a name that a person can read; it is known only after planning."""
    with get_client(sync_client=True) as client:
        client.set_flow_run_name(UUID(flow_run.id), name)


def write_reports(summary: RunSummary, formats: list[str], folder: Path) -> RunSummary:
    """Render each format in a mapped task run, write the files under one stem, publish artifacts; the summary with the files."""
    context = context_of(summary)
    distinct = list(dict.fromkeys(formats))
    rendered = render_report.map(distinct, reports=unmapped(summary.reports), context=unmapped(context)).result()
    files = write_rendered(dict(zip(distinct, rendered, strict=True)), folder, context)
    publish_artifacts(unwalked(summary.reports), unwalked(context), summary.benchmark.id)
    return replace(summary, report_files=files, task_runs=summary.task_runs + len(distinct) + 1)
