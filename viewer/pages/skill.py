"""A skill over time: how its figures moved from run to run, and every run of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core.trend.trend import trend
from eval_skills.reporting.trend.page import render
from eval_skills.reporting.trend.series import shown
from eval_skills.viewer.names import NoSuchPageError
from eval_skills.viewer.names import skill_page as name_of

if TYPE_CHECKING:
    from eval_skills.viewer.site import Site

METRIC = "completionRate"


def skill_page(site: Site, key: str) -> str:
    """The page as text.

    Raises:
        NoSuchPageError: no skill of the store has that key.
    """
    name = f"skill-{key}.html"
    ids = {row["skill_id"] for row in site.store.tables.rows("reports", ["skill_id"])}
    skill = next((skill_id for skill_id in ids if name_of(skill_id) == name), None)
    if skill is None:
        raise NoSuchPageError(f"the store has no skill of the page {name}; skills.html lists them")
    found = {benchmark: site.of_runs(points) for benchmark, points in trend(site.store, skill, metric=METRIC).items()}
    found = {benchmark: points for benchmark, points in found.items() if points}
    return render(found, skill=skill, metric=METRIC, shown=shown(METRIC), navigation=site.navigation("Skills"))
