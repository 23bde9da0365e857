"""What an Agent Skill changes: the same agent on the same tasks with it and without it, as data.

Each way of equipping the agent is an *arm*; arms are evaluated as skills of one run, and compared task by task.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Literal, get_args

import numpy as np
from pydantic import Field

from eval_skills.core.diff.diff import SIGNIFICANCE, diff_reports, judged_together
from eval_skills.core.diff.gate import loss_failure
from eval_skills.core.diff.model import Judgement, MissingRule, ReportDiff, SkillDiff
from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.models.report import ConfidenceInterval, is_missing
from eval_skills.core.statistics.rates import DEFAULT_SEED, completion_interval
from eval_skills.core.text import first_of, nearest, one_line, plural

Arm = Literal["with", "without", "old", "sham"]
ARMS: tuple[Arm, ...] = get_args(Arm)
"""``with`` the Agent Skills as they are, ``without`` any, with those of an ``old`` revision, or with a ``sham``: the same name,
description and length, and a body about something else."""

FailOn = Literal["worse", "not-better"]
"""What fails a gate: that the Agent Skill makes it worse, or also that it is not proven to make it better."""

_NAMED = 5
_SAID = 160
_SAME = 1e-12
_UNANSWERED = frozenset({"skill", "contract", "timeout"})
"""Error kinds of items that the agent did not answer, which count as not passed."""


class ArmFigures(Model):
    """One arm. None is unknown, never zero.

    `completion_rate` is the share of the items with a verdict that passed, and None where no item has one.
    `loaded` of the `known_loads` items in which that is known loaded one of the Agent Skills. `missing_items` have no verdict;
    `unanswered_items` ended without an answer of the agent (an exit code other than 0, a limit) and count as not passed.
    `tokens`, `cost_usd` and `steps` are means over the items that know them, `latency_ms` is their median; costs are the agent's
    alone, `judge_cost_usd` is the sum that judges were paid.
    """

    arm: Arm
    skill_key: str
    items: int
    tasks: int
    runs: int
    completion_rate: Rate | None
    interval: ConfidenceInterval | None
    missing_items: int
    unanswered_items: int = 0
    loaded: int
    known_loads: int
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
    def never_loaded(self) -> bool:
        """Whether no item loaded an Agent Skill; not where that is unknown of more items than those without an answer."""
        unknown = self.items - self.known_loads - self.missing_items - self.unanswered_items
        return self.known_loads > 0 and not self.loaded and unknown <= 0


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
        losses = [(difference, task) for task in self.tasks if (difference := task.difference(against) or 0.0) < -_SAME]
        return [task for _, task in sorted(losses, key=lambda loss: (loss[0], loss[1].task_id))]


def skill_effect(
    reports: Mapping[Arm, SkillCompletionReport],
    *,
    names: Sequence[str],
    agent: str,
    model: str | None = None,
    run_id: str = "",
    checks: Mapping[str, Mapping[str, str]] | None = None,
    copies: Mapping[str, str] | None = None,
    sources: Sequence[str] = (),
    seed: int = DEFAULT_SEED,
) -> SkillEffect:
    """The effect of the Agent Skills `names`, from the report of each arm.

    `checks` has by task what the named parts of its score stand for, such as the sentences of assertions. `copies` leads from a
    task to the one that it is a copy of: its items are further runs of that one, as they are not evidence of their own. `sources`
    are the folders from which the Agent Skills were installed: an agent of another arm that looks there is an error of the
    set-up. The verdicts of all comparisons are one family for Holm's procedure.

    Raises:
        InputError: there is no arm ``with``, or no other one.
    """
    if "with" not in reports or len(reports) < 2:
        raise InputError(f"an effect needs the arm with and another one; there is {', '.join(reports) or 'none'}")
    present = [arm for arm in ARMS if arm in reports]
    reports = {arm: _with_copies_as_runs(report, copies or {}) for arm, report in reports.items()}
    arms = [_figures(arm, reports[arm]) for arm in present]
    tasks = [TaskEffect(task_id=task, rates=rates) for task, rates in _rates_by_task(reports, present)]
    return SkillEffect(
        names=list(names),
        run_id=run_id,
        benchmark_id=reports["with"].benchmark_id,
        agent=agent,
        model=model,
        arms=arms,
        comparisons=list(_comparisons(reports, [arm for arm in present if arm != "with"], seed)),
        tasks=tasks,
        undiscerning=list(_undiscerning([reports[arm] for arm in present], checks or {})),
        problems=[*_problems(reports, names), *_looks_elsewhere(reports, sources), *_silent_arms(reports)],
        remarks=[*_remarks(arms), *_unjudged_remarks(reports), *_unknown_costs(reports), *_copies_remark(copies or {})],
    )


def _comparisons(reports: Mapping[Arm, SkillCompletionReport], others: Sequence[Arm], seed: int) -> Iterator[ArmComparison]:
    answered = {arm: _answered_only(reports[arm]) for arm in ("with", *others)}
    diffs, of_answers = _diffs(reports, others, "bounds", seed), _diffs(answered, others, "ignore", seed)
    for arm, diff, other in zip(others, diffs, of_answers, strict=True):
        (found,), (alone,) = diff.skills, other.skills
        is_whole = answered["with"] is reports["with"] and answered[arm] is reports[arm]
        yield ArmComparison(
            against=arm,
            diff=found,
            gain=_gain(reports[arm], reports["with"], found),
            verdict_of_answers=None if is_whole else alone.verdict or "inconclusive",
        )


def _diffs(
    reports: Mapping[Arm, SkillCompletionReport], others: Sequence[Arm], missing: MissingRule, seed: int
) -> list[ReportDiff]:
    ours = reports["with"]
    return judged_together(
        [
            diff_reports([reports[arm]], [ours], mapping={reports[arm].skill_key: ours.skill_key}, missing=missing, seed=seed)
            for arm in others
        ]
    )


def _is_unanswered(item: TaskResult) -> bool:
    return item.status == "timeout" or (item.status == "error" and item.error_kind in _UNANSWERED)


def _answered_only(report: SkillCompletionReport) -> SkillCompletionReport:
    """The report with the items that the agent did not answer as items without a verdict; itself where it answered all."""
    if not any(_is_unanswered(item) for item in report.task_results):
        return report
    unknown = {"status": "error", "error_kind": "infra"}
    items = [item.model_copy(update=unknown) if _is_unanswered(item) else item for item in report.task_results]
    return report.model_copy(update={"task_results": items})


def _with_copies_as_runs(report: SkillCompletionReport, copies: Mapping[str, str]) -> SkillCompletionReport:
    """The report with the items of copied tasks as further runs of the task that they are copies of."""
    if not copies:
        return report
    count: Counter[str] = Counter()
    items = []
    for item in report.task_results:
        task = copies.get(item.task_id, item.task_id)
        # one task: the digest of its first form goes for all, or it would count as changed
        items.append(item.model_copy(update={"task_id": task, "run_index": count[task], "task_digest": None}))
        count[task] += 1
    return report.model_copy(update={"task_results": items})


def _gain(before: SkillCompletionReport, after: SkillCompletionReport, diff: SkillDiff) -> float | None:
    """Hake's normalised gain. Source: Hake 1998, doi:10.1119/1.18809."""
    if diff.statistics is None:
        return None
    rates = [dict(_task_rates(report)) for report in (before, after)]
    shared = [task for task, rate in rates[0].items() if rate is not None and rates[1].get(task) is not None]
    shared = [task for task in shared if task not in set(diff.tasks_incomparable)]
    if not shared:
        return None
    left = 1 - fmean(_known(rates[0][task] for task in shared))
    return diff.statistics.mean_difference / left if left > _SAME else None


