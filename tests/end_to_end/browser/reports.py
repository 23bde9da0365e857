"""Reports to be opened in a browser: dull ones, troubled ones, and an agent's."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.reporting import ReportContext, render

CREATED = datetime(2026, 11, 21, 23, 38, 24, tzinfo=UTC)


def skill(skill_id: str, items: list[dict[str, Any]], tag: str = "easy", method: str = "wilson") -> SkillCompletionReport:
    """The report of one skill with these items; its figures are told by the items, or unremarkable."""
    passed = sum(item["status"] == "pass" for item in items)
    rate = passed / len(items)
    bounds = {"lower": max(0.0, rate - 0.1), "upper": min(1.0, rate + 0.1), "method": method}
    summary = {
        "completionRate": rate, "partialScore": rate, "errorRate": 0.0, "consistencyScore": 1.0, "compositeScore": 0.5 + rate / 2,
        "confidenceInterval": bounds, "passAtK": rate, "passHatK": None, "flakeRate": 0.1,
    }  # fmt: skip
    return SkillCompletionReport.model_validate(
        {
            "skillId": skill_id,
            "skillVersion": "1.0.0",
            "benchmarkId": "words",
            "timestamp": CREATED,
            "summary": summary,
            "latency": {"p50Ms": 1.0 + 100 * rate, "p95Ms": 20.0, "p99Ms": 30.0, "meanMs": 5.0},
            "tokenCost": {"promptTokens": None, "completionTokens": None, "totalTokens": None, "estimatedUSD": None},
            "byTag": {tag: {"completionRate": rate, "items": 4, "tasks": 2, "confidenceInterval": bounds}},
            "taskResults": items,
        }
    )


def item(task: str, run: int = 0, status: str = "pass", **fields: Any) -> dict[str, Any]:
    """One item; it is as dull as it can be unless told otherwise."""
    return {"taskId": task, "runIndex": run, "status": status, "passed": status == "pass", "latencyMs": 5.0, **fields}


def three_skills() -> list[SkillCompletionReport]:
    """One that always passes, one with a flaky task and one of every trouble, one that always fails."""
    asked: dict[str, Any] = {"input": {"q": "2+3"}, "expected": 5}
    wrong: dict[str, Any] = {"reasons": [{"code": "NOT_EQUAL", "message": "4 is not 5"}], "output": "4", **asked}
    troubled = [
        item("t1", 0, **asked, tags=["math"]), item("t1", 1, "fail", **wrong, tags=["math"]),
        item("t2", 0, "error", errorKind="infra", errorMessage="refused"), item("t2", 1, "timeout", latencyMs=30_000.0),
        item("t3", 0, tags=["text"]), item("t3", 1, tags=["text"]),
        item("t4", 0, "fail", **wrong), item("t4", 1, "fail", **wrong),
    ]  # fmt: skip
    return [
        skill("sound", [item("t1"), item("t2")]),
        skill("troubled", troubled),
        skill("wrong", [item("t1", status="fail", output="x" * 5000), item("t2", status="fail")]),
    ]


def context(**fields: Any) -> ReportContext:
    return ReportContext(**{"run_id": "20261121T233824Z-3f9a", "created_at": CREATED, "min_completion": 0.7, **fields})


def written(folder: Path, reports: list[SkillCompletionReport], told: ReportContext) -> Path:
    file = folder / "report.html"
    file.write_bytes(str(render("html", reports, told)).encode("utf-8"))
    return file


def agent_report(folder: Path) -> Path:
    """An agent that called a forbidden tool second, and was judged on four dimensions."""
    called = [
        {"name": "search", "arguments": {"city": "Bern"}, "result": ["Krone"]},
        {"name": "rm", "arguments": {"path": "x" * 5_000}, "error": "permission denied"},
    ]
    why = [{"code": "FORBIDDEN_TOOL_CALLED", "message": "forbidden tool 'rm' was called 1 time", "where": "toolCalls[1]"}]
    told = [{"role": "user", "content": "a room in Bern"}]
    items = [item("trip", 0, "fail", reasons=why, toolCalls=called, messages=told, timeToFirstTokenMs=12.0), item("trip", 1)]
    data = skill("an_agent_of_some_name", items).to_json()
    names = ("tool_accuracy", "sequence_correctness", "output_quality", "hallucination")
    data["dimensions"] = {name: {"mean": 0.5, "items": 2} for name in names}
    data["latency"] |= {"p50Ms": 1234.5, "p95Ms": 23_456.7, "timeToFirstTokenP50Ms": 12.0}
    data["tokenCost"]["estimatedUSD"] = 0.0123
    task = {"id": "trip", "expected": {"tools": ["search"], "forbiddenTools": ["rm"]}, "thresholds": {"minScore": 80}}
    benchmark = Benchmark.model_validate({"id": "words", "name": "Words", "version": "1.0.0", "tasks": [task]})
    return written(folder, [SkillCompletionReport.model_validate(data)], context(benchmark=benchmark))
