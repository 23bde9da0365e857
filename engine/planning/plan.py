"""How many tasks and runs show an effect, what they cost, and how often the gate of a stored run would be wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.models.report import MISSING_KINDS
from eval_skills.core.statistics.paired import smallest_effect
from eval_skills.core.statistics.planning import DRAWS, SIGNIFICANCE, Counts, TaskChances, gate_rate, power
from eval_skills.core.store import Store
from eval_skills.core.store.retention import pruned_words
from eval_skills.engine.stored_runs.run_ids import resolve_run_id

TASKS, RUNS = (10, 20, 50, 100, 200), (1, 3, 5, 10)
BASE_RATE, FLAKINESS = 0.8, 0.1
CHECKED_EFFECTS = (0.05, 0.10, 0.20)
_COLUMNS = (
    "skill_id", "skill_version", "task_id", "passed", "error_kind", "latency_ms", "cost_usd", "judge_cost_usd", "judge_requests",
)  # fmt: skip
_TOKENS = ("prompt_tokens", "completion_tokens", "judge_tokens")  # the last are the judge's
_BUDGET = re.compile(r"(\d+(?:\.\d+)?)\s*(usd|h|min|tokens)")
Unit = Literal["usd", "s", "tokens"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one evaluation may use of one thing."""

    amount: float
    unit: Unit

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read ``20usd``, ``2h``, ``90min`` or ``10000tokens``.

        Raises:
            UsageError: it is none of these.
        """
        if not (found := _BUDGET.fullmatch(text.strip().lower())) or not float(found[1]):
            raise UsageError(f"a budget is an amount above 0 as 20usd, 2h, 90min or 10000tokens; got {text!r}")
        amount = float(found[1])
        if found[2] == "usd":
            return cls(amount, "usd")
        return cls(amount, "tokens") if found[2] == "tokens" else cls(amount * {"h": 3600, "min": 60}[found[2]], "s")


@dataclass(frozen=True, slots=True)
class StoredSample:
    """What a stored run says: its items with a verdict by skill, and what one item used, None where that is not known.

    `question_usd` is what one request to a judging model cost.
    """

    run_id: str
    skills: list[Counts]
    latency_s: float | None
    cost_usd: float | None
    tokens: float | None
    question_usd: float | None = None

    @property
    def together(self) -> Counts:
        """The tasks of all skills, each skill's its own."""
        passed, items = (np.concatenate([getattr(each, name) for each in self.skills]) for name in ("passed", "items"))
        return Counts(passed, items)

    @property
    def tells_flakiness(self) -> bool:
        """Whether a task has two runs."""
        return bool((self.together.items > 1).any())


class PlanRow(Model):
    """One choice: its power, the smallest effect it shows, and what one evaluation of all skills uses; None: not known."""

    tasks: int
    runs: int
    items: int
    power: Rate
    smallest_effect: float | None
    cost_usd: float | None
    seconds: float | None
    tokens: float | None
    within_budget: bool | None


class Plan(Model):
    """The choices for one effect, and where their figures come from. `cheapest` is the place in `rows` of the choice with fewest
    items that reaches `target` within the budget, `best` of the one that shows the smallest effect within it."""

    effect: float
    target: Rate
    skills: int
    base_rate: Rate
    flakiness: Rate
    source: str
    assumed: list[str]
    budget: str | None
    rows: list[PlanRow]
    cheapest: int | None
    best: int | None


class GateCheck(Model):
    """How often a gate that fails on worse would fail on two evaluations like the stored run: where nothing changed, and where
    one skill lost so much."""

    run_id: str
    skills: int
    tasks: int
    runs: float
    false_alarms: Rate
    found: dict[str, Rate]
    draws: int


