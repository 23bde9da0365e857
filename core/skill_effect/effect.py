"""The effect of Agent Skills, from the report of each arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from eval_skills.core.diff.diff import diff_reports, judged_together
from eval_skills.core.diff.model import MissingRule, ReportDiff, SkillDiff
from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.models.report import is_missing
from eval_skills.core.skill_effect.figures import by_task, figures_of, is_unanswered, task_rates
from eval_skills.core.skill_effect.model import ARMS, SAME, Arm, ArmComparison, SkillEffect, TaskEffect, Undiscerning
from eval_skills.core.skill_effect.remarks import problems_of, remarks_of


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
) -> SkillEffect:
    """The effect of the Agent Skills `names`, from the report of each arm.

    `checks` has by task what the named parts of its score stand for, such as the sentences of assertions. `copies` leads from a
    task to the one that it is a copy of: its items are further runs of that one, as they are not evidence of their own. `sources`
    are the folders from which the Agent Skills were installed: an agent of another arm that looks there is an error of the
    set-up. The verdicts of all comparisons are one family for Holm's procedure.

    Raises:
        InputError: the arm ``with`` is missing, or the arm to compare it with.
    """
    if "with" not in reports or len(reports) < 2:
        raise InputError(f"an effect needs the arm with and another one; there is {', '.join(reports) or 'none'}")
    present = [arm for arm in ARMS if arm in reports]
    reports = {arm: _with_copies_as_runs(report, copies or {}) for arm, report in reports.items()}
    arms = [figures_of(arm, reports[arm]) for arm in present]
    tasks = [TaskEffect(task_id=task, rates=rates) for task, rates in _rates_by_task(reports, present)]
    return SkillEffect(
        names=list(names),
        run_id=run_id,
        benchmark_id=reports["with"].benchmark_id,
        agent=agent,
        model=model,
        arms=arms,
        comparisons=list(_comparisons(reports, [arm for arm in present if arm != "with"])),
        tasks=tasks,
        undiscerning=list(_undiscerning([reports[arm] for arm in present], checks or {})),
        problems=problems_of(reports, names, sources),
        remarks=remarks_of(reports, arms, copies or {}),
    )


def _comparisons(reports: Mapping[Arm, SkillCompletionReport], others: Sequence[Arm]) -> Iterator[ArmComparison]:
    answered = {arm: _answered_only(reports[arm]) for arm in ("with", *others)}
    diffs, of_answers = _diffs(reports, others, "bounds"), _diffs(answered, others, "ignore")
    for arm, diff, other in zip(others, diffs, of_answers, strict=True):
        (found,), (alone,) = diff.skills, other.skills
        is_whole = answered["with"] is reports["with"] and answered[arm] is reports[arm]
        yield ArmComparison(
            against=arm,
            diff=found,
            gain=_gain(reports[arm], reports["with"], found),
            verdict_of_answers=None if is_whole else alone.verdict or "inconclusive",
        )


def _diffs(reports: Mapping[Arm, SkillCompletionReport], others: Sequence[Arm], missing: MissingRule) -> list[ReportDiff]:
    ours = reports["with"]
    return judged_together(
        [
            diff_reports([reports[arm]], [ours], mapping={reports[arm].skill_key: ours.skill_key}, missing=missing)
            for arm in others
        ]
    )


def _answered_only(report: SkillCompletionReport) -> SkillCompletionReport:
    """The report with the items that the agent did not answer as items without a verdict; itself where it answered all."""
    if not any(is_unanswered(item) for item in report.task_results):
        return report
    unknown = {"status": "error", "error_kind": "infra"}
    items = [item.model_copy(update=unknown) if is_unanswered(item) else item for item in report.task_results]
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
    rates = [dict(task_rates(report)) for report in (before, after)]
    shared = [task for task, rate in rates[0].items() if rate is not None and rates[1].get(task) is not None]
    shared = [task for task in shared if task not in set(diff.tasks_incomparable)]
    if not shared:
        return None
    left = 1 - fmean(rate for task in shared if (rate := rates[0][task]) is not None)
    return diff.statistics.mean_difference / left if left > SAME else None


def _rates_by_task(
    reports: Mapping[Arm, SkillCompletionReport], arms: Sequence[Arm]
) -> Iterator[tuple[str, dict[Arm, float | None]]]:
    by_arm = {arm: dict(task_rates(reports[arm])) for arm in arms}
    for task in dict.fromkeys(task for rates in by_arm.values() for task in rates):
        yield task, {arm: by_arm[arm].get(task) for arm in arms}


def _undiscerning(reports: Sequence[SkillCompletionReport], checks: Mapping[str, Mapping[str, str]]) -> Iterator[Undiscerning]:
    """What was the same in every item of every arm: tasks, and of the other tasks single checks (named parts of their score)."""
    items = [item for report in reports for item in report.task_results if not is_missing(item)]
    judged = [{item.task_id for item in report.task_results if not is_missing(item)} for report in reports]
    in_every_arm = set.intersection(*judged)
    for task, runs in by_task(item for item in items if item.task_id in in_every_arm):
        outcomes = {run.passed for run in runs}
        if len(outcomes) == 1:
            yield Undiscerning(task_id=task, passed=outcomes.pop())
            continue
        for check in dict.fromkeys(name for run in runs for name in run.dimensions):
            values = {run.dimensions.get(check) for run in runs}
            if values in ({0.0}, {1.0}):
                said = checks.get(task, {}).get(check, check)
                yield Undiscerning(task_id=task, check=said, passed=values == {1.0})
