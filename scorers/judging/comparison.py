"""Which of two answers is better? Asked in both orders, since the place of an answer sways a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from eval_skills.core.compared_pair import Choice, outcome_of
from eval_skills.core.json_equality import json_equal
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.judging.grading import REASONING
from eval_skills.scorers.judging.question import Material, Question
from eval_skills.scorers.judging.reply import Reply
from eval_skills.scorers.judging.together import together

if TYPE_CHECKING:
    from eval_skills.core.models import EvalTask
    from eval_skills.scorers.judging.judge import Judge
    from eval_skills.scorers.judging.panel import Voter

VERSION = "comparison 1"
"""Of the words below: another version asks again."""

_ROLE = """You compare two answers to one task, the first and the second, and say which one is better. Judge by the instructions
alone. Which answer stands first means nothing: the order was drawn. How long, polished or confident an answer is does not count,
unless the instructions say so. Where a reference answer is given it is right, and an answer need not be worded like it; do not
hold knowledge of your own against it. If neither is better, say tie."""

_GENERAL = "Better is the answer that does more of what the task asks, and gets less of it wrong."

_PICKS: dict[bool, dict[str, Choice]] = {
    True: {"first": "a", "second": "b", "tie": "tie"},
    False: {"first": "b", "second": "a", "tie": "tie"},
}


class Comparison(Reply):
    """What a model says of two answers."""

    reasoning: str = REASONING
    better: Literal["first", "second", "tie"]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two answers compared. The orders are None where the answers are the same, and nobody was asked."""

    outcome: Choice
    a_first: Choice | None = None
    b_first: Choice | None = None
    reasoning_a_first: str | None = None
    reasoning_b_first: str | None = None


@dataclass(frozen=True, slots=True)
class Comparing:
    """How the answers to one task are compared; without `criteria` by what the task asks."""

    task: EvalTask
    criteria: str | None = None

    async def compare(self, a: Any, b: Any, judge: Judge | Voter) -> Compared:
        """Which answer is better; a tie where the orders disagree, where the answers are the same, and where both are empty.

        Raises:
            JudgeError: there is no readable verdict in one of the orders.
        """
        a, b = unwrapped(a), unwrapped(b)
        if same_answer(a, b):
            return Compared("tie")
        ahead, behind = await together((judge.ask(self.question(a, b)), judge.ask(self.question(b, a))))
        a_first, b_first = _PICKS[True][ahead.reply.better], _PICKS[False][behind.reply.better]
        return Compared(outcome_of(a_first, b_first), a_first, b_first, ahead.reply.reasoning, behind.reply.reasoning)

    def question(self, first: Any, second: Any) -> Question[Comparison]:
        """What the model is asked about two answers in this order."""
        materials = [Material.of("task", self._asked), Material.of("first answer", first), Material.of("second answer", second)]
        if self.task.expected_output is not None and self.task.expected_output.value is not None:
            materials.insert(1, Material.of("reference answer", self.task.expected_output.value))
        return Question(
            role=_ROLE,
            version=VERSION,
            instructions=f"{_GENERAL}\n{self.criteria}" if self.criteria else _GENERAL,
            materials=tuple(materials),
            reply=Comparison,
        )

    @property
    def _asked(self) -> Any:
        task = self.task
        return {"description": task.description, "input": task.input_data} if task.description else task.input_data


def same_answer(a: Any, b: Any) -> bool:
    """Whether two unwrapped answers are equal, but for the blanks around a text; two without any text are."""
    if isinstance(a, str) and isinstance(b, str):
        return a.strip() == b.strip()
    return json_equal(a, b) or not (text_of(a).strip() or text_of(b).strip())
