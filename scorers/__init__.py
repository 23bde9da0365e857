"""How an answer is judged: one file per scorer, and the one door to all of them."""

from eval_skills.scorers import (
    contains,
    custom,
    exact_match,
    forbidden_tools,
    gaia,
    hallucination,
    json_schema,
    llm_judge,
    regex,
    rubric,
    sequence,
    tool_accuracy,
    trajectory_judge,
    trajectory_match,
)
from eval_skills.scorers.registry import scorer, scorer_names
from eval_skills.scorers.score import Score
from eval_skills.scorers.scoring import check_task, score_response, score_response_sync
from eval_skills.scorers.settings import ScoringSettings
from eval_skills.scorers.task_scoring import TaskScoring

BUILT_IN = (
    contains,
    custom,
    exact_match,
    forbidden_tools,
    gaia,
    hallucination,
    json_schema,
    llm_judge,
    regex,
    rubric,
    sequence,
    tool_accuracy,
    trajectory_judge,
    trajectory_match,
)
"""The modules that register the scorers of this package."""

__all__ = [
    "BUILT_IN",
    "Score",
    "ScoringSettings",
    "TaskScoring",
    "check_task",
    "score_response",
    "score_response_sync",
    "scorer",
    "scorer_names",
]
