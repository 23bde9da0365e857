"""What a night shows of its skills, line by line."""

from __future__ import annotations

import json
from contextvars import copy_context
from typing import Any

import pytest

from eval_skills.cli.commands.nightly import _show, _show_suite
from eval_skills.cli.context import Invocation, begin
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.nightly.evidence import Classification
from eval_skills.engine.nightly.history import LastNight
from eval_skills.engine.nightly.summary import NightSummary, SkillOutcome, SuiteOutcome


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
            **more,
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


def test_a_skill_that_is_gone_is_a_line_that_says_how_to_retire_it(capsys: pytest.CaptureFixture[str]) -> None:
    last = LastNight("old", "1.0.0", "20260101T000000Z-9999", "20260101T000000Z-0001")
    _show_suite(SuiteOutcome(name="trips", run_id="r", benchmark_id="trips", gone=[last]))
    (line,) = capsys.readouterr().out.splitlines()[1:]
    assert line.startswith("  old@1.0.0  gone: evaluated in night 20260101T000000Z-9999 (run 20260101T000000Z-0001)")
    assert line.endswith("put it back, or name old under retired in the file of suites")


@pytest.mark.parametrize(("status", "words"), [("pass", "ran and was judged"), ("error", "ran; 1 item without a verdict")])
def test_a_passed_gate_says_what_was_not_judged(status: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    kind = "infra" if status == "error" else None
    item = {"taskId": "t", "runIndex": 0, "status": status, "passed": status == "pass", "errorKind": kind}
    found = report(taskResults=[item])
    skill = SkillOutcome(report=found, classification=Classification(verdict="new", explanation="", tasks=[]))
    suite = SuiteOutcome(name="trips", run_id="r", benchmark_id="trips", skills=[skill])
    night = NightSummary(night_id="n", store="s", suites=[suite])
    _show(night, passed=True, unproven=[])
    assert capsys.readouterr().out.splitlines()[-1].endswith(words)


def test_json_says_why_the_gate_failed(capsys: pytest.CaptureFixture[str]) -> None:
    lost = SuiteOutcome(name="trips", run_id=None, failures=["no such benchmark"])
    night = NightSummary(night_id="n", store="s", suites=[lost])
    context = copy_context()
    context.run(begin, Invocation(json=True))
    context.run(_show, night, passed=False, unproven=["agent lost too much"])
    gate = json.loads(capsys.readouterr().out)["gate"]
    failures = ["trips: run failed: no such benchmark", "agent lost too much"]
    assert gate == {"passed": False, "failures": failures, "notProven": failures[1:]}
