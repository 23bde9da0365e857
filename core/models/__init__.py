"""The nouns of the field, as strict pydantic models.

Each is loaded on first use: the help of a command needs the options alone, and making the models of results and reports takes as
long as half of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core import lazily

if TYPE_CHECKING:
    from eval_skills.core.models.base import Model
    from eval_skills.core.models.conversation import Turn
    from eval_skills.core.models.evaluators import AtLeast, Evaluator, EvaluatorEntry
    from eval_skills.core.models.expectation import (
        Checks,
        Expected,
        ExpectedOutput,
        ExpectedText,
        HallucinationCheck,
    )
    from eval_skills.core.models.limits import Thresholds, Weights
    from eval_skills.core.models.report import (
        ConfidenceInterval,
        DimensionSummary,
        Latency,
        Ranking,
        SkillCompletionReport,
        StatusCounts,
        Summary,
        TagSummary,
        TaskResult,
        TokenCost,
    )
    from eval_skills.core.models.response import Simulation, SkillResponse, ToolCall, TurnResponse, Usage, WorkspaceFile
    from eval_skills.core.models.result import Attempt, ItemResult, Reason, Status, TurnResult, Verdict
    from eval_skills.core.models.simulated_user import SimulatedUser
    from eval_skills.core.models.skill import ADAPTER_TYPES, AdapterType, Skill
    from eval_skills.core.models.task import Benchmark, EvalTask

__all__ = [
    "ADAPTER_TYPES", "AdapterType", "AtLeast", "Attempt", "Benchmark", "Checks", "ConfidenceInterval", "DimensionSummary",
    "EvalTask", "Evaluator", "EvaluatorEntry", "Expected", "ExpectedOutput", "ExpectedText", "HallucinationCheck", "ItemResult",
    "Latency", "Model", "Ranking", "Reason", "SimulatedUser", "Simulation", "Skill", "SkillCompletionReport", "SkillResponse",
    "Status", "StatusCounts", "Summary", "TagSummary", "TaskResult", "Thresholds", "TokenCost", "ToolCall", "Turn",
    "TurnResponse", "TurnResult", "Usage", "Verdict", "Weights", "WorkspaceFile",
]  # fmt: skip

_MODULES = {
    "base": "Model",
    "conversation": "Turn",
    "evaluators": "AtLeast Evaluator EvaluatorEntry",
    "expectation": "Checks Expected ExpectedOutput ExpectedText HallucinationCheck",
    "limits": "Thresholds Weights",
    "report": "ConfidenceInterval DimensionSummary Latency Ranking SkillCompletionReport "
    "StatusCounts Summary TagSummary TaskResult TokenCost",
    "response": "Simulation SkillResponse ToolCall TurnResponse Usage WorkspaceFile",
    "result": "Attempt ItemResult Reason Status TurnResult Verdict",
    "simulated_user": "SimulatedUser",
    "skill": "ADAPTER_TYPES AdapterType Skill",
    "task": "Benchmark EvalTask",
}

if not TYPE_CHECKING:  # a type checker must not take every name for one of ours
    __getattr__ = lazily(__name__, _MODULES)
