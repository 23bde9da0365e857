"""A page of the viewer: its frame, with what it shows as JSON for its script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval_skills.core import viewer_pages as names
from eval_skills.core.text import encodable
from eval_skills.reporting.escape import script_json
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.reporting.html.pages import TABLES, html_template, page_assets

PLACES = {
    "Runs": names.RUNS,
    "Skills": "skills.html",
    "Agent Skills": "agent-skills.html",
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
                ("elements", "printing", "theme", "sorting", "arrows", "keys", "csv", "data_table", "live", self.script),
                ("style", "viewer"),
                libraries=(TABLES,),
                is_live=navigation.is_live,
            ),
        )
        return encodable(page)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPage:
    """A page of answers: `data` is what its script shows, `trail` are links to where it belongs, by their titles."""

    title: str
    data: Mapping[str, Any]
    facts: Mapping[str, str]
    script: str
    trail: Mapping[str, str]
    about: str = ""
    tables: Sequence[Mapping[str, Any]] = ()
    remarks: Sequence[str] = ()

    def render(self, navigation: Navigation) -> str:
        """The whole page as text."""
        page = html_template("viewer/answers.html.jinja").render(
            title=self.title,
            about=self.about,
            facts=self.facts,
            trail=self.trail,
            tables=self.tables,
            remarks=self.remarks,
            nav=navigation,
            data=script_json({**self.data, "tables": self.tables, "live": navigation.is_live}),
            assets=page_assets(
                (*ANSWER_SCRIPTS, self.script), ("style", "viewer", "answers"), libraries=(TABLES,), is_live=navigation.is_live
            ),
        )
        return encodable(page)


ANSWER_SCRIPTS = (
    "elements", "printing", "theme", "sorting", "arrows", "keys", "failures", "calls", "turns", "differences", "task", "csv",
    "data_table", "labelling",
)  # fmt: skip
