"""Compare answers: a model says, pair by pair and in both orders, which of two stored runs answered better."""

from typing import Any, cast

from prefect import flow, task, unmapped
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from eval_skills.core.errors import RunError
from eval_skills.engine.comparison.compare import AnswerComparison
from eval_skills.engine.comparison.pairs import plan_comparison
from eval_skills.engine.comparison.request import CompareRequest
from eval_skills.engine.comparison.summary import ComparisonSummary
from eval_skills.flows.evaluate import name_flow_run
from eval_skills.tasks.rate_limits import keep_rate_limits_of
from eval_skills.tasks.runner import EventLoopTaskRunner


@flow(task_runner=EventLoopTaskRunner(), persist_result=False)
def compare_answers(request: CompareRequest) -> ComparisonSummary:
    """Compare every pair of answers; a judge that fails on some of them cannot fail it.

    Raises:
        UserError: the request cannot be carried out.
        RunError: the judge cannot be reached, or no pair has a verdict.
    """
    plan = plan_comparison(request)
    keep_rate_limits_of(plan.judges, plan.panel.models)
    name_flow_run(f"{plan.benchmark.id} · {plan.a.skill} and {plan.b.skill} · {plan.comparison_id}")
    runner = _runner()
    runner.limit(request.concurrency)
    with runner.holding(AnswerComparison(plan)) as comparison:
        compare_pair.map(list(comparison.pairs), unmapped(comparison.plan.comparison_id)).wait()
        rows = comparison.finish()
    summary = comparison.summary(rows, (str(flow_run.id),), len(plan.pairs))
    return cast("ComparisonSummary", Completed(message=summary.line, data=summary))


@task(task_run_name="{pair}", persist_result=False, cache_policy=NO_CACHE)
async def compare_pair(pair: str, comparison_id: str) -> State[Any]:
    """Judge one pair (``task#run``) in both orders; see `comparison.Comparing`."""
    comparison = AnswerComparison.of(comparison_id)
    row = await comparison.compare(comparison.pairs[pair])
    if row["outcome"] == "error":
        return Failed(name="Not judged", message=row["error_message"])
    return Completed(name="Tie" if row["outcome"] == "tie" else f"{row['outcome'].upper()} is better")


def _runner() -> EventLoopTaskRunner:
    context = FlowRunContext.get()
    if context is None or not isinstance(context.task_runner, EventLoopTaskRunner):
        raise RunError("answers are compared inside a flow that has the EventLoopTaskRunner")
    return context.task_runner
