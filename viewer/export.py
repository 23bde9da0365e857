"""The viewer's pages as files: what the server would answer, to be opened from disk or put behind any web server.

A page of the server holds its style and scripts; of the files of an export each is written once, and all pages name it.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.core.errors import UsageError
from eval_skills.core.store.files import write_whole
from eval_skills.viewer.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eval_skills.core.store import Store

MOST_RUNS = 100
"""Each two of them are compared, on a page of their own."""

_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_HASHES = re.compile(r"&#39;sha256-[\w+/=]+&#39;(?: &#39;sha256-[\w+/=]+&#39;)*")
_OWN_FILES = "&#39;self&#39; file:"
"""Instead of the hashes of what a page holds: files beside it. Of a page on disk, no browser knows that these are its own."""


def export_pages(
    store: Store, runs: Sequence[str], folder: Path, *, tell: Callable[[int, int], object] = lambda done, of: None
) -> list[str]:
    """Write the pages of these runs into a folder that is empty or not there yet; returns their names.

    `tell` is called after each page with how many are written, and how many there will be.

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
    written, files = site.names(), _SharedFiles(folder)
    for number, name in enumerate(written, start=1):
        page = site.page(name)
        write_whole(folder / name, (files.taken_out_of(page) if name.endswith(".html") else page).encode())
        tell(number, len(written))
    return [*written, *files.names]


class _SharedFiles:
    """The styles and scripts of pages, each written to a file of its own the first time a page has it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.names: list[str] = []

    def taken_out_of(self, page: str) -> str:
        """The page with links to these files where it had their texts, under a policy that allows them."""
        page = _STYLE.sub(lambda found: f'<link rel="stylesheet" href="{self._file(found[1], "css")}">', page)
        page = _SCRIPT.sub(lambda found: f'<script src="{self._file(found[1], "js")}"></script>', page)
        return _HASHES.sub(_OWN_FILES, page, count=2)

    def _file(self, text: str, kind: str) -> str:
        name = f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.{kind}"
        if name not in self.names:
            write_whole(self._folder / name, text.encode())
            self.names.append(name)
        return name
