"""A run as a trace: a span for it, for each item, and for each attempt, with the verdict as an event; and its metrics.

Prompts, answers, reasons and messages are part of it only where the environment says so, and then without the run's secrets.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from eval_skills.core.telemetry import conventions as named
from eval_skills.core.telemetry.spans import Attributes, Span, Telemetry

if TYPE_CHECKING:
    from eval_skills.core.models import ItemResult
    from eval_skills.core.redaction import Redaction
    from eval_skills.engine.evaluation.execution import Outcome
    from eval_skills.engine.evaluation.plan import Item, RunPlan

PROVIDER = "eval-skills"


class RunTrace:
    """The trace of one open run, in the process where traces or metrics are sent."""

    def __init__(self, to: Telemetry, plan: RunPlan, redaction: Redaction, flow_run_id: str | None) -> None:
        self._to, self._plan, self._redaction, self._flow_run_id = to, plan, redaction, flow_run_id
        self._run: Span | None = None
        self._items: dict[Item, Span] = {}

    def begin(self) -> None:
        """The run is open."""
        plan = self._plan
        about: Attributes = {
            named.RUN: plan.run_id,
            named.SUITE: plan.benchmark.id,
            named.BENCHMARK_VERSION: plan.benchmark.version,
            named.SKILLS: list(plan.skills),
            named.PLANNED: plan.planned,
            named.RESUMED: plan.request.resume is not None,
            named.FLOW_RUN: self._flow_run_id,
        }
        self._run = self._to.start(f"evaluate {plan.benchmark.id}", about)

    @contextmanager
    def attempt(self, item: Item, number: int) -> Iterator[list[Outcome]]:
        """One attempt at `item`, from 1; put its outcome into the list. What is called inside is part of its span."""
        ended: list[Outcome] = []
        skill = self._plan.skills[item.skill]
        about: Attributes = {
            named.OPERATION: "invoke_agent",
            named.PROVIDER: PROVIDER,
            named.AGENT: skill.id,
            named.AGENT_VERSION: skill.version,
            named.ADAPTER: skill.adapter_type,
            named.ATTEMPT: number,
            named.INPUT_MESSAGES: self._message("user", self._plan.scorings[item.task].task.input_data),
        }
        span = self._to.start(f"invoke_agent {skill.id}", about, kind="client", parent=self._item(item))
        try:
            with span.current():
                yield ended
        finally:
            if ended:
                self._end_attempt(span, ended[0])
            else:
                span.fail("interrupted")
            span.end()

    def finished(self, item: Item, result: ItemResult) -> None:
        """The item has its final result."""
        if (span := self._items.pop(item, None)) is None:
            return
        span.set({named.STATUS: result.status, named.CASE_RESULT: _test_result(result), named.ATTEMPTS: len(result.attempts)})
        if result.error_kind is not None:
            span.fail(result.error_kind, self._text(result.error_message))
        why = "; ".join(reason.message for reason in result.reasons)
        verdict: Attributes = {
            named.EVALUATOR: result.scorer,
            named.SCORE: result.score,
            named.LABEL: result.status,
            named.EXPLANATION: self._text(why) if why else None,
        }
        span.event(named.EVALUATION, verdict)
        span.end()
        about = _names(result) | {named.STATUS: result.status}
        self._to.measure(named.ITEMS, 1, about)
        if result.latency_ms is not None:
            self._to.measure(named.LATENCY, result.latency_ms / 1000, about)

    def end(self, stopped_at: str | None) -> None:
        """The run is closed; items that have no result yet are left for a resume."""
        for span in self._items.values():
            span.fail("interrupted")
            span.end()
        self._items.clear()
        if self._run is not None:
            self._run.set({named.STOPPED: stopped_at})
            self._run.end()

    async def send(self) -> None:
        """Send what there is, which takes some seconds where nobody answers."""
        await asyncio.to_thread(self._to.flush)

    def _item(self, item: Item) -> Span:
        if item not in self._items:
            skill = self._plan.skills[item.skill]
            about: Attributes = {
                named.RUN: self._plan.run_id,
                named.SUITE: self._plan.benchmark.id,
                named.CASE: item.task,
                named.AGENT: skill.id,
                named.AGENT_VERSION: skill.version,
                named.ITEM_RUN: item.run,
            }
            self._items[item] = self._to.start(f"evaluate_item {skill.id}", about, parent=self._run)
        return self._items[item]

    def _end_attempt(self, span: Span, outcome: Outcome) -> None:
        result, tried = outcome.result, outcome.result.attempts[-1]
        kind = tried.error_kind
        span.set(
            {
                named.INPUT_TOKENS: result.prompt_tokens,
                named.OUTPUT_TOKENS: result.completion_tokens,
                named.COST: tried.cost_usd,
                named.TRANSIENT: outcome.transient or None,
                named.OUTPUT_MESSAGES: None if result.output is None else self._message("assistant", result.output),
            }
        )
        about = _names(result) | {named.OPERATION: "invoke_agent", named.PROVIDER: PROVIDER}
        if kind is not None:
            span.fail(kind, self._text(result.error_message))
            self._to.measure(named.ERRORS, 1, _names(result) | {named.ERROR_TYPE: kind})
        if tried.latency_ms is not None:
            self._to.measure(named.OPERATION_DURATION, tried.latency_ms / 1000, about | {named.ERROR_TYPE: kind})
        for of, count in (("input", result.prompt_tokens), ("output", result.completion_tokens)):
            if count is not None:
                self._to.measure(named.TOKENS, count, about | {named.TOKEN_TYPE: of})
        if tried.cost_usd:
            self._to.measure(named.SPENT, tried.cost_usd, _names(result) | {named.PAID_FOR: "skill"})

    def _text(self, text: str | None) -> str | None:
        """A text that may quote an answer: only where contents are captured."""
        return None if text is None or not self._to.captures else self._redaction.text(text)

    def _message(self, role: str, content: Any) -> str | None:
        """One message in the form of the conventions, where contents are captured."""
        if not self._to.captures:
            return None
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
        parts = [{"role": role, "parts": [{"type": "text", "content": self._redaction.text(text)}]}]
        return json.dumps(parts, ensure_ascii=False)


def _names(result: ItemResult) -> dict[str, Any]:
    return {named.AGENT: result.skill_id, named.AGENT_VERSION: result.skill_version, named.SUITE: result.benchmark_id}


def _test_result(result: ItemResult) -> str | None:
    """As the conventions know it: an error is neither."""
    return {"pass": "pass", "fail": "fail"}.get(result.status)
