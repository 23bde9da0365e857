"""Results in MLflow: a run for each skill, with its figures as metrics and its report as an artefact."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.text import one_line
from eval_skills.reporting.context import ReportContext, ranked
from eval_skills.reporting.json_report import render_reports

NOT_INSTALLED = "MLflow is not installed; install it: pip install 'eval-skills[mlflow]'"


@dataclass(frozen=True, slots=True)
class Logged:
    """A run of MLflow that was written: its id there, and the skill that it is about."""

    skill: str
    mlflow_run_id: str


def log_reports(
    reports: Sequence[SkillCompletionReport], context: ReportContext, *, experiment: str, tracking_uri: str | None = None
) -> list[Logged]:
    """Write each report as a run of the experiment, the best skill first; figures that are not known are not logged.

    Without `tracking_uri`, MLflow's own setting counts (``MLFLOW_TRACKING_URI``).

    Raises:
        UsageError: MLflow is not installed, or refused what was written, with its words.
    """
    try:
        import mlflow
        from mlflow.exceptions import MlflowException
    except ImportError:
        raise UsageError(NOT_INSTALLED) from None
    logging.getLogger("mlflow").setLevel(logging.WARNING)  # it tells of every table that it makes
    try:
        client = mlflow.MlflowClient(tracking_uri=tracking_uri)
        found = client.get_experiment_by_name(experiment)
        place = client.create_experiment(experiment) if found is None else found.experiment_id
        return [_log(client, place, report, context) for report in ranked(reports)]
    except (MlflowException, OSError) as error:
        raise UsageError(f"MLflow at {tracking_uri or 'its default place'}: {one_line(str(error), 300)}") from None


def _log(client: object, experiment: str, report: SkillCompletionReport, context: ReportContext) -> Logged:
    import mlflow

    assert isinstance(client, mlflow.MlflowClient)
    time = int(context.created_utc.timestamp() * 1000)
    tags = {
        "mlflow.runName": report.skill_key,
        "mlflow.source.name": "eval-skills",
        "eval_skills.run_id": context.run_id,
        "eval_skills.benchmark": report.benchmark_id,
    }
    run_id = client.create_run(experiment, start_time=time, tags=tags).info.run_id
    for name, value in {"skill": report.skill_key, "benchmark": report.benchmark_id}.items():
        client.log_param(run_id, name, value)
    for name, figure in metrics(report).items():
        client.log_metric(run_id, name, figure, timestamp=time)
    client.log_text(run_id, render_reports([report]), "report.json")
    client.set_terminated(run_id, end_time=time)
    return Logged(report.skill_key, run_id)


def metrics(report: SkillCompletionReport) -> dict[str, float]:
    """The figures that are known, by names that MLflow takes: of the summary, of latency, tokens and cost, and of dimensions.

    Where some items are missing in the sum of tokens or cost, how many stands beside it.
    """
    summary, latency, cost = report.summary, report.latency, report.token_cost
    interval = summary.confidence_interval
    known = {
        "completion_rate": summary.completion_rate,
        "completion_rate_lower": interval.lower,
        "completion_rate_upper": interval.upper,
        "partial_score": summary.partial_score,
        "error_rate": summary.error_rate,
        "consistency_score": summary.consistency_score,
        "composite_score": summary.composite_score,
        "pass_at_k": summary.pass_at_k,
        "pass_hat_k": summary.pass_hat_k,
        "flake_rate": summary.flake_rate,
        "items": summary.items,
        "missing_items": summary.missing_items,
        "latency_p50_ms": latency.p50_ms,
        "latency_p95_ms": latency.p95_ms,
        "latency_p99_ms": latency.p99_ms,
        "total_tokens": cost.total_tokens,
        "tokens_unknown_items": report.tokens_unknown_items or None,
        "cost_usd": cost.estimated_usd,
        "cost_unknown_items": report.cost_unknown_items or None,
        "judge_cost_usd": cost.judge_cost_usd,
        **{f"dimension.{name}": found.mean for name, found in report.dimensions.items()},
    }
    return {name: float(value) for name, value in known.items() if value is not None}