def _figures(arm: Arm, report: SkillCompletionReport) -> ArmFigures:
    items = report.task_results
    if not items:
        raise InputError(f"the report of {report.skill_key} holds figures only, and an effect is computed from items")
    rate, interval = _completion(items)
    loads = [item.skills_loaded for item in items if item.skills_loaded is not None]
    return ArmFigures(
        arm=arm,
        skill_key=report.skill_key,
        items=len(items),
        tasks=len({item.task_id for item in items}),
        runs=max(item.run_index for item in items) + 1,
        completion_rate=rate,
        interval=interval,
        missing_items=sum(is_missing(item) for item in items),
        unanswered_items=sum(_is_unanswered(item) for item in items),
        loaded=sum(bool(load) for load in loads),
        known_loads=len(loads),
        tokens=_mean(_tokens(item) for item in items),
        cost_usd=_mean(item.cost_usd for item in items),
        judge_cost_usd=report.token_cost.judge_cost_usd,
        latency_ms=median(times) if (times := _known(item.latency_ms for item in items)) else None,
        steps=_mean(None if item.steps is None else float(item.steps) for item in items),
    )


def _completion(items: Sequence[TaskResult]) -> tuple[float | None, ConfidenceInterval | None]:
    """The completion rate of the items with a verdict, and its interval."""
    judged = [runs for _, runs in _by((item for item in items if not is_missing(item)), lambda item: item.task_id)]
    if not judged:
        return None, None
    passed = np.array([sum(run.passed for run in runs) for runs in judged], dtype=np.int64)
    counts = np.array([len(runs) for runs in judged], dtype=np.int64)
    return float(passed.sum() / counts.sum()), completion_interval(passed, counts)


