"""Did the agent take a good way, as a model judges it?"""

from __future__ import annotations

from dataclasses import dataclass, field

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.core.models.base import Rate
from eval_skills.scorers.answer import unwrapped
from eval_skills.scorers.judging.grading import Grade, GradedVotes, Grading
from eval_skills.scorers.judging.prompt import Material, Question, criteria_of
from eval_skills.scorers.options import PanelOptions
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score
from eval_skills.scorers.trajectory.messages import read_reference
from eval_skills.scorers.trajectory.prompts import ROLE, WAY, WAY_WITH_REFERENCE
from eval_skills.scorers.trajectory.shapes import UnreadableTrajectory
from eval_skills.scorers.trajectory.transcript import Step, run_materials, transcript

VERSION = "trajectory_judge 1"
"""Of the texts in `prompts`: another version is asked again."""

REFERENCE = "expected.trajectory"


@scorer("trajectory_judge")
@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryJudge(PanelOptions):
    """What a model says of the way that the agent took, in [0, 1]; passes from `threshold` on (0.7 unless set, equality passes).

    The model reads the messages and tool calls of the answer beside the task, and gives its reasoning, then a number within
    `scale` (0 to 1 unless set; other ends are mapped to [0, 1]), or one of `choices`, each with its score. It asks whether every
    step follows from what was known and leads on, whether tools and arguments fit, and whether the answer follows; where the task
    has an `expected.trajectory`, by that too, as one good way of several. `criteria` are added to that; a free `judgePrompt`
    takes the place of all of it. An answer that has neither messages nor tool calls is not judged.

    `model`, `models`, `votes`, `temperature` and `aggregate` are those of `PanelOptions`; the score of a ``majority`` is the
    share that passes the answer.

    A reply that cannot be read is asked for again; in the end the item is an error of kind ``judge``, never a guessed score.

    Raises:
        InputError: blank criteria or a blank prompt, both of them, a scale without extent, fewer than two choices, an empty
            panel, or an unreadable `expected.trajectory`.
    """

    criteria: str | tuple[str, ...] | None = None
    judge_prompt: str | None = None
    scale: tuple[float, float] | None = None
    choices: dict[str, Rate] | None = None
    threshold: Rate = 0.7
    task: EvalTask
    _grading: Grading = field(init=False, repr=False, compare=False)
    _reference: list[Step] | None = field(init=False, repr=False, compare=False)
    _instructions: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        PanelOptions.__post_init__(self)  # super() knows no class with slots
        object.__setattr__(self, "_grading", Grading.of(self.scale, self.choices))
        object.__setattr__(self, "_reference", _reference(self.task))
        object.__setattr__(self, "_instructions", self._asked_for())

    @property
    def version(self) -> str:
        """Of the prompts."""
        return VERSION

    async def score(self, response: SkillResponse) -> Score | None:
        """What the model gave, mapped to [0, 1], with its reasoning as the reason; None where nothing is known of the way.

        Raises:
            JudgeError: the model gave no readable verdict.
        """
        if not (steps := run_materials(response)):
            return None
        votes = await self.panel.ask(self.settings.judges, self._question(steps, response))
        return GradedVotes(self.panel, self._grading, self.threshold, votes).score(
            code="TRAJECTORY_JUDGED", where="messages", version=VERSION
        )

    def _question(self, steps: tuple[Material, ...], response: SkillResponse) -> Question[Grade]:
        materials = [Material.of_task(self.task)]
        if self._reference is not None:
            materials.append(Material.of("reference trajectory", self._reference))
        materials += [*steps, Material.of("answer", unwrapped(response.output))]
        return Question(
            role=ROLE, version=VERSION, instructions=self._instructions, materials=tuple(materials), reply=self._grading.reply
        )

    def _asked_for(self) -> str:
        if self.criteria is not None and self.judge_prompt is not None:
            raise InputError("both it and criteria are given; keep one", path="judgePrompt")
        if self.judge_prompt is not None:
            return criteria_of(self.judge_prompt, path="judgePrompt")[0]
        way = WAY if self._reference is None else WAY_WITH_REFERENCE
        return "\n".join((way, *(f"- {each}" for each in criteria_of(self.criteria))))


def _reference(task: EvalTask) -> list[Step] | None:
    if task.expected is None or task.expected.trajectory is None:
        return None
    try:
        read_reference(task.expected.trajectory, REFERENCE)
        return transcript(task.expected.trajectory, REFERENCE)
    except UnreadableTrajectory as error:
        raise InputError(error.message, path=str(error.source)) from error
