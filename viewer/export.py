"""The viewer's pages as files: what the server would answer, to be opened from disk or put behind any web server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.core.errors import UsageError
from eval_skills.core.store.files import write_whole
from eval_skills.viewer.site import Site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval_skills.core.store import Store

MOST_RUNS = 100
"""Each two of them are compared, on a page of their own."""


def export_pages(store: Store, runs: Sequence[str], folder: Path) -> list[str]:
    """Write the pages of these runs into a folder that is empty or not there yet; returns their names.

    Raises:
        UsageError: a run is not there, there are too many, or something is in the folder already.
        UserError: a run cannot be read.
    """
    if len(runs) > MOST_RUNS:
        raise UsageError(f"an export shows at most {MOST_RUNS} runs, each two of them compared; got {len(runs)}")
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder; name one that is empty, or not there yet")
    site = Site(store, is_live=False, chosen=tuple(runs))
    for run_id in runs:
        site.check_run(run_id)
    folder.mkdir(parents=True, exist_ok=True)
    written = site.names()
    for name in written:
        write_whole(folder / name, site.page(name).encode())
    return written
