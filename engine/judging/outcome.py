"""The judging models of a run: whether they can be asked, and what asking them came to.

What the judge was paid where it failed before: it stays in the rows when a call goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from shlex import quote
from typing import Any, TypeVar

from eval_skills.core.config.limits import LOCAL
from eval_skills.core.config.options import JudgeOptions
from eval_skills.core.errors import ConfigError, RunError, UsageError
from eval_skills.core.judging.rows import PERHAPS_PAID
from eval_skills.core.models import ItemResult, TaskResult
from eval_skills.core.text import plural
from eval_skills.reporting import numbers
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.judging import Judges
from eval_skills.scorers.judging.budget import Spending
from eval_skills.scorers.judging.errors import ModelTrouble
from eval_skills.scorers.judging.preflight import check_price, one_token
from eval_skills.scorers.score import one_line

Scorings = Mapping[str, TaskScoring]

R = TypeVar("R", TaskResult, ItemResult)

DEFAULT_STORE = "./eval-store"
_SHOWN = 300


def check_one_budget(options: JudgeOptions, task_runner: str) -> None:
    """Refuse a limit of cost that several processes would each have for themselves.

    Raises:
        UsageError: there is such a limit, and items are executed elsewhere.
    """
    if options.max_judge_cost is not None and task_runner != LOCAL:
        raise UsageError(f"--max-judge-cost counts in one process, and --task-runner {task_runner} has several; use one of them")


def check_judges_ready(scorings: Scorings) -> list[str]:
    """Ask every judging model of these tasks for one token, before anything else is paid for; remarks on what stops nothing.

    With `no_judge_check` they are not asked; a limit of cost needs known prices all the same. May be called inside an event loop.

    Raises:
        UsageError: a model does not know us, or there is none of that name, or nobody knows the price that a limit needs.
        RunError: a model cannot be reached now.
    """
    asked = {model: scoring.settings.judges for scoring in scorings.values() for model in scoring.models}
    if not asked:
        return []
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _ready(asked)).result()


async def _ready(asked: Mapping[str | None, Judges]) -> list[str]:
    remarks: list[str] = []
    try:
        for model, judges in asked.items():
            remarks += await check_judge_ready(judges, model)
    finally:
        for judges in asked.values():
            await judges.close()
    return remarks


async def check_judge_ready(judges: Judges, model: str | None, nothing: str = "nothing was run") -> list[str]:
    """Ask one model for one token; see `check_judges_ready`. `nothing` says what a refusal came before."""
    judge = judges.judge(model)
    try:
        if judges.budget.limit_usd is not None:
            await check_price(judge)
        if not judges.options.no_judge_check:
            await one_token(judge)
    except ConfigError as error:
        raise UsageError(str(error)) from None
    except ModelTrouble as trouble:
        if trouble.code == "JUDGE_RATE_LIMIT":
            return [f"the judge answers, and slowly: {trouble}"]
        if trouble.again:
            raise RunError(f"{nothing}: {trouble}; try again later, or begin without asking: --no-judge-check") from None
        raise UsageError(f"{nothing}: {trouble}") from None
    return []


def refuse_half_judged(judges: Judges | None) -> None:
    """Refuse to go on with stored answers of which some were left out for what judging them would cost.

    Raises:
        RunError: that is so; nothing is lost as long as there is the cache.
    """
    if judges is not None and judges.budget.exhausted:
        raise RunError(half_judged(judges))


def half_judged(judges: Judges) -> str:
    """What is said where the budget did not reach for stored answers, and nothing of them landed."""
    if judges.cache is None:
        kept = "nothing was kept: the same call with a higher limit begins anew"
    else:
        kept = (
            "what it judged is in its cache and costs nothing again: the same call goes on, and gets further with a higher limit"
        )
    return f"{judges.budget.told}, and not everything was judged; nothing landed, {kept}"


def going_on(*, no_judge_cache: bool) -> str:
    """What becomes of judging stored answers that was stopped, when it is called again."""
    if no_judge_cache:
        return "with --no-judge-cache nothing of it was kept"
    return "what was judged is in the cache: make the same call again to go on"


def judges_of(scorings: Scorings) -> Judges | None:
    """What all tasks of a run ask; None where no task asks a model."""
    return next((scoring.settings.judges for scoring in scorings.values() if scoring.models), None)


def judging_lines(judges: Judges | None, run_id: str, store: str = DEFAULT_STORE) -> list[str]:
    """What judging came to, in this process: nothing where no model was to be asked. `store` is where the run's answers are."""
    return [] if judges is None else list(_lines(judges, run_id, store))


