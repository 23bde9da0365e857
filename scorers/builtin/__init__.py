"""The scorers that judge an answer by itself: exact, contained, matching, valid, or as a model says."""

from eval_skills.scorers.builtin import contains, exact_match, gaia, json_schema, llm_judge, regex

__all__ = ["contains", "exact_match", "gaia", "json_schema", "llm_judge", "regex"]