def _tokens(item: TaskResult) -> float | None:
    known = [count for count in (item.prompt_tokens, item.completion_tokens) if count is not None]
    return float(sum(known)) if known else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return fmean(known) if known else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _rates_by_task(
    reports: Mapping[Arm, SkillCompletionReport], arms: Sequence[Arm]
) -> Iterator[tuple[str, dict[Arm, float | None]]]:
    by_arm = {arm: dict(_task_rates(reports[arm])) for arm in arms}
    for task in dict.fromkeys(task for rates in by_arm.values() for task in rates):
        yield task, {arm: by_arm[arm].get(task) for arm in arms}


def _task_rates(report: SkillCompletionReport) -> Iterator[tuple[str, float | None]]:
    for task, items in _by(report.task_results, lambda item: item.task_id):
        judged = [item.passed for item in items if not is_missing(item)]
        yield task, fmean(judged) if judged else None


def _by(items: Iterable[TaskResult], key: Callable[[TaskResult], str]) -> Iterable[tuple[str, list[TaskResult]]]:
    found: dict[str, list[TaskResult]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found.items()


def _undiscerning(reports: Sequence[SkillCompletionReport], checks: Mapping[str, Mapping[str, str]]) -> Iterator[Undiscerning]:
    """What was the same in every item of every arm: tasks, and of the other tasks single checks (named parts of their score)."""
    items = [item for report in reports for item in report.task_results if not is_missing(item)]
    judged = [{item.task_id for item in report.task_results if not is_missing(item)} for report in reports]
    in_every_arm = set.intersection(*judged)
    for task, runs in _by((item for item in items if item.task_id in in_every_arm), lambda item: item.task_id):
        outcomes = {run.passed for run in runs}
        if len(outcomes) == 1:
            yield Undiscerning(task_id=task, passed=outcomes.pop())
            continue
        for check in dict.fromkeys(name for run in runs for name in run.dimensions):
            values = {run.dimensions.get(check) for run in runs}
            if values in ({0.0}, {1.0}):
                said = checks.get(task, {}).get(check, check)
                yield Undiscerning(task_id=task, check=said, passed=values == {1.0})


def _problems(reports: Mapping[Arm, SkillCompletionReport], names: Sequence[str]) -> Iterator[str]:
    """That the arm without the Agent Skills loaded one of them all the same: then the arms do not differ as they should."""
    without = reports.get("without")
    loaded = [item for item in without.task_results if set(item.skills_loaded or ()) & set(names)] if without else []
    if loaded:
        yield (
            f"{plural(len(loaded), 'item')} of the arm without loaded the Agent Skill ({_named(loaded)}): the agent finds it "
            "elsewhere, so the difference says nothing; remove it from there"
        )


def _looks_elsewhere(reports: Mapping[Arm, SkillCompletionReport], sources: Sequence[str]) -> Iterator[str]:
    """That an agent of another arm called a tool with a path below a folder that the Agent Skills were installed from, other than
    ``evals/``, where the files of tasks are."""
    if not sources:
        return
    ways = "|".join(re.escape(source.rstrip("/")) for source in sources)
    named = re.compile(rf"(?:{ways})(?!/evals(?:/|\b))(?![\w.-])")
    for arm, report in reports.items():
        if arm == "with":
            continue
        found = [item for item in report.task_results if any(named.search(text) for text in _argument_texts(item))]
        if found:
            yield (
                f"{plural(len(found), 'item')} of the arm {arm} looked into the Agent Skill's own folder ({_named(found)}), so "
                "the difference says nothing; keep the agent from it, such as with --sandbox bwrap"
            )


def _argument_texts(item: TaskResult) -> Iterator[str]:
    for call in item.tool_calls or ():
        if call.error is None:
            yield call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)


