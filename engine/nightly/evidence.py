"""The evidence of a night: its runs, what they are compared with, and what is known of each skill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.diff.model import ReportDiff, SkillDiff
from eval_skills.core.errors import UserError
from eval_skills.core.metrics.tasks import Tallies, count_tallies, merge_tallies
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.models.report import MAX_DETAILED_ITEMS
from eval_skills.core.nightly.comparisons import SKILL_FILES, SKILL_VERSION, judged
from eval_skills.core.nightly.evidence import POOLED, Night, Rule, SkillNight
from eval_skills.core.skill_effect.model import SkillEffect
from eval_skills.core.store import Store
from eval_skills.core.store.history import TaskOutcome, task_outcomes
from eval_skills.engine.judging.outcome import failed_judging, failed_users, unjudged, unsimulated
from eval_skills.engine.nightly.history import LastNight, PastNight, SuiteHistory, compared
from eval_skills.engine.nightly.request import Suite
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.reporting.diff.report import DiffDocument
from eval_skills.reporting.judging import figures_in

ReferenceKind = Literal["last good", "baseline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """The run of a suite; `run_id` is None and `reports` are empty where it could not run.

    `reports` are those of the skills that could be reached and scored, `unreachable` the others; `failures` are sentences, and
    `remarks` those that fail nothing. Of a suite that asks what an Agent Skill changes, they are those of the arm ``with`` alone,
    and `effect` has all.
    """

    suite: Suite
    run_id: str | None = None
    reports: list[SkillCompletionReport] = field(default_factory=list)
    unreachable: list[SkillCompletionReport] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    effect: SkillEffect | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a suite is compared with."""

    kind: ReferenceKind
    name: str
    reports: list[SkillCompletionReport]
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEvidence:
    """A suite's run with its history, its comparisons, and what is known of each skill, in the order of the run's reports."""

    run: SuiteRun
    history: SuiteHistory
    diffs: list[tuple[Reference, ReportDiff]]
    skills: list[SkillNight] = field(default_factory=list)

    def documents(self) -> list[DiffDocument]:
        """The comparisons as documents."""
        return [
            DiffDocument(
                diff=diff, before=f"{reference.kind}: {reference.name}", after=self.run.run_id or "", remarks=reference.remarks
            )
            for reference, diff in self.diffs
        ]


def suite_run(suite: Suite, run_id: str, reports: Iterable[SkillCompletionReport], failures: Iterable[str] = ()) -> SuiteRun:
    """The run, with `unreachable` skills set apart (all items are errors of kind infra), and those on which the judge, or the
    model that plays the user, failed.

    Nothing is known of such a skill: it is not a regression, and the run has failed in part.
    """
    reached: list[SkillCompletionReport] = []
    unreachable: list[SkillCompletionReport] = []
    for report in reports:
        (unreachable if _is_unknown(report) else reached).append(report)
    words = [_unknown(report) for report in unreachable]
    return SuiteRun(suite=suite, run_id=run_id, reports=reached, unreachable=unreachable, failures=[*failures, *words])


def _is_unknown(report: SkillCompletionReport) -> bool:
    summary, results = report.summary, report.task_results
    if not results:  # as of a large run, whose reports list no items
        return not summary.has_verdict or bool(summary.unjudged_items)
    return bool(unjudged(results) or unsimulated(results)) or all(result.error_kind == "infra" for result in results)


def _unknown(report: SkillCompletionReport) -> str:
    results = report.task_results
    if not results:
        return f"{report.skill_key}: {report.summary.missing_items:,} of {report.summary.items:,} items have no verdict on it"
    if missing := unjudged(results):
        return f"{report.skill_key}: {failed_judging([each.error_message or '' for each in missing], len(results))}"
    if without := unsimulated(results):
        return f"{report.skill_key}: {failed_users([each.error_message or '' for each in without], len(results))}"
    return f"{report.skill_key} could not be reached: {results[0].error_message}"