def unjudged(results: Iterable[R]) -> list[R]:
    """The results that have no verdict because of the judge. They say nothing of the skill."""
    return [each for each in results if each.error_kind == "judge"]


def unjudged_line(results: Sequence[TaskResult]) -> str | None:
    """How many of these results the judge failed, and the first thing that it said; None where it failed none.

    What a spent budget left is not counted: that is said elsewhere.
    """
    missing = [each for each in unjudged(results) if not any(reason.code == "JUDGE_BUDGET" for reason in each.reasons)]
    if not missing:
        return None
    return failed_judging(len(missing), len(results), missing[0].error_message or "")


def failed_judging(count: int, total: int, first: str, noun: str = "item") -> str:
    """``judge: 12 of 12 items could not be judged: …``."""
    return f"judge: {count:,} of {plural(total, noun)} could not be judged: {one_line(first, _SHOWN)}"


def spending_lines(judges: Judges) -> Iterator[str]:
    """What was asked and what it came to, and what is wrong with the cache."""
    total, cache = judges.total, judges.cache
    if total.happened:
        price = "at a price that is not known" if total.cost_usd is None else numbers.usd(total.cost_usd)
        tokens = "tokens unknown" if total.tokens is None else plural(total.tokens, "token")
        yield f"judging: {plural(total.asked, 'request')}, {total.cached:,} from the cache, {tokens}, {price}"
    if cache is not None and cache.broken:
        yield f"{plural(cache.broken, 'entry')} of the judge's cache could not be read and was asked for again: {cache.folder}"
    if cache is not None and cache.unwritable:
        yield f"verdicts are not kept for the next run: {cache.folder}: {cache.unwritable}"


def _lines(judges: Judges, run_id: str, store: str) -> Iterator[str]:
    yield from spending_lines(judges)
    if judges.budget.exhausted:
        again = "" if judges.cache is not None else ", and with it all that --no-judge-cache did not keep"
        yield (
            f"{judges.budget.told}, and not everything was judged; judge the rest{again}, without calling a skill again, with: "
            f"eval-skills rescore {run_id} --max-judge-cost USD{'' if store == DEFAULT_STORE else f' --store {quote(store)}'}"
        )


def item_with_cost_before(result: ItemResult, before: ItemResult | None) -> ItemResult:
    """The item as it was judged now, with what the judge was paid when it failed at it `before`; unknown and known is unknown."""
    if before is None or _paid_nothing(before):
        return result
    cost = Spending(before.judge_tokens, before.judge_cost_usd)
    if not _paid_nothing(result):
        cost.add(result.judge_tokens, result.judge_cost_usd)
    return result.model_copy(update=_columns(cost))


def pair_with_cost_before(row: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """The row of a pair of answers, likewise."""
    if before is None:
        return dict(row)
    cost = Spending(before["judge_tokens"], before["judge_cost_usd"])
    cost.add(row["judge_tokens"], row["judge_cost_usd"])
    return dict(row) | _columns(cost)


def _paid_nothing(result: ItemResult) -> bool:
    """Whether the judge failed at the item for nothing; its tokens are unknown then as they are where it may have been paid."""
    failed = result.error_kind == "judge" and result.judge_tokens is None
    return failed and not any(reason.code in PERHAPS_PAID for reason in result.reasons)


def _columns(cost: Spending) -> dict[str, Any]:
    return {"judge_tokens": cost.tokens, "judge_cost_usd": cost.cost_usd}
