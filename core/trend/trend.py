"""How one figure of a skill moved from run to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from eval_skills.core.errors import UsageError
from eval_skills.core.store.effects import LEVEL
from eval_skills.core.store.layout import started_at
from eval_skills.core.store.missing import name_missing
from eval_skills.core.store.store import COMPLETION, is_own, known_completion, without_parts
from eval_skills.core.text import nearest, skill_key, skill_key_of

if TYPE_CHECKING:
    from eval_skills.core.diff.model import DifferenceInterval
    from eval_skills.core.models import ConfidenceInterval
    from eval_skills.core.store import Store

METRICS = {
    "completionRate": "completion_rate",
    "errorRate": "error_rate",
    "p95Ms": "p95_ms",
    "compositeScore": "composite_score",
    "partialScore": "partial_score",
    "flakeRate": "flake_rate",
    "estimatedUSD": "estimated_usd",
    "judgeTokens": "judge_tokens",
    "judgeUSD": "judge_cost_usd",
    "unjudgedItems": "unjudged_items",
    "effect": "effect",
}
"""The figures that have a trend, and their columns in the table of reports.

`effect`, in [−1, 1], is that of an arm of an experiment with Agent Skills; see `core.store.effects`."""

_COST = "estimatedUSD"
_OF_A_COST = ("cost_unknown_items", "items")
_OF_VERDICTS = frozenset({"completionRate", "compositeScore", "partialScore", "flakeRate"})
"""The figures that are unknown where no item has a verdict on the skill."""

_BOUNDS = (*COMPLETION, "completion_upper_bound")
_INTERVAL = ("ci_lower", "ci_upper", "ci_level", "ci_method")
_EFFECT = ("effect_arm", "effect_lower", "effect_upper", "effect_least", "effect_most")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """The figure in one run, which began at `timestamp`, however late it was resumed.

    `value` is None where it is unknown, as completion is where no item has a verdict on the skill; `interval` is that of a
    completion rate or effect, else None.

    `tasks` is how many tasks the figure rests on, where that is known. `most` is what the completion rate would be, had all items
    without a verdict on the skill passed; None where there are none, and of other figures. Of an effect, `least` and `most` are
    what it would be, had they all gone against, or in favour of, the Agent Skill. `unknown_items` of the `items` are missing in a
    cost, which is then the least that it can be; None where none is, and of other figures.
    """

    timestamp: datetime
    run_id: str
    skill_version: str
    benchmark_version: str | None
    value: float | None
    interval: ConfidenceInterval | DifferenceInterval | None = None
    tasks: int | None = None
    most: float | None = None
    least: float | None = None
    unknown_items: int | None = None
    items: int | None = None

    @property
    def whole_value(self) -> float | None:
        """The value; None where it is a sum of which a part is unknown, that says nothing beside another one."""
        return None if self.unknown_items else self.value


Trend = dict[str, list[TrendPoint]]
"""The points by benchmark id, oldest first: figures of different benchmarks are not one line."""


@dataclass(frozen=True, slots=True)
class Reported:
    """The reports of the store at `path`, as far as trends are made of them: read once for the trends of several metrics.

    `others` are the skills, as id and version, all of whose reports are in no trend: of recorded runs, or of later work.
    """

    path: str
    rows: list[dict[str, Any]]
    others: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(cls, store: Store, *metrics: str) -> Reported:
        """The reports of all runs that are not later work on others, oldest first, with what the trends of these metrics need."""
        name_missing(store, "reports")
        names = ("run_id", "skill_id", "skill_version", "benchmark_id", "benchmark_version", "tasks", "origin")
        columns = {*names, *_BOUNDS, *_OF_A_COST, *_INTERVAL, *_EFFECT, *(METRICS[metric] for metric in metrics)}
        rows = store.tables.rows("reports", columns)
        whole = without_parts(rows, lambda row: (row["skill_id"], row["benchmark_id"]), lambda row: row["origin"])
        store.tables.name_to_come(row["run_id"] for row in whole)
        own = {(row["skill_id"], row["skill_version"]) for row in rows if is_own(row["origin"])}
        others = frozenset((row["skill_id"], row["skill_version"]) for row in rows) - own
        return cls(store.path, sorted(whole, key=lambda row: (row["run_id"], row["skill_version"])), others)

    def about(self, metric: str) -> list[dict[str, Any]]:
        """The rows that a trend of this metric is made of."""
        return [row for row in self.rows if row["effect_arm"] is not None] if metric == "effect" else self.rows

    def trend(
        self,
        skill: str,
        *,
        metric: str = "completionRate",
        benchmark: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Trend:
        """As the function `trend`, of one of the metrics for which they were read.

        Raises:
            UsageError: there is no report of that skill or of that benchmark for it, at any time.
        """
        rows = self.about(metric)
        if not any(_is_of(skill, row["skill_id"], row["skill_version"]) for row in rows):
            raise self._no_such_skill(skill, metric, rows)
        return _by_benchmark(_matching(rows, skill, benchmark, self.path), metric, since, until)

    def _no_such_skill(self, skill: str, metric: str, rows: list[dict[str, Any]]) -> UsageError:
        if any(_is_of(skill, *other) for other in self.others):
            why = "there are runs of it from traces, or later work on other runs, which are in no trend"
            return UsageError(f"no report of {skill!r} for a trend in the store {self.path}: {why}; history --all shows them")
        known = sorted({skill_key_of(row) for row in rows})
        return _unknown("skill", skill, known, f"{nothing_found(metric)} of {skill!r} in the store {self.path}")


def nothing_found(metric: str) -> str:
    """What there is none of where a trend of this metric is empty: few reports are of an experiment, which has an effect."""
    return "no measured effect" if metric == "effect" else "no report"


def trend(
    store: Store,
    skill: str,
    *,
    metric: str = "completionRate",
    benchmark: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Trend:
    """The `metric` (a key of `METRICS`) of a skill in every run that reported it and began since ≤ moment < until.

    `skill` and `benchmark` are an ``id`` (every version) or ``id@version``. Runs that are later work on others (scored again,
    confirming, monitoring) are left out of trends, and runs of a part of a benchmark where it also has whole ones.

    Raises:
        UsageError: the metric is unknown, `since` is not before `until`, or the store has no report of that skill or of that
            benchmark for it, at any time.
    """
    _check(metric, since, until)
    return Reported.of(store, metric).trend(skill, metric=metric, benchmark=benchmark, since=since, until=until)


def every_trend(
    store: Store,
    *,
    metric: str = "completionRate",
    benchmark: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> dict[str, Trend]:
    """The trend of every skill in the store by its id, in their order; without those that have no point. See `trend`.

    Raises:
        UsageError: the metric is unknown, `since` is not before `until`, or no report is of that benchmark.
    """
    _check(metric, since, until)
    rows = Reported.of(store, metric).about(metric)
    if benchmark is not None and not any(map(_is_on(benchmark), rows)):
        raise _unknown("benchmark", benchmark, sorted({row["benchmark_id"] for row in rows}), f"no report on {benchmark!r}")
    chosen = [row for row in rows if benchmark is None or _is_on(benchmark)(row)]
    ids = sorted({row["skill_id"] for row in chosen})
    found = {skill: _by_benchmark([row for row in chosen if row["skill_id"] == skill], metric, since, until) for skill in ids}
    return {skill: each for skill, each in found.items() if each}


def _check(metric: str, since: datetime | None, until: datetime | None) -> None:
    check_metric(metric)
    if since is not None and until is not None and since >= until:
        raise UsageError(f"the trend would end at {until.isoformat()} and begin at {since.isoformat()}; since must come first")


def _by_benchmark(rows: list[dict[str, Any]], metric: str, since: datetime | None, until: datetime | None) -> Trend:
    found: Trend = {}
    for row in rows:
        began = started_at(row["run_id"])
        # the beginning of a run is known to the second
        if (since is None or began >= since.replace(microsecond=0)) and (until is None or began < until):
            found.setdefault(row["benchmark_id"], []).append(_point(row, metric))
    return dict(sorted(found.items()))


def _is_on(benchmark: str) -> Callable[[dict[str, Any]], bool]:
    return lambda row: benchmark in (row["benchmark_id"], f"{row['benchmark_id']}@{row['benchmark_version']}")


def check_metric(metric: str) -> None:
    """Raise a UsageError for a metric that has no trend."""
    if metric not in METRICS:
        raise UsageError(f"unknown metric {metric!r}{nearest(metric, METRICS)}; known are {', '.join(METRICS)}")


def lines(points: Sequence[TrendPoint]) -> list[list[TrendPoint]]:
    """The points as lines that can be read from left to right.

    It is one line where each version of the skill ended before the next began, else one for each version, in the order in which
    they first ran: versions that ran side by side did not follow from each other.
    """
    turns = [version for version, _ in groupby(points, key=lambda point: point.skill_version)]
    if len(turns) == len(set(turns)) and len({point.run_id for point in points}) == len(points):
        return [list(points)] if points else []
    return [[point for point in points if point.skill_version == version] for version in dict.fromkeys(turns)]


def _is_of(skill: str, skill_id: str, version: str) -> bool:
    return skill in (skill_id, skill_key(skill_id, version))


def _matching(rows: list[dict[str, Any]], skill: str, benchmark: str | None, place: str) -> list[dict[str, Any]]:
    of_skill = [row for row in rows if _is_of(skill, row["skill_id"], row["skill_version"])]
    if benchmark is None:
        return of_skill
    found = [row for row in of_skill if _is_on(benchmark)(row)]
    if not found:
        known = sorted({row["benchmark_id"] for row in of_skill})
        raise _unknown("benchmark", benchmark, known, f"no report of {skill!r} on {benchmark!r} in the store {place}")
    return found


def _unknown(kind: str, name: str, known: list[str], what: str) -> UsageError:
    hint = nearest(name, [*known, *(key.partition("@")[0] for key in known)])
    shown = ", ".join(known[:10]) + (f" and {len(known) - 10} more" if len(known) > 10 else "")
    return UsageError(f"{what}{hint}; {kind}s there: {shown or 'none'}")


def _point(row: dict[str, Any], metric: str) -> TrendPoint:
    from eval_skills.core.diff.model import DifferenceInterval
    from eval_skills.core.models import ConfidenceInterval

    names = ("run_id", "skill_version", "benchmark_version", "tasks")
    found = {"timestamp": started_at(row["run_id"]), **{name: row[name] for name in names}}
    if metric in _OF_VERDICTS and known_completion(row) is None:
        return TrendPoint(**found, value=None)
    interval: ConfidenceInterval | DifferenceInterval | None = None
    least, most = None, None
    if metric == "effect":
        least, most = row["effect_least"], row["effect_most"]
    if metric == "effect" and row["effect_lower"] is not None:
        interval = DifferenceInterval(lower=row["effect_lower"], upper=row["effect_upper"], level=LEVEL, method="t")
    if metric == "completionRate" and row["missing_items"]:
        most = row["completion_upper_bound"]
    if metric == "completionRate" and row["ci_lower"] is not None and row["ci_upper"] is not None:
        interval = ConfidenceInterval(
            lower=row["ci_lower"], upper=row["ci_upper"], level=row["ci_level"] or 0.95, method=row["ci_method"] or ""
        )
    unknown = row["cost_unknown_items"] if metric == _COST else None
    return TrendPoint(
        **found,
        value=row[METRICS[metric]],
        interval=interval,
        most=most,
        least=least,
        unknown_items=unknown or None,
        items=row["items"] if unknown else None,
    )
