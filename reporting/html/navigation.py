"""The bar at the top of a page that belongs to the viewer; a report that stands alone has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Navigation:
    """Where the page belongs, and what else there is: `places` by their titles, of which `here` is one.

    `is_live` says that a server is behind the page, which may be asked again. `task_page` names the page of a task by its
    benchmark and its id, on the page of a run; `run_page` that of a run, on the page of a skill. `sql` holds the statements that
    give the figures of the page's tables, by the names of the tables: each can then be saved as CSV.
    `continued_by` is the command that finishes a run which did not end, on its page.
    """

    here: str
    is_live: bool
    places: Mapping[str, str]
    task_page: Callable[[str, str], str] | None = None
    run_page: Callable[[str], str] | None = None
    sql: Mapping[str, str] = field(default_factory=dict)
    continued_by: str | None = None
