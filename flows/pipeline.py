"""Find → evaluate → select → report, in one flow."""

from dataclasses import replace
from pathlib import Path
from typing import cast

from prefect import flow
from prefect.runtime import flow_run
from prefect.states import Completed

from eval_skills.core.selection import left_out_ties
from eval_skills.engine.definition.request import PipelineRequest
from eval_skills.engine.discovery import FoundSkills
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.engine.stored_runs.candidates import DEFAULT_MIN_COMPLETION, chosen_strategy
from eval_skills.flows.evaluate import evaluate, name_flow_run, write_reports
from eval_skills.tasks.pipeline import find_skills, load_benchmark, select_skills
from eval_skills.tasks.runner import EventLoopTaskRunner, unwalked

STAGES = 3
"""Prefect task runs of the pipeline itself: find_skills, load_benchmark, select_skills."""


@flow(task_runner=EventLoopTaskRunner(), persist_result=False)
def pipeline(request: PipelineRequest) -> RunSummary:
    """Find the skills that match, evaluate them, select the best, and write the reports.

    With `resume` the skills are those of the run that is resumed, with `traces` those that were recorded: nothing is searched.

    Raises:
        UserError: the request cannot be run, or nothing matches it.
        RunError: items are missing at the end; `resume` continues the run.
    """
    strategy = chosen_strategy(
        request.strategy,
        min_completion=request.min_completion,
        top_k=request.top_k,
        keep_ties=request.keep_ties,
        floor=DEFAULT_MIN_COMPLETION,
    )
    found = FoundSkills([], []) if request.resume or request.traces else find_skills(request)
    if not request.resume:
        load_benchmark(request.benchmark, request.benchmarks_dir, request.tasks)
    evaluated = evaluate(request.evaluation([str(skill.folder) for skill in found.skills]))
    selected = select_skills(unwalked(evaluated.skills), unwalked(evaluated.reports), strategy)
    name_flow_run(f"{evaluated.benchmark.id} · {len(evaluated.skills)} skills · {evaluated.run_id}")
    summary = replace(
        evaluated,
        selected=selected,
        tied=[skill.key for skill in left_out_ties(evaluated.skills, evaluated.reports, strategy)],
        min_completion=strategy.filters.min_completion_rate or 0.0,
        remarks=[*(bad.remark for bad in found.invalid), *evaluated.remarks],
        skipped=len(found.invalid) + evaluated.skipped,
        line=f"{evaluated.line}; {len(selected)} of {len(evaluated.skills)} skills selected",
        flow_runs=(*evaluated.flow_runs, str(flow_run.id)),
        task_runs=evaluated.task_runs + STAGES,
    )
    if request.format:
        summary = write_reports(summary, request.format, Path(request.output_dir))
    return cast("RunSummary", Completed(message=summary.line, data=summary))
