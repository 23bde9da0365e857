"""An evaluation: plan it, call the skills, score the answers, land the results, aggregate them.

Its face, loaded on first use: `EvaluateRequest` and `PipelineRequest` say what to evaluate, `make_plan` checks it and makes a
`RunPlan`, `evaluate_in_process` runs that without Prefect and returns a `RunSummary`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core import lazily

if TYPE_CHECKING:
    from eval_skills.engine.definition.request import EvaluateRequest as EvaluateRequest
    from eval_skills.engine.definition.request import PipelineRequest as PipelineRequest
    from eval_skills.engine.evaluation.in_process import evaluate_in_process as evaluate_in_process
    from eval_skills.engine.evaluation.plan import RunPlan as RunPlan
    from eval_skills.engine.evaluation.plan import make_plan as make_plan
    from eval_skills.engine.evaluation.summary import RunSummary as RunSummary

__all__ = ["EvaluateRequest", "PipelineRequest", "RunPlan", "RunSummary", "evaluate_in_process", "make_plan"]

__getattr__ = lazily(
    "eval_skills.engine",
    {
        "definition.request": "EvaluateRequest PipelineRequest",
        "evaluation.in_process": "evaluate_in_process",
        "evaluation.plan": "RunPlan make_plan",
        "evaluation.summary": "RunSummary",
    },
)
