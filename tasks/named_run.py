"""The run that somebody names, by its id or as the latest one."""

from __future__ import annotations

from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store
from eval_skills.reporting.figures import plural

LATEST = "latest"


def named_run(store: Store, given: str, purpose: str) -> str:
    """The id that `given` is, or that of the run which began last; `purpose` begins the message: ``nothing to compare``.

    Raises:
        UsageError: there is no latest one; recorded and monitored runs are never it, and have to be named.
    """
    run_id = store.latest_run() if given == LATEST else given
    if run_id is not None:
        return run_id
    if others := store.run_ids():
        those = f"{plural(len(others), 'run')} of recorded answers or later work, which an id names (eval-skills history --all)"
        raise UsageError(f"{purpose}: {LATEST} is a run that called skills, and the store {store.path} holds {those}")
    raise UsageError(f"{purpose}: the store {store.path} holds no run")
