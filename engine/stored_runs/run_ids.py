"""Which run of a store is meant: by its id, by the beginning of its id, or as the latest one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store, begins_run_id, check_run_id, is_run_id, started_at
from eval_skills.core.store.layout import is_to_come
from eval_skills.core.text import plural

LATEST = "latest"
NAMED = 3
"""So many of the runs that an id fits are named."""


def resolve_run_id(store: Store, given: str, purpose: str) -> str:
    """The run id `given`, the one that begins like it, or for ``latest`` that of the run that started last.

    `purpose` starts the message where there is no latest one.

    Raises:
        UsageError: there is no such run, several begin like that, or there is no latest one; recorded and monitored runs are
            never the latest and have to be named. Also where a clock that was wrong hides which one is the latest.
    """
    if given != LATEST:
        return named_run(store, given)
    if (run_id := store.latest_run()) is not None:
        return begun_by_now(store, run_id)
    if others := store.run_ids():
        those = f"{plural(len(others), 'run')} that called none; name one by its id (eval-skills history --all)"
        raise UsageError(f"{purpose}: {LATEST} is a run that called skills, and the store {store.path} holds only {those}")
    raise UsageError(f"{purpose}: the store {store.path} holds no run")


def begun_by_now(store: Store, run_id: str) -> str:
    """The run that is the latest by its id, unless that is in the future: then the last one may be any other.

    Raises:
        UsageError: it is, by more than clocks of several machines differ.
    """
    if not is_to_come(run_id):
        return run_id
    began = started_at(run_id)
    raise UsageError(
        f"{LATEST}: run {run_id} of the store {store.path} began at {began:%Y-%m-%d %H:%M} UTC, which is in the future, so a "
        "clock was or is wrong, and which run is the latest is not known; name it by its id (eval-skills history)"
    )


def named_run(store: Store, given: str) -> str:
    """The run of the store with this id, or the only one whose id begins like it.

    Raises:
        UsageError: it is not the beginning of a run id, no run begins like that, or several do.
    """
    run_ids = store.run_ids()
    if given not in run_ids and not is_run_id(given):
        return only_one(given, run_ids, f"the store {store.path}")
    if given not in run_ids:
        store.manifest(given)  # says that there is no such run
    return given


def only_one(given: str, ids: Iterable[str], place: str) -> str:
    """The only one of these ids of runs (or of nights) that begins like `given`; `place` says where they are.

    Raises:
        UsageError: it is not the beginning of a run id, none of them begins like that, or several do: the youngest are named.
    """
    if not begins_run_id(given):
        check_run_id(given)
    known = sorted(set(ids), reverse=True)
    fitting = [each for each in known if each.startswith(given)]
    if not fitting:
        there = f"the latest there is {known[0]}" if known else "there is none"
        raise UsageError(f"no run in {place} begins with {given}; {there}")
    if len(fitting) > 1:
        more = f" and {len(fitting) - NAMED:,} more" if len(fitting) > NAMED else ""
        raise UsageError(
            f"{given} fits {len(fitting):,} runs in {place}: {', '.join(fitting[:NAMED])}{more}; give more of the id"
        )
    return fitting[0]


def names_run(given: str, folder: Path = Path()) -> bool:
    """Whether a text that is a run or a file names a run: ``latest``, a run id, or the beginning of one that is not a file.

    A run id is never read as a file. Relative paths start at `folder`.
    """
    return given == LATEST or is_run_id(given) or (begins_run_id(given) and not (folder / given).exists())
