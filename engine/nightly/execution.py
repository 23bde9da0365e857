"""Running a night, in a flow or without Prefect: what is asked, what is run again, and what is concluded and recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote

from eval_skills.core.errors import UserError
from eval_skills.core.metrics.tasks import Tallies, count_tallies, merge_tallies
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.nightly.classification import classify
from eval_skills.core.nightly.evidence import Classification, FreshRuns
from eval_skills.core.store import Store
from eval_skills.core.store.files import KEPT
from eval_skills.core.store.history import task_outcomes
from eval_skills.core.store.missing import WRONG_CLOCK
from eval_skills.core.text import first_of, plural
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import plan_for
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.engine.nightly.effect import effect_run, night_effect
from eval_skills.engine.nightly.events import prune_old_items, record_night
from eval_skills.engine.nightly.evidence import (
    SuiteEvidence,
    SuiteRun,
    gather,
    gone,
    judge_of,
    last_good_run,
    last_good_runs,
    suite_run,
)
from eval_skills.engine.nightly.history import suites_left_out
from eval_skills.engine.nightly.interruption import held
from eval_skills.engine.nightly.plan import NightPlan, plan_night
from eval_skills.engine.nightly.request import NightlyRequest, Suite
from eval_skills.engine.nightly.summary import NightSummary, SkillOutcome, SuiteOutcome
from eval_skills.reporting.skill_effect.document import write_effect

NAMED = 3
"""How many runs or nights a note names; of more, their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """The result of an evaluation; `run_id` is None where it failed.

    `problems` say why, and which skills were skipped; `remarks` are its other notes, which fail nothing: that files of a skill
    changed before it was resumed. `flow_runs` and `task_runs` are what Prefect should have recorded.
    """

    run_id: str | None = None
    reports: list[SkillCompletionReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    flow_runs: tuple[str, ...] = ()
    task_runs: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """An evaluation, and the deployment that carries it out; None: this process. With a `problem` it cannot be carried out."""

    request: EvaluateRequest
    via: str | None = None
    problem: str | None = None


EvaluateAll = Callable[[Sequence[Asked]], list[Evaluated]]
"""Carries out evaluations, with results in their order; the error of one is in its result."""


def asked_of(night: NightPlan) -> list[Asked]:
    """The evaluations of the night's suites, in their order."""
    return [_asked(night, suite) for suite in night.suites]


def _asked(night: NightPlan, suite: Suite) -> Asked:
    try:
        return Asked(night.evaluation(suite), suite.via)
    except (UserError, OSError) as error:  # the arms of an effect cannot be made: this suite's result, and no other's
        return Asked(EvaluateRequest(), suite.via, reason_of(error))


def evaluated(summary: RunSummary) -> Evaluated:
    """The result of an evaluation that ended."""
    if summary.is_partial:
        why = summary.stop_line or f"stopped early: {summary.finished} of {summary.planned} items"
        return Evaluated(problems=[f"run {summary.run_id} {why}"])
    return Evaluated(
        run_id=summary.run_id,
        reports=summary.reports,
        problems=summary.skips,
        remarks=summary.remarks[summary.skipped :],
        flow_runs=summary.flow_runs,
        task_runs=summary.task_runs,
    )


def reason_of(error: Exception) -> str:
    """What went wrong, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def runs_of(night: NightPlan, evaluated: Sequence[Evaluated]) -> list[SuiteRun]:
    """The suites' runs, with what could not run; in the order of the night."""
    return [_run_of(night, suite, done) for suite, done in zip(night.suites, evaluated, strict=True)]


def _run_of(night: NightPlan, suite: Suite, done: Evaluated) -> SuiteRun:
    if done.run_id is None:
        return SuiteRun(suite=suite, failures=done.problems)
    if suite.skill_effect is not None:
        run = effect_run(night.store, suite, done.run_id, done.reports, done.problems)
    else:
        run = suite_run(suite, done.run_id, done.reports, done.problems)
    return replace(run, remarks=done.remarks)


def confirmed(
    night: NightPlan, evidence: Sequence[SuiteEvidence], evaluate: EvaluateAll
) -> tuple[dict[int, FreshRuns], list[Evaluated]]:
    """Fresh runs of every skill with tasks that changed, by the skill's position in the night."""
    skills = [
        (each, report, tasks)
        for each in evidence
        for report, tasks in zip(each.run.reports, (skill.moved() for skill in each.skills), strict=True)
    ]
    moved = {index: each for index, each in enumerate(skills) if each[2]}
    asked = [
        Asked(night.confirmation(of.run.suite, of.run.run_id or "", report, tasks), of.run.suite.via)
        for of, report, tasks in moved.values()
    ]
    done = evaluate(asked)
    fresh: dict[int, FreshRuns] = {}
    for (index, (of, report, _)), each in zip(moved.items(), done, strict=True):
        found = _fresh(night, of, report.skill_key, each)
        fresh[index] = replace(found, of_other_files=_of_other_files(night, of, report, found))
    return fresh, done


def _of_other_files(night: NightPlan, of: SuiteEvidence, report: SkillCompletionReport, fresh: FreshRuns) -> bool:
    """Whether files of the skill changed between the answers of a run that an earlier process began and the fresh runs."""
    run_id = of.run.run_id
    if run_id is None or fresh.run_id is None or run_id not in night.begun.suites.values():
        return False  # within one process a skill may write into its own folder, which is not a change of the skill
    names = ("skill_id", "skill_version", "skill_digest")
    rows = night.store.tables.rows("items", names, {run_id, fresh.run_id})
    skill = (report.skill_id, report.skill_version)
    return len({row["skill_digest"] for row in rows if (row["skill_id"], row["skill_version"]) == skill} - {None}) > 1


def _fresh(night: NightPlan, of: SuiteEvidence, skill_key: str, done: Evaluated) -> FreshRuns:
    run = suite_run(of.run.suite, done.run_id or "", [report for report in done.reports if report.skill_key == skill_key])
    if run.reports:
        return FreshRuns(tallies=_tallies(night.store, run, run.reports[0]), run_id=done.run_id, remarks=done.remarks)
    problem = "; ".join([*done.problems, *run.failures]) or f"{skill_key} did not run"
    return FreshRuns(tallies=None, run_id=done.run_id, problem=problem, remarks=done.remarks)


def _tallies(store: Store, run: SuiteRun, report: SkillCompletionReport) -> Tallies:
    if report.task_results or run.run_id is None:
        return count_tallies(report.task_results)
    outcomes = task_outcomes(store, [run.run_id])  # the reports of a large run list no items
    own = [each for each in outcomes if (each.skill_id, each.skill_version) == (report.skill_id, report.skill_version)]
    return merge_tallies(*({each.task_id: each.tally} for each in own))


def concluded(night: NightPlan, evidence: Sequence[SuiteEvidence], fresh: Mapping[int, FreshRuns]) -> NightSummary:
    """Classify every skill."""
    classifications = classify(night.night_id, [skill for each in evidence for skill in each.skills], fresh)
    numbered = iter(enumerate(classifications))
    suites = [suite_outcome(each, [next(numbered) for _ in each.skills], fresh, night.baseline) for each in evidence]
    names = {suite.name for suite in night.suites}
    if suites and (left_out := suites_left_out(night.store, night.file, names, night.night_id)):
        suites[0] = replace(suites[0], remarks=[*suites[0].remarks, left_out])
    return NightSummary(night_id=night.night_id, store=night.store.path, suites=suites)


def record(night: NightPlan, summary: NightSummary) -> None:
    """Record the night in the store, once all of it has been announced; later nights compare with it.

    A night that is not recorded is one to resume: it may announce something twice, but nothing never.

    Raises:
        RunError: it cannot be written.
    """
    record_night(night.store, summary, night.going_on() or KEPT)
    _write_effects(night, summary.suites)


def suite_outcome(
    evidence: SuiteEvidence, numbered: Sequence[tuple[int, Classification]], fresh: Mapping[int, FreshRuns], baseline: str | None
) -> SuiteOutcome:
    """What became of a suite: its skills with their verdicts (`numbered`), and those that could not be reached or scored."""
    run = evidence.run
    confirming = [fresh[index] for index, _ in numbered if index in fresh]
    uncompared, not_with = _of_nights_not_compared(evidence)
    remarks = [
        *run.remarks,
        *(remark for each in confirming for remark in each.remarks),
        *not_with,
        *_of_unread(evidence),
        *_of_new_tasks(evidence),
        *_of_tasks_that_left(evidence),
    ]
    return SuiteOutcome(
        name=run.suite.name,
        run_id=run.run_id,
        benchmark_id=next((report.benchmark_id for report in [*run.reports, *run.unreachable]), None),
        skills=[*_classified(evidence, numbered, fresh), *_unreachable(evidence)],
        gone=gone(run, evidence.history),
        failures=[*run.failures, *(each.problem for each in confirming if each.problem), *uncompared],
        remarks=list(dict.fromkeys(remarks)),
        diffs=evidence.documents(),
        baseline=run.suite.baseline or baseline,
        effect=night_effect(run, evidence.history),
    )


def _classified(
    evidence: SuiteEvidence, numbered: Sequence[tuple[int, Classification]], fresh: Mapping[int, FreshRuns]
) -> list[SkillOutcome]:
    of_each = zip(evidence.run.reports, evidence.skills, last_good_runs(evidence), numbered, strict=True)
    return [
        SkillOutcome(
            report=report,
            classification=classification,
            against=skill.against,
            confirm_run_id=fresh[index].run_id if index in fresh else None,
            last_good=last_good,
            judge=judge_of(report),
        )
        for report, skill, last_good, (index, classification) in of_each
    ]


def _unreachable(evidence: SuiteEvidence) -> list[SkillOutcome]:
    down = Classification(verdict="failed", explanation="it could not be reached or scored, so nothing is known of it")
    return [
        SkillOutcome(report=report, classification=down, last_good=last_good_run(evidence, report))
        for report in evidence.run.unreachable
    ]


def _of_nights_not_compared(evidence: SuiteEvidence) -> tuple[list[str], list[str]]:
    """What a night dated in the future means, and nights whose rows are gone: failures where there was nothing else to compare
    with, else remarks.
    """
    history = evidence.history
    said: list[str] = []
    if history.to_come is not None:
        said.append(
            f"night {history.to_come} is dated in the future, so a clock was or is wrong, and nothing is compared with it: "
            f"set the clock, or append {WRONG_CLOCK} to the name of nights/date=*/{history.to_come}.parquet, and it never counts"
        )
    if lost := history.unrecorded:
        said.append(
            f"nothing is compared with {plural(len(lost), 'night')}, whose rows are gone or damaged ({first_of(lost, NAMED)}): "
            f"put nights/date=*/{lost[-1]}.parquet back, or record that night again with nightly --resume {lost[-1]}"
        )
    return ([], said) if evidence.diffs else (said, [])


def _of_unread(evidence: SuiteEvidence) -> list[str]:
    """That skills are compared with fewer nights than there were, because items of the others are gone or damaged."""
    skills: dict[tuple[str, ...], list[str]] = {}
    for skill, report in zip(evidence.skills, evidence.run.reports, strict=True):
        if skill.unread and skill.against:
            skills.setdefault(tuple(skill.unread), []).append(report.skill_key)
    verify = f"eval-skills store verify --store {quote(evidence.skills[0].store)}" if skills else ""
    return [
        f"{', '.join(names)}: compared without {plural(len(runs), 'earlier night')}, whose items are gone or damaged "
        f"({first_of(runs, NAMED)}); {verify} names the files to put back"
        for runs, names in skills.items()
    ]


def _of_new_tasks(evidence: SuiteEvidence) -> list[str]:
    """That skills were asked tasks that no night before had, or had as they are: nothing is said of these yet."""
    skills: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for skill, report in zip(evidence.skills, evidence.run.reports, strict=True):
        asked = skill.tonight.tallies.keys()
        new = asked - skill.known
        if new and skill.past:
            skills.setdefault((len(asked), tuple(sorted(new))), []).append(report.skill_key)
    return [
        f"{', '.join(names)}: {len(new)} of {plural(asked, 'task')} not compared, since no night before had them as they are now "
        f"({first_of(new, NAMED)}); the next night is compared with this one on them"
        for (asked, new), names in skills.items()
    ]


def _of_tasks_that_left(evidence: SuiteEvidence) -> list[str]:
    """That skills were not asked tasks of their last night: a loss on these is not seen, and one that was known is forgotten."""
    skills: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for skill, report in zip(evidence.skills, evidence.run.reports, strict=True):
        if skill.left and skill.past:
            lost = sorted(set(skill.left) & set(skill.lost.tasks)) if skill.lost else []
            known = f"; {first_of(lost, NAMED)} had regressed and was not back" if lost else ""
            skills.setdefault((tuple(skill.left), known), []).append(report.skill_key)
    return [
        f"{', '.join(names)}: {plural(len(left), 'task')} of the last night not asked any more ({first_of(left, NAMED)}), so "
        f"that a loss there is not seen{known}"
        for (left, known), names in skills.items()
    ]


def _write_effects(night: NightPlan, suites: Sequence[SuiteOutcome]) -> None:
    for suite, outcome in zip(night.suites, suites, strict=True):
        request = suite.request(night.request.options)
        if outcome.effect is not None:
            write_effect(outcome.effect.effect, request.format, Path(request.output_dir).absolute())


def finish_night_without_prefect(request: NightlyRequest, night_id: str, lost: str) -> NightSummary:
    """The rest of a night whose Prefect server is gone: what is left of its suites, the comparison, and its record in the store.

    A suite that a deployment was to evaluate could not run. There are no artifacts, and no events.

    Raises:
        RunError: results cannot be written.
    """
    night = plan_night(request.model_copy(update={"resume": night_id}))
    with held(night.store, night.night_id):
        runs = runs_of(night, [_in_process(each, lost) for each in asked_of(night)])
        evidence = gather(night.store, night.night_id, runs, night.histories, night.baseline)
        fresh, _ = confirmed(night, evidence, lambda asked: [_in_process(each, lost) for each in asked])
        summary = concluded(night, evidence, fresh)
        record(night, summary)
        if request.keep_days is not None:
            summary = replace(summary, pruned=prune_old_items(night.store, request.keep_days, night.pinned()))
        return summary


def _in_process(asked: Asked, lost: str) -> Evaluated:
    if asked.problem is not None:
        return Evaluated(problems=[asked.problem])
    if asked.via is not None:
        return Evaluated(problems=[f"deployment {asked.via} cannot be reached: the Prefect API was lost ({lost})"])
    try:
        plan = plan_for(asked.request)
        return evaluated(evaluate_in_process(plan))
    except Exception as error:  # noqa: BLE001 - the suites of a night do not depend on each other: it becomes this one's result
        return Evaluated(problems=[reason_of(error)])
