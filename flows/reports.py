"""The last stage of a flow: report files and artifacts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from prefect import unmapped

from eval_skills.flows.opaque import opaque
from eval_skills.reporting import write_rendered
from eval_skills.tasks.context import context_of
from eval_skills.tasks.report import publish_artifacts, render_report
from eval_skills.tasks.summary import RunSummary


def write_reports(summary: RunSummary, formats: list[str], folder: Path) -> RunSummary:
    """Render each format in a mapped task run, write the files under one stem, publish artifacts; the summary with the files."""
    context = context_of(summary)
    distinct = list(dict.fromkeys(formats))
    rendered = render_report.map(distinct, reports=unmapped(summary.reports), context=unmapped(context)).result()
    files = write_rendered(dict(zip(distinct, rendered, strict=True)), folder, context)
    publish_artifacts(opaque(summary.reports), opaque(context), summary.benchmark.id)
    return replace(summary, report_files=files, task_runs=summary.task_runs + len(distinct) + 1)
