"""How good is the answer, as a model judges it?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, WorkspaceFile
from eval_skills.core.models.base import Rate
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.judging.grading import Grade, GradedVotes, Grading
from eval_skills.scorers.judging.prompt import Material, Question, criteria_of
from eval_skills.scorers.options import PanelOptions, reference_answer
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import EMPTY_ANSWER, Score

VERSION = "llm_judge 1"
"""Of the texts below: another version is asked again."""

_ROLE = """You judge one answer to one task. Judge by the instructions alone. How long, polished or confident the answer is does
not count, unless they say so. Where a reference answer is given it is right, and the answer need not be worded like it; do not
hold knowledge of your own against it. If the answer does not do what was asked, it does not matter how well it does something
else."""

_PLACE = re.compile(
    r"\{\{?\s*(?:outputs?|answer|response|completion|prediction|inputs?|question|query|task|context|criteria|"
    r"references?|reference_outputs?|reference_answer|expected|expected_outputs?|ground_truth)\s*\}?\}",
    re.IGNORECASE,
)
"""Placeholders in the prompt templates of other tools."""


FILES = "files in the workspace"
"""What a prompt calls what an agent left in its workspace."""

_WITH_FILES = f"""The answer was given by an agent that works in a folder. What it added, changed and deleted there is shown
as the {FILES}, and is part of the answer."""
_MAX_FILES, _FILE_CHARS = 100, 12_000


@scorer("llm_judge")
@dataclass(frozen=True, slots=True, kw_only=True)
class LlmJudge(PanelOptions):
    """What a model says of the answer, in [0, 1]; passes from `threshold` on (0.7 unless set, equality passes).

    `criteria` (one or several sentences) or a free `judgePrompt` say what is asked of the answer; there must be one of them.
    Neither is a template: places such as ``{output}`` are refused. The model gives its reasoning, then a number within `scale` (0
    to 1 unless set; other ends are mapped to [0, 1]), or one of `choices`, each with its score: ``{"correct": 1, "partly": 0.5,
    "wrong": 0}``. It sees the task's input, the answer (unwrapped) and, where there is one, the reference answer: `reference`,
    else `expectedOutput.value`. Of an agent it sees the files that it added, changed or deleted in its workspace, too, and their
    text as far as it was kept and is short: they are part of the answer. An answer without text and files gets 0, and no model
    is asked.

    `model`, `models`, `votes`, `temperature` and `aggregate` are those of `PanelOptions`; the score of a ``majority`` is the
    share that passes the answer.

    A reply that cannot be read is asked for again; in the end the item is an error of kind ``judge``, never a guessed score.

    Raises:
        InputError: neither or both of criteria and judgePrompt, a scale without extent, fewer than two choices, an empty panel.
    """

    criteria: str | tuple[str, ...] | None = None
    judge_prompt: str | None = None
    scale: tuple[float, float] | None = None
    choices: dict[str, Rate] | None = None
    threshold: Rate = 0.7
    reference: Any = None
    task: EvalTask
    _grading: Grading = field(init=False, repr=False, compare=False)
    _instructions: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        PanelOptions.__post_init__(self)  # super() knows no class with slots
        object.__setattr__(self, "_grading", Grading.of(self.scale, self.choices))
        object.__setattr__(self, "_instructions", _instructions(self.criteria, self.judge_prompt))
        reference_answer(self.reference, self.task)

    @property
    def version(self) -> str:
        """Of its prompt."""
        return VERSION

    async def score(self, response: SkillResponse) -> Score:
        """What the model gave, mapped to [0, 1], with its reasoning as the reason.

        Raises:
            JudgeError: the model gave no readable verdict.
        """
        answer = unwrapped(response.output)
        if not text_of(answer).strip() and not response.files:
            return Score(0.0, reasons=(EMPTY_ANSWER,))
        votes = await self.panel.ask(self.settings.judges, self.question(answer, response.files))
        return GradedVotes(self.panel, self._grading, self.threshold, votes).score(
            code="JUDGE_VERDICT", where="output", version=VERSION
        )

    def question(self, answer: Any, files: Sequence[WorkspaceFile] | None = None) -> Question[Grade]:
        """What the model is asked about this answer, and the files that an agent left."""
        materials = [Material.of_task(self.task), Material.of("answer", answer)]
        if files:
            materials.append(Material.of(FILES, [_shown(file) for file in files[:_MAX_FILES]]))
        if (reference := reference_answer(self.reference, self.task)) is not None:
            materials.insert(1, Material.of("reference answer", reference))
        return Question(
            role=_ROLE,
            version=VERSION,
            instructions=f"{self._instructions}\n\n{_WITH_FILES}" if files else self._instructions,
            materials=tuple(materials),
            reply=self._grading.reply,
        )


def _shown(file: WorkspaceFile) -> dict[str, Any]:
    """A file as the model sees it; what is not text is named with its size."""
    shown: dict[str, Any] = {"path": file.path, "change": file.change}
    if file.size is not None:
        shown["bytes"] = file.size
    if file.content is not None and file.encoding == "utf-8":
        shown["text"] = Material.of(file.path, file.content).shown(_FILE_CHARS)
    return shown


def _instructions(criteria: str | tuple[str, ...] | None, judge_prompt: str | None) -> str:
    if (criteria is None) == (judge_prompt is None):
        message = "both are given; keep one" if criteria is not None else "it or criteria must say what is asked of the answer"
        raise InputError(message, path="judgePrompt")
    if judge_prompt is not None:
        [prompt] = criteria_of(judge_prompt, path="judgePrompt")
        return _without_places(prompt)
    lines = [f"{number}. {each}" for number, each in enumerate(criteria_of(criteria), 1)]
    return "\n".join(("The answer should meet these criteria; all of them count alike.", *lines))


def _without_places(prompt: str) -> str:
    if (place := _PLACE.search(prompt)) is not None:
        raise InputError(
            f"{place[0]} would reach the model as it stands: this is not a template; the task, the answer and the reference "
            "answer are shown below it anyway, so write 'the answer' in its place",
            path="judgePrompt",
        )
    return prompt
