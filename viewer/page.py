"""A page of the viewer: its frame, with what it shows as JSON for its script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval_skills.reporting.escape import encodable, script_json
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.reporting.html.report import TABLES, html_template, page_assets
from eval_skills.viewer import names

PLACES = {
    "Runs": names.RUNS,
    "Skills": "skills.html",
    "Nights": "nights.html",
    "Monitors": "monitors.html",
    "Calibrations": "calibrations.html",
    "Preferences": "preferences.html",
    "Labels": "labels.html",
}
"""What the bar at the top of every page leads to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesPage:
    """A page of tables: `tables` are payloads of `viewer.tables.Table`, `facts` stand below the title."""

    title: str
    tables: Sequence[Mapping[str, Any]]
    facts: Mapping[str, str]
    about: str = ""
    script: str = "tables_page"

    def render(self, navigation: Navigation) -> str:
        """The whole page as text."""
        page = html_template("viewer/tables.html.jinja").render(
            title=self.title,
            about=self.about,
            facts=self.facts,
            tables=self.tables,
            nav=navigation,
            data=script_json({"tables": self.tables, "live": navigation.is_live}),
            assets=page_assets(
                ("elements", "theme", "sorting", "arrows", "keys", "data_table", "live", self.script),
                ("style", "viewer"),
                libraries=(TABLES,),
                is_live=navigation.is_live,
            ),
        )
        return encodable(page)
