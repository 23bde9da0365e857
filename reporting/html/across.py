"""What an HTML report shows across its skills: the matrix of skills × tasks, failures by their reason, and quality against time
and cost.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.report import is_missing
from eval_skills.reporting import numbers
from eval_skills.reporting.escape import visible
from eval_skills.reporting.judging import NOT_KNOWN, judging_of
from eval_skills.reporting.sections import reasons

Json = dict[str, Any]

NOT_ASKED = "-"
GROUPS_SHOWN = 200
"""Of further groups the page says how many there are."""

NAME_LENGTH = 100


# Totals


def totals(reports: Sequence[SkillCompletionReport]) -> list[tuple[str, str]]:
    """What all skills together did and cost, as titles and texts. What the skills cost, and what models that judge or play users
    cost, stand apart; what is not known is said, never counted as 0.
    """
    counts = [report.summary.counts for report in reports]
    ends = [each for each in counts if each is not None]
    passed, failed, errors, timeouts = (
        sum(getattr(each, name) for each in ends) for name in ("passed", "fail", "error", "timeout")
    )
    known = len(ends) == len(counts)
    return [
        ("Items", numbers.count(sum(report.summary.items or 0 for report in reports)) if known else NOT_KNOWN),
        ("Passed, failed, errors, timeouts", f"{passed:,}, {failed:,}, {errors:,}, {timeouts:,}" if known else NOT_KNOWN),
        ("Cost of the skills", _cost_of_skills(reports)),
        *_cost_of_earlier_attempts(reports),
        (
            "Cost of judging",
            _cost_of_models([judging.cost_usd for each in reports if (judging := judging_of(each))], "no model judged"),
        ),
        *_cost_of_users(reports),
    ]


def _cost_of_skills(reports: Sequence[SkillCompletionReport]) -> str:
    """The sum over the items that know their cost, and how many do not."""
    costs = [report.token_cost.estimated_usd for report in reports]
    known = [cost for cost in costs if cost is not None]
    if not known:
        return NOT_KNOWN
    items = [report.summary.items or len(report.task_results) for report in reports]
    open_items = sum(
        report.cost_unknown_items if cost is not None else count
        for report, cost, count in zip(reports, costs, items, strict=True)
    )
    return numbers.at_least(numbers.usd(math.fsum(known)), open_items, sum(items)) if open_items else _partly(known, len(costs))


def _cost_of_earlier_attempts(reports: Sequence[SkillCompletionReport]) -> list[tuple[str, str]]:
    """What attempts before each item's last one cost, where any of that is known."""
    found = [report.token_cost.earlier_attempts for report in reports if report.token_cost.earlier_attempts is not None]
    known = [each.estimated_usd for each in found if each.estimated_usd is not None]
    unknown, attempts = sum(each.cost_unknown_attempts for each in found), sum(each.attempts for each in found)
    shown = numbers.at_least(numbers.usd(math.fsum(known)), unknown, attempts, "attempt")
    return [("Cost of earlier attempts, beside it", shown)] if known else []


def _partly(known: Sequence[float], of: int) -> str:
    return numbers.at_least(numbers.usd(math.fsum(known)), of - len(known), of, "skill")


def _cost_of_models(costs: Sequence[float | None], none: str) -> str:
    known = [cost for cost in costs if cost is not None]
    if not costs:
        return none
    return _partly(known, len(costs)) if known else NOT_KNOWN


def _cost_of_users(reports: Sequence[SkillCompletionReport]) -> list[tuple[str, str]]:
    costs = [report.token_cost.user_cost_usd for report in reports if report.token_cost.user_requests]
    return [("Cost of playing users", _cost_of_models(costs, ""))] if costs else []


# The matrix


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """How the skills did one task: a code for each, in the order of the reports.

    A code is the outcome and the runs: ``p3`` passed in all three, ``p2/3`` in two of them, the third being without a verdict on
    the skill, ``m2/3`` in two of them, ``f3``, ``e3`` and ``t3`` in none: a check failed, or all ended in errors, or in timeouts.
    ``-`` was not asked.
    """

    benchmark_id: str
    task_id: str
    codes: tuple[str, ...]

    @property
    def kind(self) -> str | None:
        """``all``: no run of any skill passed; ``alone``: one skill did not pass every run, and all others did; ``only``: one
        skill passed a run, and no other did.

        None where it is none of these, and where fewer than two skills were asked.
        """
        asked = [code for code in self.codes if code != NOT_ASKED]
        passed, failed = (sum(code[0] in kinds for code in asked) for kinds in ("p", "fet"))
        if len(asked) < 2 or passed == len(asked):
            return None
        if failed == len(asked):
            return "all"
        if passed == len(asked) - 1:
            return "alone"
        return "only" if failed == len(asked) - 1 else None


def matrix_rows(reports: Sequence[SkillCompletionReport]) -> list[MatrixRow]:
    """A row for each task, in the order first asked; empty where no two of the reports were asked the same task."""
    items: dict[tuple[str, str], dict[int, list[TaskResult]]] = {}
    for skill, report in enumerate(reports):
        for item in report.task_results:
            items.setdefault((report.benchmark_id, item.task_id), {}).setdefault(skill, []).append(item)
    if not any(len(by_skill) > 1 for by_skill in items.values()):
        return []
    count = range(len(reports))
    return [MatrixRow(*key, tuple(_code(by_skill.get(skill, ())) for skill in count)) for key, by_skill in items.items()]


