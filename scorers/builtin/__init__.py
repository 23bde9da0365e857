"""The scorers that judge an answer by itself: exact, contained, matching, valid, fast, cheap, or as a model says."""

from eval_skills.scorers.builtin import (
    contains,
    exact_match,
    gaia,
    goal_achieved,
    is_json,
    json_schema,
    latency_and_cost,
    lint,
    llm_judge,
    metrics,
    regex,
    starts_with,
)

__all__ = [
    "contains",
    "exact_match",
    "gaia",
    "goal_achieved",
    "is_json",
    "json_schema",
    "latency_and_cost",
    "lint",
    "llm_judge",
    "metrics",
    "regex",
    "starts_with",
]
