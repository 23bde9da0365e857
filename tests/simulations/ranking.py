"""Rankings of skills whose true order is known: is the best one in the first group, and how does the leader's rate err?"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from eval_skills.core.ranking import Outcomes
from eval_skills.core.ranking.bootstrap import draw_tasks, probability_best, rank_intervals
from eval_skills.core.ranking.ranking import tied_groups
from eval_skills.core.ranking.shrinkage import shrinkage
from eval_skills.core.statistics.rates import DEFAULT_SEED, FloatArray
from tests.simulations.draws import Share, mostly_good

SKILLS, TASKS, RUNS = 10, 20, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How far each skill's chances are behind those of the best, which comes first; and the share of its items that are lost."""

    name: str
    behind: tuple[float, ...]
    lost: float = 0.0


SETTINGS = (
    Setting(name="all equal", behind=(0.0,) * SKILLS),
    Setting(name="all equal, 30 % of the best one's items lost", behind=(0.0,) * SKILLS, lost=0.3),
    Setting(name="each 1 point behind the one before", behind=tuple(index / 100 for index in range(SKILLS))),
    Setting(name="nine equal, 3 points behind the best", behind=(0.0, *(0.03,) * (SKILLS - 1))),
    Setting(name="nine equal, one 50 points behind", behind=(*(0.0,) * (SKILLS - 1), 0.5)),
    Setting(name="nine equal, 25 points behind the best", behind=(0.0, *(0.25,) * (SKILLS - 1))),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The mean of some values, and its Monte-Carlo standard error."""

    values: list[float] = field(default_factory=list)

    @property
    def value(self) -> float:
        return float(np.mean(self.values))

    def points(self) -> str:
        """Of differences of rates, in percentage points."""
        error = float(np.std(self.values)) / len(self.values) ** 0.5
        return f"{self.value * 100:+.1f} ± {error * 100:.1f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Of the truly best skill: how often it is `in_first` group, and how often its rank's interval `holds` rank 1. Of the leader:
    how often it is `truly` the best, the chance of that which is `said`, by how much its rate is too high, plain and corrected,
    and how often it is so at all. `members`: of the first group.
    """

    setting: Setting
    in_first: Share
    holds: Share
    truly: Share
    said: Mean
    plain: Mean
    corrected: Mean
    plain_high: Share
    corrected_high: Share
    members: Mean


def simulate(draws: int, *, settings: tuple[Setting, ...] = SETTINGS, seed: int = DEFAULT_SEED) -> list[Row]:
    """By setting, through the rules that rank the skills of a run."""
    return [_row(setting, draws, np.random.default_rng([seed, index])) for index, setting in enumerate(settings)]


def table(rows: list[Row]) -> str:
    """As Markdown."""
    lines = [
        "| true rates | best one in the first group | rank 1 in its interval | number 1 is the best | P(best) of number 1 "
        "| its rate too high by (points) | corrected |",
        "|:--|--:|--:|--:|--:|--:|--:|",
    ]
    return "\n".join(
        lines
        + [
            f"| {row.setting.name} | {row.in_first} | {row.holds} | {row.truly} | {row.said.value:.1%} "
            f"| {row.plain.points()} ({row.plain_high.value:.0%}) | {row.corrected.points()} ({row.corrected_high.value:.0%}) |"
            for row in rows
        ]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    in_first: bool
    holds: bool
    truly: bool
    said: float
    plain: float
    corrected: float
    members: int


def _row(setting: Setting, draws: int, random: np.random.Generator) -> Row:
    drawn = [_draw(setting, random) for _ in range(draws)]

    def share(hits: list[bool]) -> Share:
        return Share(sum(hits), draws)

    return Row(
        setting=setting,
        in_first=share([each.in_first for each in drawn]),
        holds=share([each.holds for each in drawn]),
        truly=share([each.truly for each in drawn]),
        said=Mean(values=[each.said for each in drawn]),
        plain=Mean(values=[each.plain for each in drawn]),
        corrected=Mean(values=[each.corrected for each in drawn]),
        plain_high=share([each.plain > 0 for each in drawn]),
        corrected_high=share([each.corrected > 0 for each in drawn]),
        members=Mean(values=[each.members for each in drawn]),
    )


def _draw(setting: Setting, random: np.random.Generator) -> _Drawn:
    names = random.permutation(SKILLS)  # that the best one comes first must not help it
    chances = np.clip(mostly_good(random, TASKS) - np.array(setting.behind)[names][:, None], 0, 1)
    outcomes = _outcomes(chances, np.where(names == 0, setting.lost, 0.0), random)
    order = np.argsort(-outcomes.passed.sum(axis=1), kind="stable")
    truth, best, ranked = chances.mean(axis=1)[order], int(np.flatnonzero(names[order] == 0)[0]), outcomes[order.tolist()]
    groups, drawn = tied_groups(ranked).members, draw_tasks(ranked)
    shrunk = shrinkage(ranked, groups, drawn.rates)
    return _Drawn(
        in_first=best in groups[0],
        holds=bool(rank_intervals(drawn)[0][best] == 1),
        truly=best == 0,
        said=float(probability_best(drawn, groups, shrunk)[0]),
        plain=float(drawn.rates[0] - truth[0]),
        corrected=float(shrunk.estimates(drawn.rates)[0] - truth[0]),
        members=len(groups[0]),
    )


def _outcomes(chances: FloatArray, lost: FloatArray, random: np.random.Generator) -> Outcomes:
    shape = (*chances.shape, RUNS)
    gone = random.random(shape) < lost[:, None, None]
    passed = (random.random(shape) < chances[:, :, None]) & ~gone
    counts = (np.full(chances.shape, float(RUNS)), passed.sum(axis=2, dtype=np.float64), gone.sum(axis=2, dtype=np.float64))
    return Outcomes([f"s{row}" for row in range(len(chances))], *counts)
