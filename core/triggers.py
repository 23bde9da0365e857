"""Whether an agent loads an Agent Skill when it should, and only then, from the loads of each run of each query.

A run in which nothing was loaded and which did not come to its end is *missing*: what the agent would have done is unknown, and
a query that should not load the skill must not pass for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from pydantic import Field

from eval_skills.core.models import TaskResult
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.models.report import ConfidenceInterval
from eval_skills.core.statistics.rates import completion_interval, widened_wilson
from eval_skills.core.text import plural

TRIGGERED = 0.5
"""A query loads the Agent Skill where at least this share of its observed runs does."""


class Query(Model):
    """A query, and whether it should load the Agent Skill."""

    id: str
    query: str
    should_trigger: bool


class QueryResult(Model):
    """One query: how many of its `observed` runs loaded the Agent Skill, and how many runs are `missing`.

    `interval` is that of the load rate; of three runs it is wide, and a single query is no evidence. `passed` says whether the
    query did as it should; None where no run was observed. `others` are the neighbours that were loaded, with the number of runs.
    """

    id: str
    query: str
    should_trigger: bool
    loaded: int
    observed: int
    missing: int
    interval: ConfidenceInterval
    passed: bool | None
    others: dict[str, int] = Field(default_factory=dict)

    @property
    def rate(self) -> float | None:
        """The load rate, of the observed runs."""
        return self.loaded / self.observed if self.observed else None


class TriggerRate(Model):
    """A rate over queries, with the query as the unit; None where there is nothing to divide by.

    `lower_bound` and `upper_bound` are what it would be had all missing runs gone one way or the other.
    """

    rate: Rate | None
    interval: ConfidenceInterval | None
    lower_bound: Rate | None
    upper_bound: Rate | None


class Triggers(Model):
    """How well the description of an Agent Skill triggers it.

    `recall` is the share of runs of queries that should load it and did, `false_alarms` that of the others that did as well, and
    `precision` the share of loads that should have been. `confusion` counts by neighbour the runs of queries for this skill that
    loaded the neighbour and not this one.
    """

    skill: str
    neighbours: list[str]
    agent: str
    model: str | None
    run_id: str
    queries: list[QueryResult]
    recall: TriggerRate
    false_alarms: TriggerRate
    precision: TriggerRate
    confusion: dict[str, int]
    missing: int
    remarks: list[str] = Field(default_factory=list)

    @property
    def failed(self) -> list[QueryResult]:
        """The queries that did not do as they should."""
        return [each for each in self.queries if each.passed is False]


def trigger_rates(
    results: Iterable[TaskResult],
    queries: Sequence[Query],
    *,
    skill: str,
    neighbours: Sequence[str] = (),
    agent: str = "",
    model: str | None = None,
    run_id: str = "",
) -> Triggers:
    """The figures of all queries, from the items of a run whose tasks have the queries' ids."""
    runs: dict[str, list[TaskResult]] = {}
    for item in results:
        runs.setdefault(item.task_id, []).append(item)
    found = [_result(query, runs.get(query.id, []), skill) for query in queries]
    wanted = [each for each in found if each.should_trigger]
    unwanted = [each for each in found if not each.should_trigger]
    confusion = sum((Counter(_taken(runs.get(each.id, []), skill)) for each in wanted), Counter[str]())
    return Triggers(
        skill=skill,
        neighbours=list(neighbours),
        agent=agent,
        model=model,
        run_id=run_id,
        queries=found,
        recall=_rate(wanted),
        false_alarms=_rate(unwanted),
        precision=_precision(found),
        confusion=dict(confusion.most_common()),
        missing=sum(each.missing for each in found),
        remarks=list(_remarks(found, wanted, unwanted)),
    )


def _result(query: Query, runs: Sequence[TaskResult], skill: str) -> QueryResult:
    loads = [load for run in runs if (load := _loads(run)) is not None]
    loaded = sum(skill in load for load in loads)
    rate = loaded / len(loads) if loads else None
    lower, upper = widened_wilson(loaded, len(loads)) if loads else (0.0, 1.0)
    return QueryResult(
        id=query.id,
        query=query.query,
        should_trigger=query.should_trigger,
        loaded=loaded,
        observed=len(loads),
        missing=len(runs) - len(loads),
        interval=ConfidenceInterval(lower=lower, upper=upper, method="wilson_widened"),
        passed=None if rate is None else (rate >= TRIGGERED) == query.should_trigger,
        others=dict(Counter(name for load in loads for name in set(load) - {skill}).most_common()),
    )


def _loads(run: TaskResult) -> list[str] | None:
    """What a run loaded; None where that is unknown: nothing yet, and it did not come to its end."""
    ended = run.status in {"pass", "fail"}
    return run.skills_loaded if ended or run.skills_loaded else None


def _taken(runs: Sequence[TaskResult], skill: str) -> Iterable[str]:
    for run in runs:
        load = _loads(run)
        if load and skill not in load:
            yield from set(load)


def _rate(queries: Sequence[QueryResult]) -> TriggerRate:
    return _over([(each.loaded, each.observed, each.missing) for each in queries])


def _over(counts: Sequence[tuple[int, int, int]]) -> TriggerRate:
    """A rate of hits, of which each query has some of so many observed runs, besides missing ones."""
    known = [(hits, observed) for hits, observed, _ in counts if observed]
    hits, observed, missing = (sum(each[side] for each in counts) for side in range(3))
    if not observed + missing:
        return TriggerRate(rate=None, interval=None, lower_bound=None, upper_bound=None)
    interval = None
    if known:
        passed, items = (np.array([each[side] for each in known], dtype=np.int64) for side in range(2))
        interval = completion_interval(passed, items)
    total = observed + missing
    return TriggerRate(
        rate=hits / observed if observed else None,
        interval=interval,
        lower_bound=hits / total,
        upper_bound=(hits + missing) / total,
    )


def _precision(queries: Sequence[QueryResult]) -> TriggerRate:
    """Of the loads, those of queries that should load it. Missing runs count at the bounds as loads of the one kind alone."""
    loads = [(each.loaded if each.should_trigger else 0, each.loaded, 0) for each in queries]
    found = _over(loads)
    right, wrong = (sum(each.loaded for each in queries if each.should_trigger is side) for side in (True, False))
    more_right, more_wrong = (sum(each.missing for each in queries if each.should_trigger is side) for side in (True, False))
    lower, upper = right + wrong + more_wrong, right + wrong + more_right
    return found.model_copy(
        update={
            "lower_bound": right / lower if lower else None,
            "upper_bound": (right + more_right) / upper if upper else None,
        }
    )


def _remarks(found: Sequence[QueryResult], wanted: Sequence[QueryResult], unwanted: Sequence[QueryResult]) -> Iterable[str]:
    if missing := sum(each.missing for each in found):
        yield f"{plural(missing, 'run')} did not come to an end without a load: not counted; the bounds take them either way"
    if not wanted:
        yield "no query should load the Agent Skill, so nothing is known of its recall"
    if not unwanted:
        yield "every query should load the Agent Skill, so nothing is known of false alarms; add near-misses"
