"""What changed between two evaluations, whether it is more than chance, and whether it passes a gate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np

from eval_skills.core.diff.figures import ROUNDING, figure_rows
from eval_skills.core.diff.measures import adjusted_measures, errors_p, measured_rows
from eval_skills.core.diff.model import (
    AtBound,
    DifferenceInterval,
    DiffRow,
    Judgement,
    MissingRule,
    PairedStatistics,
    ReportDiff,
    SkillDiff,
    Together,
)
from eval_skills.core.diff.pairing import ReportPair, pair_reports
from eval_skills.core.diff.tasks import TaskPairs, pair_tasks
from eval_skills.core.documents.loading import validate_options
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.models.report import MAX_DETAILED_ITEMS
from eval_skills.core.statistics.paired import holm, sign_flip_test, smallest_effect, tasks_needed
from eval_skills.core.statistics.rates import DEFAULT_SEED
from eval_skills.core.text import exact, p_is, plural

SIGNIFICANCE = 0.05
EQUIVALENCE_MARGIN = 0.05


def diff_reports(
    before: Sequence[SkillCompletionReport],
    after: Sequence[SkillCompletionReport],
    *,
    mapping: Mapping[str, str] | None = None,
    significance: float = SIGNIFICANCE,
    equivalence_margin: float = EQUIVALENCE_MARGIN,
    min_effect: float = 0.0,
    missing: MissingRule = "bounds",
    seed: int = DEFAULT_SEED,
) -> ReportDiff:
    """Two evaluations skill by skill: figures side by side, and a verdict from the tasks that both sides ran.

    The task is the unit: a task's runs are averaged, and the differences of the tasks are tested by flipping their signs; Holm's
    procedure adjusts the p values for the number of skills. See `pair_reports` for which reports belong together and for
    `mapping`, and `judge` for the verdict. `equivalence_margin` is the largest mean difference that still counts as none;
    `min_effect` the smallest one, in [0, 1], that counts as better or worse. `missing`: whether a verdict must hold however the
    items without a verdict on the skill would have gone, or ignores them.

    Raises:
        UsageError: `significance` is not between 0 and 0.5, `equivalence_margin` not between 0 and 1, `min_effect` not from 0 to
            1, `missing` is not a `MissingRule`, or `mapping` is wrong.
        InputError: a side holds a report, or an item, twice.
    """
    rules = {
        "significance": significance,
        "equivalence_margin": equivalence_margin,
        "min_effect": min_effect,
        "missing": missing,
    }
    asked = validate_options(ReportDiff, {"skills": [], **rules})
    pairs = pair_reports(before, after, mapping or {})
    tasks = [pair_tasks(pair.before, pair.after) if pair.before and pair.after else None for pair in pairs]
    statistics = [
        None if shared is None else shared.statistics(margin=equivalence_margin, significance=significance, seed=seed)
        for shared in tasks
    ]
    found = [_compared(*parts, seed) for parts in zip(pairs, tasks, statistics, strict=True)]
    diff = asked.model_copy(update={"skills": found, "together": _together(pairs, tasks, seed)})
    (judged,) = judged_together([diff])
    return judged


def _together(pairs: Sequence[ReportPair], tasks: Sequence[TaskPairs | None], seed: int) -> Together | None:
    """The skills as one; None where not several of them are compared."""
    by_task = defaultdict[tuple[str, str], list[float]](list)
    compared = 0
    for pair, shared in zip(pairs, tasks, strict=True):
        found = shared.differences() if shared else {}
        compared += bool(found)
        for task, difference in found.items():
            by_task[pair.after.benchmark_id if pair.after else "", task].append(difference)
    if compared < 2:
        return None
    means = np.array([fmean(each) for each in by_task.values()])
    return Together(
        skills=compared, tasks=len(means), mean_difference=float(means.mean()), p_value=sign_flip_test(means, seed=seed)
    )


def judged_together(diffs: Sequence[ReportDiff]) -> list[ReportDiff]:
    """The same comparisons with Holm's adjustment over every skill of all of them, and the verdicts that follow from it.

    So the chance that any skill is called worse (or better) where nothing changed stays below the significance, however many
    comparisons there are. At the bounds of missing items each side is a family of its own.
    """
    found = [(skill.statistics, diff.significance) for diff in diffs for skill in diff.skills if skill.statistics]
    adjusted = iter(_adjusted([_sized(each, significance / len(found)) for each, significance in found]))
    judged = [diff.model_copy(update={"skills": [_judged(skill, adjusted, diff) for skill in diff.skills]}) for diff in diffs]
    return adjusted_measures(judged)


def _sized(found: PairedStatistics, significance: float) -> PairedStatistics:
    """With what the sample could show where only a p as small as `significance` decides."""
    if found.spread is None:
        return found
    smallest = smallest_effect(found.spread, found.tasks, significance=significance)
    needed = tasks_needed(found.spread, found.equivalence_margin, significance=significance)
    return found.model_copy(update={"smallest_effect": smallest, "tasks_needed": needed})


def _adjusted(found: Sequence[PairedStatistics]) -> list[PairedStatistics]:
    plain = holm([each.p_value for each in found])
    lower = holm([each.missing.at_lower.p_value if each.missing else each.p_value for each in found])
    upper = holm([each.missing.at_upper.p_value if each.missing else each.p_value for each in found])
    return [_with_p(each, *p_values) for each, *p_values in zip(found, plain, lower, upper, strict=True)]


def _with_p(found: PairedStatistics, plain: float, lower: float, upper: float) -> PairedStatistics:
    missing = found.missing and found.missing.model_copy(
        update={
            "at_lower": found.missing.at_lower.model_copy(update={"adjusted_p": lower}),
            "at_upper": found.missing.at_upper.model_copy(update={"adjusted_p": upper}),
        }
    )
    return found.model_copy(update={"adjusted_p": plain, "missing": missing})


def _compared(pair: ReportPair, tasks: TaskPairs | None, statistics: PairedStatistics | None, seed: int) -> SkillDiff:
    """The skill before it is judged; where nothing can be, `explanation` says why."""
    shown = pair.after or pair.before
    assert shown is not None
    figures_of_tasks = len(tasks.tasks) or None if tasks and tasks.apart else None
    return SkillDiff(
        skill_id=shown.skill_id,
        skill_version=shown.skill_version,
        benchmark_id=shown.benchmark_id,
        before_skill_id=pair.before.skill_id if pair.before else None,
        before_version=pair.before.skill_version if pair.before else None,
        change="compared" if tasks is not None else "added" if pair.before is None else "removed",
        rows=_rows(pair, tasks, seed),
        verdict=None if tasks is None else "inconclusive",
        explanation="" if tasks is None or statistics else _incomparable(tasks) + _figures_of(figures_of_tasks),
        statistics=statistics,
        newly_failing=tasks.newly_failing() if tasks and statistics else None,
        flips=tasks.flips() if tasks else [],
        tasks_only_before=tasks.only_before if tasks else [],
        tasks_only_after=tasks.only_after if tasks else [],
        tasks_changed=tasks.changed if tasks else [],
        tasks_judged_otherwise=tasks.judged_otherwise if tasks else [],
        tasks_without_verdict=tasks.without_verdict() if tasks else [],
        several_versions=_several_versions(pair),
        figures_of_tasks=figures_of_tasks,
    )


def _several_versions(pair: ReportPair) -> str | None:
    sides = {"before": pair.before, "after": pair.after}
    found = [f"{side}, {said}" for side, report in sides.items() if report and (said := report.several_versions)]
    return "; ".join(found) or None


def _incomparable(tasks: TaskPairs) -> str:
    if tasks.without_items:
        holds = "both reports hold" if len(tasks.without_items) == 2 else f"the report {tasks.without_items[0]} holds"
        whose = f"as those of runs of more than {MAX_DETAILED_ITEMS:,} items and of pruned runs do"
        return f"not comparable: {holds} figures only, {whose}, and tasks are compared by their items"
    if tasks.tasks:
        return _without_verdict(*tasks.missing(), judges_alone=tasks.judges_alone())
    if tasks.judged_otherwise:
        said = "not comparable: other scorers, another version of their code, other judges or settings judge every task"
        return f"{said}; {_count_without_verdict(*found)}" if any(found := tasks.missing_of_otherwise) else said
    if tasks.changed:
        return f"not comparable: {'every task' if len(tasks.changed) > 1 else 'the task'} changed"
    return "cannot decide: no task was recorded on both sides"


def _judged(skill: SkillDiff, adjusted: Iterator[PairedStatistics], diff: ReportDiff) -> SkillDiff:
    if skill.statistics is None:
        return skill
    statistics = next(adjusted)
    verdict, explanation = judge(statistics, diff.significance, diff.min_effect, diff.missing)
    said = f"{explanation}; {skill.several_versions}" if skill.several_versions else explanation
    said += _figures_of(skill.figures_of_tasks)
    return skill.model_copy(update={"statistics": statistics, "verdict": verdict, "explanation": said})


def _figures_of(tasks: int | None) -> str:
    """What is said of the rows where the sides do not hold the same tasks."""
    if tasks is None:
        return ""
    return f"; the figures are those of the {'one task' if tasks == 1 else f'{tasks} tasks'} compared"


def _rows(pair: ReportPair, tasks: TaskPairs | None, seed: int) -> list[DiffRow]:
    rows = figure_rows(pair, tasks)
    if tasks is None:
        return rows
    tested = [row.model_copy(update={"p_value": errors_p(tasks, seed)}) if row.metric == "errorRate" else row for row in rows]
    return tested + measured_rows(tasks, seed)


def judge(
    statistics: PairedStatistics, significance: float, min_effect: float = 0.0, missing: MissingRule = "bounds"
) -> tuple[Judgement, str]:
    """The verdict and its explanation, by the first rule that holds.

    Adjusted p ≤ `significance` and a mean difference of at least `min_effect` (in [0, 1]): ``better`` or ``worse``, by the sign
    of the mean difference. The equivalence interval lies inside ± the margin: ``equivalent`` (two one-sided tests). Else
    ``inconclusive``, which says what this sample could have shown at all; it never means that nothing changed.

    Where items have no verdict on the skill, a rule must hold at both bounds, that is however these items would have gone; else
    it is ``inconclusive``. With `missing` ``ignore`` the verdict is that of the other items, and says so.
    """
    found = statistics.missing
    if found is None or missing == "ignore":
        verdict, explanation = _ruled(statistics, significance, min_effect)
        assumed = f"; assumed that the {plural(found.count, 'item')} without a verdict went like the others" if found else ""
        return verdict, explanation + assumed
    at_bounds = {_ruled(at, significance, min_effect)[0] for at in (at_lower(statistics), at_upper(statistics))}
    if len(at_bounds) == 1 and (verdict := at_bounds.pop()) != "inconclusive":
        holds = f"it holds however the {plural(found.count, 'item')} without a verdict would have gone"
        return verdict, f"{_within(statistics) if verdict == 'equivalent' else _moved(statistics)}; {holds}"
    between = f"the mean difference lies between {found.lower:+z.4f} and {found.upper:+z.4f}"
    without = _without_verdict(found.before, found.after, judges_alone=found.judges_alone)
    return "inconclusive", f"{without}; {between}"


def at_lower(statistics: PairedStatistics) -> PairedStatistics:
    """The comparison with missing items after taken as failed and those before as passed; itself where there are none."""
    return _at(statistics, statistics.missing.lower, statistics.missing.at_lower) if statistics.missing else statistics


def at_upper(statistics: PairedStatistics) -> PairedStatistics:
    """The comparison with missing items after taken as passed and those before as failed; itself where there are none."""
    return _at(statistics, statistics.missing.upper, statistics.missing.at_upper) if statistics.missing else statistics


def _at(statistics: PairedStatistics, mean: float, bound: AtBound) -> PairedStatistics:
    return statistics.model_copy(
        update={
            "mean_difference": mean,
            "adjusted_p": bound.adjusted_p,
            "equivalence_interval": bound.equivalence_interval,
        }
    )


def _without_verdict(before: int, after: int, *, judges_alone: bool) -> str:
    """How many they are, and how to get their verdicts: where only judges failed, without calling the skill again."""
    them = "it" if before + after == 1 else "them"
    again = f"run {them} again with --resume RUN --retry-errors"
    if judges_alone:
        again = f"only the judge failed: judge {them} again with rescore RUN, which calls no skill, and compare the run it names"
    return f"{_count_without_verdict(before, after)}; {again}"


def _count_without_verdict(before: int, after: int) -> str:
    return f"{plural(before + after, 'item')} without a verdict ({before} before, {after} after)"


def _ruled(statistics: PairedStatistics, significance: float, min_effect: float) -> tuple[Judgement, str]:
    decided = statistics.adjusted_p <= significance and bool(statistics.mean_difference)
    if decided and abs(statistics.mean_difference) >= min_effect - ROUNDING:
        return ("better" if statistics.mean_difference > 0 else "worse"), _moved(statistics)
    interval, margin = statistics.equivalence_interval, statistics.equivalence_margin
    if -margin < interval.lower and interval.upper < margin:
        return "equivalent", _within(statistics)
    if decided:
        return "inconclusive", f"smaller than the least effect that counts, {exact(min_effect)}: {_moved(statistics)}"
    return "inconclusive", _undecided(statistics, significance)


def _within(statistics: PairedStatistics) -> str:
    interval = interval_text(statistics.equivalence_interval)
    return f"the mean difference lies within ±{exact(statistics.equivalence_margin)}: {interval} over {statistics.tasks} tasks"


def _moved(statistics: PairedStatistics) -> str:
    return (
        f"mean difference {statistics.mean_difference:+z.4f}, {interval_text(statistics.interval)}; "
        f"{statistics.tasks_better} of {statistics.tasks} tasks better, {statistics.tasks_worse} worse; "
        f"adjusted {p_is(statistics.adjusted_p)}"
    )


def _undecided(statistics: PairedStatistics, significance: float) -> str:
    differing = statistics.tasks_better + statistics.tasks_worse
    interval, margin = interval_text(statistics.equivalence_interval), f"±{exact(statistics.equivalence_margin)}"
    if not differing:
        return (
            f"no task differs, and {plural(statistics.tasks, 'task')} cannot show that nothing changed: "
            f"the interval {interval} is wider than {margin}"
        )
    if statistics.p_floor > significance:
        reason = (
            f"cannot decide at this size: {differing} of {statistics.tasks} tasks differ, so p cannot fall below "
            f"{statistics.p_floor:.4g}, and the interval {interval} is wider than {margin}"
        )
    else:
        reason = f"cannot decide: {_moved(statistics)}"
    if statistics.smallest_effect is None:
        return f"{reason}; the smallest effect this sample could show is unknown"
    if statistics.smallest_effect > 1:
        return f"{reason}; this sample is too small to show any difference"
    return f"{reason}; the smallest effect this sample could show is {statistics.smallest_effect:.4f}"


def interval_text(interval: DifferenceInterval) -> str:
    """For people: ``90 % [-0.0500, +0.0300]``."""
    return f"{100 * interval.level:.4g} % [{interval.lower:+z.4f}, {interval.upper:+z.4f}]"