def _silent_arms(reports: Mapping[Arm, SkillCompletionReport]) -> Iterator[str]:
    """That an arm has no answer of the agent at all: it did not start, or its model was out of reach."""
    for arm, report in reports.items():
        items = report.task_results
        if items and all(_is_unanswered(item) or item.error_kind == "infra" for item in items):
            yield (
                f"the agent answered no item of the arm {arm} ({_commonest_error(items)}), so the difference says nothing; "
                "see that the agent runs, then use --resume with --retry-errors"
            )


def _unjudged_remarks(reports: Mapping[Arm, SkillCompletionReport]) -> Iterator[str]:
    for arm, report in reports.items():
        if missing := [item for item in report.task_results if is_missing(item)]:
            yield f"{arm}: {plural(len(missing), 'item')} without a verdict ({_commonest_error(missing)})"
        if found := [item for item in report.task_results if _is_unanswered(item)]:
            yield (
                f"{arm}: {plural(len(found), 'item')} without an answer {'counts' if len(found) == 1 else 'count'} as not passed "
                f"({_commonest_error(found)})"
            )


def _commonest_error(items: Sequence[TaskResult]) -> str:
    said = Counter(one_line(item.error_message or item.error_kind or item.status, _SAID) for item in items)
    message, count = said.most_common(1)[0]
    return message if count == len(items) else f"{count:,} of them: {message}"


def _unknown_costs(reports: Mapping[Arm, SkillCompletionReport]) -> Iterator[str]:
    """Where only some items know what they cost: a mean of those may not be that of all."""
    for arm, report in reports.items():
        items = report.task_results
        for what, known in (
            ("cost", sum(item.cost_usd is not None for item in items)),
            ("tokens", len(_known(map(_tokens, items)))),
        ):
            if 0 < known < len(items):
                yield f"{arm}: {what} known of {known:,} of {plural(len(items), 'item')} only; the figures are theirs"


def _copies_remark(copies: Mapping[str, str]) -> Iterator[str]:
    if copies:
        named = first_of([f"{copy} of {original}" for copy, original in copies.items()], _NAMED)
        count = "1 task asks" if len(copies) == 1 else f"{plural(len(copies), 'task')} ask"
        yield f"{count} the same as another one, and {'counts' if len(copies) == 1 else 'count'} as further runs of it: {named}"


def _named(items: Sequence[TaskResult]) -> str:
    return first_of([f"{item.task_id}#{item.run_index + 1}" for item in items], _NAMED)


def _remarks(arms: Sequence[ArmFigures]) -> Iterator[str]:
    for each in arms:
        unknown = each.items - each.known_loads
        if each.arm == "with" and each.never_loaded:
            yield "the Agent Skill was never loaded where it was installed: a difference is not its content's"
        elif unknown and each.arm != "without":
            yield f"{each.arm}: whether the Agent Skill was loaded is unknown in {plural(unknown, 'item')}"
        if each.arm == "with" and each.loaded < each.known_loads and not each.never_loaded:
            yield (
                f"with: the Agent Skill was loaded in {each.loaded:,} of {plural(each.known_loads, 'item')}; a difference in the "
                "others is not its content's"
            )


def gate_failures(effect: SkillEffect, fail_on: FailOn) -> list[str]:
    """Why the gate fails; a comparison that could not be made, or not be believed, has not passed."""
    found = [*filter(None, [effect.unfinished]), *(f"set-up error: {problem}" for problem in effect.problems)]
    for each in effect.comparisons:
        name, verdict = f"with − {each.against}", each.diff.verdict
        if each.diff.statistics is None:
            found.append(f"{name} could not be compared")
        elif each.diff.several_versions:
            found.append(f"{name} could not be compared: {each.diff.several_versions}")
        elif verdict == "worse" or (fail_on == "not-better" and verdict != "better"):
            found.append(f"{name} is {verdict}")
        elif each.diff.left_open:
            found.append(f"{name}: items without a verdict leave open whether it is worse")
        elif lost := loss_failure(each.diff, compared=len(effect.comparisons), significance=SIGNIFICANCE):
            found.append(f"{name} {lost}")
        elif each.rests_on_errors and (fail_on == "not-better" or each.verdict_of_answers == "worse"):
            found.append(f"{name} is {verdict} only as items without an answer count as not passed: {of_answers(each)}")
    if fail_on == "not-better" and effect.never_loaded:
        found.append("the Agent Skill was never loaded, so no difference is its content's")
    return found


def of_answers(found: ArmComparison) -> str:
    """``of the answered items alone it is inconclusive``."""
    return f"of the answered items alone it is {found.verdict_of_answers}"


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
