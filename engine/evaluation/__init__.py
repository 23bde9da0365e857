"""An evaluation: plan it, call the skills, score the answers, land the results, aggregate them.

Its face, loaded on first use: `EvaluateRequest` and `PipelineRequest` say what to evaluate, `make_plan` checks it and makes a
`RunPlan`, `evaluate_in_process` runs that without Prefect and returns a `RunSummary`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_skills.engine.definition.request import EvaluateRequest as EvaluateRequest
    from eval_skills.engine.definition.request import PipelineRequest as PipelineRequest
    from eval_skills.engine.evaluation.in_process import evaluate_in_process as evaluate_in_process
    from eval_skills.engine.evaluation.plan import RunPlan as RunPlan
    from eval_skills.engine.evaluation.plan import make_plan as make_plan
    from eval_skills.engine.evaluation.summary import RunSummary as RunSummary

_MODULES = {
    "EvaluateRequest": "eval_skills.engine.definition.request",
    "PipelineRequest": "eval_skills.engine.definition.request",
    "RunPlan": "eval_skills.engine.evaluation.plan",
    "RunSummary": "eval_skills.engine.evaluation.summary",
    "evaluate_in_process": "eval_skills.engine.evaluation.in_process",
    "make_plan": "eval_skills.engine.evaluation.plan",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
