"""Reports to render: built by hand, so that every figure in them is known."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.reporting import ReportContext

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]
CREATED = datetime(2026, 11, 21, 23, 38, 24, 123_456, tzinfo=UTC)


@pytest.fixture
def make_item() -> MakeItem:
    """An item of a report as JSON; it failed unless told otherwise."""

    def make(task_id: str = "t1", **fields: Any) -> dict[str, Any]:
        item = {
            "taskId": task_id,
            "runIndex": 0,
            "status": "fail",
            "score": 0.0,
            "latencyMs": 12.5,
            "scorer": "exact_match",
            **fields,
        }
        return {"passed": item["status"] == "pass", **item}

    return make


@pytest.fixture
def make_report() -> MakeReport:
    """A report; `summary`, `latency` and `token_cost` are merged over unremarkable figures."""

    def make(skill_id: str = "echo", **fields: Any) -> SkillCompletionReport:
        summary = {
            "completionRate": 0.85,
            "partialScore": 0.8125,
            "errorRate": 0.05,
            "consistencyScore": 0.9528595479208968,
            "compositeScore": 0.8876,
            "confidenceInterval": {"lower": 0.6211, "upper": 0.9679, "method": "wilson"},
            "passAtK": 0.95,
            "passHatK": None,
            "flakeRate": None,
            **fields.pop("summary", {}),
        }
        latency = {"p50Ms": 3.2, "p95Ms": 1234.4, "p99Ms": 2000.0, "meanMs": 99.96, **fields.pop("latency", {})}
        cost = {
            "promptTokens": 1200,
            "completionTokens": 34,
            "totalTokens": 1234,
            "estimatedUSD": None,
            **fields.pop("token_cost", {}),
        }
        data = {
            "skillId": skill_id,
            "skillVersion": "1.0.0",
            "benchmarkId": "words",
            "timestamp": "2026-11-21T23:38:24Z",
            **fields,
        }
        return SkillCompletionReport.model_validate({**data, "summary": summary, "latency": latency, "tokenCost": cost})

    return make


@pytest.fixture
def context() -> ReportContext:
    """A run with a benchmark of two tasks, without a gate and without a selection."""
    tasks = [{"id": task_id, "expectedOutput": {"value": "x"}} for task_id in ("t1", "t2")]
    benchmark = Benchmark.model_validate({"id": "words", "name": "Words | <b>", "version": "1.2.0", "tasks": tasks})
    return ReportContext(run_id="20261121T233824Z-3f9a", created_at=CREATED, benchmark=benchmark)