def read_sample(store: Store, given: str) -> StoredSample:
    """The items of a stored run, or of ``latest``.

    Raises:
        UsageError: there is no such run, or none of its items has a verdict.
    """
    run_id = resolve_run_id(store, given, "nothing to plan from")
    store.manifest(run_id)
    items = store.item_table(run_id).select([*_COLUMNS, *_TOKENS]).to_pandas()
    judged = items[~items["error_kind"].isin(MISSING_KINDS)]
    if judged.empty:
        why = pruned_words(store, run_id) or f"run {run_id} has no item with a verdict"
        raise UsageError(f"{why}; plan from another run, or give --base-rate and --flakiness")
    skills = [_counts(of_skill) for _, of_skill in judged.groupby(["skill_id", "skill_version"])]
    *own, judging = _TOKENS
    asked = items["judge_requests"] > 0
    paid = _of_an_item(items["cost_usd"], items["judge_cost_usd"], asked)
    tokens = _of_an_item(items[own].sum(axis=1, min_count=1), items[judging], asked)
    latency = _mean(items["latency_ms"])
    return StoredSample(run_id, skills, None if latency is None else latency / 1000, paid, tokens, _per_request(items))


def make_plan(
    *,
    effect: float,
    target: float,
    skills: int,
    sample: StoredSample | None,
    base_rate: float | None = None,
    flakiness: float | None = None,
    tasks: int | None = None,
    budget: str | None = None,
    concurrency: int = 4,
) -> Plan:
    """Every choice of tasks and runs, or with `tasks` only of runs. What is given beats what the sample says.

    Raises:
        UsageError: a value is out of its range, or what the budget counts is not known.
    """
    _refuse_nonsense(effect, target, skills, base_rate, flakiness, tasks)
    limit = None if budget is None else Budget.parse(budget)
    chances, assumed = task_chances(sample, base_rate, flakiness)
    if effect >= chances.rate:
        raise UsageError(f"--effect is what is lost of the completion rate, {chances.rate:.4g}; got {effect:g}")
    sizes = (tasks,) if tasks else TASKS
    rows = [_row(chances, size, runs, effect, skills, sample, concurrency, limit) for size in sizes for runs in RUNS]
    if limit is not None and all(row.within_budget is None for row in rows):
        raise UsageError(f"what one item uses is not known, so --budget {budget} buys nothing; plan --from a run that knows it")
    inside = [index for index, row in enumerate(rows) if row.within_budget is not False]
    enough = [index for index in inside if rows[index].power >= target]
    shows = [index for index in inside if rows[index].smallest_effect is not None]
    return Plan(
        effect=effect,
        target=target,
        skills=skills,
        base_rate=chances.rate,
        flakiness=chances.flakiness,
        source=_source(sample, completion=base_rate, flakiness=flakiness),
        assumed=assumed,
        budget=budget,
        rows=rows,
        cheapest=min(enough, key=lambda index: rows[index].items, default=None),
        best=min(shows, key=lambda index: rows[index].smallest_effect or 0, default=None) if limit else None,
    )


def _source(sample: StoredSample | None, **given: float | None) -> str:
    """Where the rate and the flakiness come from; what is given beats what the run says."""
    own = [name for name, value in given.items() if value is not None]
    if sample is None or len(own) == len(given):
        return "the options"
    return f"run {sample.run_id}" + (f", {own[0]} from the options" if own else "")


def sample_of_reports(reports: Sequence[SkillCompletionReport]) -> StoredSample | None:
    """What reports say of the tasks; None where no item has a verdict."""
    by_skill = [[result for result in report.task_results if result.error_kind not in MISSING_KINDS] for report in reports]
    frames = [pd.DataFrame([{"task_id": each.task_id, "passed": each.passed} for each in runs]) for runs in by_skill if runs]
    return StoredSample("", [_counts(frame) for frame in frames], None, None, None) if frames else None


def check_gate(sample: StoredSample, *, flakiness: float | None = None) -> GateCheck:
    """The false alarms and the power of `report diff --fail-on worse` between two evaluations like the stored one."""
    assumed = FLAKINESS if flakiness is None else flakiness
    rates = {effect: gate_rate(sample.skills, effect, flakiness=assumed) for effect in (0.0, *CHECKED_EFFECTS)}
    return GateCheck(
        run_id=sample.run_id,
        skills=len(sample.skills),
        tasks=max(len(each.items) for each in sample.skills),
        runs=float(sample.together.items.mean()),
        false_alarms=rates.pop(0.0),
        found={f"{effect:g}": rate for effect, rate in rates.items()},
        draws=DRAWS,
    )


