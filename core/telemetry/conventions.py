"""The names of attributes and metrics.

Those of ``gen_ai.``, ``error.``, ``server.`` and ``test.`` are OpenTelemetry's semantic conventions (of GenAI: as of 1.41, in
development); what they have no name for begins with ``eval_skills.``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

OPERATION, PROVIDER = "gen_ai.operation.name", "gen_ai.provider.name"
AGENT, AGENT_VERSION = "gen_ai.agent.name", "gen_ai.agent.version"
MODEL, TEMPERATURE, SEED, MAX_TOKENS = (f"gen_ai.request.{name}" for name in ("model", "temperature", "seed", "max_tokens"))
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS, OUTPUT_TOKENS, TOKEN_TYPE = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.token.type"
INPUT_MESSAGES, OUTPUT_MESSAGES = "gen_ai.input.messages", "gen_ai.output.messages"
EVALUATION = "gen_ai.evaluation.result"
"""The event that a verdict is."""

EVALUATOR, SCORE, LABEL, EXPLANATION = (
    f"gen_ai.evaluation.{name}" for name in ("name", "score.value", "score.label", "explanation")
)
ERROR_TYPE, SERVER, PORT = "error.type", "server.address", "server.port"
SUITE, CASE, CASE_RESULT = "test.suite.name", "test.case.name", "test.case.result.status"

RUN, BENCHMARK_VERSION, PLANNED, RESUMED = (
    f"eval_skills.{name}" for name in ("run.id", "benchmark.version", "run.planned_items", "run.resumed")
)
SKILLS, STOPPED, FLOW_RUN = "eval_skills.skills", "eval_skills.run.stopped_at", "eval_skills.prefect.flow_run_id"
ITEM_RUN, ATTEMPT, ATTEMPTS = "eval_skills.item.run", "eval_skills.attempt.number", "eval_skills.item.attempts"
STATUS, ADAPTER, COST, PAID_FOR = "eval_skills.status", "eval_skills.adapter", "eval_skills.cost_usd", "eval_skills.paid_for"
TRANSIENT = "eval_skills.attempt.tried_again"

Attribute = str | bool | int | float | list[str]


@dataclass(frozen=True, slots=True)
class Metric:
    """An instrument; `buckets` are the upper bounds of a histogram."""

    kind: Literal["counter", "histogram"]
    unit: str
    description: str
    buckets: tuple[float, ...] = ()


ITEMS, ERRORS, LATENCY, SPENT = "eval_skills.items", "eval_skills.errors", "eval_skills.item.latency", "eval_skills.cost"
OPERATION_DURATION, TOKENS = "gen_ai.client.operation.duration", "gen_ai.client.token.usage"
_SECONDS = tuple(0.01 * 2**power for power in range(14))
METRICS: dict[str, Metric] = {
    ITEMS: Metric("counter", "{item}", "Items that are finished, by how they ended."),
    ERRORS: Metric("counter", "{attempt}", "Attempts that ended in an error, by its kind."),
    LATENCY: Metric("histogram", "s", "How long the answers of finished items took.", _SECONDS),
    SPENT: Metric("counter", "USD", "What was paid, as far as it is known, by what for."),
    OPERATION_DURATION: Metric("histogram", "s", "How long calls of skills and of judging models took.", _SECONDS),
    TOKENS: Metric("histogram", "{token}", "Tokens of a call.", tuple(4.0**power for power in range(14))),
}
