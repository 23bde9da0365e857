"""The first page, made before anybody asks: what it reads of a large store takes longer than a browser to start."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval_skills.core.store import Store


def prepare(store: Store) -> threading.Thread:
    """Begin to make the page in a thread, which may also end before it is done; what was read is kept (`viewer.tables`)."""
    thread = threading.Thread(target=_make, args=(store,), name="eval-skills-view-first-page", daemon=True)
    thread.start()
    return thread


def _make(store: Store) -> None:
    from eval_skills.core.errors import EvalSkillsError
    from eval_skills.core.viewer_pages import RUNS
    from eval_skills.viewer.site import Site

    loading = threading.Thread(target=_load, name="eval-skills-view-load", daemon=True)
    loading.start()  # while files are read
    try:
        Site(store).page(RUNS)
    except EvalSkillsError:
        return  # the request for the page reports it


def _load() -> None:
    """What makes the page of a run, which is mostly asked for next."""
    import eval_skills.viewer.pages.run  # noqa: F401
