"""The ranking of the skills that did the same tasks, and which of them the tasks cannot tell apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_skills.core.models import Ranking, SkillCompletionReport
from eval_skills.core.models.report import completion_order
from eval_skills.core.models.task import OWN_TESTS
from eval_skills.core.ranking.bootstrap import FEWEST_TASKS, draw_tasks, probability_best, rank_intervals
from eval_skills.core.ranking.outcomes import Outcomes
from eval_skills.core.ranking.shrinkage import shrinkage
from eval_skills.core.statistics.paired import holm, p_floor, sign_flip_tests
from eval_skills.core.statistics.rates import FloatArray

SIGNIFICANCE = 0.05
_SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Groups:
    """`members`: the skills of each group, best first, as rows of the outcomes. `p_values`: each skill's against the best one,
    adjusted; 1 for the best itself.
    """

    members: list[list[int]]
    p_values: list[float]


def tied_groups(outcomes: Outcomes) -> Groups:
    """The groups of skills that share their ranks, of skills that are given best first.

    Every skill is compared with the best one by the paired sign-flip test, Holm over the comparisons; those that are not
    separated from it form the first group. The best of the others leads the next group in the same way, and so on. With missing
    items a skill is separated only if the difference also holds with its own as passed and those of the best as failed.
    A comparison in which too few tasks differ to separate anything is none: it does not make the others harder.
    Sources: Holm 1979; Tarone 1990, "A modified Bonferroni method for discrete data", doi:10.2307/2531456.

    A skill may be in an earlier group than one that completed more: if it has missing items, or differs from the best from task
    to task so much that the same gap proves less.
    """
    ahead = list(range(len(outcomes.skills)))
    first = _adjusted(outcomes, ahead)
    members, p_values = [], [1.0, *first]
    adjusted = first
    while ahead:
        separated = [skill for skill, p_value in zip(ahead[1:], adjusted, strict=True) if p_value <= SIGNIFICANCE]
        members.append([skill for skill in ahead if skill not in set(separated)])
        ahead = separated
        adjusted = _adjusted(outcomes, ahead) if ahead else []
    return Groups(members, p_values)


def _adjusted(outcomes: Outcomes, skills: Sequence[int]) -> list[float]:
    """The adjusted p of every skill but the first against the first."""
    best, others = outcomes[skills[:1]], outcomes[skills[1:]]
    differences = np.nan_to_num(others.rates() - best.rates())
    p_values = _p_below(differences)
    open_ = (others.missing.sum(axis=1) + best.missing.sum()) > 0
    if open_.any():
        bound = np.nan_to_num(others.rates(missing=1.0) - best.rates(missing=0.0))[open_]
        p_values[open_] = np.maximum(p_values[open_], _p_below(bound))
    differing = (np.abs(differences) > _SAME).sum(axis=1).tolist()
    can_separate = np.array([p_floor(count) <= SIGNIFICANCE for count in differing], dtype=bool)
    p_values[can_separate] = holm(p_values[can_separate].tolist())
    return [float(p_value) for p_value in p_values]


def _p_below(differences: FloatArray) -> FloatArray:
    """The two-sided p of every row of differences, 0 where a task was not asked; 1 where the mean is not below 0."""
    return np.where(differences.sum(axis=1) < -_SAME, sign_flip_tests(differences), 1.0)


def rank_by_task_results(reports: Sequence[SkillCompletionReport]) -> list[SkillCompletionReport]:
    """The reports in their order, ranked anew within each benchmark by the items that they hold; not those of own tests."""
    benchmarks = {report.benchmark_id for report in reports} - {OWN_TESTS}
    ranked: dict[int, SkillCompletionReport] = {}
    for benchmark in benchmarks:
        places = [place for place, report in enumerate(reports) if report.benchmark_id == benchmark]
        same = [reports[place] for place in places]
        ranked |= zip(places, rank_reports(same, Outcomes.of_reports(same)), strict=True)
    return [ranked.get(place, report) for place, report in enumerate(reports)]


def rank_reports(reports: Sequence[SkillCompletionReport], outcomes: Outcomes) -> list[SkillCompletionReport]:
    """The reports in their order, each with its `ranking` among them; `outcomes` are those of their skills.

    Without a ranking: a skill none of whose items has a verdict, a skill that is given twice, and the only one of its kind.
    """
    rows = {skill: row for row, skill in enumerate(outcomes.skills) if outcomes.judged[row].any()}
    keys = [report.skill_key for report in reports]
    places = [place for place, key in enumerate(keys) if key in rows and keys.count(key) == 1]
    places.sort(key=lambda place: completion_order(reports[place]))
    found: dict[int, Ranking] = {}
    if len(places) > 1:
        chosen = outcomes[[rows[keys[place]] for place in places]]
        found = dict(zip(places, _rankings([reports[place] for place in places], chosen), strict=True))
    return [report.model_copy(update={"ranking": found.get(place)}) for place, report in enumerate(reports)]


def _rankings(reports: Sequence[SkillCompletionReport], outcomes: Outcomes) -> list[Ranking]:
    """Of reports with outcomes in the same order, the best first."""
    groups = tied_groups(outcomes)
    draws = draw_tasks(outcomes)
    shrunk = shrinkage(outcomes, groups.members, draws.rates)
    estimates = np.clip(shrunk.estimates(draws.rates), 0, 1)
    pareto = pareto_set(_figures(reports)) & np.array([report.summary.completion_rate > 0 for report in reports])
    sure = outcomes.judged.any(axis=0).sum() >= FEWEST_TASKS
    chances = probability_best(draws, groups.members, shrunk)
    lower, upper = rank_intervals(draws)
    ranks = _shared_ranks(groups.members)
    return [
        Ranking(
            rank=ranks[row][0],
            last_rank=ranks[row][1],
            ranked_skills=len(reports),
            adjusted_p=groups.p_values[row] if row else None,
            probability_best=min(1.0, float(chances[row])) if sure else None,
            rank_lower=int(lower[row]) if sure else None,
            rank_upper=int(upper[row]) if sure else None,
            shrunk_completion_rate=float(estimates[row]),
            pareto_optimal=bool(pareto[row]),
        )
        for row in range(len(reports))
    ]


def _shared_ranks(groups: Sequence[Sequence[int]]) -> dict[int, tuple[int, int]]:
    """The first and the last rank of each skill's group."""
    ranks: dict[int, tuple[int, int]] = {}
    first = 1
    for group in groups:
        ranks |= dict.fromkeys(group, (first, first + len(group) - 1))
        first += len(group)
    return ranks


def pareto_set(figures: FloatArray) -> npt.NDArray[np.bool_]:
    """Which rows (skills × figures, smaller is better) no other row beats: it is nowhere worse than them, and somewhere better.

    It takes the figures as measured. Source: Pareto 1906, Manuale di economia politica.
    """
    return np.array([not ((figures <= row).all(axis=1) & (figures < row).any(axis=1)).any() for row in figures])


def _figures(reports: Sequence[SkillCompletionReport]) -> FloatArray:
    """What is left undone, P95 and cost; one that is unknown, and the cost where it is of some items, counts as the worst."""
    return np.array(
        [(-report.summary.completion_rate, _worst(report.latency.p95_ms), _worst(report.whole_cost_usd)) for report in reports]
    )


def _worst(value: float | None) -> float:
    return math.inf if value is None else value
