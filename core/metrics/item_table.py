"""Item rows as validated, coded and ordered arrays: what every figure is computed from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from eval_skills.core.errors import InputError
from eval_skills.core.models.result import STATUSES
from eval_skills.core.statistics.rates import FloatArray, IntArray
from eval_skills.core.text import nearest, skill_key

if TYPE_CHECKING:
    import pandas as pd

REQUIRED = ("skill_id", "skill_version", "task_id", "run_index", "status", "score", "latency_ms")
PASS, FAIL, ERROR, TIMEOUT = range(len(STATUSES))
_SLOTS_PER_ITEM = 8


Columns: TypeAlias = dict[str, list[Any]]
"""Some columns of some rows, each a list with a value for every row."""

WholeRows: TypeAlias = Callable[[IntArray, Collection[str]], Columns]
"""Gives the rows at these positions, in their order: those of the named columns that there are."""


@dataclass(frozen=True, slots=True)
class ItemTable:
    """The items of all skills, ordered by skill, task and run, so that the order of the rows never changes a figure.

    `order` are the positions of the rows in `frame`; the arrays beside it are in that order. `skills` are (id, version), `tasks`
    the task ids; `skill` and `task` are indices into them, `status` into `STATUSES`. `run` counts the run indices that occur.
    `score` is 0 for errors and timeouts: they earned nothing. `latency_ms` is NaN where unknown. `whole` gives the rows at some
    positions with any of their columns, where `frame` has but those that figures need.
    """

    frame: pd.DataFrame
    order: IntArray
    skills: list[tuple[str, str]]
    tasks: list[str]
    skill: IntArray
    task: IntArray
    run: IntArray
    status: IntArray
    score: FloatArray
    latency_ms: FloatArray
    whole: WholeRows | None = None

    def columns_at(self, positions: IntArray, names: Collection[str]) -> Columns:
        """The rows at these positions of the frame: those of the named columns that are known."""
        if self.whole is not None:
            return self.whole(positions, names)
        rows = self.frame.iloc[positions]
        return {name: rows[name].tolist() for name in names if name in rows}

    def amounts(self, name: str) -> FloatArray | None:
        """A column of numbers from 0 on in the table's order, NaN where unknown; None where the frame has no such column."""
        return _non_negative(_numbers(self.frame[name], name)[self.order], name) if name in self.frame else None

    def errors_of(self, kinds: Collection[str]) -> npt.NDArray[np.bool_] | None:
        """Which items ended in an error of these kinds, in the table's order; None where the kinds of errors are not known."""
        if "error_kind" not in self.frame:
            return None
        of_kind = self.frame["error_kind"].isin(kinds).to_numpy(dtype=bool)[self.order]
        return np.asarray(of_kind & (self.status == ERROR))

    def rows_of_skills(self) -> list[slice]:
        """For each skill the slice of its items."""
        bounds = np.searchsorted(self.skill, np.arange(len(self.skills) + 1))
        return [slice(int(start), int(stop)) for start, stop in pairwise(bounds)]


