"""Choosing the best skills by a strategy: filter, sort on one key, keep the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import InputError
from eval_skills.core.models import AdapterType, Skill, SkillCompletionReport
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.text import apart, percents_apart

SortKey = Literal["compositeScore", "completionRate", "latency", "tokenCost"]
Order = Literal["asc", "desc"]


class SelectFilters(Model):
    """What a skill must fulfil, each at equality too; None and empty lists filter nothing.

    `min_completion_lower_bound` looks at the lower end of the completion rate's interval, so a small sample has to be better
    to pass. `adapter_types`: any of them; `required_tags`: all of them. A figure that is unknown fulfils no limit.
    """

    min_completion_rate: Rate | None = None
    min_completion_lower_bound: Rate | None = None
    max_error_rate: Rate | None = None
    max_latency_p95_ms: float | None = Field(default=None, ge=0, alias="maxLatencyP95Ms")
    adapter_types: list[AdapterType] = Field(default_factory=list)
    required_tags: list[str] = Field(default_factory=list)

    def accepts(self, skill: Skill, report: SkillCompletionReport) -> bool:
        """Whether the skill, with these figures, fulfils every filter."""
        return not self.unfulfilled(skill, report)

    def unfulfilled(self, skill: Skill, report: SkillCompletionReport) -> list[str]:
        """The filters that remove the skill, each with its key, what it asks for and what there is."""
        summary, p95 = report.summary, report.latency.p95_ms
        lowest, interval = self.min_completion_lower_bound, summary.confidence_interval
        missing = [tag for tag in self.required_tags if tag not in skill.tags]
        completion, least = percents_apart(summary.completion_rate, self.min_completion_rate or 0)
        begins, least_lower = percents_apart(interval.lower, lowest or 0)
        errors, most_errors = percents_apart(summary.error_rate, self.max_error_rate or 0)
        time, longest = apart(p95 or 0, self.max_latency_p95_ms or 0, decimals=0)
        checks = (
            (_at_least(summary.completion_rate, self.min_completion_rate),
             f"completion {f'{completion} % is' if summary.has_verdict else 'is unknown, and may be'} "
             f"under {least} % (minCompletionRate)"),
            (_at_least(interval.lower, lowest),
             f"the interval begins at {begins} %, under {least_lower} % (minCompletionLowerBound)"),
            (_at_most(summary.error_rate, self.max_error_rate),
             f"{errors} % errors are above {most_errors} % (maxErrorRate)"),
            (_at_most(p95, self.max_latency_p95_ms),
             f"P95 {'is unknown, and must be' if p95 is None else f'{time} ms is not'} {longest} ms at most (maxLatencyP95Ms)"),
            (not self.adapter_types or skill.adapter_type in self.adapter_types,
             f"its adapter is {skill.adapter_type}, not {' or '.join(self.adapter_types)} (adapterTypes)"),
            (not missing, f"it lacks the tag{'s' * (len(missing) > 1)} {' and '.join(map(repr, missing))} (requiredTags)"),
        )  # fmt: skip
        return [why for fulfilled, why in checks if not fulfilled]


class SelectStrategy(Model):
    """How to select. Without `order` the better end comes first: latency (P95) and token cost (USD) ascend, the others descend.

    `top_k` keeps so many skills (None: all), and with `keep_ties` also those that it would leave out although they are as good as
    one that it keeps; see `left_out_ties`.
    """

    filters: SelectFilters = Field(default_factory=SelectFilters)
    sort_by: SortKey = "compositeScore"
    order: Order | None = None
    top_k: int | None = Field(default=None, ge=1)
    keep_ties: bool = False

    @property
    def descending(self) -> bool:
        """The direction of the sort: as ordered, else by meaning."""
        return self.order == "desc" if self.order else self.sort_by in {"compositeScore", "completionRate"}


@dataclass(frozen=True, slots=True)
class RankedSkill:
    """A selected skill with the report that got it there; `rank` counts from 1."""

    skill: Skill
    report: SkillCompletionReport
    rank: int


Candidate = tuple[Skill, SkillCompletionReport]


def load_strategy(path: Path) -> SelectStrategy:
    """The strategy in a JSON or YAML file; every key of it may be left out.

    Raises:
        InputError: the file cannot be read, or a key or value of it is wrong.
    """
    return validate(SelectStrategy, read_document(path), source=path)


def select(
    skills: Sequence[Skill], reports: Sequence[SkillCompletionReport], strategy: SelectStrategy | None = None
) -> list[RankedSkill]:
    """The skills that pass the strategy's filters, in its order; ties keep the order given. It may be empty.

    A skill without a report (of the same ``id@version``) cannot be selected. A sort value that is unknown comes last,
    whatever the order; so does a cost that is unknown of some items.

    Raises:
        InputError: a skill has two reports, so that it is open which one counts.
    """
    strategy = strategy or SelectStrategy()
    ordered = _in_order(skills, reports, strategy)
    chosen = [*ordered[: strategy.top_k], *(_cut_off(ordered, strategy) if strategy.keep_ties else ())]
    return [RankedSkill(skill, report, rank) for rank, (skill, report) in enumerate(chosen, start=1)]


def removals(skills: Sequence[Skill], reports: Sequence[SkillCompletionReport], strategy: SelectStrategy) -> list[str]:
    """Why each of the skills that cannot be selected cannot, a line each, in the order given."""
    by_key = _by_skill(reports)
    lines = []
    for skill in skills:
        if (report := by_key.get(skill.key)) is None:
            lines.append(f"{skill.key}: it has no report; evaluate it first")
        elif why := strategy.filters.unfulfilled(skill, report):
            lines.append(f"{skill.key}: {'; '.join(why)}")
    return lines


def left_out_ties(skills: Sequence[Skill], reports: Sequence[SkillCompletionReport], strategy: SelectStrategy) -> list[Skill]:
    """The skills that `top_k` leaves out although they share the ranks of one that it keeps, in the strategy's order.

    The ranks are those of the reports' `ranking`, by completion: where skills are chosen by latency or cost there are none.
    """
    if strategy.keep_ties:
        return []
    return [skill for skill, _ in _cut_off(_in_order(skills, reports, strategy), strategy)]


def _cut_off(ordered: Sequence[Candidate], strategy: SelectStrategy) -> list[Candidate]:
    """What is as good as one of the first `top_k`, and comes after them."""
    if strategy.top_k is None or strategy.sort_by not in {"compositeScore", "completionRate"}:
        return []
    kept = {_ranks(report) for _, report in ordered[: strategy.top_k]} - {None}
    return [(skill, report) for skill, report in ordered[strategy.top_k :] if _ranks(report) in kept]


def _ranks(report: SkillCompletionReport) -> tuple[str, int] | None:
    return (report.benchmark_id, report.ranking.rank) if report.ranking else None


def _in_order(skills: Sequence[Skill], reports: Sequence[SkillCompletionReport], strategy: SelectStrategy) -> list[Candidate]:
    """The accepted skills, best first."""
    by_key = _by_skill(reports)
    candidates = [(skill, by_key[skill.key]) for skill in skills if skill.key in by_key]
    accepted = [(skill, report) for skill, report in candidates if strategy.filters.accepts(skill, report)]
    return sorted(accepted, key=lambda pair: _sort_key(pair[1], strategy))


def _by_skill(reports: Sequence[SkillCompletionReport]) -> dict[str, SkillCompletionReport]:
    by_key: dict[str, SkillCompletionReport] = {}
    for report in reports:
        other = by_key.setdefault(report.skill_key, report)
        if other is not report:
            raise InputError(
                f"{report.skill_key} has two reports (on {other.benchmark_id} and {report.benchmark_id}); "
                "select from the reports of one run on one benchmark"
            )
    return by_key


def _sort_key(report: SkillCompletionReport, strategy: SelectStrategy) -> tuple[bool, float]:
    values: dict[SortKey, float | None] = {
        "compositeScore": report.summary.composite_score if report.summary.has_verdict else None,
        "completionRate": report.summary.known_completion,
        "latency": report.latency.p95_ms,
        "tokenCost": report.whole_cost_usd,
    }
    value = values[strategy.sort_by]
    if value is None:
        return True, 0.0
    return False, -value if strategy.descending else value


def _at_least(value: float, floor: float | None) -> bool:
    return floor is None or value >= floor


def _at_most(value: float | None, ceiling: float | None) -> bool:
    return ceiling is None or (value is not None and value <= ceiling)