def _code(items: Sequence[TaskResult]) -> str:
    if not items:
        return NOT_ASKED
    passed, runs = sum(item.passed for item in items), len(items)
    if passed:  # what has no verdict does not make a task flaky
        outcome = "p" if passed == sum(not is_missing(item) for item in items) else "m"
        return f"p{runs}" if passed == runs else f"{outcome}{passed}/{runs}"
    statuses = {item.status for item in items}
    outcome = "f" if "fail" in statuses or len(statuses) > 1 else "e" if "error" in statuses else "t"
    return f"{outcome}{runs}"


# Failures by their reason


@dataclass(slots=True)
class FailureGroup:
    """The items that did not pass for one reason: the code of a reason, or the kind of an error.

    `kind` is ``reason`` or ``error``, `items` counts by the index of the skill, `tasks` are those of any skill. The example is
    the first of them: the index of its skill, and the item.
    """

    kind: str
    name: str
    example: tuple[int, TaskResult]
    items: Counter[int] = field(default_factory=Counter)
    tasks: set[tuple[str, str]] = field(default_factory=set)

    @property
    def key(self) -> str:
        """Its name in addresses: ``reason:NOT_EQUAL``, ``error:infra``."""
        return f"{self.kind}:{self.name}"


def why_failed(item: TaskResult) -> list[str]:
    """The keys of the groups that an item belongs to; none for one that passed.

    An item whose check failed belongs to each code of its reasons, without remarks where there are others; one that ended in an
    error to the kind of that error alone.
    """
    if item.passed:
        return []
    if item.status != "fail":
        return [f"error:{item.error_kind or item.status}"]
    telling = [reason for reason in item.reasons if not reason.informational] or item.reasons
    names = dict.fromkeys(visible(reason.code)[:NAME_LENGTH] for reason in telling)
    unexplained = f"error:{item.error_kind}" if item.error_kind else "reason:no reason recorded"
    return [f"reason:{name}" for name in names] or [unexplained]


def failure_groups(reports: Sequence[SkillCompletionReport]) -> list[FailureGroup]:
    """All groups, those with most items first, then by name. An item with several reasons counts in each of their groups."""
    groups: dict[str, FailureGroup] = {}
    for skill, report in enumerate(reports):
        for item in report.task_results:
            for key in why_failed(item):
                kind, _, name = key.partition(":")
                group = groups.setdefault(key, FailureGroup(kind, name, (skill, item)))
                group.items[skill] += 1
                group.tasks.add((report.benchmark_id, item.task_id))
    return sorted(groups.values(), key=lambda group: (-group.items.total(), group.key))


def groups_json(groups: Iterable[FailureGroup], text: Callable[[str], int | None]) -> list[Json]:
    """The groups as the page's script reads them; `skills` are pairs of a skill's index and its items, most items first.

    `text` gives the index of a text.
    """
    return [
        {
            "key": group.key,
            "items": group.items.total(),
            "tasks": len(group.tasks),
            "skills": group.items.most_common(),
            "example": _example(*group.example, group.name, text),
        }
        for group in groups
    ]


def _example(skill: int, item: TaskResult, name: str, text: Callable[[str], int | None]) -> Json:
    said = reasons(item)
    telling = next((each for each in said if each.startswith(f"{name}: ")), said[0])
    return {"skill": skill, "task": visible(item.task_id), "run": item.run_index, "text": text(telling)}


# Quality against time and cost

QUALITIES = ("completion", "partial")
EXPENSES = ("p50", "p95", "cost")


def points(reports: Sequence[SkillCompletionReport]) -> list[Json]:
    """Where each skill stands: rates and scores in [0, 1], ms, and USD for an item; what is not known is absent.

    The cost of an item is the mean over those whose cost is known, `priced` of them where these are not all.
    """
    return [_point(report) for report in reports]


def _point(report: SkillCompletionReport) -> Json:
    costs = [item.cost_usd for item in report.task_results if item.cost_usd is not None]
    bounds = report.summary.known_interval
    found = {
        "completion": report.summary.known_completion,
        "partial": report.summary.partial_score,
        "p50": report.latency.p50_ms,
        "p95": report.latency.p95_ms,
        "cost": math.fsum(costs) / len(costs) if costs else None,
        "priced": len(costs) if 0 < len(costs) < len(report.task_results) else None,
        "lower": bounds and bounds.lower,
        "upper": bounds and bounds.upper,
    }
    return {name: value for name, value in found.items() if value is not None}


def fronts(places: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """The Pareto front of each pair of a quality and an expense, as ``completion/p95``: indices of `places`, cheapest first.

    On it is what is above 0 and no other skill with both known beats: none is at least as good in both, and better in one. A cost
    that is unknown of some items is not known here.
    Source: Pareto 1906, Manuale di economia politica.
    """
    return {f"{quality}/{expense}": _front(places, quality, expense) for quality in QUALITIES for expense in EXPENSES}


def _front(places: Sequence[Mapping[str, Any]], quality: str, expense: str) -> list[int]:
    known = [
        (place[expense], -place[quality], index)
        for index, place in enumerate(places)
        if place.get(quality) and expense in place and not (expense == "cost" and "priced" in place)
    ]
    front: list[tuple[float, float, int]] = []
    for each in sorted(known):
        if not front or each[1] < front[-1][1] or each[:2] == front[-1][:2]:
            front.append(each)
    return [index for *_, index in front]