def gather(
    store: Store, night_id: str, runs: Sequence[SuiteRun], histories: Sequence[SuiteHistory], baseline: str | None
) -> list[SuiteEvidence]:
    """The evidence of a night: every skill compared with its good nights and its baseline; tests are corrected together."""
    compared = [_compared(store, run, past, run.suite.baseline or baseline) for run, past in zip(runs, histories, strict=True)]
    skills = [_skills(store, night_id, evidence) for evidence in compared]
    ruled = iter(judged([skill for each in skills for skill in each]))
    together = [replace(evidence, skills=[next(ruled) for _ in each]) for evidence, each in zip(compared, skills, strict=True)]
    told = _unused_baselines(together, baseline)
    return [replace(evidence, diffs=[(of, _as_ruled(of, diff, evidence)) for of, diff in evidence.diffs]) for evidence in told]


def _unused_baselines(suites: Sequence[SuiteEvidence], baseline: str | None) -> list[SuiteEvidence]:
    """The suites, with a failure of each that is compared with a baseline in vain; the night's may be for some of them alone.

    Without one its gate would pass by a comparison that was not made.
    """
    in_vain = not any(_is_compared(each) for each in suites if each.run.suite.baseline is None)
    names = [each.run.suite.baseline or (baseline if in_vain else None) for each in suites]
    return [_in_vain(each, name) if name and not _is_compared(each) else each for each, name in zip(suites, names, strict=True)]


def _is_compared(evidence: SuiteEvidence) -> bool:
    return any(each.rule == "baseline" and each.statistics for night in evidence.skills for each in night.against)


def _in_vain(evidence: SuiteEvidence, name: str) -> SuiteEvidence:
    baseline = next((reference for reference, _ in evidence.diffs if reference.kind == "baseline"), None)
    if baseline is None:
        return evidence  # it could not be read, which is told, or there is nothing to compare with it
    skills = ", ".join(report.skill_key for report in evidence.run.reports)
    why = without_tasks(baseline.reports) or (
        f"it does not have {skills} on benchmark {evidence.run.reports[0].benchmark_id}, or every task, or what judges it, "
        "changed since"
    )
    failure = f"baseline: nothing could be compared with {name}: {why}; name another, or none"
    return replace(evidence, run=replace(evidence.run, failures=[*evidence.run.failures, failure]))


def without_tasks(reports: Iterable[SkillCompletionReport]) -> str | None:
    """Why no task can be compared with these reports, where they hold figures only; else None."""
    if any(report.task_results for report in reports):
        return None
    whose = f"of runs whose items were deleted (--keep-days), and of runs of more than {MAX_DETAILED_ITEMS:,} items"
    return f"it holds figures only, as reports {whose} do, and tasks are compared by their items"


def _compared(store: Store, run: SuiteRun, history: SuiteHistory, baseline: str | None) -> SuiteEvidence:
    history = _without_damaged(store, run, history)
    last_good: dict[str, set[str]] = {}
    replaced: dict[str, str] = {}
    for report in run.reports:
        if last := _last_good(run, history, report):
            last_good.setdefault(last.run_id, set()).add(last.skill_key)
            replaced[last.skill_key] = report.skill_key
    wanted: dict[ReferenceKind, Mapping[str, set[str] | None]] = {
        "last good": last_good,
        "baseline": {baseline: None} if baseline else {},
    }
    diffs: list[tuple[Reference, ReportDiff]] = []
    for kind, names in wanted.items() if run.reports else ():
        try:
            reference = _reference(store, kind, names)
            if reference.reports:
                mapping = replaced if kind == "last good" else {}
                diffs.append((reference, diff_reports(reference.reports, run.reports, mapping=mapping)))
        except UserError as error:
            told = str(error).removesuffix(", or latest")  # which is refused: it would be a run of tonight
            run = replace(run, failures=[*run.failures, f"{kind}: {told}"])
    return SuiteEvidence(run=run, history=history, diffs=diffs)


def _without_damaged(store: Store, run: SuiteRun, history: SuiteHistory) -> SuiteHistory:
    """The history, in which damaged items are gone: of the nights that the skills would be compared with."""
    if run.run_id is None:
        return history
    pasts = (compared(_stored(_past(run, history, report)), judge_of(report)) for report in [*run.reports, *run.unreachable])
    wanted = {night.run_id for past in pasts for night in past}
    damaged = wanted - store.tables.sound_files("items", {run.run_id, *wanted}).keys()
    return replace(history, nights=[replace(each, items="gone") if each.run_id in damaged else each for each in history.nights])


