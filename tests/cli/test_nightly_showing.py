"""What a night shows of its skills, line by line."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.cli.commands.nightly import _show_suite
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.nightly.evidence import Classification
from eval_skills.engine.nightly.summary import SkillOutcome, SuiteOutcome


def report(**more: Any) -> SkillCompletionReport:
    rates = {"completionRate": 0.9, "partialScore": 0.9, "errorRate": 0.0, "consistencyScore": 1.0, "compositeScore": 0.9}
    unknown = {"passAtK": None, "passHatK": None, "flakeRate": None}
    paid = {"promptTokens": None, "completionTokens": None, "totalTokens": None, "estimatedUSD": None}
    return SkillCompletionReport.model_validate(
        {
            "skillId": "agent",
            "skillVersion": "1.0.0",
            "benchmarkId": "trips",
            "timestamp": "2026-11-21T23:38:24Z",
            "summary": rates | unknown | {"confidenceInterval": {"lower": 0.8, "upper": 0.95}} | more.pop("summary", {}),
            "latency": {"p50Ms": 1.0, "p95Ms": 1.0, "p99Ms": 1.0, "meanMs": 1.0},
            "tokenCost": paid | more.pop("tokenCost", {}),
        }
    )


def shown(found: SkillCompletionReport, capsys: pytest.CaptureFixture[str]) -> list[str]:
    skill = SkillOutcome(report=found, classification=Classification(verdict="steady", explanation="no news", tasks=[]))
    _show_suite(SuiteOutcome(name="trips", run_id="r", benchmark_id="trips", skills=[skill]))
    return capsys.readouterr().out.splitlines()


def test_a_quiet_skill_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(report(), capsys) == ["trips: trips, run r", "  agent@1.0.0  90.0 %  steady: no news"]


def test_what_judging_cost_stands_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(report(tokenCost={"judgeTokens": 720, "judgeUSD": 0.12}), capsys)
    assert lines[2:] == ["  judging of agent@1.0.0: tokens 720, cost $0.1200"]


def test_a_forbidden_tool_stands_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(report(summary={"forbiddenItems": 2}), capsys)[2:] == [
        "  FORBIDDEN TOOL: agent@1.0.0 called forbidden tools in 2 items"
    ]
