"""How the way of an agent is judged: its messages, tool calls and graph nodes against a reference."""

from eval_skills.scorers.trajectory.evaluators import (
    create_async_graph_trajectory_match_evaluator,
    create_async_trajectory_match_evaluator,
    create_graph_trajectory_match_evaluator,
    create_trajectory_match_evaluator,
)
from eval_skills.scorers.trajectory.results import EvaluatorResult

__all__ = [
    "EvaluatorResult",
    "create_async_graph_trajectory_match_evaluator",
    "create_async_trajectory_match_evaluator",
    "create_graph_trajectory_match_evaluator",
    "create_trajectory_match_evaluator",
]
