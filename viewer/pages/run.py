"""A run: the page of its report, whose skills, tasks and answers lead on to their own pages."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from eval_skills.core.viewer_pages import task_page
from eval_skills.engine.stored_runs.continuation import continued_by
from eval_skills.engine.stored_runs.reports import ReportSource, read_source
from eval_skills.reporting.html.report import render
from eval_skills.viewer.page import TablesPage
from eval_skills.viewer.statements import run_statements, without_statements

if TYPE_CHECKING:
    from eval_skills.viewer.site import Site


def run_page(site: Site, run_id: str) -> str:
    """The page as text.

    Raises:
        NoSuchPageError: the store has no such run, or it is not in the export.
        UserError: it cannot be read.
    """
    site.check_run(run_id)
    is_unfinished = run_id in site.store.unfinished()
    if site.is_live and is_unfinished and not site.store.item_table(run_id).num_rows:
        about = "No item of this run has ended yet."
        page = TablesPage(title=f"Run {run_id}", tables=[], facts={"Store": site.title}, about=about, script="waiting_page")
        return page.render(site.navigation("Runs"))
    source = read_source(run_id, site.store.path)
    statements = run_statements(run_id)
    if is_unfinished:
        statements = without_statements(statements, but="provenance-table")
    navigation = replace(site.navigation("Runs"), task_page=partial(task_page, run_id), sql=statements)
    if site.is_live:  # it names a folder of this machine
        navigation = replace(navigation, continued_by=continued_by(site.store, run_id, is_unfinished=is_unfinished))
    context = replace(source.context, notes=(*source.context.notes, *_further_notes(source)))
    return render(source.reports, context, navigation=navigation)


def _further_notes(source: ReportSource) -> list[str]:
    """What a terminal says of the run, and its page does not say yet: that its items were deleted, or its benchmark changed."""
    said = [*source.context.notes, *(["is unfinished: "] if source.context.partial else [])]
    return [remark for remark in source.remarks if not any(words in remark for words in said)]
