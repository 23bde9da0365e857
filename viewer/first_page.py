"""The first page, made before anybody asks: what it reads of a large store takes longer than a browser to start."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval_skills.core.store import Store


@contextmanager
def prepared(store: Store) -> Iterator[threading.Thread]:
    """Make the page in a thread while what is inside goes on; what was read is kept (`viewer.tables`).

    What ends inside, as where the port is taken, waits for the thread: a process that ended while it reads would be aborted.
    """
    thread = threading.Thread(target=_make, args=(store,), name="eval-skills-view-first-page", daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        thread.join()


def _make(store: Store) -> None:
    from eval_skills.core.errors import EvalSkillsError
    from eval_skills.core.viewer_pages import RUNS
    from eval_skills.viewer.site import Site

    loading = threading.Thread(target=_load, name="eval-skills-view-load", daemon=True)
    loading.start()  # while files are read
    with suppress(EvalSkillsError):  # the request for the page reports it
        Site(store).page(RUNS)
    loading.join()


def _load() -> None:
    """What makes the page of a run, which is mostly asked for next."""
    import eval_skills.viewer.pages.run  # noqa: F401
