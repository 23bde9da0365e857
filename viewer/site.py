"""The viewer's pages by their names: what the server answers with, and what an export writes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.reporting.html.navigation import Navigation
from eval_skills.viewer import names
from eval_skills.viewer.names import NoSuchPageError
from eval_skills.viewer.page import PLACES
from eval_skills.viewer.pages.comparison import comparison_page
from eval_skills.viewer.pages.item import item_page_of
from eval_skills.viewer.pages.lists import LISTS, list_page
from eval_skills.viewer.pages.run import run_page
from eval_skills.viewer.pages.runs import runs_page
from eval_skills.viewer.pages.skill import skill_page
from eval_skills.viewer.pages.task import task_page_of

if TYPE_CHECKING:
    from eval_skills.core.store import Store


@dataclass(frozen=True, slots=True)
class Site:
    """All pages of a store. `chosen` are the runs of an export, None for all; `is_live` says that a server is behind them."""

    store: Store
    is_live: bool = True
    chosen: tuple[str, ...] | None = None

    @property
    def title(self) -> str:
        """What the store is called on its pages: the name of its folder, never the way to it."""
        return Path(self.store.path.rstrip("/")).name or "store"

    def page(self, name: str) -> str:
        """The page of that name, as text.

        Raises:
            NoSuchPageError: there is no such page.
            UserError: the store cannot be read.
        """
        for pattern, make in PAGES.items():
            if match := re.fullmatch(pattern, name):
                return make(self, *match.groups())
        raise NoSuchPageError(f"there is no page {name!r}; {names.RUNS} lists the runs")

    def navigation(self, here: str) -> Navigation:
        """The bar of a page that belongs to `here`."""
        return Navigation(here, self.is_live, PLACES)

    def check_run(self, run_id: str) -> None:
        """Raise a `NoSuchPageError` unless the store has the run and it is shown here."""
        if self.chosen is not None and run_id not in self.chosen:
            raise NoSuchPageError(f"run {run_id} is not in this export; {names.RUNS} lists those that are")
        if run_id not in self.store.run_ids():
            raise NoSuchPageError(f"the store has no run {run_id}; {names.RUNS} lists those that it has")

    def condition(self) -> str:
        """The WHERE of a SELECT that keeps the chosen runs."""
        if self.chosen is None:
            return ""
        listed = ", ".join(f"'{run_id}'" for run_id in self.chosen)
        return f"WHERE run_id IN ({listed})"


PAGES: dict[str, Callable[..., str]] = {
    r"(?:index\.html)?": runs_page,
    rf"run-({names.RUN_ID})\.html": run_page,
    rf"compare-({names.RUN_ID})-({names.RUN_ID})\.html": comparison_page,
    rf"task-({names.RUN_ID})-({names.KEY})\.html": task_page_of,
    rf"item-({names.RUN_ID})-({names.KEY})\.html": item_page_of,
    rf"skill-({names.KEY})\.html": skill_page,
    **{PLACES[place].replace(".", r"\."): (lambda site, place=place: list_page(site, place)) for place in LISTS},
}
"""What makes a page, by what its name looks like; it is called with the site and the parts of the name."""
