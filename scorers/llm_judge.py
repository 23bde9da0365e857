"""How good is the answer, in the eyes of a model?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, Reason
from eval_skills.core.models.base import Rate, Text
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.judging.grading import Grade, Grading
from eval_skills.scorers.judging.panel import Aggregate, Decision, Panel, passes
from eval_skills.scorers.judging.question import Material, Question
from eval_skills.scorers.reasons import one_line, remark
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score
from eval_skills.scorers.settings import ScoringSettings

if TYPE_CHECKING:
    from eval_skills.core.models import SkillResponse
    from eval_skills.scorers.judging.judge import Ruling
    from eval_skills.scorers.judging.panel import Ballots

VERSION = "llm_judge 1"
"""Of the words below: another version asks again."""

_ROLE = """You judge one answer to one task. Judge by the instructions alone. How long, polished or confident the answer is does
not count, unless they say so. Where a reference answer is given it is right, and the answer need not be worded like it; do not
hold knowledge of your own against it. If the answer does not do what was asked, it does not matter how well it does something
else."""

_PLACE = re.compile(
    r"\{\{?\s*(?:outputs?|answer|response|completion|prediction|inputs?|question|query|task|context|criteria|"
    r"references?|reference_outputs?|reference_answer|expected|expected_outputs?|ground_truth)\s*\}?\}",
    re.IGNORECASE,
)
"""What templates of other tools call the answer and its like."""

_REASONING_SHOWN, _REASONING_KEPT, _DISSENT_SHOWN = 400, 4_000, 160


@scorer("llm_judge")
@dataclass(frozen=True, slots=True, kw_only=True)
class LlmJudge:
    """What a model says of the answer, in [0, 1]; passes from `threshold` on (0.7 unless set, equality passes).

    `criteria` (one or several sentences) or a free `judgePrompt` say what is asked of the answer; there must be one of them.
    Neither is a template: places such as ``{output}`` are refused. The model gives its reasoning, then a number within `scale` (0
    to 1 unless set; other ends are mapped to [0, 1]), or one of `choices`, each with its score: ``{"correct": 1, "partly": 0.5,
    "wrong": 0}``. It sees the task's input, the answer (unwrapped) and, where there is one, the reference answer: `reference`,
    else `expectedOutput.value`. An answer without text gets 0, and no model is asked. `model` takes the place of the run's.

    `models` makes it a panel (null is the run's model), and `votes` asks each model so often, at `temperature` (0.7 unless set);
    `aggregate` makes a score of them: ``median`` (unless set), ``mean``, or ``majority``, whose score is the share that passes
    the answer. See `judging.panel`.

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
    model: Text | None = None
    models: tuple[Text | None, ...] = (None,)
    aggregate: Aggregate | None = None
    votes: int = 1
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    task: EvalTask
    settings: ScoringSettings
    _grading: Grading = field(init=False, repr=False, compare=False)
    _instructions: str = field(init=False, repr=False, compare=False)
    panel: Panel = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_grading", Grading.of(self.scale, self.choices))
        object.__setattr__(self, "_instructions", _instructions(self.criteria, self.judge_prompt))
        object.__setattr__(self, "panel", self._panel())
        object.__setattr__(self, "models", self.panel.models)
        if self.reference is not None and self._expected is not None:
            raise InputError("given in evaluator and as expectedOutput.value; keep one", path="reference")

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
        if not text_of(answer).strip():
            return Score(0.0, reasons=(Reason(code="OUTPUT_EMPTY", message="expected an answer, got none", where="output"),))
        ballots = await self.panel.ask(self.settings.judges, self.question(answer))
        decision = self.panel.decide(ballots, self._grading.share, self.threshold)
        ruling = self._telling(ballots, decision)
        return Score(
            decision.value,
            passed=decision.passed,
            reasons=(self._reason(ruling, decision), *self._dissent(ballots, decision), *truncation_remarks(ruling.truncated)),
            metadata={"judge": self._facts(ruling) | self.panel.facts(ballots, decision)},
        )

    def question(self, answer: Any) -> Question[Grade]:
        """What the model is asked about this answer."""
        materials = [Material.of("task", _asked(self.task)), Material.of("answer", answer)]
        reference = self.reference if self.reference is not None else self._expected
        if reference is not None:
            materials.insert(1, Material.of("reference answer", reference))
        return Question(
            role=_ROLE,
            version=VERSION,
            instructions=self._instructions,
            materials=tuple(materials),
            reply=self._grading.reply,
        )

    def _panel(self) -> Panel:
        if self.model is not None and self.models != (None,):
            raise InputError("model and models exclude each other; keep one", path="models")
        if self.temperature is not None and self.votes == 1:
            raise InputError("it is that of several votes; set votes, or llm.temperature for every question", path="temperature")
        models = self.models if self.model is None else (self.model,)
        panel = Panel(models=models, votes=self.votes, temperature=self.temperature, aggregate=self.aggregate or "median")
        if self.aggregate is not None and panel.is_single:
            raise InputError("there is one vote only, and nothing to put together; name models, or set votes", path="aggregate")
        return panel

    def _telling(self, ballots: Ballots[Grade], decision: Decision) -> Ruling[Grade]:
        """The vote nearest to the verdict, of those on its side: its reasoning speaks for the panel."""

        def distance(ruling: Ruling[Grade]) -> tuple[bool, float]:
            value = self._grading.share(ruling.reply)
            return passes(value, self.threshold) != decision.passed, abs(value - decision.value)

        return min(ballots.rulings, key=distance)

    @property
    def _expected(self) -> Any:
        return self.task.expected_output.value if self.task.expected_output is not None else None

    def _reason(self, ruling: Ruling[Grade], decision: Decision) -> Reason:
        said = one_line(ruling.reply.reasoning, _REASONING_SHOWN)
        single = f"{ruling.model} gave {self._grading.given(ruling.reply)}"
        given = single if self.panel.is_single else self.panel.told(decision)
        # the model's own number is the score already, where nothing was mapped or put together
        got = "" if given == f"{ruling.model} gave {decision.value:g}" else f", got {decision.value:.4g}"
        message = f"{given}, expected {self.panel.wanted(self.threshold)}{got}: {said}"
        return Reason(code="JUDGE_VERDICT", message=message, where="output")

    def _dissent(self, ballots: Ballots[Grade], decision: Decision) -> tuple[Reason, ...]:
        """A remark with the first vote of the other side, if there is one: what the panel outvoted."""
        share = self._grading.share
        others = [each for each in ballots.rulings if passes(share(each.reply), self.threshold) != decision.passed]
        if not others:
            return ()
        said = one_line(others[0].reply.reasoning, _DISSENT_SHOWN)
        message = f"outvoted: {others[0].model} gave {self._grading.given(others[0].reply)}: {said}"
        return (remark(Reason(code="JUDGE_DISSENT", message=message, where="output")),)

    def _facts(self, ruling: Ruling[Grade]) -> dict[str, Any]:
        return {
            "model": ruling.model,
            "given": self._grading.given(ruling.reply),
            "reasoning": ruling.reply.reasoning[:_REASONING_KEPT],
            "cached": ruling.cached,
            "replies": ruling.readings,
            "version": VERSION,
            "truncated": ruling.truncated,
        }


def truncation_remarks(truncated: dict[str, int]) -> tuple[Reason, ...]:
    """One remark for each material that the model did not see whole."""
    return tuple(
        remark(Reason(code="JUDGE_SAW_PART", message=f"{cut:,} characters of the {name} were left out of the prompt", where=name))
        for name, cut in truncated.items()
    )


def _asked(task: EvalTask) -> Any:
    return {"description": task.description, "input": task.input_data} if task.description else task.input_data


def _instructions(criteria: str | tuple[str, ...] | None, judge_prompt: str | None) -> str:
    if (criteria is None) == (judge_prompt is None):
        message = "both are given; keep one" if criteria is not None else "it or criteria must say what is asked of the answer"
        raise InputError(message, path="judgePrompt")
    if judge_prompt is not None:
        return _without_places(_not_blank(judge_prompt, "judgePrompt"))
    listed = (criteria,) if isinstance(criteria, str) else criteria or ()
    if not listed:
        raise InputError("the list is empty; give at least one criterion", path="criteria")
    lines = [f"{number}. {_not_blank(each, 'criteria')}" for number, each in enumerate(listed, 1)]
    return "\n".join(("The answer should meet these criteria; all of them count alike.", *lines))


def _without_places(prompt: str) -> str:
    if (place := _PLACE.search(prompt)) is not None:
        raise InputError(
            f"{place[0]} would reach the model as it stands: this is no template; the task, the answer and the reference answer "
            "are shown below it anyway, so write 'the answer' in its place",
            path="judgePrompt",
        )
    return prompt


def _not_blank(text: str, path: str) -> str:
    if not text.strip():
        raise InputError("blank text; say what is asked of the answer", path=path)
    return text.strip()
