"""Experiments with Agent Skills: what each changed, and the pages of their reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from eval_skills.core.errors import UsageError
from eval_skills.core.models.task import TRIGGER_QUERIES
from eval_skills.core.viewer_pages import NoSuchPageError, effect_page, run_page, triggers_page
from eval_skills.engine.skill_effect.experiment import stored_effect
from eval_skills.engine.stored_runs.reports import NoItemsError
from eval_skills.engine.triggers.experiment import stored_triggers
from eval_skills.reporting.skill_effect import document as effect_document
from eval_skills.reporting.triggers import document as triggers_document
from eval_skills.viewer.page import TablesPage
from eval_skills.viewer.statements import effect_statements, triggers_statements
from eval_skills.viewer.tables import BEGAN, Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from eval_skills.viewer.site import Site

Experiment = TypeVar("Experiment")

HERE = "Agent Skills"

EFFECTS = Table(
    name="effects",
    title="What Agent Skills changed",
    sql=f"""
        SELECT run_id, {BEGAN} AS began, effect_of, effect_arm, effect, effect_lower, effect_upper, effect_verdict
        FROM reports WHERE effect_arm IS NOT NULL AND effect_arm <> 'with' {{AND shown: run_id}}
        ORDER BY run_id DESC, effect_arm
    """,  # noqa: S608 - a constant
    columns=(
        Column(title="Agent Skill", of=("effect_of",), link=lambda row: effect_page(row["run_id"]), is_facet=True),
        Column(title="Asked (UTC)", of=("began",), kind="moment"),
        Column(title="With minus", of=("effect_arm",), is_facet=True),
        Column(title="Difference", of=("effect",), kind="points"),
        Column(title="From", of=("effect_lower",), kind="points"),
        Column(title="To", of=("effect_upper",), kind="points"),
        Column(title="Verdict", of=("effect_verdict",), kind="verdict", is_facet=True),
        Column(title="Run", of=("run_id",), link=lambda row: run_page(row["run_id"])),
    ),
    note="The difference of completion between the agent with the Agent Skill and another arm, with its 95 % interval.",
)

TRIGGERS = Table(
    name="triggers",
    title="Whether they were loaded when they should",
    sql=f"""
        SELECT run_id, {BEGAN} AS began, skill_id, passed_items / nullif(passed_items + failed_items, 0) AS as_it_should,
            error_items + timeout_items AS broke_off, if(broke_off = 0, ci_lower, NULL) AS ci_lower,
            if(broke_off = 0, ci_upper, NULL) AS ci_upper, tasks, items
        FROM reports WHERE benchmark_id = '{TRIGGER_QUERIES}' {{AND shown: run_id}} ORDER BY run_id DESC
    """,  # noqa: S608 - constants
    columns=(
        Column(title="Agent", of=("skill_id",), link=lambda row: triggers_page(row["run_id"]), is_facet=True),
        Column(title="Asked (UTC)", of=("began",), kind="moment"),
        Column(title="As it should", of=("as_it_should", "ci_lower", "ci_upper"), kind="interval"),
        Column(title="Broke off", of=("broke_off",), kind="count", usual=0),
        Column(title="Queries", of=("tasks",), kind="count"),
        Column(title="Items", of=("items",), kind="count"),
        Column(title="Run", of=("run_id",), link=lambda row: run_page(row["run_id"])),
    ),
    note="As it should: of the runs that did not break off. Recall, precision and false alarms stand on the page of each.",
)


def agent_skills_page(site: Site) -> str:
    """The list of all experiments as text."""
    payloads = [site.payload(table) for table in (EFFECTS, TRIGGERS)]
    pages = set(site.experiments())
    for row in (row for payload in payloads for row in payload["links"]):
        row[0] = row[0] if row[0] in pages else None
    facts = {"Store": site.title, "Experiments": f"{sum(len(each['rows']) for each in payloads):,}"}
    return TablesPage(title=HERE, tables=payloads, facts=facts).render(site.navigation(HERE))


def effect_page_of(site: Site, run_id: str) -> str:
    """The report of ``skill-effect`` as text; raises what `_found` does."""
    effect = _found(site, run_id, stored_effect)
    return effect_document.render_html(effect, navigation=replace(site.navigation(HERE), sql=effect_statements(run_id)))


def triggers_page_of(site: Site, run_id: str) -> str:
    """The report of ``triggers`` as text; raises what `_found` does."""
    found = _found(site, run_id, stored_triggers)
    return triggers_document.render_html(found, navigation=replace(site.navigation(HERE), sql=triggers_statements(run_id)))


def _found(site: Site, run_id: str, stored: Callable[[str, str], tuple[Experiment, object]]) -> Experiment:
    """What an experiment found, as `stored` reads it from the store.

    Raises:
        NoSuchPageError: the run is not an experiment of this kind, has no items, or is not shown here.
        UserError: it cannot be read.
    """
    site.check_run(run_id)
    try:
        found, _ = stored(site.store.path, run_id)
    except (UsageError, NoItemsError) as error:
        raise NoSuchPageError(str(error)) from None
    return found
