"""Everything that a task asks of an answer, put together into one verdict."""

from eval_skills.scorers.task_scoring.scoring import TaskScoring

__all__ = ["TaskScoring"]
