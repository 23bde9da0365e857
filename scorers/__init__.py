"""How an answer is judged: one file per scorer, and the one door to all of them."""

from eval_skills.scorers import builtin  # noqa: F401 - importing a scorer's module registers it
from eval_skills.scorers.api import check_task, score_response, score_response_sync
from eval_skills.scorers.bfcl import scorer as _bfcl  # noqa: F401
from eval_skills.scorers.claims import scorer as _claims  # noqa: F401
from eval_skills.scorers.code import scorer as _code  # noqa: F401
from eval_skills.scorers.custom import expression as _expression  # noqa: F401
from eval_skills.scorers.custom import scorer as _custom  # noqa: F401
from eval_skills.scorers.files import command, content, exists  # noqa: F401
from eval_skills.scorers.rag import answers, retrieval  # noqa: F401
from eval_skills.scorers.registry import scorer, scorer_names
from eval_skills.scorers.rubric import scorer as _rubric  # noqa: F401
from eval_skills.scorers.safety import harm, personal, stance  # noqa: F401
from eval_skills.scorers.score import Score
from eval_skills.scorers.settings import ScoringSettings
from eval_skills.scorers.task_scoring import TaskScoring
from eval_skills.scorers.text import overlap, similarity  # noqa: F401
from eval_skills.scorers.tools import accuracy, forbidden, sequence  # noqa: F401
from eval_skills.scorers.trajectory import judge_scorer, match_scorer  # noqa: F401

__all__ = [
    "Score",
    "ScoringSettings",
    "TaskScoring",
    "check_task",
    "score_response",
    "score_response_sync",
    "scorer",
    "scorer_names",
]
