"""Find → evaluate → select → report, in one flow."""

from dataclasses import replace
from pathlib import Path
from time import monotonic

from prefect import flow
from prefect.runtime import flow_run

from eval_skills.core.text import plural
from eval_skills.engine.definition.request import PipelineRequest
from eval_skills.engine.discovery import FoundSkills
from eval_skills.engine.evaluation.pipeline import evaluation_of, strategy_after, strategy_of, with_selection
from eval_skills.engine.evaluation.summary import RunSummary, with_duration
from eval_skills.flows.evaluate import evaluate, named_benchmark, write_reports
from eval_skills.tasks.flow_runs import Caller, called_by, describe_flow_run, not_planned
from eval_skills.tasks.pauses import run_ended_parts_again
from eval_skills.tasks.pipeline import find_skills, load_benchmark, log_selection, select_skills
from eval_skills.tasks.runner import EventLoopTaskRunner, returned, unwalked, unwrap

STAGES = 3
"""Prefect task runs of the pipeline itself: find_skills, load_benchmark, select_skills."""


@flow(task_runner=EventLoopTaskRunner(), persist_result=False, on_completion=[unwrap])
def pipeline(request: PipelineRequest) -> RunSummary:
    """Find the skills that match, evaluate them, select the best, and write the reports.

    With `resume` the skills are those of the run that is resumed, with `traces` those that were recorded: nothing is searched.

    Raises:
        UserError: the request cannot be run, or nothing matches it.
        RunError: items are missing at the end; `resume` continues the run.
    """
    began = monotonic()
    run_ended_parts_again()
    about = named_benchmark(request)
    with not_planned(about, benchmark=about):
        strategy_of(request)  # what cannot be used is refused before anything is called
        found = FoundSkills([], []) if request.resume or request.traces else find_skills(request)
        if not request.resume and not request.own_tests:
            load_benchmark(request.benchmark, request.benchmarks_dir, request.tasks, request.map, request.skip_unreadable)
        with called_by.by(Caller("pipeline")):
            evaluated = evaluate(evaluation_of(request, found))
    strategy = strategy_after(request, evaluated)
    selected = select_skills(unwalked(evaluated.skills), unwalked(evaluated.reports), strategy)
    describe_flow_run(
        f"{evaluated.benchmark.id} · {plural(len(evaluated.skills), 'skill')} · {evaluated.run_id}",
        benchmark=evaluated.benchmark.id,
        skills=[skill.id for skill in evaluated.skills],
    )
    summary = replace(
        with_selection(evaluated, strategy, selected, found),
        flow_runs=(*evaluated.flow_runs, str(flow_run.id)),
        task_runs=evaluated.task_runs + STAGES,
    )
    if request.format:
        summary = write_reports(summary, request.format, Path(request.output_dir))
    log_selection(summary)
    summary = with_duration(summary, monotonic() - began)
    return returned(summary.line, summary)
