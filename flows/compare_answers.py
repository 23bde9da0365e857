"""Compare answers: a model decides, pair by pair and in both orders, which of two stored runs answered better."""

from typing import cast

from prefect import flow, unmapped
from prefect.runtime import flow_run

from eval_skills.engine.comparison.compare import AnswerComparison
from eval_skills.engine.comparison.pairs import plan_comparison
from eval_skills.engine.comparison.request import CompareRequest
from eval_skills.engine.comparison.summary import ComparisonSummary
from eval_skills.flows.lost_api import flow_result
from eval_skills.tasks.comparison import compare_pair
from eval_skills.tasks.flow_runs import describe_flow_run, not_planned
from eval_skills.tasks.rate_limits import limit_judges
from eval_skills.tasks.runner import EventLoopTaskRunner, LoopFuture, returned, unwrap


@flow(task_runner=EventLoopTaskRunner(), persist_result=False, on_completion=[unwrap])
def compare_answers(request: CompareRequest) -> ComparisonSummary:
    """Compare every pair of answers; a judge that fails on some of them cannot fail it.

    Raises:
        UserError: the request cannot be carried out.
        RunError: the judge cannot be reached, or no pair has a verdict.
    """
    with not_planned(f"{request.run_a} and {request.run_b}"):
        plan = plan_comparison(request)
    limit_judges(plan.judges, plan.panel.models)
    describe_flow_run(
        f"{plan.benchmark.id} · {plan.a.skill} and {plan.b.skill} · {plan.comparison_id}",
        benchmark=plan.benchmark.id,
        skills=[side.skill.partition("@")[0] for side in (plan.a, plan.b)],
    )
    runner = EventLoopTaskRunner.current()
    runner.limit(request.concurrency)
    with runner.holding(AnswerComparison(plan)) as comparison:
        futures = compare_pair.map(list(comparison.pairs), unmapped(comparison.plan.comparison_id))
        ended: dict[str, str] = {}
        for pair, future in zip(comparison.pairs, futures, strict=True):
            runner.wait_for(cast("LoopFuture", future))
            future.wait()  # takes over how it ended: else its state would be asked of the API
            ended[pair] = future.state.message or f"its task run ended as {future.state.name}"
        rows = comparison.finish(ended)
    summary = comparison.summary(rows, (str(flow_run.id),), len(plan.pairs))
    return returned(summary.line, flow_result.observer.keep(summary))
