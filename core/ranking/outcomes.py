"""How often each skill passed each task, as arrays: what ranks are computed from."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.models.report import MISSING_KINDS, is_missing
from eval_skills.core.statistics.rates import FloatArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Counts of items, skills × tasks: all `items`, those that `passed`, and the `missing` ones, which have no verdict.

    A task that a skill was not asked has no items.
    """

    skills: list[str]
    items: FloatArray
    passed: FloatArray
    missing: FloatArray

    @classmethod
    def of(cls, skills: Sequence[str], tasks: Sequence[Hashable], passed: Sequence[bool], missing: Sequence[bool]) -> Self:
        """From one entry per item; the skills in the order in which they appear."""
        rows, columns = _codes(skills), _codes(tasks)
        names = list(dict.fromkeys(skills))
        shape = (len(names), int(columns.max(initial=-1)) + 1)
        cells = rows * shape[1] + columns

        def count(chosen: npt.ArrayLike | None = None) -> FloatArray:
            weights = None if chosen is None else np.asarray(chosen, dtype=np.float64)
            return np.bincount(cells, weights, shape[0] * shape[1]).astype(np.float64).reshape(shape)

        return cls(names, count(), count(passed), count(missing))

    @classmethod
    def of_reports(cls, reports: Iterable[SkillCompletionReport]) -> Self:
        """From the items of reports on one benchmark; tasks are the same by their ids and, where all know them, their digests."""
        items = [(report.skill_key, item) for report in reports for item in report.task_results]
        digests = all(item.task_digest for _, item in items)
        return cls.of(
            [skill for skill, _ in items],
            [(item.task_id, item.task_digest if digests else None) for _, item in items],
            [item.passed for _, item in items],
            [is_missing(item) for _, item in items],
        )

    @classmethod
    def of_items(cls, items: pd.DataFrame) -> Self:
        """From rows of the store's items, by the same rule; `error_kind` and `task_digest` may be lacking."""
        failed = items["status"] == "error"
        digests = items["task_digest"] if "task_digest" in items and items["task_digest"].notna().all() else [None] * len(items)
        return cls.of(
            (items["skill_id"] + "@" + items["skill_version"]).tolist(),
            list(zip(items["task_id"], digests, strict=True)),
            (items["status"] == "pass").tolist(),
            (failed & items["error_kind"].isin(MISSING_KINDS) if "error_kind" in items else failed & False).tolist(),
        )

    def __getitem__(self, rows: Sequence[int]) -> Outcomes:
        """Only these skills, in this order."""
        chosen = list(rows)
        names = [self.skills[row] for row in chosen]
        return Outcomes(names, self.items[chosen], self.passed[chosen], self.missing[chosen])

    @property
    def judged(self) -> FloatArray:
        """How many items have a verdict on the skill."""
        return self.items - self.missing

    def rates(self, missing: float | None = None) -> FloatArray:
        """The share of passed items, NaN where there is none: of those with a verdict, or with each missing one as `missing`."""
        passed, items = (self.passed, self.judged) if missing is None else (self.passed + missing * self.missing, self.items)
        return np.asarray(np.divide(passed, items, out=np.full(items.shape, np.nan), where=items > 0))


def _codes(values: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)
