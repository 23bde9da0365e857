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
from eval_skills.core.models.report import ConfidenceInterval, commonest_error
from eval_skills.core.statistics.rates import completion_interval, widened_wilson
from eval_skills.core.text import plural

TRIGGERED = 0.5
"""A query loads the Agent Skill where at least this share of its observed runs does."""


ENDED_BY_LOAD = "skill_loaded"
"""The finish reason of an agent that was ended because it loaded an Agent Skill."""


class Query(Model):
    """A query, and whether it should load the Agent Skill."""

    id: str
    query: str
    should_trigger: bool


class QueryResult(Model):
    """One query: how many of its `observed` runs loaded the Agent Skill, and how many runs are `missing`.

    `interval` is that of the load rate; of three runs it is wide, and a single query is not evidence. `passed` says whether the
    query did as it should; None where no run was observed. `others` are the neighbours that were loaded, with the number of runs.
    Of the missing runs, `silent` came to their end, but what they loaded is unknown, and `unmade` were planned and are
    not there. Of the observed ones, `nothing` counts those that loaded no Agent Skill at all, and `cut` those that were ended
    because a neighbour was loaded, and this skill was not yet.
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
    silent: int = 0
    unmade: int = 0
    nothing: int = 0
    cut: int = 0

    @property
    def rate(self) -> float | None:
        """The load rate, of the observed runs."""
        return self.loaded / self.observed if self.observed else None

    @property
    def left_open(self) -> bool:
        """Whether the missing runs could have turned what an observed query did; False where no run was observed."""
        if self.passed is None:
            return False
        runs = self.observed + self.missing
        return (self.loaded / runs >= TRIGGERED) != ((self.loaded + self.missing) / runs >= TRIGGERED)


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

    @property
    def unknown(self) -> list[QueryResult]:
        """The queries of which no run was observed."""
        return [each for each in self.queries if each.passed is None]


def trigger_rates(
    results: Iterable[TaskResult],
    queries: Sequence[Query],
    *,
    skill: str,
    neighbours: Sequence[str] = (),
    agent: str = "",
    model: str | None = None,
    run_id: str = "",
    planned: int = 0,
) -> Triggers:
    """The figures of all queries, from the items of a run whose tasks have the queries' ids.

    `planned` is how often each query was to be asked: runs that are not there are missing, too.
    """
    runs: dict[str, list[TaskResult]] = {}
    for item in results:
        runs.setdefault(item.task_id, []).append(item)
    found = [_result(query, runs.get(query.id, []), skill, planned) for query in queries]
    wanted = [each for each in found if each.should_trigger]
    unwanted = [each for each in found if not each.should_trigger]
    broken = [run for each in found for run in runs.get(each.id, []) if _broke_off(run)]
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
        remarks=list(_remarks(found, wanted, unwanted, broken)),
    )


def _result(query: Query, runs: Sequence[TaskResult], skill: str, planned: int) -> QueryResult:
    loads = [load for run in runs if (load := loads_of(run)) is not None]
    loaded = sum(skill in load for load in loads)
    rate = loaded / len(loads) if loads else None
    lower, upper = widened_wilson(loaded, len(loads)) if loads else (0.0, 1.0)
    unmade = max(0, planned - len(runs))
    return QueryResult(
        id=query.id,
        query=query.query,
        should_trigger=query.should_trigger,
        loaded=loaded,
        observed=len(loads),
        missing=len(runs) + unmade - len(loads),
        interval=ConfidenceInterval(lower=lower, upper=upper, method="wilson_widened"),
        passed=None if rate is None else (rate >= TRIGGERED) == query.should_trigger,
        others=dict(Counter(name for load in loads for name in set(load) - {skill}).most_common()),
        silent=sum(_is_silent(run) for run in runs),
        unmade=unmade,
        nothing=sum(not load for load in loads),
        cut=sum(_was_cut(run, skill) for run in runs),
    )


def loads_of(run: TaskResult) -> list[str] | None:
    """What a run loaded; None where that is unknown: the agent does not say, a call of it is not understood, or it broke off
    before a load."""
    return run.skills_loaded if _ended(run) or run.skills_loaded else None


def as_observed(results: Iterable[TaskResult], queries: Sequence[Query], skill: str) -> list[TaskResult]:
    """The items with the verdict that the loads give, so that a comparison counts what the rates count.

    An agent that broke off after a load has decided; one that broke off before it has no verdict on the skill, whatever its
    error or time limit says of the agent.
    """
    should = {query.id: query.should_trigger for query in queries}
    return [_as_observed(item, should[item.task_id], skill) for item in results if item.task_id in should]


def _as_observed(item: TaskResult, should: bool, skill: str) -> TaskResult:
    loads = loads_of(item)
    if loads is None:
        return item.model_copy(update={"status": "error", "error_kind": "infra", "passed": False, "score": None})
    passed = (skill in loads) is should
    told = {"status": "pass" if passed else "fail", "error_kind": None, "passed": passed, "score": float(passed)}
    return item.model_copy(update=told)


def _ended(run: TaskResult) -> bool:
    return run.status in {"pass", "fail"}


def _is_silent(run: TaskResult) -> bool:
    """Whether the agent answered, and what it loaded is unknown, which the scorer `skill_loaded` refuses with an error."""
    return run.skills_loaded is None and (_ended(run) or run.error_kind == "scorer")


def _broke_off(run: TaskResult) -> bool:
    return loads_of(run) is None and not _is_silent(run)


def _was_cut(run: TaskResult, skill: str) -> bool:
    return run.finish_reason == ENDED_BY_LOAD and bool(run.skills_loaded) and skill not in (run.skills_loaded or ())


def _taken(runs: Sequence[TaskResult], skill: str) -> Iterable[str]:
    for run in runs:
        load = loads_of(run)
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


def _remarks(
    found: Sequence[QueryResult],
    wanted: Sequence[QueryResult],
    unwanted: Sequence[QueryResult],
    broken: Sequence[TaskResult],
) -> Iterable[str]:
    silent, unmade, cut = (sum(getattr(each, name) for each in found) for name in ("silent", "unmade", "cut"))
    if broken:
        yield (
            f"{plural(len(broken), 'run')} broke off before a load ({commonest_error(broken)}): not counted; the bounds take "
            "them either way"
        )
    if silent:
        yield (
            f"{plural(silent, 'run')} came to an end, but what was loaded is unknown (the agent does not say it, or a call that "
            "reads among the skills is not understood): not counted; the bounds take them either way"
        )
    if unmade:
        yield f"{plural(unmade, 'run')} of those that were planned were not made: not counted; the bounds take them either way"
    if cut:
        yield (
            f"{plural(cut, 'run')} ended when a neighbour was loaded: the first load counts, and whether the Agent Skill would "
            "have been loaded after it is unknown"
        )
    if not wanted:
        yield "no query should load the Agent Skill, so nothing is known of its recall"
    if not unwanted:
        yield "every query should load the Agent Skill, so nothing is known of false alarms; add near-misses"
