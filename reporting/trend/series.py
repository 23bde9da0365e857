"""A trend as it is drawn: a line per version of the skill, vertical lines for events, and the unit and format of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby, pairwise
from typing import Literal

from eval_skills.core.trend.trend import Trend, TrendPoint
from eval_skills.reporting import numbers


@dataclass(frozen=True, slots=True)
class Annotation:
    """A moment of a trend that is worth a vertical line, and what is written on it."""

    timestamp: datetime
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line: where a version of the skill first ran, where the benchmark's version changed, or an annotation."""

    timestamp: datetime
    label: str
    kind: Literal["version", "benchmark", "note"]


Annotations = Mapping[str, Sequence[Annotation]]
"""By benchmark id: they belong to one trend each."""


@dataclass(frozen=True, slots=True)
class Series:
    """The points of one benchmark, oldest first, all in UTC, and its marks, oldest first."""

    benchmark: str
    points: list[TrendPoint]
    marks: list[Mark]

    @property
    def versions(self) -> list[str]:
        """The versions of the skill in the order they first ran."""
        return list(dict.fromkeys(point.skill_version for point in self.points))

    @property
    def successive(self) -> bool:
        """Whether each version ended before the next began: then a line may lead from one to the next, and does not zigzag."""
        turns = [version for version, _ in groupby(self.points, key=lambda point: point.skill_version)]
        moments = [(old.timestamp, new.timestamp) for old, new in pairwise(self.points) if old.skill_version != new.skill_version]
        return len(turns) == len(set(turns)) and all(old < new for old, new in moments)


def trend_series(trend: Trend, annotations: Annotations | None = None) -> list[Series]:
    """The trend by benchmark, in its order; a benchmark without a point has no series, whatever is annotated of it."""
    noted = annotations or {}
    return [_series(benchmark, points, noted.get(benchmark, ())) for benchmark, points in trend.items() if points]


def utc(moment: datetime) -> datetime:
    """The moment in UTC, which is also what one without a time zone is taken for."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _series(benchmark: str, given: Sequence[TrendPoint], annotations: Sequence[Annotation]) -> Series:
    points = [replace(point, timestamp=utc(point.timestamp)) for point in given]
    notes = [Mark(utc(each.timestamp), each.label, "note") for each in annotations]
    marks = sorted([*_version_marks(points), *_benchmark_marks(points), *notes], key=lambda mark: mark.timestamp)
    return Series(benchmark, points, [_merged(list(same)) for _, same in groupby(marks, key=lambda mark: mark.timestamp)])


def _merged(marks: list[Mark]) -> Mark:
    """Marks of one moment as one line; its look is that of the last, and an annotation is the last of all."""
    return replace(marks[-1], label=" · ".join(mark.label for mark in marks))


def _version_marks(points: Sequence[TrendPoint]) -> Iterator[Mark]:
    seen = {points[0].skill_version}
    for point in points:
        if point.skill_version not in seen:
            seen.add(point.skill_version)
            yield Mark(point.timestamp, point.skill_version, "version")


def _benchmark_marks(points: Sequence[TrendPoint]) -> Iterator[Mark]:
    known = [point for point in points if point.benchmark_version is not None]
    for old, new in pairwise(known):
        if old.benchmark_version != new.benchmark_version:
            yield Mark(new.timestamp, f"benchmark {new.benchmark_version}", "benchmark")


Unit = Literal["rate", "score", "ms", "usd", "count", "difference"]

SHARES = frozenset({"completionRate", "errorRate", "flakeRate", "partialScore", "compositeScore"})
"""What lies in [0, 1], so that a line of it begins at 0 and ends at 1."""

BOUNDED = frozenset({"completionRate", "effect"})
"""The figures that come with an interval."""

_UNITS: dict[str, Unit] = {
    "completionRate": "rate",
    "errorRate": "rate",
    "flakeRate": "rate",
    "p95Ms": "ms",
    "estimatedUSD": "usd",
    "judgeTokens": "count",
    "judgeUSD": "usd",
    "unjudgedItems": "count",
    "effect": "difference",
}
_SHOWN: dict[Unit, Callable[[float | None], str]] = {
    "rate": numbers.rate,
    "score": numbers.score,
    "ms": numbers.milliseconds,
    "usd": numbers.usd,
    "count": numbers.count,
    "difference": numbers.points,
}


def unit(metric: str) -> Unit:
    """What the values of the metric are; a metric that is not known here has scores."""
    return _UNITS.get(metric, "score")


def value_text(point: TrendPoint, shown: Callable[[float | None], str]) -> str:
    """The value; with what it could have been where items have no verdict, ``55.0 % (to 95.0 %)``, or what is unknown of it."""
    if point.value is not None and point.unknown_items:
        return numbers.at_least(shown(point.value), point.unknown_items, point.items or point.unknown_items)
    if point.most is None:
        return shown(point.value)
    least = "" if point.least is None else f"{shown(point.least)} "
    return f"{shown(point.value)} ({least}to {shown(point.most)})"


def shown(metric: str) -> Callable[[float | None], str]:
    """How a value of the metric is written for people."""
    return _SHOWN[unit(metric)]
