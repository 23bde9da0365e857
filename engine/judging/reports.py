"""Which models judged the items of a run, and the figures on these judges in its reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.core.errors import UserError
from eval_skills.core.judging.rows import NOT_BY_A_MODEL
from eval_skills.core.models import Benchmark, Reason, SkillCompletionReport, TokenCost
from eval_skills.engine.definition.benchmark import build_scorings
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.reporting.judging.figures import KEY
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.judging.model import JudgeIdentity

if TYPE_CHECKING:
    import pandas as pd

    from eval_skills.core.judging.rows import JudgedRows
    from eval_skills.core.store import Manifest, Store


def add_judge_figures(
    reports: Sequence[SkillCompletionReport], items: pd.DataFrame, scorings: Mapping[str, TaskScoring], store: Store
) -> list[SkillCompletionReport]:
    """The reports with the figures of `core.judging.report` in their metadata, under ``judge``; unchanged where no model judged.

    `items` are the rows that the reports are made of; `scorings` name the judge of each task, and of its answers' claims.
    """
    by_task = _named(judges_by_task(scorings))
    claims = _named({name: scoring.claims_judge for name, scoring in scorings.items() if scoring.claims_judge is not None})
    if not by_task and not claims:
        return list(reports)
    from eval_skills.core.judging.report import JudgeKnowledge, judge_figures
    from eval_skills.core.judging.rows import JudgedRows
    from eval_skills.core.store.rows import judged_pairs, last_calibrations

    benchmark_id = str(items["benchmark_id"].iloc[0]) if "benchmark_id" in items else reports[0].benchmark_id
    known = JudgeKnowledge(by_task, last_calibrations(store, benchmark_id), judged_pairs(store, benchmark_id), claims)
    completed = []
    for report in reports:
        own = items[(items["skill_id"] == report.skill_id) & (items["skill_version"] == report.skill_version)]
        version = str(report.evaluator_metadata.get("benchmarkVersion", ""))
        figures = judge_figures(own, known, version)
        if figures is not None:
            metadata = report.evaluator_metadata | {KEY: figures.to_json()}
            cost = _honest(report.token_cost, JudgedRows.of(own, by_task, claims))
            summary = report.summary
            if summary.unjudged_items is None:  # without counted tokens the summary does not know that models were asked
                summary = summary.model_copy(update={"unjudged_items": figures.unjudged})
            report = report.model_copy(update={"evaluator_metadata": metadata, "token_cost": cost, "summary": summary})
        completed.append(report)
    return completed


def _named(judges: Mapping[str, JudgeIdentity]) -> dict[str, tuple[str, str]]:
    return {task: (judge.model, judge.prompt) for task, judge in judges.items()}


def _honest(cost: TokenCost, rows: JudgedRows) -> TokenCost:
    """The cost; unknown where that of a paid row is: the sum of the known ones would count the others as free."""
    if not rows.paid.any():
        return cost
    unknown = {"judge_tokens": rows.tokens(rows.paid) is None, "judge_cost_usd": rows.cost_usd(rows.paid) is None}
    return cost.model_copy(update={name: None for name, is_unknown in unknown.items() if is_unknown})


def scorings_at_the_time(
    request: EvaluateRequest | None, benchmark: Benchmark | None, manifest: Manifest | None
) -> dict[str, TaskScoring]:
    """How each task of a stored run was scored; empty where that is no longer known. The judges' keys need not be set."""
    if request is None or benchmark is None or manifest is None:
        return {}
    folder = Path(manifest.benchmark.path) if manifest.benchmark.path else None
    try:
        return build_scorings(request, benchmark, folder)
    except UserError:
        return {}


QUALITY = "output_quality"
"""The dimension with the evaluator's score."""


def judges_by_task(scorings: Mapping[str, TaskScoring]) -> dict[str, JudgeIdentity]:
    """The judge of each task that a model judges."""
    return {name: scoring.judge for name, scoring in scorings.items() if scoring.judge is not None}


def was_judged(status: str, reasons: Iterable[Reason]) -> bool:
    """Whether the item of a task that a model judges has its verdict from that model."""
    return status in ("pass", "fail") and not any(reason.code in NOT_BY_A_MODEL for reason in reasons)
