"""The store that a command only reads: one that is not there is a mistake, and no empty history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.cli.session import current

if TYPE_CHECKING:
    from eval_skills.core.store import Store


def existing_store(store: str | None) -> Store:
    """The store of the option, else of the configuration.

    Raises:
        UsageError: there is no such folder. What lies behind a URL is not asked here.
    """
    from eval_skills.core.errors import UsageError
    from eval_skills.core.store import Store

    found = Store(current().config({"store": store}).store)
    if found.tables.is_local and not found.layout.root.is_dir():
        raise UsageError(
            f"--store {found.path}: no such store (there is no folder {found.layout.root}); evaluate something first"
        )
    return found
