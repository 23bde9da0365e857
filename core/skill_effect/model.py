"""The effect of an Agent Skill: its arms, their comparisons, and what each task says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from pydantic import Field

from eval_skills.core.diff.model import Judgement, SkillDiff
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.models.report import ConfidenceInterval
from eval_skills.core.text import natural_order, nearest

Arm = Literal["with", "without", "old", "sham"]
ARMS: tuple[Arm, ...] = get_args(Arm)
"""``with`` the Agent Skills as they are, ``without`` any, with those of an ``old`` revision, or with a ``sham``: the same name,
description and length, and a body about something else."""

SAME = 1e-12
"""Rates that differ by at most this much count as equal."""


class ArmFigures(Model):
    """One arm. None is unknown, never zero.

    `runs` is how many items its tasks have at most, `fewest_runs` how many at least: copies of a task are runs of it, and a run
    may be unfinished.

    `completion_rate` is the share of the items with a verdict that passed, and None where no item has one.
    `loaded` of the `known_loads` items in which that is known loaded one of the Agent Skills; `silent_items` have an answer and a
    verdict, and what they loaded is unknown. `missing_items` have no verdict;
    `unanswered_items` ended without an answer of the agent (an exit code other than 0, a limit) and count as not passed.
    `tokens`, `cost_usd` and `steps` are means over the items that know them, `latency_ms` is their median; costs are the agent's
    alone, `judge_cost_usd` is the sum that judges were paid.
    """

    arm: Arm
    skill_key: str
    items: int
    tasks: int
    runs: int
    fewest_runs: int | None = None
    completion_rate: Rate | None
    interval: ConfidenceInterval | None
    missing_items: int
    unanswered_items: int = 0
    loaded: int
    known_loads: int
    silent_items: int = 0
    tokens: float | None = None
    cost_usd: float | None = None
    judge_cost_usd: float | None = None
    latency_ms: float | None = None
    steps: float | None = None

    @property
    def load_rate(self) -> float | None:
        """The share of items that loaded an Agent Skill, of those in which that is known."""
        return self.loaded / self.known_loads if self.known_loads else None

    @property
    def has_answers(self) -> bool:
        """Whether the agent gave any answer that has a verdict."""
        return self.items > self.missing_items + self.unanswered_items

    @property
    def never_loaded(self) -> bool:
        """Whether no item loaded an Agent Skill; not where that is unknown of one with an answer and a verdict, and not where
        there are no answers at all, as with an agent that could not be reached."""
        return self.has_answers and self.known_loads > 0 and not self.loaded and not self.silent_items


class ArmComparison(Model):
    """The arm ``with`` beside another one: the verdict of the paired test, and the gain.

    `gain` is (with − against) / (1 − against), the share of what was left to win, in (−∞, 1]; None where nothing was left, or a
    rate is unknown. Its rates are the means over the compared tasks of the items that have a verdict.

    `verdict_of_answers` is the verdict of the items alone that the agent answered, None where it answered all: where it is
    another one, the verdict of `diff` rests on items without an answer, which count as not passed.
    """

    against: Arm
    diff: SkillDiff
    gain: float | None
    verdict_of_answers: Judgement | None = None

    @property
    def rests_on_errors(self) -> bool:
        """Whether the verdict would be another one without the items that the agent did not answer."""
        return self.verdict_of_answers is not None and self.verdict_of_answers != self.diff.verdict


class TaskEffect(Model):
    """One task: the share of its runs that passed in each arm, of those that have a verdict; None where none has."""

    task_id: str
    rates: dict[Arm, Rate | None]

    def difference(self, against: Arm) -> float | None:
        """With − against; None where one of them is unknown."""
        ours, theirs = self.rates.get("with"), self.rates.get(against)
        return None if ours is None or theirs is None else ours - theirs


class Undiscerning(Model):
    """A task, or one `check` of it, that came out the same in every run of every arm: it says nothing about the Agent Skill."""

    task_id: str
    check: str | None = None
    passed: bool


class SkillEffect(Model):
    """What the Agent Skills `names` change for one agent on one benchmark.

    `problems` are errors of the set-up: with one of them no difference may be believed. `remarks` stop nothing. `unfinished` says
    of a run that has items without a result how many it has, and how to go on.
    """

    names: list[str]
    run_id: str
    benchmark_id: str
    agent: str
    model: str | None
    arms: list[ArmFigures]
    comparisons: list[ArmComparison]
    tasks: list[TaskEffect]
    undiscerning: list[Undiscerning] = Field(default_factory=list)
    problems: list[str] = Field(default_factory=list)
    remarks: list[str] = Field(default_factory=list)
    unfinished: str | None = None

    @property
    def never_loaded(self) -> bool:
        """Whether it is known that the agent never loaded one of the Agent Skills where they were installed."""
        return any(each.arm == "with" and each.never_loaded for each in self.arms)

    def worse(self, against: Arm) -> list[TaskEffect]:
        """The tasks that fewer runs passed with the Agent Skills than in the other arm, the largest losses first."""
        losses = [(difference, task) for task in self.tasks if (difference := task.difference(against) or 0.0) < -SAME]
        return [task for _, task in sorted(losses, key=lambda loss: (loss[0], natural_order(loss[1].task_id)))]


def chosen_arms(named: Sequence[str] | None, old: str | None) -> list[Arm]:
    """The arms of an experiment, in the order of `ARMS`; `old` is the earlier version, which has an arm by being named.

    Raises:
        ValueError: a name is not that of an arm, or ``with`` is not compared with another one.
    """
    if unknown := next((name for name in named or () if name not in ARMS), None):
        raise ValueError(f"unknown arm {unknown!r}{nearest(unknown, ARMS)}; valid are {', '.join(ARMS)}")
    wanted = {*(["with", "without"] if named is None else named), *(["old"] if old else [])}
    chosen = [arm for arm in ARMS if arm in wanted]
    if "with" not in chosen or len(chosen) < 2:
        raise ValueError(f"the arm with is compared with others; give it and another one, got {' '.join(named or ())}")
    return chosen
