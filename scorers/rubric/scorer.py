"""How good is the answer, dimension by dimension, as a model judges it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from eval_skills.core.errors import JudgeError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.core.models.base import Rate, Text
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.claims.judged import judged_claims
from eval_skills.scorers.claims.questions import QUESTIONS_ABOUT_CLAIMS
from eval_skills.scorers.judging.grading import truncation_remarks
from eval_skills.scorers.judging.judges import together
from eval_skills.scorers.judging.panel import Voter, Votes
from eval_skills.scorers.judging.prompt import Material, criteria_of
from eval_skills.scorers.options import PanelOptions, reference_answer
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.rubric.definition import NOT_JUDGED, TOLERANCE, Rubric, RubricDimension, rubric_of
from eval_skills.scorers.rubric.questions import VERSION, rubric_question, verdicts_in
from eval_skills.scorers.rubric.results import (
    DimensionResult,
    RubricAgreement,
    agreement_among,
    by_claims,
    by_level,
    floor_reasons,
    overall_reason,
    settled,
)
from eval_skills.scorers.score import EMPTY_ANSWER, Score
from eval_skills.scorers.trajectory.transcript import has_results, run_materials

if TYPE_CHECKING:
    from eval_skills.scorers.judging.judge import Ruling


@dataclass(frozen=True, slots=True)
class _Part:
    """What one vote says of some dimensions, what it did not see whole, and the ruling on the levels they have."""

    results: dict[str, DimensionResult]
    truncated: dict[str, int]
    ruling: Ruling[Any] | None = None


@scorer("rubric")
@dataclass(frozen=True, slots=True, kw_only=True)
class RubricScorer(PanelOptions):
    """Σ score · weight / Σ weight over the dimensions of a rubric, in [0, 1], as a model judges them; each is shown as a
    dimension.

    The rubric is `rubric`, a JSON or YAML file in the benchmark's folder or an object, else the default one: factual accuracy
    (weight 0.3), completeness (0.25), citation accuracy (0.15), source quality (0.1) and tool efficiency (0.2), each at a level
    from excellent (1) over good (0.8), acceptable (0.6) and poor (0.3) to failed (0). An answer passes from `threshold` on (the
    rubric's ``passAt``, 0.7 unless set; equality passes), if no dimension lies below its own floor. A floor holds for any
    `minScore`.

    The model may say that a dimension cannot be judged: it is left out of the sum, never 0. Where none is left the item is an
    error of kind ``judge``. `calls` says whether the dimensions are asked for in ``one`` call or in one call ``each``. A
    dimension with ``byClaims`` is judged by the answer's claims, each verified against the reference answer, the input and what
    tools returned (a major claim counts twice), where there is a reference or a result of a tool; else by its levels, like the
    others.

    The model sees the task, the answer, what the agent did and, where there is one, the reference answer: `reference`, else
    `expectedOutput.value`. `criteria` say what is asked of this task in particular. An answer without text gets 0, and no model
    is asked.

    `model`, `models`, `votes`, `temperature` and `aggregate` are those of `PanelOptions`: each dimension gets what the panel says
    of it (see `consensus_of`), and with that it counts and is held against its floor.

    Raises:
        InputError: the rubric cannot be found or read, or is not one; `criteria` are blank; the panel is empty.
    """

    rubric: Text | dict[str, Any] | None = None
    calls: Literal["one", "each"] = "one"
    threshold: Rate | None = None
    criteria: str | tuple[str, ...] | None = None
    reference: Any = None
    task: EvalTask
    _rubric: Rubric = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        PanelOptions.__post_init__(self)  # super() knows no class with slots
        rubric = rubric_of(self.rubric, self.settings.benchmark_folder)
        if self.threshold is not None:
            rubric = rubric.model_copy(update={"pass_at": self.threshold})
        object.__setattr__(self, "_rubric", rubric)
        criteria_of(self.criteria)
        reference_answer(self.reference, self.task)

    @property
    def version(self) -> str:
        """Of the prompts: our words, and the rubric as it stands today."""
        return f"{VERSION} {digest_of_json(self._rubric.to_json()).removeprefix('sha256:')[:8]}"

    @property
    def questions(self) -> int:
        """About how many questions one vote on an answer takes; about its claims only where there is a reference."""
        dimensions = self._rubric.dimensions.values()
        by_claims = sum(each.by_claims for each in dimensions) if self._reference is not None else 0
        rest = len(dimensions) - by_claims
        return (min(rest, 1) if self.calls == "one" else rest) + (QUESTIONS_ABOUT_CLAIMS if by_claims else 0)

    async def score(self, response: SkillResponse) -> Score:
        """The overall score, with each dimension's score and reason.

        Raises:
            JudgeError: the model, or too many of a panel, gave no readable verdict, or could judge no dimension.
        """
        if not text_of(unwrapped(response.output)).strip():
            return Score(0.0, reasons=(EMPTY_ANSWER,))
        apart = self._apart(response)
        rest = {name: each for name, each in self._rubric.dimensions.items() if name not in apart}
        groups = [rest] if self.calls == "one" else [{name: each} for name, each in rest.items()]
        asked = [partial(self._by_levels, group, response) for group in groups if group]
        if apart:
            asked.append(partial(self._by_claims, apart, response))
        return self._summed(await together(self.panel.poll(self.settings.judges, part) for part in asked))

    def _apart(self, response: SkillResponse) -> list[str]:
        """The dimensions that are judged by claims, if there is anything to verify these by."""
        if self._reference is None and not has_results(response):
            return []
        return [name for name, each in self._rubric.dimensions.items() if each.by_claims]

    async def _by_levels(self, dimensions: Mapping[str, RubricDimension], response: SkillResponse, voter: Voter) -> _Part:
        materials = self._materials(response)
        criteria = "\n".join(f"- {each}" for each in criteria_of(self.criteria))
        ruling = await voter.ask(rubric_question(dimensions, materials, not_judged=NOT_JUDGED, criteria=criteria))
        verdicts = verdicts_in(ruling.reply, dimensions)
        results = {name: by_level(name, each, verdicts[name], materials) for name, each in dimensions.items()}
        return _Part(results, ruling.truncated, ruling)

    async def _by_claims(self, names: list[str], response: SkillResponse, voter: Voter) -> _Part:
        claims = await judged_claims(self.task, response, voter, reference=self._reference)
        return _Part({name: by_claims(name, claims) for name in names}, claims.truncated)

    def _summed(self, polled: list[Votes[_Part]]) -> Score:
        parts = [part for votes in polled for part in votes.given]
        given = {name: self._settled(votes, name) for votes in polled for name in votes.given[0].results}
        results = [given[name] for name in self._rubric.dimensions]
        scores = {each.name: each.score for each in results if each.score is not None}
        overall, floors = self._overall(results, scores), floor_reasons(self._rubric, scores)
        enough = overall >= self._rubric.pass_at - TOLERANCE
        short = () if enough else (overall_reason(self._rubric, scores, overall),)
        details = [reason for each in results for reason in each.reasons(self._rubric.dimensions[each.name])]
        truncated = {name: cut for part in parts for name, cut in part.truncated.items()}
        agreement = agreement_among(self.panel, self._rubric, results, polled, passed=enough and not floors)
        return Score(
            overall,
            passed=enough and not floors,
            gates=floors,
            reasons=(*short, *((agreement.remark,) if agreement else ()), *details, *truncation_remarks(truncated)),
            dimensions={f"rubric.{name}": score for name, score in scores.items()},
            metadata={
                "rubric": self._facts(results),
                "judge": self._asking([part.ruling for part in parts if part.ruling], agreement),
            },
        )

    def _settled(self, votes: Votes[_Part], name: str) -> DimensionResult:
        return settled(self.panel, votes.each(lambda part: part.results[name]))

    def _overall(self, results: list[DimensionResult], scores: Mapping[str, float]) -> float:
        if (overall := self._rubric.overall(scores)) is not None:
            return overall
        said = "; ".join(f"{each.name}: {each.why}" for each in results if each.score is None)
        raise JudgeError(f"no dimension of the rubric that counts could be judged ({said})", code="JUDGE_NOTHING_SCORED")

    def _materials(self, response: SkillResponse) -> tuple[Material, ...]:
        materials = [Material.of_task(self.task)]
        if self._reference is not None:
            materials.append(Material.of("reference answer", self._reference))
        return (*materials, *run_materials(response), Material.of("answer", unwrapped(response.output)))

    @property
    def _reference(self) -> Any:
        return reference_answer(self.reference, self.task)

    def _facts(self, results: list[DimensionResult]) -> dict[str, Any]:
        weights = {name: each.weight for name, each in self._rubric.dimensions.items()}
        dimensions = {each.name: {"score": each.score, "weight": weights[each.name], **each.facts} for each in results}
        return {"name": self._rubric.name, "passAt": self._rubric.pass_at, "dimensions": dimensions}

    def _asking(self, rulings: list[Ruling[Any]], agreement: RubricAgreement | None) -> dict[str, Any]:
        return {
            "models": sorted({each.model for each in rulings}),
            "calls": len(rulings),
            "cached": all(each.cached for each in rulings),
            "replies": sum(each.readings for each in rulings),
            "version": self.version,
            **({"panel": agreement.facts} if agreement else {}),
        }