def item_table(items: pd.DataFrame, task_order: Sequence[str], whole: WholeRows | None = None) -> ItemTable:
    """The rows of `items` as a table; tasks come in `task_order`, others behind it by id.

    Raises:
        InputError: a column is missing; an id, status or run index is missing or malformed; an item is given twice; the score of
            a pass or fail is missing; a score is outside [0, 1] or a latency below 0.
    """
    import pandas as pd  # here and below: the columns' names are wanted where pandas is not

    _refuse_missing_columns(items)
    position = {task: index for index, task in enumerate(task_order)}
    ids, id_names = _coded(items["skill_id"], "skill_id", key=lambda name: name)
    versions, version_names = _coded(items["skill_version"], "skill_version", key=_version_key)
    skill, pairs = pd.factorize(ids * len(version_names) + versions, sort=True)
    task, tasks = _coded(items["task_id"], "task_id", key=lambda name: (position.get(name, len(position)), name))
    run, _ = pd.factorize(_run_indices(items["run_index"]), sort=True)
    order = _order((skill * len(tasks) + task) * (int(run.max()) + 1) + run, items)
    status = _statuses(items["status"])[order]
    return ItemTable(
        frame=items,
        order=order,
        skills=[(id_names[pair // len(version_names)], version_names[pair % len(version_names)]) for pair in pairs],
        tasks=tasks,
        skill=skill[order],
        task=task[order],
        run=run[order],
        status=status,
        score=_earned(_numbers(items["score"], "score")[order], status),
        latency_ms=_non_negative(_numbers(items["latency_ms"], "latency_ms")[order], "latency_ms"),
        whole=whole,
    )


def _refuse_missing_columns(items: pd.DataFrame) -> None:
    missing = [name for name in REQUIRED if name not in items]
    if missing:
        hint = nearest(missing[0], map(str, items.columns))
        raise InputError(f"the items have no column {missing[0]!r}{hint}; needed are {', '.join(REQUIRED)}")


def _coded(column: pd.Series[Any], name: str, *, key: Callable[[str], Any]) -> tuple[IntArray, list[str]]:
    import pandas as pd

    codes, found = pd.factorize(column)
    if (codes < 0).any():
        raise InputError(f"{name} is missing in {int((codes < 0).sum())} of {len(column)} items; every item needs one")
    names = list(found)
    for value in names:
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{name} must be text that is not blank; got {value!r}")
    ordered = sorted(range(len(names)), key=lambda index: key(names[index]))
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[ordered] = np.arange(len(names))
    return ranks[codes], [names[index] for index in ordered]


def _version_key(version: str) -> tuple[list[int], str]:
    parts = version.split(".")
    return ([int(part) for part in parts] if all(part.isdecimal() for part in parts) else [], version)


def _run_indices(column: pd.Series[Any]) -> IntArray:
    numbers = _numbers(column, "run_index")
    wrong = ~(np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers)))
    if wrong.any():
        raise InputError(f"run_index must be a whole number from 0 on; got {numbers[wrong][0]:g}")
    return numbers.astype(np.int64)


def _order(keys: IntArray, items: pd.DataFrame) -> IntArray:
    """The positions of the rows by ascending key; by counting where the keys are dense, which they are in complete runs."""
    size = int(keys.max()) + 1
    if size <= _SLOTS_PER_ITEM * len(keys):
        slots = np.full(size, -1, dtype=np.int64)
        slots[keys] = np.arange(len(keys))
        order = slots[slots >= 0]
    else:
        order = np.unique(keys, return_index=True)[1].astype(np.int64, copy=False)
    if len(order) < len(keys):
        repeated = np.setdiff1d(np.arange(len(keys)), np.unique(keys, return_index=True)[1])
        twice = items.iloc[int(repeated[0])]
        skill = skill_key(twice["skill_id"], twice["skill_version"])
        raise InputError(
            f"item {skill}/{twice['task_id']}#{int(twice['run_index']) + 1} is given twice; "
            f"{len(keys) - len(order)} rows repeat an item: keep one row of each"
        )
    return order


def _statuses(column: pd.Series[Any]) -> IntArray:
    import pandas as pd

    codes, found = pd.factorize(column)
    unknown = [value for value in found if value not in STATUSES]
    if unknown or (codes < 0).any():
        given = repr(unknown[0]) + nearest(str(unknown[0]), STATUSES) if unknown else "none"
        raise InputError(f"status must be one of {', '.join(STATUSES)}; got {given}")
    return np.array([STATUSES.index(value) for value in found], dtype=np.int64)[codes]


def _earned(score: FloatArray, status: IntArray) -> FloatArray:
    judged = status <= FAIL
    if missing := int(np.isnan(score[judged]).sum()):
        raise InputError(f"{missing} items passed or failed without a score; give each a score in [0, 1]")
    known = score[~np.isnan(score)]
    outside = known[(known < 0) | (known > 1)]
    if len(outside):
        raise InputError(f"a score must lie in [0, 1]; got {outside[0]:g}")
    return np.where(judged, score, 0.0)


def _non_negative(numbers: FloatArray, name: str) -> FloatArray:
    wrong = numbers[(numbers < 0) | np.isinf(numbers)]
    if len(wrong):
        raise InputError(f"{name} must be a finite number from 0 on; got {wrong[0]:g}")
    return numbers


def _numbers(column: pd.Series[Any], name: str) -> npt.NDArray[np.float64]:
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers; {error}") from None
