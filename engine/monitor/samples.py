"""Sampled interactions: their verdicts, and their rows in the store, shortened and redacted."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason, Verdict
from eval_skills.core.models.result import ANSWER_CUT
from eval_skills.core.monitoring import Judged
from eval_skills.core.redaction import Redaction
from eval_skills.engine.monitor.expectation import MonitorTask
from eval_skills.engine.monitor.log.records import Interaction
from eval_skills.scorers.answer_remarks import about_cuts

PREVIEW_CHARS = 200
"""The length of a stored question or answer, in Unicode code points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sampled interaction and its verdict."""

    interaction: Interaction
    verdict: Verdict

    @property
    def judged(self) -> Judged:
        """The part that the window keeps."""
        said, verdict = self.interaction, self.verdict
        return Judged(said.id, verdict.passed, verdict.score, error=verdict.status == "error", content=said.content())

    @property
    def is_cut(self) -> bool:
        """Whether the answer was cut; it is judged as it is."""
        return any(reason.code == ANSWER_CUT for reason in self.verdict.reasons)

    def row(self, redaction: Redaction, sampled_at: datetime) -> dict[str, Any]:
        """Its row, with the columns of `SAMPLE_SCHEMA` that depend on the sample alone."""
        interaction, verdict, clean = self.interaction, self.verdict, redaction.text
        return {
            "interaction_id": clean(interaction.id),
            "timestamp": interaction.timestamp,
            "sampled_at": sampled_at,
            "skill_id": None if interaction.skill is None else clean(interaction.skill)[:PREVIEW_CHARS],
            "query_preview": preview(interaction.query, redaction),
            "output_preview": preview(interaction.response.output, redaction),
            "status": verdict.status,
            "score": verdict.score,
            "passed": verdict.passed,
            "scorer": verdict.scorer,
            "dimensions": list(verdict.dimensions.items()),
            "reasons": [{**reason.model_dump(), "message": clean(reason.message)} for reason in verdict.reasons],
            "latency_ms": interaction.response.latency_ms,
            "cost_usd": interaction.response.cost_usd,
            "source": interaction.source,
            "origin": "monitor",
        }


def preview(value: Any, redaction: Redaction) -> str:
    """The first 200 characters of a text, or of the JSON text of other data; "" for null. Secrets are replaced before the cut."""
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return redaction.text(text)[:PREVIEW_CHARS]


def unanswered(interaction: Interaction, scorer: str, redaction: Redaction, violation: Verdict | None = None) -> Verdict:
    """The verdict on an interaction that its log calls an error: not passed, without a score.

    `violation` is the verdict on forbidden calls made before the error; then it is kept, and the error is a remark.
    """
    reason = Reason(code="SKILL_ERROR", message=preview(interaction.error, redaction), where="error")
    if violation is not None:
        return violation.model_copy(update={"reasons": [*violation.reasons, reason.as_remark()]})
    return Verdict(status="error", score=None, passed=False, scorer=scorer, reasons=[reason], error_kind="skill")


@dataclass(frozen=True, slots=True)
class SampleJudging:
    """Scores by one task, `concurrency` interactions at a time; prompts of judging models are redacted."""

    task: MonitorTask
    redaction: Redaction
    concurrency: int

    def verdicts(self, interactions: list[Interaction]) -> list[Verdict | str]:
        """Each one's verdict, or why it cannot be scored."""
        # in a thread: the caller, such as a notebook, may have an event loop running in this one
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, self._judged(interactions)).result()

    async def _judged(self, interactions: list[Interaction]) -> list[Verdict | str]:
        self.task.settings.judges.redaction = self.redaction
        places = asyncio.Semaphore(self.concurrency)
        try:
            return await asyncio.gather(*(self._verdict(each, places) for each in interactions))
        finally:
            await self.task.settings.judges.close()

    async def _verdict(self, interaction: Interaction, places: asyncio.Semaphore) -> Verdict | str:
        if interaction.error is not None:
            return unanswered(interaction, self.task.scorer, self.redaction, self.task.violation(interaction))
        async with places:
            try:
                verdict = await self.task.verdict(interaction)
            except InputError as error:
                return str(error)
        return verdict.model_copy(update={"reasons": [*verdict.reasons, *about_cuts(interaction.response)]})
