"""Comparing the answers of a plan, and resuming a comparison that has landed in part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType, TracebackType
from typing import Self

from eval_skills.core.errors import JudgeError, RunError
from eval_skills.core.judging.preferences import member_rates, win_rates
from eval_skills.core.store import land_rows
from eval_skills.core.store.files import RunLock
from eval_skills.core.store.rows import preferences_of
from eval_skills.core.store.schema import PREFERENCE_SCHEMA
from eval_skills.core.text import one_line, plural
from eval_skills.engine.comparison.pairs import AnswerPair, ComparisonPlan
from eval_skills.engine.comparison.summary import ComparisonSummary, Row
from eval_skills.engine.judging.outcome import failed_judging, going_on, half_judged, pair_with_cost_before, spending_lines
from eval_skills.engine.judging.preflight import check_panels_ready
from eval_skills.scorers.judging.budget import Spending, counted
from eval_skills.scorers.judging.comparison import PreferenceVotes, ask_panel

_SAID = ("outcome", "a_first", "b_first", "reasoning_a_first", "reasoning_b_first", "judge_agreement", "votes")
_WHY_LENGTH = 300


class AnswerComparison:
    """An open comparison, on the event loop of its task runner; rows are kept by pair.

    A verdict that has landed under this comparison's id is kept, with its cost, and no model is asked about it again; what a
    failed judgement cost is added to the new row. Another call that makes the same comparison is refused meanwhile.
    """

    def __init__(self, plan: ComparisonPlan) -> None:
        self.plan = plan
        self.pairs = {str(pair): pair for pair in plan.pairs}
        self.remarks = list(plan.remarks)
        self._before: dict[str, Row] = {}
        self._failed: dict[str, Row] = {}
        self._rows: dict[str, Row] = {}

    @classmethod
    def of(cls, comparison_id: str) -> AnswerComparison:
        """The open comparison of that id in this process; RunError if there is none."""
        try:
            return _open[comparison_id]
        except KeyError:
            raise RunError(f"comparison {comparison_id} is not open in this process; start it through its flow") from None

    async def __aenter__(self) -> Self:
        plan = self.plan
        file = plan.store.layout.root / f"compare-{plan.digest.removeprefix('sha256:')}.json"
        self._lock = RunLock(file, what=f"the comparison of run {plan.a.run_id} and run {plan.b.run_id}")
        try:
            self.plan = plan = plan.as_it_stands()
            rows = plan.store.tables.rows("preferences", PREFERENCE_SCHEMA.names, [plan.comparison_id])
            landed = {f"{row['task_id']}#{row['run_index'] + 1}": row for row in rows}
            self._before = {name: row for name, row in landed.items() if name in self.pairs and row["outcome"] != "error"}
            self._failed = {name: row for name, row in landed.items() if row["outcome"] == "error"}
            if len(self._before) < len(self.pairs):
                self.remarks += await check_panels_ready(plan.judges, [plan.panel.models], "nothing was compared")
        except BaseException:
            self._lock.release()
            await plan.judges.close()
            raise
        _open[plan.comparison_id] = self
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        del _open[self.plan.comparison_id]
        self._lock.release()
        await self.plan.judges.close()

    async def compare(self, pair: AnswerPair) -> Row:
        """The row of one pair; a failure of the judge becomes its error."""
        row = self._before.get(str(pair)) or await self._judged(pair)
        self._rows[str(pair)] = row
        return row

    async def _judged(self, pair: AnswerPair) -> Row:
        plan = self.plan
        found: PreferenceVotes | None = None
        with counted() as spending:
            try:
                found = await ask_panel(plan.panel, plan.judges, pair.comparing, pair.a.output, pair.b.output)
                failure = found.error
            except JudgeError as error:
                failure = error
        return pair_with_cost_before(_row(plan, pair, found, failure, spending), self._failed.get(str(pair)))

    def finish(self, ended: Mapping[str, str] = MappingProxyType({})) -> list[Row]:
        """The rows in the order of the plan, landed, unless the cost limit ended the comparison.

        `ended` says how the task run of each pair ended, for the message about those that left no row.

        Raises:
            RunError: a pair was not compared, or no pair has a verdict.
        """
        plan = self.plan
        rows = [self._rows[name] for name in self.pairs if name in self._rows]
        if left := [name for name in self.pairs if name not in self._rows]:
            again, why = going_on(no_judge_cache=plan.request.no_judge_cache), ended.get(left[0])
            because = f" ({one_line(why, _WHY_LENGTH)})" if why else ""
            raise RunError(f"{len(left)} of {plural(len(self.pairs), 'pair')} were not compared{because}; {again}")
        if plan.judges.budget.exhausted:
            return rows
        if not rows:  # every pair was decided by a missing answer
            return rows
        if all(row["outcome"] == "error" for row in rows):
            raise RunError(f"no pair could be judged: {rows[0]['error_message']}")
        land_rows(plan.store, "preferences", plan.comparison_id, rows)
        return rows

    def summary(self, rows: list[Row], flow_runs: tuple[str, ...] = (), task_runs: int = 0) -> ComparisonSummary:
        """The summary of these rows."""
        plan, preferences = self.plan, preferences_of(rows)
        return ComparisonSummary(
            comparison_id=plan.comparison_id,
            run_a=plan.a.run_id,
            run_b=plan.b.run_id,
            skill_a=plan.a.skill,
            skill_b=plan.b.skill,
            benchmark=f"{plan.benchmark.id}@{plan.benchmark.version}",
            model=plan.model,
            prompt=plan.prompt,
            figures=win_rates([*preferences, *plan.forfeits], plan.unanswered),
            members=[] if plan.panel.is_single else member_rates(plan.models, preferences),
            unanswered=len(plan.unanswered),
            store=plan.store.path,
            spent=plan.judges.total,
            rows=rows,
            judged_before=len(self._before),
            out_of_budget=plan.judges.budget.exhausted,
            judging=[*_judging_lines(plan, rows)],
            remarks=self.remarks,
            flow_runs=flow_runs,
            task_runs=task_runs,
        )


def _row(
    plan: ComparisonPlan, pair: AnswerPair, found: PreferenceVotes | None, failure: JudgeError | None, spent: Spending
) -> Row:
    verdict = found.row() if found else {"outcome": "error"}
    asked = spent.happened or failure is not None  # a judge that failed without cost was paid 0, which is known
    a, b = pair.a, pair.b
    return {
        "comparison_id": plan.comparison_id,
        "compared_at": datetime.now(UTC),
        **{"run_a": a.run_id, "skill_a": a.skill_id, "version_a": a.skill_version},
        **{"run_b": b.run_id, "skill_b": b.skill_id, "version_b": b.skill_version},
        "benchmark_id": plan.benchmark.id,
        "benchmark_version": plan.benchmark.version,
        "task_id": pair.a.task_id,
        "run_index": pair.a.run_index,
        **{name: verdict.get(name) for name in _SAID},
        "error_kind": "judge" if failure else None,
        "error_message": str(failure) if failure else None,
        "judge_model": plan.model,
        "judge_prompt": plan.prompt,
        **{name: amount if asked else None for name, amount in spent.fields().items()},
        "digest": plan.digest,
    }


def _judging_lines(plan: ComparisonPlan, rows: list[Row]) -> Iterator[str]:
    """Requests and cost, what the judge failed on, and how to ask again; or what the cost limit left."""
    yield from spending_lines(plan.judges)
    if plan.judges.budget.exhausted:
        yield half_judged(plan.judges)
    elif failed := [row for row in rows if row["outcome"] == "error"]:
        said = failed_judging([row["error_message"] for row in failed], len(rows), "pair")
        same = "the same call without --no-judge-cache" if plan.request.no_judge_cache else "the same call"
        yield f"{said}; {same} asks about {'it' if len(failed) == 1 else 'them'} again, and about nothing else"


_open: dict[str, AnswerComparison] = {}
