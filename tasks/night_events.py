"""What a night tells the world: an event per skill that regressed, recovered, is flaky or called a forbidden tool, and per suite
that failed. Plain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eval_skills.reporting.alarms import alarms
from eval_skills.tasks.night_summary import NightSummary, SkillOutcome, SuiteOutcome

EVENTS = {"regressed": "eval-skills.regression", "recovered": "eval-skills.recovered", "flaky": "eval-skills.flaky"}
RUN_FAILED = "eval-skills.run-failed"
FORBIDDEN_TOOL = "eval-skills.forbidden-tool"


@dataclass(frozen=True, slots=True)
class NightEvent:
    """An event as Prefect takes it; `resource` names the suite, or the skill in it, the same every night."""

    name: str
    resource: dict[str, str]
    payload: dict[str, Any]


def events_of(summary: NightSummary) -> list[NightEvent]:
    """The events of a night, suite by suite. A regression is told every night until it is gone; `isNew` marks its first."""
    return [event for suite in summary.suites for event in _events(summary, suite)]


def _events(summary: NightSummary, suite: SuiteOutcome) -> Iterator[NightEvent]:
    shared = {"night": summary.night_id, "suite": suite.name, "run": suite.run_id, "store": summary.store}
    if suite.failures:
        resource = {"prefect.resource.id": f"eval-skills.suite.{suite.name}", "prefect.resource.name": suite.name}
        yield NightEvent(RUN_FAILED, resource, {**shared, "failures": suite.failures})
    for skill in suite.skills:
        if (name := EVENTS.get(skill.ruling.verdict)) is not None:
            yield NightEvent(name, _resource(suite, skill), {**shared, **_payload(summary, skill)})
        if alarm := alarms([skill.report]):
            told = {"skill": skill.report.skill_key, "items": alarm[0].items, "explanation": alarm[0].line}
            yield NightEvent(FORBIDDEN_TOOL, _resource(suite, skill), {**shared, **told})


def _resource(suite: SuiteOutcome, skill: SkillOutcome) -> dict[str, str]:
    return {
        "prefect.resource.id": f"eval-skills.skill.{suite.name}.{skill.report.skill_id}",
        "prefect.resource.name": f"{skill.report.skill_key} in {suite.name}",
        "eval-skills.suite": suite.name,
        "eval-skills.skill": skill.report.skill_key,
    }


def _payload(summary: NightSummary, skill: SkillOutcome) -> dict[str, Any]:
    since = skill.ruling.lost.since if skill.ruling.lost else summary.night_id
    return {
        "skill": skill.report.skill_key,
        "completionRate": skill.report.summary.completion_rate,
        "explanation": skill.ruling.explanation,
        "tasks": skill.ruling.tasks,
        "since": since,
        "isNew": since == summary.night_id,
        "confirmRun": skill.confirm_run_id,
    }
