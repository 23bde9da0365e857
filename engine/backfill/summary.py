"""The result of a backfill, as its flow returns it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.diff.model import JUDGEMENTS
from eval_skills.core.store.rows import interval_of
from eval_skills.core.text import one_line, plural
from eval_skills.core.trend.trend import Trend, TrendPoint
from eval_skills.engine.backfill.comparison import PeriodOutcome, landed_rows
from eval_skills.engine.backfill.plan import BackfillPlan
from eval_skills.engine.backfill.request import BackfillRequest

SAID_LENGTH = 300


@dataclass(frozen=True, slots=True)
class BackfillSummary:
    """The rows of all periods, oldest first, with the columns of `COMPARISON_SCHEMA`.

    `done` are the names of the periods that were worked on, `up_to_date` those that had landed before. `unjudged` counts the
    items on which the judge failed, by period, `judge_said` is its first error. `flow_runs` and `task_runs` are what Prefect
    should have recorded; `unrecorded` is why it could not, None where it did.
    """

    request: BackfillRequest
    rows: list[dict[str, Any]]
    done: list[str]
    up_to_date: list[str]
    remarks: list[str] = field(default_factory=list)
    unjudged: dict[str, int] = field(default_factory=dict)
    judge_said: str = ""
    flow_runs: tuple[str, ...] = ()
    task_runs: int = 0
    unrecorded: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no period has figures."""
        return not any(row.get("skill_id") for row in self.rows)

    @property
    def line(self) -> str:
        """The summary in one line."""
        if not self.done:
            return f"nothing to do: {plural(len(self.up_to_date), 'period')} up to date; do it again with --force"
        verdicts = Counter(row["verdict"] for row in self.rows if row.get("verdict") and row["period"] in set(self.done))
        judged = ", ".join(f"{verdicts[name]} {name}" for name in JUDGEMENTS if verdicts[name])
        rest = f", {len(self.up_to_date)} up to date" if self.up_to_date else ""
        return f"{self.request.mode}: {plural(len(self.done), 'period')}{rest}{'; ' + judged if judged else ''}"

    @property
    def unjudged_line(self) -> str | None:
        """The periods with items on which the judge failed, and its first error; None where it never failed."""
        if not self.unjudged:
            return None
        one = (total := sum(self.unjudged.values())) == 1
        count = plural(total, "item")
        periods = ", ".join(f"{period}: {items:,}" for period, items in self.unjudged.items())
        again = "the same call without --force" if self.request.force else "the same call"
        said = one_line(self.judge_said, SAID_LENGTH)
        return f"judge: {count} could not be judged ({periods}): {said}; {again} asks about {'it' if one else 'them'} again"

    def trend(self) -> Trend:
        """The completion rates as a trend for every skill and benchmark, under ``skill on benchmark``."""
        found: Trend = {}
        for row in self.rows:
            if row.get("skill_id"):
                found.setdefault(f"{row['skill_id']} on {row['benchmark_id']}", []).append(_point(row))
        return dict(sorted(found.items()))


def backfill_summary(plan: BackfillPlan, outcomes: Mapping[str, PeriodOutcome]) -> BackfillSummary:
    """The summary of a plan, with the `outcomes` of the periods that were worked on, by digest."""
    runs = [run for outcome in outcomes.values() for run in outcome.runs]
    rows = landed_rows(plan.store, {work.digest for work in plan.works} - outcomes.keys())
    rows |= {digest: outcome.rows for digest, outcome in outcomes.items()}
    done = {work.period.name: outcomes[work.digest] for work in plan.works if work.digest in outcomes}
    return BackfillSummary(
        request=plan.request,
        rows=[row for work in plan.works for row in rows[work.digest]],
        done=list(done),
        up_to_date=[work.period.name for work in plan.works if work.digest not in outcomes],
        unjudged={name: outcome.unjudged for name, outcome in done.items() if outcome.unjudged},
        judge_said=next((outcome.judge_said for outcome in outcomes.values() if outcome.judge_said), ""),
        remarks=[*plan.remarks, *(remark for outcome in outcomes.values() for remark in outcome.remarks)],
        flow_runs=tuple(flow_run for run in runs for flow_run in run.flow_runs),
        task_runs=sum(run.task_runs for run in runs),
    )


def _point(row: dict[str, Any]) -> TrendPoint:
    return TrendPoint(
        timestamp=row["period_start"],
        run_id=row["run_id"],
        skill_version=row["skill_version"],
        benchmark_version=row["benchmark_version"],
        value=(rate := row["completion_rate"]),
        interval=None if rate is None else interval_of(row),
    )
