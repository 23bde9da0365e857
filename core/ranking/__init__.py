"""Which skills of a run are best, as far as its tasks can tell: shared ranks, chances, and estimates corrected for the choice."""

from eval_skills.core.ranking.outcomes import Outcomes
from eval_skills.core.ranking.ranking import rank_by_task_results, rank_reports

__all__ = ["Outcomes", "rank_by_task_results", "rank_reports"]
