"""What people said of answers, beside what the runs say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core.store.labels import current_labels, labels_csv
from eval_skills.core.viewer_pages import labels_file, run_page, skill_page, task_page
from eval_skills.viewer.page import TablesPage
from eval_skills.viewer.tables import Column, Table

if TYPE_CHECKING:
    from eval_skills.viewer.site import Site

SQL = """
    SELECT labelled_at, labelled_by, label, comment, status, score, run_id, skill_id, skill_version, benchmark_id, task_id,
        run_index + 1 AS run, concat('labels-', run_id, '.csv') AS file, (status = 'pass') = (label = 'pass') AS agrees
    FROM labels
    {WHERE shown: run_id}
    QUALIFY row_number() OVER (
        PARTITION BY run_id, skill_id, skill_version, benchmark_id, task_id, run_index ORDER BY labelled_at DESC
    ) = 1 AND (label IS NOT NULL OR comment IS NOT NULL)
    ORDER BY labelled_at DESC
"""

COLUMNS = (
    Column(title="Labelled (UTC)", of=("labelled_at",), kind="moment"),
    Column(title="By", of=("labelled_by",), is_facet=True),
    Column(title="Label", of=("label",), kind="verdict", is_facet=True),
    Column(title="The run says", of=("status",), kind="verdict", is_facet=True),
    Column(title="Agree", of=("agrees",), kind="sign", is_facet=True),
    Column(title="Score", of=("score",), kind="score", is_wide=True),
    Column(title="Comment", of=("comment",)),
    Column(title="Task", of=("task_id",), link=lambda row: task_page(row["run_id"], row["benchmark_id"], row["task_id"])),
    Column(title="Skill", of=("skill_id",), link=lambda row: skill_page(row["skill_id"]), is_facet=True),
    Column(title="Run of it", of=("run",), kind="count", is_wide=True),
    Column(title="Run", of=("run_id",), link=lambda row: run_page(row["run_id"]), is_facet=True),
    Column(title="For judge calibrate", of=("file",), link=lambda row: labels_file(row["run_id"]), is_wide=True),
)


def labels_page(site: Site) -> str:
    """The page as text."""
    table = Table(
        name="labels",
        title="Labels",
        sql=site.limited(SQL),
        columns=COLUMNS,
        note="The last label of each answer. The file of a run is what eval-skills judge calibrate --labels reads: how far the "
        "model that judged it agrees with you.",
    )
    payload = table.payload(site.store)
    facts = {"Store": site.title, "Labels": f"{len(payload['rows']):,}"}
    return TablesPage(title="Labels", tables=[payload], facts=facts).render(site.navigation("Labels"))


def labels_of_run(site: Site, run_id: str) -> str:
    """The labels of a run, as the CSV that ``judge calibrate`` reads.

    Raises:
        NoSuchPageError: the store has no such run, or it is not in the export.
    """
    site.check_run(run_id)
    return labels_csv(current_labels(site.store, run_id))
