"""A skill that calls a forbidden tool is news of its night, whatever else the night says of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.metrics.tasks import Tally
from eval_skills.core.models import Benchmark, ItemResult, Reason, SkillCompletionReport
from eval_skills.core.nightly.comparisons import compare_tallies
from eval_skills.core.nightly.evidence import Against, Classification, NightVerdict, Rule
from eval_skills.core.store import table_of
from eval_skills.engine.nightly.events import FORBIDDEN_TOOL, NOT_JUDGED, events_of
from eval_skills.engine.nightly.history import LastNight
from eval_skills.engine.nightly.summary import NightSummary, SkillOutcome, SuiteOutcome, gone_explanation
from eval_skills.reporting.nightly import ClassifiedSkill, ranking_markdown
from tests.tables import each_row

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


def test_a_gate_that_fails_says_each_reason_with_its_suite() -> None:
    both = night(outcome("adder", 0), outcome("rogue", 1), outcome("slow", 0, "regressed"))
    lost = SuiteOutcome(name="trips", run_id=None, failures=["trips.json: no such file"])
    assert replace(both, suites=[*both.suites, lost]).gate_failures == [
        "sums: rogue@1.0.0 called forbidden tools",
        "sums: slow@1.0.0 regressed",
        "trips: run failed: trips.json: no such file",
    ]


def test_no_night_passes_its_gate_in_which_forbidden_calls_cannot_be_ruled_out() -> None:
    unsure = outcome("agent", 0)
    figures = unsure.report.summary.model_copy(update={"forbidden_unknown_items": 1})
    summary = night(replace(unsure, report=unsure.report.model_copy(update={"summary": figures})))
    assert not summary.gate_passed
    assert summary.line == "1 of 1 suite ran, 1 skill: 1 may have called forbidden tools"


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


def compared(rule: Rule, passed_before: int, passed_after: int, missing: int = 0) -> Against:
    """Thirty tasks, ten runs of each on both sides; so many passed of each, and so many of those after have no verdict."""
    before = {f"t{n}": Tally(passed=passed_before, failed=10 - passed_before) for n in range(30)}
    after = {f"t{n}": Tally(passed=passed_after, failed=10 - passed_after - missing, missing=missing) for n in range(30)}
    statistics = compare_tallies(before, after)
    return Against(rule=rule, name=rule, before=before, after=after, since="n", statistics=statistics)


def judged_against(*against: Against) -> SkillOutcome:
    return replace(outcome("adder", 0), against=against)


@each_row(
    ("skill", "reason"),
    [
        pytest.param(judged_against(compared("good nights", 9, 10)), None, id="better"),
        pytest.param(judged_against(compared("good nights", 9, 8)), "adder@1.0.0, against good nights: not proven", id="worse"),
        pytest.param(judged_against(compared("good nights", 9, 8), compared("baseline", 8, 10)), None, id="the-baseline-counts"),
        pytest.param(judged_against(compared("good nights", 9, 9, missing=1)), "not proven", id="missing-taken-as-failed"),
        pytest.param(judged_against(), "nothing to compare with", id="the-first-night"),
    ],
)
def test_a_loss_must_be_ruled_out_where_that_is_asked(skill: SkillOutcome, reason: str | None) -> None:
    found = night(skill).unproven(0.05)
    assert found == [] if reason is None else reason in found[0]


GONE = LastNight("old", "1.0.0", "20260101T000000Z-9999", "20260101T000000Z-0001")


def test_a_skill_that_is_gone_fails_the_gate_and_is_named_everywhere() -> None:
    (suite,) = night(outcome("adder", 0)).suites
    summary = NightSummary(night_id="n", store="s", suites=[replace(suite, gone=[GONE])])
    assert not summary.gate_passed
    assert summary.line == "1 of 1 suite ran, 1 skill: 1 gone"
    assert summary.to_json()["suites"][0]["gone"] == [{"skill": "old@1.0.0", "night": GONE.night_id, "run": GONE.run_id}]
    (event,) = events_of(summary)
    assert (event.name, event.resource["eval-skills.skill"], event.payload["verdict"]) == (NOT_JUDGED, "old@1.0.0", "gone")
    text = ranking_markdown([], [], None, {GONE.skill_key: gone_explanation(GONE)}, ["adder*changed"])
    assert text.endswith("\n- adder\\*changed\n")
    assert text.startswith("- ⚫ **old@1.0.0 is gone**: evaluated in night")
    assert "name old under retired" in text


def test_items_without_a_verdict_are_counted_where_nothing_is_news() -> None:
    found = outcome("adder", 0, "new")
    lost = [each.model_copy(update={"status": "error", "error_kind": "infra"}) for each in found.report.task_results[:2]]
    report = found.report.model_copy(update={"task_results": [*lost, *found.report.task_results[2:]]})
    summary = night(replace(found, report=report))
    assert summary.gate_passed
    assert summary.line == "1 of 1 suite ran, 1 skill: nothing to compare with yet; 2 items without a verdict"


def test_items_of_a_skill_that_could_not_be_reached_are_without_a_verdict() -> None:
    found = outcome("down", 0)
    lost = [each.model_copy(update={"status": "error", "error_kind": "infra"}) for each in found.report.task_results]
    down = replace(
        found,
        report=found.report.model_copy(update={"task_results": lost}),
        classification=Classification(verdict="failed", explanation="it could not be reached"),
    )
    assert night(down).without_verdict == len(lost) > 0


def test_what_could_not_be_judged_is_told() -> None:
    open_ = replace(outcome("adder", 0), classification=Classification(verdict="suspect", explanation="open", left_open=True))
    told = night(open_)
    assert told.line == "1 of 1 suite ran, 1 skill: 1 could not be judged"
    (event,) = events_of(told)
    assert (event.name, event.payload["skill"]) == (NOT_JUDGED, "adder@1.0.0")
    summary = open_.report.summary
    outage = summary.model_copy(update={"missing_items": summary.items, "judged_completion_rate": None})
    (event,) = events_of(night(replace(open_, report=open_.report.model_copy(update={"summary": outage}))))
    assert event.payload["completionRate"] is None
