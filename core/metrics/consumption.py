"""What the items of a skill consumed: tokens, money and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_skills.core.errors import InputError
from eval_skills.core.metrics.item_table import ItemTable
from eval_skills.core.metrics.tasks import known_list
from eval_skills.core.models import Latency, TokenCost
from eval_skills.core.models.report import MISSING_KINDS, EarlierAttempts
from eval_skills.core.statistics.rates import FloatArray, IntArray, nearest_rank

_NS_PER_S = 1e9
_NO_CALL = -1
LONGEST_IDLE_S = 60.0


@dataclass(frozen=True, slots=True)
class Consumption:
    """Arrays in the table's order, NaN (NaT) where unknown; None where the frame has no such column.

    `reached` are the items that got as far as the skill, `unjudged` those that a judging model was to judge and could not,
    `missing` all that have no verdict on the skill. `now` (UTC) stands in for a start that is not known. `recorded`: the items
    were judged from traces, at another time than they ran, so that their latencies say nothing about the pace. `call` numbers
    the calls that asked the items, -1 where that is not known. `earlier` are the attempts before the last, by the
    place of their item, of those that had any.
    """

    latency_ms: FloatArray
    reached: npt.NDArray[np.bool_]
    prompt_tokens: FloatArray | None
    completion_tokens: FloatArray | None
    cost_usd: FloatArray | None
    started_at: npt.NDArray[np.datetime64] | None
    now: datetime
    judge_tokens: FloatArray | None = None
    judge_cost_usd: FloatArray | None = None
    judge_requests: FloatArray | None = None
    user_tokens: FloatArray | None = None
    user_cost_usd: FloatArray | None = None
    user_requests: FloatArray | None = None
    unjudged: npt.NDArray[np.bool_] | None = None
    missing: npt.NDArray[np.bool_] | None = None
    recorded: bool = False
    first_token_ms: FloatArray | None = None
    call: IntArray | None = None
    earlier: Mapping[int, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: ItemTable) -> Consumption:
        """The consumption of every item of the table."""
        return cls(
            latency_ms=table.latency_ms,
            reached=_reached(table),
            prompt_tokens=table.amounts("prompt_tokens"),
            completion_tokens=table.amounts("completion_tokens"),
            cost_usd=table.amounts("cost_usd"),
            started_at=_starts(table.frame["started_at"])[table.order] if "started_at" in table.frame else None,
            now=datetime.now(UTC),
            judge_tokens=table.amounts("judge_tokens"),
            judge_cost_usd=table.amounts("judge_cost_usd"),
            judge_requests=table.amounts("judge_requests"),
            user_tokens=table.amounts("user_tokens"),
            user_cost_usd=table.amounts("user_cost_usd"),
            user_requests=table.amounts("user_requests"),
            unjudged=table.errors_of({"judge"}),
            missing=table.errors_of(MISSING_KINDS),
            first_token_ms=table.amounts("time_to_first_token_ms"),
            call=pd.factorize(table.frame["flow_run_id"])[0][table.order] if "flow_run_id" in table.frame else None,
            earlier=_earlier_attempts(table),
            recorded="origin" in table.frame and table.frame["origin"].iloc[0] in ("traces", "cached"),
        )

    def latency(self, rows: slice) -> Latency:
        """Percentiles and mean over the items with a known latency, failed and timed-out ones included; None without any.

        How long it took until a skill could not be reached says nothing about the skill.
        """
        known = self.latency_ms[rows][self.reached[rows]]
        known = np.sort(known[~np.isnan(known)])
        p50, p95, p99 = (nearest_rank(known, percent) for percent in (50, 95, 99))
        mean = float(known.mean()) if len(known) else None
        return Latency(p50_ms=p50, p95_ms=p95, p99_ms=p99, mean_ms=mean, time_to_first_token_p50_ms=self._first_token_p50(rows))

    def _first_token_p50(self, rows: slice) -> float | None:
        if self.first_token_ms is None:
            return None
        known = self.first_token_ms[rows]
        return nearest_rank(np.sort(known[~np.isnan(known)]), 50)

    def token_cost(self, rows: slice) -> TokenCost:
        """Sums over the items that know them; the total is unknown where either side of it is."""
        total_tokens = _both(self.prompt_tokens, self.completion_tokens)
        prompt, completion, cost = (
            _known_sum(amounts, rows) for amounts in (self.prompt_tokens, self.completion_tokens, self.cost_usd)
        )
        return TokenCost(
            prompt_tokens=None if prompt is None else int(prompt),
            completion_tokens=None if completion is None else int(completion),
            total_tokens=None if prompt is None or completion is None else int(prompt + completion),
            estimated_usd=cost,
            cost_unknown_items=None if cost is None else _unknown_items(self.cost_usd, rows),
            tokens_unknown_items=None if prompt is None or completion is None else _unknown_items(total_tokens, rows),
            earlier_attempts=self._earlier(rows),
            **_paid_model("judge", self.judge_tokens, self.judge_cost_usd, self.judge_requests, rows),
            **_paid_model("user", self.user_tokens, self.user_cost_usd, self.user_requests, rows),
        )

    def _earlier(self, rows: slice) -> EarlierAttempts | None:
        attempts = [each for place, found in self.earlier.items() if rows.start <= place < rows.stop for each in found]
        return EarlierAttempts.of([(each.get("cost_usd"), each.get("tokens")) for each in attempts])

    def unjudged_items(self, rows: slice) -> int | None:
        """How many of the rows a judging model could not judge; None where it is not known, or no model was asked."""
        if self.unjudged is None:
            return None
        count = int(np.count_nonzero(self.unjudged[rows]))
        return count if count or _known_sum(self.judge_tokens, rows) is not None else None

    def missing_items(self, rows: slice) -> int | None:
        """How many of the rows have no verdict on the skill; None where the kinds of errors are not known."""
        return None if self.missing is None else int(np.count_nonzero(self.missing[rows]))

    def latest_start(self, rows: slice) -> datetime:
        """When the last item began (UTC); `now` where no start is known."""
        starts = self._known_starts(rows)
        return self.now if starts is None else pd.Timestamp(starts.max(), tz=UTC).to_pydatetime()

    def throughput(self, rows: slice) -> float | None:
        """Items per second of the time in which the run worked: for each call of it from the first start to the last end.

        None unless all starts are known and time passed. Which call (of `eval`, or a resume) asked an item is known by its flow
        run; without one, more than `LONGEST_IDLE_S` in which nothing was asked may lie between two calls: None, too.
        """
        starts = self._known_starts(rows)
        if starts is None or self.recorded or len(starts) < rows.stop - rows.start:
            return None
        begun_s = (starts - starts.min()).astype("timedelta64[ns]").astype(np.float64) / _NS_PER_S
        ended_s = begun_s + np.nan_to_num(self.latency_ms[rows]) / 1000
        call = np.full(len(starts), _NO_CALL) if self.call is None else self.call[rows]
        alone = call == _NO_CALL
        if _longest_idle_s(begun_s[alone], ended_s[alone]) > LONGEST_IDLE_S:
            return None
        span_s = sum(float(ended_s[call == each].max() - begun_s[call == each].min()) for each in np.unique(call))
        return len(starts) / span_s if span_s > 0 else None

    def _known_starts(self, rows: slice) -> npt.NDArray[np.datetime64] | None:
        if self.started_at is None:
            return None
        known = self.started_at[rows][~np.isnat(self.started_at[rows])]
        return known if len(known) else None


def _paid_model(
    name: str, tokens: FloatArray | None, cost: FloatArray | None, requests: FloatArray | None, rows: slice
) -> dict[str, Any]:
    """What a model beside the skill was paid: the cost is unknown where that of a single item is."""
    unpriced = tokens is not None and cost is not None and bool(np.isnan(cost[rows][~np.isnan(tokens[rows])]).any())
    sums = {f"{name}_tokens": _known_sum(tokens, rows), f"{name}_requests": _known_sum(requests, rows)}
    spent = None if unpriced else _known_sum(cost, rows)
    return {column: None if total is None else int(total) for column, total in sums.items()} | {f"{name}_cost_usd": spent}


def _known_sum(amounts: FloatArray | None, rows: slice) -> float | None:
    if amounts is None or np.isnan(amounts[rows]).all():
        return None
    return float(np.nansum(amounts[rows]))


def _longest_idle_s(begun_s: FloatArray, ended_s: FloatArray) -> float:
    """The longest time between two starts in which no item was asked."""
    order = np.argsort(begun_s)
    idle_s = begun_s[order][1:] - np.maximum.accumulate(ended_s[order])[:-1]
    return float(idle_s.max()) if len(idle_s) else 0.0


def _earlier_attempts(table: ItemTable) -> dict[int, Sequence[Mapping[str, Any]]]:
    if "attempts" not in table.frame:
        return {}
    cells = map(known_list, table.frame["attempts"].to_numpy()[table.order])
    return {place: cell[:-1] for place, cell in enumerate(cells) if cell is not None and len(cell) > 1}


def _both(prompt: FloatArray | None, completion: FloatArray | None) -> FloatArray | None:
    return None if prompt is None or completion is None else prompt + completion


def _unknown_items(amounts: FloatArray | None, rows: slice) -> int | None:
    """How many of the rows do not know the amount; None where all do."""
    return None if amounts is None else int(np.count_nonzero(np.isnan(amounts[rows]))) or None


def _reached(table: ItemTable) -> npt.NDArray[np.bool_]:
    if "error_kind" not in table.frame:
        return np.ones(len(table.order), dtype=np.bool_)
    return np.asarray((table.frame["error_kind"] != "infra").to_numpy()[table.order], dtype=np.bool_)


def _starts(column: pd.Series[Any]) -> npt.NDArray[np.datetime64]:
    """Times as UTC; text is read as ISO 8601, and a time without a zone is UTC."""
    try:
        times = column if isinstance(column.dtype, pd.DatetimeTZDtype) else pd.to_datetime(column, utc=True, format="ISO8601")
    except (TypeError, ValueError) as error:
        raise InputError(f"started_at must be times (ISO 8601 text or timestamps); {error}") from None
    return times.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(dtype="datetime64[us]")