def gone(run: SuiteRun, history: SuiteHistory) -> list[LastNight]:
    """The skills of the suite's last night that are not in tonight's run; none where there is no run.

    Another version in a skill's place is the same skill. What the suite calls retired is not missed.
    """
    if run.run_id is None:
        return []
    here = {(report.skill_id, report.skill_version) for report in [*run.reports, *run.unreachable]}
    new = Counter(skill_id for skill_id, _ in here - {(last.skill_id, last.skill_version) for last in history.last})
    absent = []
    for last in history.last:
        if (last.skill_id, last.skill_version) in here or {last.skill_id, last.skill_key} & set(run.suite.retired):
            continue
        if new[last.skill_id]:
            new[last.skill_id] -= 1
        else:
            absent.append(last)
    return absent


def _reference(store: Store, kind: ReferenceKind, names: Mapping[str, set[str] | None]) -> Reference:
    """The reports of these runs, of each those of the skills (``id@version``) that are named; of all where it is None."""
    sources = {name: read_source(name, store.path) for name in names}
    reports = [
        report
        for name, source in sources.items()
        for report in source.reports
        if (skills := names[name]) is None or report.skill_key in skills
    ]
    remarks = [remark for source in sources.values() for remark in source.remarks]
    return Reference(kind=kind, name=", ".join(names), reports=reports, remarks=remarks)


def last_good_runs(evidence: SuiteEvidence) -> list[str | None]:
    """The run of the last good night of each report's skill, in their order."""
    return [last_good_run(evidence, report) for report in evidence.run.reports]


def last_good_run(evidence: SuiteEvidence, report: SkillCompletionReport) -> str | None:
    """The run of the last good night of the skill of a report, be it reachable tonight or not."""
    last = _last_good(evidence.run, evidence.history, report)
    return None if last is None else last.run_id


def _last_good(run: SuiteRun, history: SuiteHistory, report: SkillCompletionReport) -> PastNight | None:
    past = compared(_stored(_past(run, history, report)), judge_of(report))
    return next((night for night in reversed(past) if night.good), None)


def _past(run: SuiteRun, history: SuiteHistory, report: SkillCompletionReport) -> list[PastNight]:
    """The skill's nights; of other suites those on the same benchmark, since others use the same task ids."""
    tonight = {each.skill_version for each in (*run.reports, *run.unreachable) if each.skill_id == report.skill_id}
    past = history.of(report.skill_id, report.skill_version, tonight)
    return [night for night in past if not night.of_others or night.benchmark_id == report.benchmark_id]


def _stored(past: Iterable[PastNight]) -> list[PastNight]:
    return [night for night in past if night.items == "stored"]


def judge_of(report: SkillCompletionReport) -> str | None:
    """The models that judged it, each with its prompt; None where none did."""
    figures = figures_in(report)
    return ", ".join(sorted(f"{judge.model} ({judge.prompt})" for judge in figures.judges)) if figures else None


def _skills(store: Store, night_id: str, evidence: SuiteEvidence) -> list[SkillNight]:
    run, history = evidence.run, evidence.history
    if run.run_id is None:
        return []
    pasts = [_past(run, history, report) for report in run.reports]
    own = [compared(_stored(past), judge_of(report)) for past, report in zip(pasts, run.reports, strict=True)]
    wanted = {run.run_id, *(run_id for nights in own for night in nights for run_id in night.runs)}
    outcomes: dict[tuple[str, str, str], list[TaskOutcome]] = {}
    for outcome in task_outcomes(store, wanted):
        outcomes.setdefault((outcome.run_id, outcome.skill_id, outcome.skill_version), []).append(outcome)
    skills = []
    for report, past, nights in zip(run.reports, pasts, own, strict=True):
        tonight = PastNight(
            night_id=night_id,
            run_id=run.run_id,
            confirm_run_id=None,
            skill_id=report.skill_id,
            skill_version=report.skill_version,
            benchmark_id=report.benchmark_id,
            good=True,
            judge=judge_of(report),
        )
        digests = {each.task_id: (each.task_digest, each.scoring_digest) for each in _items_of(tonight, outcomes)}
        unchanged = [night for each in nights if (night := _night(each, outcomes, digests)).tallies]
        read = {run_id for run_id, *_ in outcomes}
        skills.append(
            SkillNight(
                suite=run.suite.name,
                tonight=_night(tonight, outcomes, digests),
                past=unchanged,
                pinned=_pinned(evidence, report),
                lost=history.lost_by(past),
                begins_anew=not unchanged and any(night.good and not night.of_others for night in _stored(past)),
                unread=_unread(past, judge_of(report), read),
                left=sorted({each.task_id for last in nights[-1:] for each in _items_of(last, outcomes)} - digests.keys()),
                run_id=run.run_id,
                store=store.path,
            )
        )
    return skills


