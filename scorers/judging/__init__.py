"""How a model is asked to judge: the question, the call, the reading of the reply, and what it cost."""

from eval_skills.scorers.judging.judge import Judge, Ruling
from eval_skills.scorers.judging.judges import Judges
from eval_skills.scorers.judging.prompt import Material, Question
from eval_skills.scorers.judging.reply import Reply

__all__ = ["Judge", "Judges", "Material", "Question", "Reply", "Ruling"]
