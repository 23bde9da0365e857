"""Did the conversation reach its goal, as a model judges it?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.core.models.base import Rate, Text
from eval_skills.scorers.judging.grading import Grade, GradedVotes, Grading
from eval_skills.scorers.judging.prompt import Material, Question
from eval_skills.scorers.options import PanelOptions
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score
from eval_skills.scorers.tools.calls import known_calls

VERSION = "goal_achieved 1"
"""Of the texts below: another version is asked again."""

CHOICES = {"reached": 1.0, "partly": 0.5, "missed": 0.0}

_ROLE = """You judge a conversation between a user and an AI agent: did the user reach the goal through what the agent said and
did? Judge by the goal alone, and by what the conversation shows. That the user or the agent says so is no proof: where
something was to be done, it counts as done only if the calls of tools show it or, where no call of any tool is recorded, if the
agent plainly confirms what was asked for. Choose "reached" if nothing of the goal is missing, "partly" if an essential part is
reached and another is not, else "missed". How polite, long or quick the conversation was does not count."""


@scorer("goal_achieved")
@dataclass(frozen=True, slots=True, kw_only=True)
class GoalAchieved(PanelOptions):
    """Whether a conversation as a whole reached its goal: 1 where a model says ``reached``, 0.5 ``partly``, 0 ``missed``.

    It passes from `threshold` on (0.7 unless set, equality passes). `goal` is that of the task's simulated user unless given. The
    model sees every turn: what the user said, the answer, and the tool calls with their arguments and results, where they are
    known.

    `model`, `models`, `votes`, `temperature` and `aggregate` are those of `PanelOptions`.

    A reply that cannot be read is asked for again; in the end the item is an error of kind ``judge``, never a guessed score.

    Raises:
        InputError: there is no goal, or an empty panel.
    """

    goal: Text | None = None
    threshold: Rate = 0.7
    task: EvalTask
    _grading: Grading = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        PanelOptions.__post_init__(self)  # super() knows no class with slots
        object.__setattr__(self, "_grading", Grading.of(None, CHOICES))
        if self._wanted is None:
            raise InputError("say what was to be reached; only a task with a simulated user has a goal already", path="goal")

    @property
    def version(self) -> str:
        """Of its prompt."""
        return VERSION

    @property
    def _wanted(self) -> str | None:
        return self.goal if self.goal is not None else self.task.goal

    async def score(self, response: SkillResponse) -> Score:
        """What the model chose, with its reasoning as the reason.

        Raises:
            JudgeError: the model gave no readable verdict.
        """
        votes = await self.panel.ask(self.settings.judges, self.question(response))
        return GradedVotes(self.panel, self._grading, self.threshold, votes).score(
            code="GOAL_VERDICT", where="turns", version=VERSION
        )

    def question(self, response: SkillResponse) -> Question[Grade]:
        """What the model is asked about this conversation."""
        turns = response.turns if response.turns is not None else [response]
        said = [_shown(getattr(turn, "input", self.task.asked), turn) for turn in turns]
        return Question(
            role=_ROLE,
            version=VERSION,
            instructions=f"The goal of the user:\n{(self._wanted or '').strip()}",
            materials=(Material.of("conversation", said),),
            reply=self._grading.reply,
        )


def _shown(told: Any, answer: SkillResponse) -> dict[str, Any]:
    calls = known_calls(answer) or []
    shown = [
        {name: value for name in ("name", "arguments", "result", "error") if (value := getattr(call, name)) is not None}
        for call in calls
    ]
    return {"user": told, **({"toolCalls": shown} if shown else {}), "agent": answer.output}
