"""Tasks that are chosen by how they ended in an earlier run: ``failed:RUN``, ``errors:RUN``, ``flaky:RUN``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from eval_skills.core.config.options import TaskChoice
from eval_skills.core.errors import UsageError
from eval_skills.core.models.result import ERROR_STATUSES
from eval_skills.core.store import Store
from eval_skills.core.text import plural, skill_key_of
from eval_skills.engine.stored_runs.run_ids import resolve_run_id

Request = TypeVar("Request", bound=TaskChoice)

_HOW: Mapping[str, tuple[Callable[[set[str]], bool], str]] = {
    "failed": (lambda ends: "fail" in ends, "failed"),
    "errors": (lambda ends: bool(ends & ERROR_STATUSES), "had an error or a timeout"),
    "flaky": (lambda ends: "pass" in ends and len(ends) > 1, "passed in one run and not in another"),
}
"""By the word before the colon: whether a task is meant, by how its runs by one skill ended, and that in words."""


def with_chosen_tasks(request: Request, store: Store) -> Request:
    """The request with the ids of the tasks that `tasks_from` means, and with the whole id of every run that it names.

    A task is meant where any skill of the run was like that on it; of several choices any is enough. With `task_ids` of its own
    only those remain that both mean.

    Raises:
        UsageError: there is no such run, or no task is left; the message says what there is.
    """
    if not request.tasks_from:
        return request
    chosen, named = dict[str, None](), list[str]()
    for each in request.tasks_from:
        how, _, given = each.partition(":")
        run_id = resolve_run_id(store, given, f"--tasks-from {each}")
        chosen |= dict.fromkeys(_tasks(store, run_id, how))
        named.append(f"{how}:{run_id}")
    ids = [task for task in chosen if not request.task_ids or task in request.task_ids]
    if not ids:
        raise UsageError(f"--tasks-from {' '.join(named)} and --task have no task in common; leave one of them out")
    return request.model_copy(update={"task_ids": ids, "tasks_from": named})


def _tasks(store: Store, run_id: str, how: str) -> list[str]:
    ends: dict[tuple[str, str], set[str]] = {}
    for row in store.item_table(run_id).select(["skill_id", "skill_version", "task_id", "status"]).to_pylist():
        ends.setdefault((skill_key_of(row), row["task_id"]), set()).add(row["status"])
    if not ends:
        raise UsageError(
            f"--tasks-from {how}:{run_id}: how its tasks ended is not known: the store has no items of that run (any more); "
            "name another"
        )
    found = {name: list(dict.fromkeys(task for (_, task), of in ends.items() if is_it(of))) for name, (is_it, _) in _HOW.items()}
    if not found[how]:
        counts = ", ".join(f"{name} {len(tasks):,}" for name, tasks in found.items())
        every = plural(len({task for _, task in ends}), "task")
        raise UsageError(f"--tasks-from {how}:{run_id}: no task of that run {_HOW[how][1]}; of its {every}: {counts}")
    return found[how]
