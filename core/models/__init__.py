"""The nouns of the field, as strict pydantic models."""

from eval_skills.core.models.base import Model
from eval_skills.core.models.conversation import Turn
from eval_skills.core.models.evaluators import AtLeast, Evaluator, EvaluatorEntry
from eval_skills.core.models.expectation import (
    Checks,
    Expected,
    ExpectedOutput,
    ExpectedText,
    HallucinationCheck,
    Thresholds,
    Weights,
)
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
from eval_skills.core.models.response import Simulation, SkillResponse, ToolCall, TurnResponse, Usage
from eval_skills.core.models.result import Attempt, ItemResult, Reason, Status, TurnResult, Verdict
from eval_skills.core.models.simulated_user import SimulatedUser
from eval_skills.core.models.skill import ADAPTER_TYPES, AdapterType, Skill
from eval_skills.core.models.task import Benchmark, EvalTask

__all__ = [
    "ADAPTER_TYPES",
    "AdapterType",
    "AtLeast",
    "Attempt",
    "Benchmark",
    "Checks",
    "ConfidenceInterval",
    "DimensionSummary",
    "EvalTask",
    "Evaluator",
    "EvaluatorEntry",
    "Expected",
    "ExpectedOutput",
    "ExpectedText",
    "HallucinationCheck",
    "ItemResult",
    "Latency",
    "Model",
    "Ranking",
    "Reason",
    "SimulatedUser",
    "Simulation",
    "Skill",
    "SkillCompletionReport",
    "SkillResponse",
    "Status",
    "StatusCounts",
    "Summary",
    "TagSummary",
    "TaskResult",
    "Thresholds",
    "TokenCost",
    "ToolCall",
    "Turn",
    "TurnResponse",
    "TurnResult",
    "Usage",
    "Verdict",
    "Weights",
]
