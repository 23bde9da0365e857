"""The contexts that an agent retrieved, and what the four scorers of retrieval share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from eval_skills.core.errors import InputError, ScorerError
from eval_skills.core.messages.roles import inner_message, role_in
from eval_skills.core.messages.tool_results import results_of
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.core.models.base import Rate, Text
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.claims.evidence import parsed_json
from eval_skills.scorers.claims.judged import JudgedClaims
from eval_skills.scorers.claims.lookup import share_supported
from eval_skills.scorers.judging.grading import truncation_remarks
from eval_skills.scorers.judging.panel import Voter
from eval_skills.scorers.judging.prompt import Material
from eval_skills.scorers.options import reference_answer
from eval_skills.scorers.score import Score
from eval_skills.scorers.settings import ScoringSettings

KEY = "contexts"
"""The key of `metadata` with what was retrieved."""

TOLERANCE = 1e-9


def contexts_of(task: EvalTask, response: SkillResponse) -> tuple[str, ...]:
    """The retrieved texts in order: those of the answer's `metadata.contexts`, else of the task's, else the results of tools.

    An element of a list is a context of its own, also of one that a tool returns, as JSON text too; of objects the values count.
    One without text among others keeps its place in the list: it was retrieved, and is of no use.

    Raises:
        ScorerError: there is none.
    """
    for retrieved in (response.metadata.get(KEY), task.metadata.get(KEY), list(_results(response))):
        texts = tuple(map(text_of, _each(retrieved)))
        if any(map(str.strip, texts)):
            return texts
    raise ScorerError("nothing to score: no retrieved contexts, neither in metadata.contexts nor as results of tools")


def _each(retrieved: Any) -> list[Any]:
    return retrieved if isinstance(retrieved, list) else [retrieved]


def _results(response: SkillResponse) -> Iterator[Any]:
    given = [call.result for call in response.tool_calls or () if call.error is None and call.result is not None]
    if not given:
        messages = map(inner_message, response.messages or ())
        results = (result for message in messages for result in results_of(message, role_in(message)))
        given = [result.content for result in results if not result.error and result.content is not None]
    for result in given:
        if text_of(result).strip():
            yield from _each(next(parsed_json(result), result))


def materials_of(contexts: tuple[str, ...]) -> tuple[Material, ...]:
    """The contexts as a model is shown them, numbered from 1."""
    return tuple(Material.of(f"context {number}", text) for number, text in enumerate(contexts, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalJudge:
    """The base of these scorers: `model` takes the place of the run's judging model; passes from `threshold` on."""

    threshold: Rate = 0.7
    model: Text | None = None
    task: EvalTask
    settings: ScoringSettings

    @property
    def models(self) -> tuple[str | None, ...]:
        """The model that is asked; None is the run's."""
        return (self.model,)

    @property
    def voter(self) -> Voter:
        """Who is asked.

        Raises:
            JudgeError: nobody can be asked as things are configured.
        """
        return Voter.of(self.settings.judges, self.model)

    def share_of(self, found: JudgedClaims, contexts: tuple[str, ...], nothing: str) -> Score:
        """The share of the claims that hold, as they were looked up in these contexts.

        Raises:
            ScorerError: there is no claim, as `nothing` says.
        """
        if (score := share_supported(found.findings, self.threshold)) is None:
            raise ScorerError(nothing)
        remarks = (found.remark_on_claims, *truncation_remarks(found.truncated))
        metadata = {**score.metadata, "contexts": len(contexts), "judge": found.facts}
        return replace(score, reasons=(*score.reasons, *remarks), metadata=metadata)

    def passes(self, value: float) -> bool:
        """Whether a value reaches the threshold."""
        return value >= self.threshold - TOLERANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class WithReference(RetrievalJudge):
    """The base of those that compare with a reference answer: `reference`, else `expectedOutput.value`.

    Raises:
        InputError: there is none, or both are given.
    """

    reference: Any = None

    def __post_init__(self) -> None:
        if not text_of(self.wanted).strip():
            message = "there is no reference answer to hold the contexts against; give it here, or as expectedOutput.value"
            raise InputError(message, path="reference")

    @property
    def wanted(self) -> Any:
        """The reference answer."""
        return reference_answer(self.reference, self.task)


def answer_of(response: SkillResponse) -> str:
    """The answer's text."""
    return text_of(unwrapped(response.output))
