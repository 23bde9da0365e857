"""The viewer's pages by their names: what the server answers with, and what an export writes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from eval_skills.core import viewer_pages as names
from eval_skills.core.models.task import TRIGGER_QUERIES
from eval_skills.core.text import excerpt
from eval_skills.core.viewer_pages import NoSuchPageError
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.viewer.items import items_of
from eval_skills.viewer.page import PLACES
from eval_skills.viewer.pages.lists import LISTS, list_page
from eval_skills.viewer.tables import has_rows

if TYPE_CHECKING:
    from eval_skills.core.store import Store
    from eval_skills.viewer.tables import Table


class _HasRun(Protocol):
    @property
    def run_id(self) -> str: ...


OfRun = TypeVar("OfRun", bound=_HasRun)


_SHOWN = re.compile(r"(\s+)\{(WHERE|AND) shown: ([\w, ]+)\}")

_OF_RUNS = ("Runs", "Skills", "Agent Skills", "Labels")
"""The places of every export. Samples of monitors are about no run."""
_OF_SOME_RUNS = ("Nights", "Calibrations", "Preferences")
"""Those of an export whose runs are in them."""


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
        """The page of that name, as text: whole, and of the files that are there, whatever is deleted while it is made.

        Raises:
            NoSuchPageError: there is no such page.
            UserError: the store cannot be read.
        """
        from eval_skills.core.store.parquet_reading import of_what_is_there

        for pattern, make in PAGES.items():
            if match := re.fullmatch(pattern, name):
                return of_what_is_there(partial(make, self, *match.groups()))
        raise NoSuchPageError(f"there is no page {excerpt(name, 80)}; {names.RUNS} lists the runs")

    def names(self) -> list[str]:
        """All pages of an export, the first page first."""
        runs = sorted(self.chosen if self.chosen is not None else self.store.run_ids())
        return [
            *self._places().values(),
            *map(names.run_page, runs),
            *map(names.labels_file, runs),
            *(page for run_id in runs for page in self._answers(run_id)),
            *self.experiments(),
            *(names.comparison_page(before, after) for before, after in combinations(runs, 2)),
            *map(names.skill_page, sorted(set(self.skills()))),
        ]

    def skills(self) -> Iterator[str]:
        """The ids of the skills of the shown runs, those of reports first; of unfinished runs and recorded answers, too."""
        runs = sorted(self.chosen if self.chosen is not None else self.store.run_ids())
        yield from (row["skill_id"] for row in self.store.tables.rows("reports", ["skill_id"], runs))
        for manifest in filter(None, map(self.store.find_manifest, runs)):
            yield from (skill.key.rpartition("@")[0] for skill in manifest.skills)

    def _answers(self, run_id: str) -> list[str]:
        """The pages of a run's tasks, and of each answer to them; none of a run whose items were deleted: its report remains."""
        from eval_skills.core.store.retention import pruned_words

        if pruned_words(self.store, run_id) is not None:
            return []
        found = items_of(self, run_id)
        tasks = [names.task_page(run_id, *each) for each in found.tasks_by_page.values()]
        return [*tasks, *(names.item_page(run_id, *each) for each in found.items_by_page.values())]

    def experiments(self) -> list[str]:
        """The pages of experiments with Agent Skills whose items are there. Runs of `triggers --optimize` that compare two
        descriptions have none: they have no figures of their own.
        """
        there = self.store.tables.files("items", self.chosen)
        rows = self.store.tables.rows("reports", ["run_id", "benchmark_id", "effect_arm"], list(there))
        effects = {row["run_id"] for row in rows if row["effect_arm"] is not None}
        triggers = Counter(row["run_id"] for row in rows if row["benchmark_id"] == TRIGGER_QUERIES)
        alone = (run_id for run_id, agents in triggers.items() if agents == 1)
        return [*map(names.effect_page, sorted(effects)), *map(names.triggers_page, sorted(alone))]

    def limited(self, sql: str) -> str:
        """The statement with the shown runs alone, where it has ``{WHERE shown: run_id}`` or ``{AND shown: run_a, run_b}``."""
        if self.chosen is None:
            return _SHOWN.sub("", sql)
        return _SHOWN.sub(lambda found: found[1] + self.condition(found[2], of=found[3].split(", ")), sql)

    def payload(self, table: Table) -> dict[str, Any]:
        """The table with its rows (`Table.payload`), of the shown runs alone where its statement has a place for that."""
        return replace(table, sql=self.limited(table.sql)).payload(self.store)

    def _places(self) -> dict[str, str]:
        """What of `PLACES` there is: an export has what is about its runs, and no list that has nothing about them."""
        if self.chosen is None:
            return PLACES
        found = {place for place in _OF_SOME_RUNS if has_rows(self.store, self.limited(LISTS[place].sql))}
        return {place: page for place, page in PLACES.items() if place in _OF_RUNS or place in found}

    def navigation(self, here: str) -> Navigation:
        """The bar of a page that belongs to `here`."""
        return Navigation(here, self.is_live, self._places())

    def of_runs(self, found: list[OfRun]) -> list[OfRun]:
        """What of these is about runs that are shown."""
        return [each for each in found if self.chosen is None or each.run_id in self.chosen]

    def check_run(self, run_id: str) -> None:
        """Raise a `NoSuchPageError` unless the store has the run and it is shown here."""
        if self.chosen is not None and run_id not in self.chosen:
            raise NoSuchPageError(f"run {run_id} is not in this export; {names.RUNS} lists those that are")
        if run_id not in self.store.run_ids():
            raise NoSuchPageError(f"the store has no run {run_id}; {names.RUNS} lists those that it has")

    def condition(self, word: str = "WHERE", of: Sequence[str] = ("run_id",)) -> str:
        """What keeps the chosen runs in a SELECT, to be added after this word; `of` are the columns that name runs."""
        if self.chosen is None:
            return ""
        listed = ", ".join(f"'{run_id}'" for run_id in self.chosen)
        return f"{word} {' AND '.join(f'{column} IN ({listed})' for column in of)}"


def _of(module: str, function: str) -> Callable[..., str]:
    """What makes a page, loaded when it is first asked for: the first page of a store does not wait for what makes the others."""

    def make(*parts: object) -> str:
        found: Callable[..., str] = getattr(import_module(f"eval_skills.viewer.pages.{module}"), function)
        return found(*parts)

    return make


PAGES: dict[str, Callable[..., str]] = {
    r"(?:index\.html)?": _of("runs", "runs_page"),
    rf"run-({names.RUN_ID})\.html": _of("run", "run_page"),
    rf"compare-({names.RUN_ID})-({names.RUN_ID})\.html": _of("comparison", "comparison_page"),
    rf"task-({names.RUN_ID})-({names.KEY})\.html": _of("task", "task_page_of"),
    rf"item-({names.RUN_ID})-({names.KEY})\.html": _of("item", "item_page_of"),
    rf"skill-({names.KEY})\.html": _of("skill", "skill_page"),
    rf"labels-({names.RUN_ID})\.csv": _of("labels", "labels_of_run"),
    r"labels\.html": _of("labels", "labels_page"),
    r"agent-skills\.html": _of("agent_skills", "agent_skills_page"),
    rf"effect-({names.RUN_ID})\.html": _of("agent_skills", "effect_page_of"),
    rf"triggers-({names.RUN_ID})\.html": _of("agent_skills", "triggers_page_of"),
    **{PLACES[place].replace(".", r"\."): (lambda site, place=place: list_page(site, place)) for place in LISTS},
}
"""What makes a page, by what its name looks like; it is called with the site and the parts of the name."""
