"""Comparing the answers of a plan. Plain: no Prefect."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from eval_skills.core.errors import ConfigError, JudgeError, RunError, UsageError
from eval_skills.core.preferences import win_rates
from eval_skills.core.store import land_preferences
from eval_skills.core.store.judge_rows import preferences_of
from eval_skills.core.store.judge_schema import PREFERENCE_SCHEMA
from eval_skills.reporting.figures import plural
from eval_skills.scorers.judging.comparison import Compared
from eval_skills.scorers.judging.readiness import check_price, one_token
from eval_skills.scorers.judging.spending import Spending, counted
from eval_skills.scorers.judging.trouble import ModelTrouble
from eval_skills.tasks.answer_pairs import AnswerPair, ComparisonPlan
from eval_skills.tasks.comparison_summary import ComparisonSummary, Row

_SAID = ("outcome", "a_first", "b_first", "reasoning_a_first", "reasoning_b_first")


class AnswerComparison:
    """A comparison while it works, on the event loop of its task runner; what is done is known by pair."""

    def __init__(self, plan: ComparisonPlan) -> None:
        self.plan = plan
        self.pairs = {str(pair): pair for pair in plan.pairs}
        self._rows: dict[str, Row] = {}
        self._asked: set[str] = set()

    @classmethod
    def of(cls, comparison_id: str) -> AnswerComparison:
        """The open comparison of that id in this process.

        Raises:
            RunError: none such is open here.
        """
        try:
            return _open[comparison_id]
        except KeyError:
            raise RunError(f"comparison {comparison_id} is not open in this process; start it through its flow") from None

    async def __aenter__(self) -> Self:
        await _ready(self.plan)
        _open[self.plan.comparison_id] = self
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        del _open[self.plan.comparison_id]
        await self.plan.judges.close()

    async def compare(self, pair: AnswerPair) -> Row:
        """The row of one pair; trouble with the judge becomes its error."""
        judge = self.plan.judges.judge()
        found: Compared | None = None
        trouble: JudgeError | None = None
        with counted() as spending:
            try:
                found = await pair.comparing.compare(pair.a.output, pair.b.output, judge)
            except JudgeError as error:
                trouble = error
        if spending.asked:
            self._asked.add(str(pair))
        row = self._rows[str(pair)] = _row(self.plan, pair, found, trouble, spending)
        return row

    def finish(self) -> list[Row]:
        """The rows in the order of the plan, landed, unless the budget ended the comparison.

        A verdict that this comparison has landed before stands, with what it cost, where nobody was asked this time.

        Raises:
            RunError: a pair was not compared, or no pair has a verdict.
        """
        plan = self.plan
        rows = [self._rows[str(pair)] for pair in plan.pairs if str(pair) in self._rows]
        if len(rows) < len(plan.pairs):
            raise RunError(
                f"{len(plan.pairs) - len(rows)} of {plural(len(plan.pairs), 'pair')} were not compared; {_again(plan)}"
            )
        if plan.judges.budget.exhausted:
            return rows
        if all(row["outcome"] == "error" for row in rows):
            raise RunError(f"no pair could be judged: {rows[0]['error_message']}")
        landed = _landed_verdicts(plan)
        rows = [landed.get(name, row) if name not in self._asked else row for name, row in zip(self.pairs, rows, strict=True)]
        land_preferences(plan.store, plan.comparison_id, rows)
        return rows

    def summary(self, rows: list[Row], flow_runs: tuple[str, ...] = (), task_runs: int = 0) -> ComparisonSummary:
        """What these rows come to."""
        plan = self.plan
        exhausted = plan.judges.budget.exhausted
        return ComparisonSummary(
            comparison_id=plan.comparison_id,
            run_a=plan.a.run_id,
            run_b=plan.b.run_id,
            skill_a=plan.a.skill,
            skill_b=plan.b.skill,
            benchmark=f"{plan.benchmark.id}@{plan.benchmark.version}",
            model=plan.model,
            prompt=plan.prompt,
            figures=win_rates(preferences_of(rows)),
            unanswered=plan.unanswered,
            store=plan.store.path,
            spent=plan.judges.total,
            rows=rows,
            out_of_budget=exhausted,
            remarks=[*plan.remarks, *([_budget_spent(plan)] if exhausted else [])],
            flow_runs=flow_runs,
            task_runs=task_runs,
        )


async def _ready(plan: ComparisonPlan) -> None:
    judge = plan.judges.judge()
    try:
        if plan.judges.budget.limit_usd is not None:
            await check_price(judge)
        if not plan.request.no_judge_check:
            await one_token(judge)
    except ConfigError as error:
        raise UsageError(str(error)) from None
    except ModelTrouble as trouble:
        if trouble.code == "JUDGE_RATE_LIMIT":
            return
        if trouble.again:
            raise RunError(f"nothing was compared: {trouble}; try again later") from None
        raise UsageError(f"nothing was compared: {trouble}") from None


def _landed_verdicts(plan: ComparisonPlan) -> dict[str, Row]:
    """The rows with a verdict that are in the store under this comparison's id, by pair."""
    rows = plan.store.tables.rows("preferences", PREFERENCE_SCHEMA.names, [plan.comparison_id])
    return {f"{row['task_id']}#{row['run_index'] + 1}": row for row in rows if row["outcome"] != "error"}


def _row(plan: ComparisonPlan, pair: AnswerPair, found: Compared | None, trouble: JudgeError | None, spent: Spending) -> Row:
    verdict: Mapping[str, Any] = {name: getattr(found, name, None) for name in _SAID} | ({} if found else {"outcome": "error"})
    return {
        "comparison_id": plan.comparison_id,
        "compared_at": datetime.now(UTC),
        **{f"run_{side}": item.run_id for side, item in (("a", pair.a), ("b", pair.b))},
        **{f"skill_{side}": item.skill_id for side, item in (("a", pair.a), ("b", pair.b))},
        **{f"version_{side}": item.skill_version for side, item in (("a", pair.a), ("b", pair.b))},
        "benchmark_id": plan.benchmark.id,
        "benchmark_version": plan.benchmark.version,
        "task_id": pair.a.task_id,
        "run_index": pair.a.run_index,
        **verdict,
        "error_kind": "judge" if trouble else None,
        "error_message": str(trouble) if trouble else None,
        "judge_model": plan.model,
        "judge_prompt": plan.prompt,
        "judge_tokens": spent.tokens if spent.happened else None,
        "judge_cost_usd": spent.cost_usd if spent.happened else None,
        "digest": plan.digest,
    }


def _again(plan: ComparisonPlan) -> str:
    return "what was judged is in the cache: the same call goes on" if plan.judges.cache is not None else "nothing was kept"


def _budget_spent(plan: ComparisonPlan) -> str:
    limit = plan.judges.budget.limit_usd or 0.0
    return f"--max-judge-cost {limit:g} is spent before every pair was judged; nothing landed; {_again(plan)} with a higher limit"


_open: dict[str, AnswerComparison] = {}
