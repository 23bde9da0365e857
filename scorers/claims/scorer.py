"""Does the answer say anything that the agent had not seen?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from eval_skills.core.models import EvalTask, HallucinationCheck, SkillResponse
from eval_skills.core.models.base import Text
from eval_skills.core.models.expectation import CLAIM_KINDS, ClaimKind, HallucinationMode
from eval_skills.core.text import excerpt, is_long
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.claims.evidence import Evidence, evidence_text, parsed_json, seen_in
from eval_skills.scorers.claims.judged import judged_claims
from eval_skills.scorers.claims.lookup import FailedTool, Finding, failed_tools, looked_up, mentions_failure, share_supported
from eval_skills.scorers.claims.questions import VERSION
from eval_skills.scorers.judging.grading import truncation_remarks
from eval_skills.scorers.judging.panel import Voter
from eval_skills.scorers.options import refuse_idle_model, refuse_nothing_to_find
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score
from eval_skills.scorers.settings import ScoringSettings


@scorer("hallucination")
@dataclass(frozen=True, slots=True, kw_only=True)
class Hallucination:
    """Share of the answer's claims that occur in a tool result or in the task's input; passes at `threshold` and above.

    With `mode` ``deterministic`` claims are the numbers, dates, times, quotations, addresses, identifiers and proper names of
    the answer, each counted once; `kinds` narrows them down. A number may be rounded to its own digits; ``1,000``, ``1000`` and
    ``1e3`` are one, a percentage also matches its share, and another currency never. A tool that failed for good and whose
    failure the answer does not mention is one more unsupported claim, unless ``failedTools`` is false (failure is recognised
    by English words). What the agent computed, or knew by itself, occurs nowhere and counts as unsupported: the
    threshold leaves room for that.

    With ``judged`` a model (`model`, else the run's) lists the answer's claims, on any subject, and verifies each
    against the same material; what it does not find there, or does not prove by a quotation, counts as unsupported; see
    `judged_claims`. An unreadable reply is an error, never a pass. ``both`` begins with the rules, which cost nothing; where
    they fail the answer no model is asked, else the lower of the two shares counts and both must reach the threshold.

    Of an answer with more than 2,000 claims the first are looked up. The words of an object answer are judged, not its keys. An
    answer that claims nothing is not judged, never 1.

    Raises:
        InputError: `kinds` is empty, or a model is named that is never asked.
    """

    mode: HallucinationMode = "deterministic"
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.8
    kinds: tuple[ClaimKind, ...] = CLAIM_KINDS
    failed_tools: bool = True
    model: Text | None = None
    task: EvalTask
    settings: ScoringSettings

    def __post_init__(self) -> None:
        refuse_nothing_to_find(self.kinds, CLAIM_KINDS)
        refuse_idle_model(self.model, self.mode)

    @classmethod
    def of(cls, check: HallucinationCheck, task: EvalTask, settings: ScoringSettings) -> Hallucination:
        """The scorer of a task's ``checks.hallucination``."""
        return cls(
            mode=check.mode, threshold=check.threshold, kinds=tuple(check.kinds), failed_tools=check.failed_tools,
            model=check.model, task=task, settings=settings,
        )  # fmt: skip

    @property
    def models(self) -> tuple[str | None, ...]:
        """The models that are asked; None is the run's."""
        return () if self.mode == "deterministic" else (self.model,)

    @property
    def version(self) -> str:
        """Of the prompts."""
        return VERSION

    def without_model(self) -> Hallucination | None:
        """The part of the check that asks no model; None where there is no such part."""
        return None if self.mode == "judged" else replace(self, mode="deterministic", model=None)

    async def score(self, response: SkillResponse) -> Score | None:
        """Supported claims / claims, with a reason that quotes each unsupported one; None when the answer claims nothing.

        Raises:
            JudgeError: the model gave no readable verdict.
        """
        looked_up = None if self.mode == "judged" else await self._by_rules(response)
        if self.mode == "deterministic" or (looked_up is not None and not looked_up.passed):
            return looked_up
        return _lower(looked_up, await self._by_model(response))

    async def _by_rules(self, response: SkillResponse) -> Score | None:
        seen = seen_in(self.task.input_data, response)
        if is_long(response.output) or is_long(seen):
            return await asyncio.to_thread(self._looked_up, response, seen)
        return self._looked_up(response, seen)

    def _looked_up(self, response: SkillResponse, seen: list[object]) -> Score | None:
        answer = unwrapped(response.output)
        text = text_of(next(parsed_json(answer), answer))
        findings = looked_up(text, Evidence(evidence_text(seen)), self.kinds)
        return share_supported([*findings, *self._unreported(text, response)], self.threshold)

    async def _by_model(self, response: SkillResponse) -> Score | None:
        found = await judged_claims(self.task, response, Voter.of(self.settings.judges, self.model))
        unreported = self._unreported(text_of(unwrapped(response.output)), response)
        score = share_supported([*found.findings, *unreported], self.threshold)
        if score is None:
            return None
        remarks = (*([found.remark_on_claims] if found.findings else []), *truncation_remarks(found.truncated))
        return replace(score, reasons=(*score.reasons, *remarks), metadata={**score.metadata, "judge": found.facts})

    def _unreported(self, answer: str, response: SkillResponse) -> Iterable[Finding]:
        if not self.failed_tools or not answer.strip() or mentions_failure(answer):
            return ()
        return map(_unreported_failure, failed_tools(response))


def _lower(by_rules: Score | None, by_model: Score | None) -> Score | None:
    """The lower of two scores, with what both said."""
    if by_rules is None or by_model is None:
        return by_model or by_rules
    informative = [each.as_remark() for each in by_rules.reasons if each not in by_model.reasons]
    metadata = {**by_model.metadata, "deterministic": dict(by_rules.metadata)}
    value = min(by_rules.value, by_model.value)
    return replace(by_model, value=value, reasons=(*by_model.reasons, *informative), metadata=metadata)


def _unreported_failure(tool: FailedTool) -> Finding:
    return Finding(tool.name, "tool", f"failed ({excerpt(tool.error)}), and the answer does not say so")
