"""Where an answer differs from what was expected: texts by word, JSON by path."""

from eval_skills.core.differences.answers import Difference, answer_difference, difference_of
from eval_skills.core.differences.values import Change, Changes, json_changes
from eval_skills.core.differences.words import Part, Words, word_difference

__all__ = [
    "Change", "Changes", "Difference", "Part", "Words", "answer_difference", "difference_of", "json_changes", "word_difference",
]  # fmt: skip
