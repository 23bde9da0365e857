"""A skill over time: how its figures moved from run to run, where their level changed, and every run of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from eval_skills.core.trend.trend import Reported
from eval_skills.core.viewer_pages import NoSuchPageError, run_page
from eval_skills.core.viewer_pages import skill_page as name_of
from eval_skills.reporting.trend.page import Further, render
from eval_skills.reporting.trend.series import Annotation, shown
from eval_skills.reporting.trend.steps import Steps
from eval_skills.viewer.statements import sql_text
from eval_skills.viewer.tables import BEGAN, KNOWN_REPORTS

if TYPE_CHECKING:
    from eval_skills.core.trend.trend import Trend
    from eval_skills.viewer.site import Site

METRIC = "completionRate"
FURTHER = {"flakeRate": "Flaky tasks", "p95Ms": "P95 of latency"}
NEWEST = 60
"""Of so many runs of a benchmark it is looked up what changed: each costs a manifest."""


def skill_page(site: Site, key: str) -> str:
    """The page as text; of a skill that no run has finished yet, too, since the pages of runs lead to it.

    Raises:
        NoSuchPageError: no skill of the store has that key.
    """
    name = f"skill-{key}.html"
    reported = Reported.of(site.store, METRIC, *FURTHER)
    over_time = {row["skill_id"] for row in reported.rows}
    skill = next((skill_id for skill_id in chain(over_time, site.skills()) if name_of(skill_id) == name), None)
    if skill is None:
        raise NoSuchPageError(f"the store has no skill of the page {name}; skills.html lists them")
    found = _trend(site, reported, skill, METRIC)
    steps = {benchmark: Steps.of(site.store, skill, points, METRIC, newest=NEWEST) for benchmark, points in found.items()}
    return render(
        found,
        skill=skill,
        metric=METRIC,
        shown=shown(METRIC),
        annotations={name: [*each.annotations(), *each.silent_annotations()] for name, each in steps.items()},
        navigation=replace(site.navigation("Skills"), run_page=run_page, sql=_statements(site, skill, found)),
        further=[_further(site, reported, skill, metric, title) for metric, title in FURTHER.items()],
        digests=_digests(site, skill, found),
    )


def _trend(site: Site, reported: Reported, skill: str, metric: str) -> Trend:
    if not any(row["skill_id"] == skill for row in reported.about(metric)):
        return {}
    found = {benchmark: site.of_runs(points) for benchmark, points in reported.trend(skill, metric=metric).items()}
    return {benchmark: points for benchmark, points in found.items() if points}


def _further(site: Site, reported: Reported, skill: str, metric: str, title: str) -> Further:
    found = _trend(site, reported, skill, metric)
    notes: dict[str, list[Annotation]] = {
        name: Steps.of(site.store, skill, points, metric, newest=0).annotations() for name, points in found.items()
    }
    return Further(title=title, metric=metric, trend=found, annotations=notes)


def _digests(site: Site, skill: str, found: Trend) -> dict[tuple[str, str], str]:
    """The digests of the skill in the newest runs, by run and version, as far as their manifests have them."""
    points = [point for line in found.values() for point in line[-NEWEST:]]
    digests: dict[tuple[str, str], str] = {}
    for point in points:
        manifest = site.store.find_manifest(point.run_id)
        for each in manifest.skills if manifest else ():
            if each.key == f"{skill}@{point.skill_version}" and each.digest is not None:
                digests[point.run_id, point.skill_version] = each.digest
    return digests


def _statements(site: Site, skill: str, found: Trend) -> Mapping[str, str]:
    return {
        f"runs-{number}": f"""\
SELECT {BEGAN} AS began, run_id, skill_version, benchmark_version, completion_rate, ci_lower, ci_upper, flake_rate, p95_ms
FROM {KNOWN_REPORTS}
WHERE skill_id = {sql_text(skill)} AND benchmark_id = {sql_text(benchmark)} {site.condition("AND")}
    AND run_id IN ({", ".join(f"'{point.run_id}'" for point in points)})
ORDER BY run_id, skill_version"""  # noqa: S608 - the texts are quoted
        for number, (benchmark, points) in enumerate(found.items(), start=1)
    }
