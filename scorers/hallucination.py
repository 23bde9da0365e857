"""Does the answer say anything that the agent had not seen?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, Reason
from eval_skills.core.models.checks import CLAIM_KINDS, ClaimKind
from eval_skills.scorers.answer import is_long, text_of, unwrapped
from eval_skills.scorers.claims import claims_in
from eval_skills.scorers.evidence import Evidence, evidence_text, parsed_json, seen_in
from eval_skills.scorers.failed_tools import FailedTool, failed_tools, mentions_failure
from eval_skills.scorers.reasons import excerpt
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score

if TYPE_CHECKING:
    from eval_skills.core.models import HallucinationCheck, SkillResponse

MAX_REASONS = 20
"""How many unsupported claims are quoted; the last reason counts the rest."""

_DUST = 1e-9


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim that was looked up: `claim` as the answer has it, `kind` what it is, `problem` why it is not supported, if so."""

    claim: str
    kind: str
    problem: str = ""

    @property
    def reason(self) -> Reason:
        """What the report says of an unsupported claim."""
        return Reason(code="CLAIM_UNSUPPORTED", message=f"{self.kind} {excerpt(self.claim)} {self.problem}", where="output")


@scorer("hallucination")
@dataclass(frozen=True, slots=True, kw_only=True)
class Hallucination:
    """Share of the answer's claims that occur in a tool result or in the task's input; passes at `threshold` and above.

    Claims are the numbers, dates, times, quotations, addresses, identifiers and proper names of the answer, each counted once;
    `kinds` narrows them down. A number may be rounded to its own digits; ``1,000``, ``1000`` and ``1e3`` are one, a percentage
    also matches its share, and another currency never. A tool that failed for good and whose failure the answer keeps silent
    about is one more unsupported claim, unless ``failedTools`` is false (failure is recognised by English words). What the agent
    computed, or knew by itself, occurs nowhere and counts as unsupported: that is what the threshold leaves room for.

    Of an answer with more than 2,000 claims the first are looked up. The words of an object answer are judged, not its keys. An
    answer that claims nothing is not judged, never 1.

    Raises:
        InputError: `kinds` is empty.
    """

    threshold: Annotated[float, Field(ge=0, le=1)] = 0.8
    kinds: tuple[ClaimKind, ...] = CLAIM_KINDS
    failed_tools: bool = True
    task: EvalTask

    def __post_init__(self) -> None:
        if not self.kinds:
            raise InputError(f"the list is empty, so nothing is checked; name some of {', '.join(CLAIM_KINDS)}", path="kinds")

    @classmethod
    def of(cls, check: HallucinationCheck, task: EvalTask) -> Hallucination:
        """The scorer of a task's ``checks.hallucination``."""
        return cls(threshold=check.threshold, kinds=tuple(check.kinds), failed_tools=check.failed_tools, task=task)

    async def score(self, response: SkillResponse) -> Score | None:
        """Supported claims / claims, with a reason that quotes each unsupported one; None when the answer claims nothing."""
        seen = seen_in(self.task.input_data, response)
        if is_long(response.output) or is_long(seen):
            return await asyncio.to_thread(self._score, response, seen)
        return self._score(response, seen)

    def _score(self, response: SkillResponse, seen: list[object]) -> Score | None:
        answer = unwrapped(response.output)
        text = text_of(next(parsed_json(answer), answer))
        findings = looked_up(text, Evidence(evidence_text(seen)), self.kinds)
        if self.failed_tools and text.strip() and not mentions_failure(text):
            findings += map(_silence, failed_tools(response))
        return share_supported(findings, self.threshold)


def looked_up(answer: str, evidence: Evidence, kinds: Sequence[ClaimKind] = CLAIM_KINDS) -> list[Finding]:
    """The claims of an answer and which of them the evidence holds, found without a model."""
    problem = "occurs in no tool result and not in the input"
    return [Finding(claim.text, claim.kind, "" if evidence.supports(claim) else problem) for claim in claims_in(answer, kinds)]


def share_supported(findings: Iterable[Finding], threshold: float) -> Score | None:
    """The score of claims that were looked up, by whatever means; None without any.

    `threshold` is applied as given, equality passes. A judge that finds claims and verdicts of its own scores them here too.
    """
    findings = list(findings)
    if not findings:
        return None
    unsupported = [each for each in findings if each.problem]
    share = (len(findings) - len(unsupported)) / len(findings)
    return Score(
        share,
        passed=share >= threshold - _DUST,
        reasons=tuple(_reasons(unsupported)),
        metadata={"claims": len(findings), "unsupported": len(unsupported)},
    )


def _reasons(unsupported: list[Finding]) -> list[Reason]:
    reasons = [each.reason for each in unsupported[:MAX_REASONS]]
    if (more := len(unsupported) - MAX_REASONS) > 0:
        reasons.append(Reason(code="CLAIM_UNSUPPORTED", message=f"and {more} more unsupported claims", where="output"))
    return reasons


def _silence(tool: FailedTool) -> Finding:
    return Finding(tool.name, "tool", f"failed ({excerpt(tool.error)}), and the answer does not say so")
