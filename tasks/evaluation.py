"""The Prefect tasks of an evaluation: plan it, evaluate each item (or batch of items), land the results, aggregate them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import TaskRunContext
from prefect.states import Cancelled, Completed, Failed
from prefect.tasks import Task

from eval_skills.core.models import ItemResult, Ranking, SkillCompletionReport
from eval_skills.core.skill_effect.model import SkillEffect
from eval_skills.core.store import Store, land
from eval_skills.core.viewer_pages import effect_page, link_to, run_page
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.plan import Item, RunPlan, plan_for, plan_made_of
from eval_skills.engine.evaluation.resume import RUN_ID_SECOND, continuing, wait_for_writer
from eval_skills.engine.evaluation.retries import JITTER, attempt_in_turn, final_results, give_back_slot
from eval_skills.engine.evaluation.rounds import ItemBatch, record_decisions
from eval_skills.engine.evaluation.session import RunRef, RunSession, begin_run
from eval_skills.engine.evaluation.summary import landed_reports
from eval_skills.reporting import ReportContext, format_named, numbers, ranked, render
from eval_skills.reporting.context import dimension_title, mean_of, shown_dimensions
from eval_skills.reporting.escape import markdown
from eval_skills.reporting.ranking import completion_text, rank_interval, rank_text, ranking_notes
from eval_skills.reporting.skill_effect.document import render_markdown
from eval_skills.reporting.writing import Content
from eval_skills.tasks.pauses import began_after, flow_run_here


@task(persist_result=False, cache_policy=NO_CACHE)
def plan_items(request: EvaluateRequest) -> RunPlan:
    """Plan skills × tasks × runs, minus what the journal holds. A new run gets its manifest, and can be resumed from then on.

    A flow run that was suspended in Prefect, or is tried again there, begins again in another process: it goes on with its run.
    """
    own = flow_run_here()
    if own is not None and not request.resume:
        begun = _begun_by(str(own.id), Store(request.store), began_after(own))
        request = request if begun is None else continuing(request, begun)
    plan = plan_made_of(request) or plan_for(request)
    plan.remarks.extend(begin_run(plan, None if own is None else str(own.id)))
    return plan


def _begun_by(flow_run_id: str, store: Store, since: datetime) -> str | None:
    """The unfinished run that this flow run began in an earlier process: it was suspended in Prefect, or is tried again.

    Looks at the runs that began at `since` or later. Returns when the earlier process has let go of the run: what it had in
    flight may still be finishing.
    """
    for run_id in reversed(store.run_ids()):
        if run_id < since.astimezone(UTC).strftime(RUN_ID_SECOND):
            return None
        manifest = store.find_manifest(run_id)
        if manifest is not None and manifest.flow_run_id == flow_run_id and run_id in store.unfinished():
            wait_for_writer(store, run_id)
            return run_id
    return None


NOT_STARTED = "left for --resume: the run stopped before"


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
    outcome = await attempt_in_turn(session, item, last=task_run.run_count > retries, task_run_id=str(task_run.id))
    return Cancelled(message=NOT_STARTED) if outcome is None else state_of(outcome)


@task(task_run_name="{batch}", persist_result=False, cache_policy=NO_CACHE)
async def evaluate_batch(batch: ItemBatch, run: RunRef, retries: int = 0) -> State[Any]:
    """Evaluate the items of a batch one after the other, each with its own retries; those whose service is waited for at last."""
    session, task_run_id = RunSession.of(run), str(_current_task_run().id)
    counts: Counter[str] = Counter()
    left: Sequence[Item] = batch.items
    while left:
        if session.stopped:
            return Cancelled(message=NOT_STARTED)
        left = session.by_turn(left)
        if not (results := await final_results(session, left, retries, task_run_id)):
            return Cancelled(message=NOT_STARTED)
        counts.update(result.status for result in results)
        left = left[len(results) :]
    message = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    failed = counts["error"] + counts["timeout"]
    return Failed(name="Some errors", message=message) if failed else Completed(name="Finished", message=message)


@task(persist_result=False, cache_policy=NO_CACHE)
def land_results(plan: RunPlan) -> str:
    """Move a finished run's items into the store's `items` table; the journal goes only after the table reads back whole."""
    record_decisions(plan)
    return land(plan.store, plan.run_id, going_on=plan.going_on)


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


MAX_ARTIFACT_CHARACTERS = 200_000


@task(task_run_name="render {format}", persist_result=False, cache_policy=NO_CACHE)
def render_report(
    format: str,  # noqa: A002 - the word that people use
    reports: Sequence[SkillCompletionReport],
    context: ReportContext,
) -> Content:
    """Render the reports in one format; one that is streamed is made while it is written."""
    return format_named(format).content(reports, context)


@task(persist_result=False, cache_policy=NO_CACHE)
def publish_artifacts(reports: Sequence[SkillCompletionReport], context: ReportContext, benchmark_id: str) -> None:
    """Publish the ranking and the report as Prefect artifacts, under keys that stay the same for every run of a benchmark."""
    page = run_page(context.run_id)
    create_table_artifact(
        key=artifact_key("ranking", benchmark_id),
        table=ranking_rows(reports, context),
        description=_described(f"Ranking on **{benchmark_id}**, run `{context.run_id}`{in_viewer(page)}", reports, context),
    )
    text = str(render("markdown", reports, context))
    cut = "\n\n… the whole report is in the report files." if len(text) > MAX_ARTIFACT_CHARACTERS else ""
    create_markdown_artifact(
        key=artifact_key("report", benchmark_id),
        markdown=text[:MAX_ARTIFACT_CHARACTERS] + cut,
        description=f"Report of run `{context.run_id}`{in_viewer(page)}",
    )


@task(persist_result=False, cache_policy=NO_CACHE)
def publish_effect(effect: SkillEffect) -> None:
    """Publish what an Agent Skill changes as a Prefect artifact: verdicts, arms, tasks that got worse; under one key for all its
    effects.
    """
    text = render_markdown(effect)
    cut = "\n\n… the whole effect is in the report files." if len(text) > MAX_ARTIFACT_CHARACTERS else ""
    create_markdown_artifact(
        key=artifact_key("skill-effect", effect.arms[0].skill_key.partition("@")[0].removesuffix("-with")),
        markdown=text[:MAX_ARTIFACT_CHARACTERS] + cut,
        description=f"Effect of an Agent Skill, run `{effect.run_id}`{in_viewer(effect_page(effect.run_id))}",
    )


def _described(text: str, reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    notes = [f"- {markdown(note)}" for note in (*context.notes, *ranking_notes(ranked(reports)))]
    return "\n".join([text, *(["", *notes] if notes else [])])


def ranking_rows(reports: Sequence[SkillCompletionReport], context: ReportContext) -> list[dict[str, str]]:
    """The ranking as rows of text; one key per column."""
    return [
        {
            "#": rank_text(report, place),
            "skill": report.skill_key,
            "completion": completion_text(report),
            "95 % interval": numbers.interval(report.summary.known_interval),
            **(_chances(report.ranking) if any(each.ranking for each in reports) else {}),
            "errors": numbers.rate(report.summary.error_rate),
            "P95": numbers.milliseconds(report.latency.p95_ms),
            "composite": numbers.score(report.summary.known_composite),
            **{dimension_title(name).lower(): numbers.score(mean_of(report, name)) for name in shown_dimensions(reports)},
            "selected": str(context.selected_rank(report) or ""),
        }
        for place, report in enumerate(ranked(reports), start=1)
    ]


def _chances(found: Ranking | None) -> dict[str, str]:
    return {
        "corrected": numbers.rate(found.shrunk_completion_rate if found else None),
        "P(best)": numbers.rate(found.probability_best if found else None),
        "rank, 95 %": rank_interval(found),
        "Pareto": "✔" if found and found.pareto_optimal else "",
    }


def in_viewer(page: str) -> str:
    """What a description ends with where the address of a viewer is known: a link to this page of it, in Markdown."""
    return f" · [in the viewer]({link})" if (link := link_to(page)) else ""


def artifact_key(name: str, benchmark_id: str) -> str:
    """A key of lower-case letters, digits and dashes, as Prefect requires."""
    return f"eval-skills-{name}-{benchmark_id}".replace("_", "-")
