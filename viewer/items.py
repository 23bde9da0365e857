"""The items that the pages of tasks and of single answers show."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from eval_skills.core.viewer_pages import NoSuchPageError

if TYPE_CHECKING:
    from eval_skills.core.store import Store
    from eval_skills.engine.stored_runs.items import RunItems
    from eval_skills.viewer.site import Site


def items_of(site: Site, run_id: str) -> RunItems:
    """The items of a run: read anew for a server, kept from page to page while an export is written.

    Raises:
        NoSuchPageError: the store has no such run or none of its items, or it is not in the export.
        UserError: it cannot be read.
    """
    from eval_skills.engine.stored_runs.items import run_items
    from eval_skills.engine.stored_runs.reports import NoItemsError

    site.check_run(run_id)
    try:
        return run_items(site.store, run_id) if site.is_live else _kept(site.store, run_id)
    except NoItemsError as error:
        raise NoSuchPageError(str(error)) from None


@lru_cache(maxsize=2)
def _kept(store: Store, run_id: str) -> RunItems:
    from eval_skills.engine.stored_runs.items import run_items

    return run_items(store, run_id)
