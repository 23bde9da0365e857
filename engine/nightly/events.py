"""The events of a night (a skill regressed, recovered, is flaky or called a forbidden tool; a suite failed) and its record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.store import Pruned, Store, land_rows, prune_items
from eval_skills.core.store.effects import points_of
from eval_skills.core.store.files import KEPT
from eval_skills.engine.nightly.history import LastNight, needed_runs
from eval_skills.engine.nightly.interruption import runs_to_resume
from eval_skills.engine.nightly.summary import NightSummary, SkillOutcome, SuiteOutcome, gone_explanation
from eval_skills.reporting.sections import forbidden_tool_alerts

EVENTS = {"regressed": "eval-skills.regression", "recovered": "eval-skills.recovered", "flaky": "eval-skills.flaky"}
RUN_FAILED = "eval-skills.run-failed"
SKILL_EFFECT = "eval-skills.skill-effect"
"""The gate of an Agent Skill's effect fails: it is worse than an arm, or may be, or is not proven to help where that is asked."""
FORBIDDEN_TOOL = "eval-skills.forbidden-tool"
NOT_JUDGED = "eval-skills.not-judged"
"""Items without a verdict (an outage, a failed judge) leave open whether a skill got worse, or it is gone from its suite."""


@dataclass(frozen=True, slots=True)
class NightEvent:
    """An event for Prefect; `resource` names the suite, or the skill in it, in the same way every night."""

    name: str
    resource: dict[str, str]
    payload: dict[str, Any]


def events_of(summary: NightSummary) -> list[NightEvent]:
    """The events of a night, suite by suite. A regression has one every night until it is gone; `isNew` marks the first."""
    return [event for suite in summary.suites for event in _events(summary, suite)]


def _events(summary: NightSummary, suite: SuiteOutcome) -> Iterator[NightEvent]:
    shared = {"night": summary.night_id, "suite": suite.name, "run": suite.run_id, "store": summary.store}
    if suite.failures:
        yield NightEvent(RUN_FAILED, _suite_resource(suite), {**shared, "failures": suite.failures})
    if suite.effect is not None and suite.effect.failures:
        compared = [point.to_json() for point in points_of(suite.effect.effect, summary.night_id)]
        told = {"skills": suite.effect.effect.names, "failures": suite.effect.failures, "comparisons": compared}
        yield NightEvent(SKILL_EFFECT, _suite_resource(suite), {**shared, **told})
    for skill in suite.skills:
        if (name := EVENTS.get(skill.classification.verdict)) is not None:
            yield NightEvent(name, _resource(suite, skill.report), {**shared, **_payload(summary, skill)})
        if skill.classification.left_open:
            yield NightEvent(NOT_JUDGED, _resource(suite, skill.report), {**shared, **_payload(summary, skill)})
        if alert := forbidden_tool_alerts([skill.report]):
            told = {"skill": skill.report.skill_key, "items": alert[0].items, "explanation": alert[0].line}
            yield NightEvent(FORBIDDEN_TOOL, _resource(suite, skill.report), {**shared, **told})
    for last in suite.gone:
        told = {"skill": last.skill_key, "verdict": "gone", "explanation": gone_explanation(last), "since": last.night_id}
        yield NightEvent(NOT_JUDGED, _resource(suite, last), {**shared, **told})


def _suite_resource(suite: SuiteOutcome) -> dict[str, str]:
    return {"prefect.resource.id": f"eval-skills.suite.{suite.name}", "prefect.resource.name": suite.name}


def _resource(suite: SuiteOutcome, skill: SkillCompletionReport | LastNight) -> dict[str, str]:
    return {
        "prefect.resource.id": f"eval-skills.skill.{suite.name}.{skill.skill_id}",
        "prefect.resource.name": f"{skill.skill_key} in {suite.name}",
        "eval-skills.suite": suite.name,
        "eval-skills.skill": skill.skill_key,
    }


def _payload(summary: NightSummary, skill: SkillOutcome) -> dict[str, Any]:
    since = skill.classification.lost.since if skill.classification.lost else summary.night_id
    return {
        "skill": skill.report.skill_key,
        "completionRate": skill.report.summary.known_completion,
        "explanation": skill.classification.explanation,
        "tasks": skill.classification.tasks,
        "rule": skill.classification.rule,
        "began": skill.classification.began,
        "changed": skill.classification.changed,
        "since": since,
        "isNew": since == summary.night_id,
        "confirmRun": skill.confirm_run_id,
    }


def record_night(store: Store, summary: NightSummary, kept: str = KEPT) -> str:
    """Write the night's rows, all at once, and return their file; later nights compare with it from then on.

    Raises:
        RunError: they cannot be written; it says what is `kept`, and how to go on.
    """
    rows = [row for suite in summary.suites for row in _rows(suite)]
    finished = {"night_id": summary.night_id, "finished_at": datetime.now(UTC)}
    return land_rows(store, "nights", summary.night_id, [row | finished for row in rows], kept=kept)


def prune_old_items(store: Store, keep_days: int, pinned: set[str]) -> Pruned:
    """Delete the items of runs older than this many days, except those that are `pinned`, that later nights need, or that an
    interrupted night goes on with.
    """
    before = datetime.now(UTC) - timedelta(days=keep_days)
    return prune_items(store, before=before, keep=pinned | needed_runs(store) | runs_to_resume(store))


def _rows(suite: SuiteOutcome) -> list[dict[str, Any]]:
    """A row for each skill, and one without a skill where no other shows that something could not run."""
    shared = {
        "suite": suite.name,
        "run_id": suite.run_id,
        "benchmark_id": suite.benchmark_id,
        "baseline": suite.baseline,
    }
    rows = [shared | _row(skill) for skill in suite.skills] + [shared | _gone_row(last) for last in suite.gone]
    if not all(row["good"] for row in rows) or (rows and not suite.failures):
        return rows
    return [*rows, shared | {"good": False, "verdict": "failed", "explanation": "; ".join(suite.failures)}]


def _gone_row(last: LastNight) -> dict[str, Any]:
    """Later nights miss the skill by this row, too, until it is back or retired."""
    return {
        "run_id": None,
        "skill_id": last.skill_id,
        "skill_version": last.skill_version,
        "verdict": "gone",
        "good": False,
        "explanation": gone_explanation(last),
    }


def _row(skill: SkillOutcome) -> dict[str, Any]:
    report, classification, lost = skill.report, skill.classification, skill.classification.lost
    last = next((each.statistics for each in skill.against if each.rule == "good nights"), None)
    return {
        "skill_id": report.skill_id,
        "skill_version": report.skill_version,
        "verdict": classification.verdict,
        "good": skill.good,
        "last_good_run_id": skill.last_good,
        "completion_rate": report.summary.known_completion,
        "mean_difference": last.mean_difference if last else None,
        "adjusted_p": last.adjusted_p if last else None,
        "moved_tasks": lost.tasks if lost else classification.tasks,
        "expected_rate": lost.expected_rate if lost else None,
        "observed_rate": lost.observed_rate if lost else None,
        "since_night_id": lost.since if lost else None,
        "confirm_run_id": skill.confirm_run_id,
        "explanation": classification.explanation,
        "rule": classification.rule,
        "began_night_id": classification.began,
        "changed": classification.changed,
        "judge": skill.judge,
    }