def _unread(past: Sequence[PastNight], judge: str | None, read: Collection[str]) -> list[str]:
    """The runs of nights that it would be compared with if their items were not gone or damaged."""
    wanted = compared([night for night in past if night.items != "pruned"], judge, most=POOLED)
    return [night.run_id for night in wanted if night.run_id not in read]


def _items_of(night: PastNight, outcomes: Mapping[tuple[str, str, str], list[TaskOutcome]]) -> list[TaskOutcome]:
    return [each for run in sorted(night.runs) for each in outcomes.get((run, night.skill_id, night.skill_version), [])]


def _night(
    night: PastNight,
    outcomes: Mapping[tuple[str, str, str], list[TaskOutcome]],
    digests: Mapping[str, tuple[str | None, str | None]],
) -> Night:
    """The night on the tasks that are unchanged since, and judged by the same; runs of earlier versions do not say by what."""
    found = _items_of(night, outcomes)
    kept = [each for each in found if each.task_id in digests and _is_same(each, *digests[each.task_id])]
    made_of = {SKILL_VERSION: night.skill_version, "judge": night.judge}
    own = (each for each in found if each.run_id == night.run_id)  # fresh runs ask a part of the benchmark, with its own digest
    if first := next(own, None):
        made_of |= {SKILL_FILES: first.skill_digest, "benchmark version": first.benchmark_version}
        made_of["benchmark"] = first.benchmark_digest
    return Night(
        night_id=night.night_id,
        tallies=merge_tallies(*({each.task_id: each.tally} for each in kept)),
        made_of=made_of,
        good=night.good,
    )


def _is_same(outcome: TaskOutcome, task_digest: str | None, scoring_digest: str | None) -> bool:
    by_the_same = None in (outcome.scoring_digest, scoring_digest) or outcome.scoring_digest == scoring_digest
    return outcome.task_digest == task_digest and by_the_same


def _pinned(evidence: SuiteEvidence, report: SkillCompletionReport) -> tuple[str, Tallies] | None:
    for reference, diff in evidence.diffs:
        if reference.kind == "baseline" and (skill := _diff_of(diff, report)):
            (before,) = (
                each
                for each in reference.reports
                if (each.skill_id, each.skill_version) == (skill.before_skill_id, skill.before_version)
                and each.benchmark_id == report.benchmark_id
            )
            tallies = count_tallies(before.task_results)
            return reference.name, {task: tally for task, tally in tallies.items() if task not in skill.tasks_incomparable}
    return None


def _diff_of(diff: ReportDiff, report: SkillCompletionReport) -> SkillDiff | None:
    key = (report.skill_id, report.skill_version)
    return next((each for each in diff.skills if each.change == "compared" and (each.skill_id, each.skill_version) == key), None)


RULE_OF: Mapping[ReferenceKind, Rule] = {"last good": "good nights", "baseline": "baseline"}


def _as_ruled(reference: Reference, diff: ReportDiff, evidence: SuiteEvidence) -> ReportDiff:
    """The comparison of two runs, with the verdicts of the night: they come from all good nights, adjusted together."""
    skills = list(diff.skills)
    for report, night in zip(evidence.run.reports, evidence.skills, strict=True):
        ruled = next((each for each in night.against if each.rule == RULE_OF[reference.kind]), None)
        if ruled is not None and ruled.statistics is not None and (skill := _diff_of(diff, report)) is not None:
            update = {"statistics": ruled.statistics, "verdict": ruled.verdict}
            told = skill.model_copy(update={**update, "explanation": f"against {ruled.name}: {ruled.explanation}"})
            skills[skills.index(skill)] = told
    return diff.model_copy(update={"skills": skills})
