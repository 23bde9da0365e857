"""The Prefect tasks of a night besides its evaluations."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from prefect import task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.events import emit_event
from prefect.runtime import flow_run

from eval_skills.core.nightly.evidence import BAD, FreshRuns
from eval_skills.core.redaction import Redaction, values_of_variables
from eval_skills.core.store.effects import points_of
from eval_skills.core.viewer_pages import run_page
from eval_skills.engine.nightly.events import NightEvent, events_of, prune_old_items
from eval_skills.engine.nightly.evidence import SuiteEvidence, SuiteRun, gather
from eval_skills.engine.nightly.execution import concluded, record
from eval_skills.engine.nightly.history import SuiteHistory
from eval_skills.engine.nightly.plan import NightPlan, plan_night
from eval_skills.engine.nightly.request import NightlyRequest
from eval_skills.engine.nightly.summary import NightEffect, NightSummary, SuiteOutcome, gone_explanation
from eval_skills.reporting.diff.report import render_markdown
from eval_skills.reporting.escape import markdown
from eval_skills.reporting.nightly import ClassifiedSkill, ranking_markdown, trend_markdown
from eval_skills.reporting.skill_effect.document import render_markdown as render_effect
from eval_skills.reporting.skill_effect.nights import nights_markdown
from eval_skills.tasks.evaluation import MAX_ARTIFACT_CHARACTERS, artifact_key, in_viewer
from eval_skills.tasks.pauses import began_after, flow_run_here
from eval_skills.tasks.run_log import FlowRunLog


@task(persist_result=False, cache_policy=NO_CACHE)
def open_night(request: NightlyRequest) -> NightPlan:
    """Plan the night, or the rest of the one that this flow run has begun: its suites, each with its history in the store."""
    own = flow_run_here()
    return plan_night(request) if own is None else plan_night(request, str(own.id), began_after(own))


@task(persist_result=False, cache_policy=NO_CACHE)
def compare_suites(night: NightPlan, runs: Sequence[SuiteRun]) -> list[SuiteEvidence]:
    """Compare every skill with its good nights and its baseline; the tests are corrected together."""
    return gather(night.store, night.night_id, runs, night.histories, night.baseline)


@task(persist_result=False, cache_policy=NO_CACHE)
def conclude(
    night: NightPlan,
    evidence: Sequence[SuiteEvidence],
    fresh: Mapping[int, FreshRuns],
    recorded: tuple[tuple[str, ...], int],
) -> NightSummary:
    """Classify every skill."""
    return replace(concluded(night, evidence, fresh), flow_runs=recorded[0], task_runs=recorded[1])


@task(persist_result=False, cache_policy=NO_CACHE)
def publish_suite(suite: SuiteOutcome, history: SuiteHistory, night_id: str) -> None:
    """Publish the suite's ranking, comparisons and trend as artifacts, under keys that stay the same every night."""
    skills = [ClassifiedSkill(skill.report, skill.classification) for skill in suite.skills]
    gone = {last.skill_key: gone_explanation(last) for last in suite.gone}
    link = flow_run.ui_url
    viewer = in_viewer(run_page(suite.run_id)) if suite.run_id is not None else ""
    texts = {"ranking": ranking_markdown(skills, suite.failures, link, gone, suite.remarks)}
    if suite.run_id is not None:
        parts = [render_markdown(document) for document in suite.diffs]
        texts["diff"] = "\n\n".join(parts) or "Nothing to compare with yet.\n"
        texts["trend"] = trend_markdown(suite.points_up_to(night_id, history))
    if suite.effect is not None:
        effect, tonight = suite.effect.effect, points_of(suite.effect.effect, night_id)
        parts = [gate_markdown(suite.effect), render_effect(effect), nights_markdown(suite.effect.past, tonight)]
        texts["effect"] = "\n".join([*parts, *([f"[The flow run with all its steps]({link})"] if link else [])])
    for name, text in texts.items():
        cut = "\n\n… the whole is in the store." if len(text) > MAX_ARTIFACT_CHARACTERS else ""
        create_markdown_artifact(
            key=artifact_key(name, suite.name),
            markdown=text[:MAX_ARTIFACT_CHARACTERS] + cut,
            description=f"Suite **{suite.name}**, night `{night_id}`, run `{suite.run_id or 'none'}`{viewer}",
        )


@task(persist_result=False, cache_policy=NO_CACHE)
def announce(summary: NightSummary) -> list[NightEvent]:
    """Emit the events of the night; automations send notifications for them."""
    events = events_of(summary)
    for event in events:
        emit_event(event=event.name, resource=event.resource, payload=event.payload)
    return events


@task(persist_result=False, cache_policy=NO_CACHE)
def record_night(night: NightPlan, summary: NightSummary) -> None:
    """Record the night in the store; later nights compare with it."""
    record(night, summary)


@task(persist_result=False, cache_policy=NO_CACHE)
def prune(night: NightPlan, summary: NightSummary, keep_days: int) -> NightSummary:
    """Delete old items; the returned summary names their runs."""
    return replace(summary, pruned=prune_old_items(night.store, keep_days, night.pinned()))


def log_night(summary: NightSummary, secrets: Sequence[str]) -> None:
    """Say in the log of the flow run what became of every suite and skill; without the values of these variables."""
    log = FlowRunLog(Redaction(values_of_variables(secrets)))
    skills = [(suite.name, skill.report.skill_key, skill.classification) for suite in summary.suites for skill in suite.skills]
    bad = [each for each in skills if each[2].verdict in (*BAD, "failed")]
    for verdicts, level in ((bad, logging.WARNING), ([each for each in skills if each not in bad], logging.INFO)):
        lines = [f"{suite}: {skill}: {found.verdict}: {found.explanation}" for suite, skill, found in verdicts]
        log.say_all(lines, "skill", level)
    log.say_all([f"{suite.name}: {each}" for suite in summary.failed for each in suite.failures], "failure", logging.ERROR)
    remarks = [f"{suite.name}: {each}" for suite in summary.suites for each in suite.remarks]
    log.say_all(remarks, "remark", logging.WARNING)
    effects = [f"{name}: gate failed: {each}" for name, reasons in summary.effect_failures.items() for each in reasons]
    log.say_all(effects, "effect", logging.ERROR)


def gate_markdown(effect: NightEffect) -> str:
    """Why the gate of the effect fails, a line each; nothing where it passes."""
    return "".join(f"- ✘ **gate failed**: {markdown(reason)}\n" for reason in effect.failures)