def task_chances(
    sample: StoredSample | None, rate: float | None = None, flakiness: float | None = None
) -> tuple[TaskChances, list[str]]:
    """The chances, and which of their figures nobody gave and no run tells."""
    assumed = []
    if flakiness is None and not (sample and sample.tells_flakiness):
        flakiness = FLAKINESS
        assumed.append(f"flakiness {FLAKINESS:g}")
    if sample is None and rate is None:
        rate = BASE_RATE
        assumed.append(f"base rate {BASE_RATE:g}")
    known = sample.together.chances(flakiness=flakiness) if sample else TaskChances(rate=BASE_RATE, flakiness=FLAKINESS)
    rate = known.rate if rate is None else rate
    flakiness = known.flakiness if flakiness is None else flakiness
    return TaskChances(rate=rate, flakiness=min(flakiness, 2 * rate * (1 - rate))), assumed


def _row(
    chances: TaskChances,
    tasks: int,
    runs: int,
    effect: float,
    skills: int,
    sample: StoredSample | None,
    concurrency: int,
    limit: Budget | None,
) -> PlanRow:
    items = tasks * runs * skills
    used = (sample.cost_usd, sample.latency_s, sample.tokens) if sample else (None, None, None)
    names: tuple[Unit, ...] = ("usd", "s", "tokens")
    total = {unit: None if each is None else items * each for unit, each in zip(names, used, strict=True)}
    total["s"] = None if total["s"] is None else total["s"] / concurrency
    of_limit = None if limit is None else total[limit.unit]
    return PlanRow(
        tasks=tasks,
        runs=runs,
        items=items,
        power=power(chances, tasks, runs, effect, skills=skills),
        smallest_effect=shown_effect(chances, tasks, runs, skills),
        cost_usd=total["usd"],
        seconds=total["s"],
        tokens=total["tokens"],
        within_budget=None if limit is None or of_limit is None else of_limit <= limit.amount,
    )


def shown_effect(chances: TaskChances, tasks: int, runs: int, skills: int) -> float | None:
    """The smallest loss that a comparison of so many skills finds in 80 %; None where it finds none."""
    found = smallest_effect(chances.spread(runs), tasks, significance=SIGNIFICANCE / skills)
    return None if found is None or found > chances.rate else found


def _refuse_nonsense(
    effect: float, target: float, skills: int, rate: float | None, flakiness: float | None, tasks: int | None
) -> None:
    for name, value in (("--effect", effect), ("--power", target), ("--base-rate", rate)):
        if value is not None and not 0 < value < 1:
            raise UsageError(f"{name} must lie between 0 and 1; got {value:g}")
    if flakiness is not None and not 0 <= flakiness <= 0.5:
        raise UsageError(f"--flakiness, the chance that two runs of a task differ, must lie from 0 to 0.5; got {flakiness:g}")
    for name, count in (("--skills", skills), ("--tasks", tasks)):
        if count is not None and count < 1:
            raise UsageError(f"{name} must be at least 1; got {count}")


def _counts(items: pd.DataFrame) -> Counts:
    by_task = items.groupby("task_id")["passed"].agg(["sum", "count"])
    return Counts(by_task["sum"].to_numpy(dtype=np.int64), by_task["count"].to_numpy(dtype=np.int64))


def _per_request(items: pd.DataFrame) -> float | None:
    """What a request to a judging model cost on average, in USD; None where none is known to have been paid."""
    asked = items[(items["judge_requests"] > 0) & items["judge_cost_usd"].notna()]
    paid = float(asked["judge_cost_usd"].sum())
    return paid / float(asked["judge_requests"].sum()) if paid else None


def _of_an_item(own: pd.Series[float], judging: pd.Series[float], asked: pd.Series[bool]) -> float | None:
    """What an item takes on average, with what judging it does, each over the items of which it is known: what is not known of
    the skill is not 0 because judging is known. None where neither is known of any item."""
    of_judging = judging.fillna(0.0)[judging.notna() | ~asked] if judging.notna().any() else judging
    means = [mean for mean in (_mean(own), _mean(of_judging)) if mean is not None]
    return sum(means) if means else None


def _mean(values: pd.Series[float]) -> float | None:
    known = values.dropna()
    return float(known.mean()) if len(known) else None
