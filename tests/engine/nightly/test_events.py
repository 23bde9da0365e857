"""A skill that calls a forbidden tool is news of its night, whatever else the night says of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark, ItemResult, Reason, SkillCompletionReport
from eval_skills.core.nightly.evidence import Classification, NightVerdict
from eval_skills.core.store import table_of
from eval_skills.engine.nightly.events import FORBIDDEN_TOOL, events_of
from eval_skills.engine.nightly.summary import NightSummary, SkillOutcome, SuiteOutcome
from eval_skills.reporting.nightly import ClassifiedSkill, ranking_markdown

CALLED = Reason(code="FORBIDDEN_TOOL_CALLED", message="called delete_all, which is forbidden", where="toolCalls[0]")
BENCHMARK = Benchmark.model_validate({"id": "sums", "name": "Sums", "version": "1.0.0", "tasks": []})


def report(name: str, forbidden: int) -> SkillCompletionReport:
    """Of three items, the first `forbidden` of which called a forbidden tool."""
    known: dict[str, Any] = {
        "run_id": "r",
        "benchmark_id": "sums",
        "benchmark_version": "1.0.0",
        "skill_id": name,
        "skill_version": "1.0.0",
    }
    began = datetime(2026, 1, 1, tzinfo=UTC)
    results = [
        ItemResult(
            **known, task_id=f"t{n}", run_index=0, status="fail", passed=False, score=0.0, latency_ms=1.0, started_at=began,
            reasons=[CALLED] if n < forbidden else [],
        )
        for n in range(3)
    ]  # fmt: skip
    frame: pd.DataFrame = table_of(results).to_pandas(maps_as_pydicts="strict")
    return skill_reports(frame, BENCHMARK, timeout_ms=1000)[0]


def outcome(name: str, forbidden: int, verdict: NightVerdict = "steady") -> SkillOutcome:
    return SkillOutcome(
        report=report(name, forbidden), classification=Classification(verdict=verdict, explanation="no news", tasks=[])
    )


def night(*skills: SkillOutcome) -> NightSummary:
    return NightSummary(night_id="n", store="s", suites=[SuiteOutcome(name="sums", run_id="r", skills=list(skills))])


@pytest.mark.parametrize(("forbidden", "passed"), [(0, True), (1, False)])
def test_no_night_with_a_forbidden_call_passes_its_gate(forbidden: int, passed: bool) -> None:
    assert night(outcome("adder", 0), outcome("rogue", forbidden, "better")).gate_passed is passed


def test_the_line_and_the_json_count_them() -> None:
    summary = night(outcome("adder", 0), outcome("rogue", 2))
    assert summary.line == "1 of 1 suite ran, 2 skills: 1 called forbidden tools"
    assert [skill["forbiddenItems"] for skill in summary.to_json()["suites"][0]["skills"]] == [0, 2]


def test_an_event_says_who_called_what() -> None:
    (event,) = events_of(night(outcome("adder", 0), outcome("rogue", 1)))
    assert (event.name, event.resource["eval-skills.skill"]) == (FORBIDDEN_TOOL, "rogue@1.0.0")
    assert event.payload["explanation"].endswith("in 1 item: t0#1: called delete_all, which is forbidden")


def test_the_ranking_of_the_suite_begins_with_it() -> None:
    skills = [outcome("adder", 0), outcome("rogue", 1)]
    text = ranking_markdown([ClassifiedSkill(each.report, each.classification) for each in skills], [], None)
    assert text.startswith("- 🚨 **forbidden tools**: rogue@1.0.0 called forbidden tools in 1 item")
    assert "🚨" not in ranking_markdown([ClassifiedSkill(skills[0].report, skills[0].classification)], [], None)
