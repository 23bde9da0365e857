"""Two runs side by side: the page of their comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from eval_skills.engine.report_diff import compared
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.reporting.diff.figures import worst_first
from eval_skills.reporting.diff.report import render_html
from eval_skills.viewer.statements import comparison_statements, without_statements

if TYPE_CHECKING:
    from eval_skills.viewer.site import Site


def comparison_page(site: Site, before: str, after: str) -> str:
    """The page as text, with the verdicts of ``report diff``.

    Raises:
        NoSuchPageError: the store does not have both runs, or they are not in the export.
        UserError: they cannot be compared.
    """
    for run_id in (before, after):
        site.check_run(run_id)
    document = compared(*(read_source(run_id, site.store.path) for run_id in (before, after)))
    sql = comparison_statements(before, after, worst_first(document.diff.skills))
    if not {before, after}.isdisjoint(site.store.unfinished()):
        sql = without_statements(sql)
    return render_html(document, navigation=replace(site.navigation("Runs"), sql=sql))
