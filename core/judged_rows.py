"""The item rows of a skill, as the models that judged them see them: who was to judge each, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from eval_skills.core.statistics import FloatArray
from eval_skills.core.task_results import known_list
from eval_skills.core.tool_names import FORBIDDEN_TOOL_CALLED

if TYPE_CHECKING:
    import pandas as pd

Judge = tuple[str, str]
"""Model and prompt."""

BoolArray = npt.NDArray[np.bool_]

NOT_BY_A_MODEL = frozenset({"NOT_JUDGED", "OUTPUT_EMPTY", FORBIDDEN_TOOL_CALLED})
"""Codes of reasons that say that no model was asked about an item."""

PERHAPS_PAID = frozenset({"JUDGE_TIMEOUT", "JUDGE_UNREADABLE", "JUDGE_NOTHING_SCORED", "JUDGE_QUORUM"})
"""Codes of failures of a judge that may have been paid: where no tokens are known of one, they are unknown, and not none."""


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """`judges` are who was to judge each row; `judged` got a verdict from it, at `failed` it failed. All in the rows' order.

    `paid` are those of both for which it was, or may have been, paid.
    """

    items: pd.DataFrame
    judges: list[Judge | None]
    judged: BoolArray
    failed: BoolArray
    paid: BoolArray

    @classmethod
    def of(cls, items: pd.DataFrame, by_task: Mapping[str, Judge]) -> JudgedRows:
        """The rows, with the judge of each task; they need the columns task_id, status and reasons."""
        judges = [by_task.get(task) for task in items["task_id"]]
        kinds = items["error_kind"] if "error_kind" in items else [None] * len(items)
        judged = [
            judge is not None and status in ("pass", "fail") and not _says(reasons, NOT_BY_A_MODEL)
            for judge, status, reasons in zip(judges, items["status"], items["reasons"], strict=True)
        ]
        failed = [
            judge is not None and status == "error" and kind == "judge"
            for judge, status, kind in zip(judges, items["status"], kinds, strict=True)
        ]
        paid = [
            was_judged or (has_failed and _says(reasons, PERHAPS_PAID))
            for was_judged, has_failed, reasons in zip(judged, failed, items["reasons"], strict=True)
        ]
        return cls(items, judges, *(np.array(each, dtype=bool) for each in (judged, failed, paid)))

    @property
    def asked(self) -> list[Judge]:
        """The judges that were asked about a row, by name."""
        took = zip(self.judges, self.judged | self.failed, strict=True)
        return sorted({judge for judge, asked in took if judge is not None and asked})

    def meant_for(self, judge: Judge) -> BoolArray:
        """The rows that this judge was to judge."""
        return np.array([each == judge for each in self.judges], dtype=bool)

    def cached(self, chosen: BoolArray) -> int | None:
        """How many of the chosen rows were judged without a new token: every reply came from the cache."""
        tokens = self._amounts("judge_tokens")
        return None if tokens is None else int(np.count_nonzero(tokens[chosen & self.judged] == 0))

    def agreement(self, chosen: BoolArray) -> float | None:
        """The mean agreement of the panels that judged the chosen rows, in [0, 1]; None without a panel."""
        agreements = self._amounts("judge_agreement")
        if agreements is None:
            return None
        known = agreements[chosen & self.judged]
        known = known[~np.isnan(known)]
        return min(1.0, float(known.mean())) if len(known) else None

    def tokens(self, chosen: BoolArray) -> int | None:
        """What the chosen rows took; None where it is not known of one that was paid for, or nobody was asked."""
        tokens = self._paid("judge_tokens", chosen)
        return None if tokens is None else int(tokens)

    def cost_usd(self, chosen: BoolArray) -> float | None:
        """What the chosen rows cost; None, too, where tokens were used that nobody knows the price of."""
        tokens, cost = self._amounts("judge_tokens"), self._amounts("judge_cost_usd")
        if tokens is None or cost is None or np.isnan(cost[chosen & ~np.isnan(tokens)]).any():
            return None
        return self._paid("judge_cost_usd", chosen)

    def _paid(self, name: str, chosen: BoolArray) -> float | None:
        amounts = self._amounts(name)
        if amounts is None or np.isnan(amounts[chosen & self.paid]).any() or np.isnan(amounts[chosen]).all():
            return None
        return float(np.nansum(amounts[chosen]))

    def _amounts(self, name: str) -> FloatArray | None:
        return self.items[name].to_numpy(dtype=np.float64, na_value=np.nan) if name in self.items else None


def _says(reasons: Any, codes: frozenset[str]) -> bool:
    return any(dict(reason).get("code") in codes for reason in known_list(reasons) or ())
