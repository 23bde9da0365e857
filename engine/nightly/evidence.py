"""The evidence of a night: its runs, what they are compared with, and what is known of each skill."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from eval_skills.core.diff.diff import diff_reports, judged_together
from eval_skills.core.diff.model import ReportDiff
from eval_skills.core.errors import UserError
from eval_skills.core.metrics.tasks import Tally
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.nightly.evidence import Against, ReferenceKind, SkillNight
from eval_skills.core.store import Store
from eval_skills.core.store.history import TaskOutcome, task_outcomes
from eval_skills.engine.judging.outcome import failed_judging, unjudged
from eval_skills.engine.nightly.plan import SuiteHistory
from eval_skills.engine.nightly.request import Suite
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.reporting.diff.report import DiffDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """The run of a suite; `run_id` is None and `reports` are empty where it could not run.

    `reports` are those of the skills that could be reached and scored, `unreachable` the others; `failures` are sentences.
    """

    suite: Suite
    run_id: str | None = None
    reports: list[SkillCompletionReport] = field(default_factory=list)
    unreachable: list[SkillCompletionReport] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


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
    """The run, with `unreachable` skills (all items are errors of kind infra) and those on which the judge failed set apart.

    Nothing is known of such a skill: it is not a regression, and the run has failed in part.
    """
    reached: list[SkillCompletionReport] = []
    unreachable: list[SkillCompletionReport] = []
    for report in reports:
        down = bool(report.task_results) and all(result.error_kind == "infra" for result in report.task_results)
        (unreachable if down or unjudged(report.task_results) else reached).append(report)
    words = [_unknown(report) for report in unreachable]
    return SuiteRun(suite=suite, run_id=run_id, reports=reached, unreachable=unreachable, failures=[*failures, *words])


def _unknown(report: SkillCompletionReport) -> str:
    results = report.task_results
    if missing := unjudged(results):
        return f"{report.skill_key}: {failed_judging(len(missing), len(results), missing[0].error_message or '')}"
    return f"{report.skill_key} could not be reached: {results[0].error_message}"


def gather(
    store: Store, runs: Sequence[SuiteRun], histories: Sequence[SuiteHistory], baseline: str | None
) -> list[SuiteEvidence]:
    """The evidence of a night: every suite compared with its last good night and its baseline; tests are corrected together."""
    compared = [_compared(store, run, past, run.suite.baseline or baseline) for run, past in zip(runs, histories, strict=True)]
    corrected = iter(judged_together([diff for evidence in compared for _, diff in evidence.diffs]))
    together = [replace(evidence, diffs=[(of, next(corrected)) for of, _ in evidence.diffs]) for evidence in compared]
    return [replace(evidence, skills=_skills(store, evidence)) for evidence in together]


def _compared(store: Store, run: SuiteRun, history: SuiteHistory, baseline: str | None) -> SuiteEvidence:
    wanted: list[tuple[ReferenceKind, str]] = [("last good", history.last_good)] if history.last_good else []
    wanted += [("baseline", baseline)] if baseline and baseline != history.last_good else []
    diffs: list[tuple[Reference, ReportDiff]] = []
    for kind, name in wanted if run.reports else []:
        try:
            source = read_source(name, store.path)
            reference = Reference(kind=kind, name=name, reports=source.reports, remarks=source.remarks)
            diffs.append((reference, diff_reports(reference.reports, run.reports)))
        except UserError as error:
            run = replace(run, failures=[*run.failures, f"{kind}: {error}"])
    return SuiteEvidence(run=run, history=history, diffs=diffs)


def _skills(store: Store, evidence: SuiteEvidence) -> list[SkillNight]:
    run, history = evidence.run, evidence.history
    if run.run_id is None:
        return []
    tonight = task_outcomes(store, [run.run_id])
    before = task_outcomes(store, history.good_runs)
    after = [*task_outcomes(store, history.since), *tonight]
    digests = _digests(tonight)
    ids = [report.skill_id for report in run.reports]
    return [
        SkillNight(
            suite=run.suite.name,
            report=report,
            against=[against for of, diff in evidence.diffs if (against := _against(of, diff, report))],
            before=_tallies(before, report, digests, alone=ids.count(report.skill_id) == 1),
            after=_tallies(after, report, digests, alone=ids.count(report.skill_id) == 1),
            lost=history.lost_by(report),
        )
        for report in run.reports
    ]


def _against(reference: Reference, diff: ReportDiff, report: SkillCompletionReport) -> Against | None:
    for skill in diff.skills:
        if skill.change == "compared" and (skill.skill_id, skill.skill_version) == (report.skill_id, report.skill_version):
            (before,) = (
                each
                for each in reference.reports
                if (each.skill_id, each.skill_version) == (skill.before_skill_id, skill.before_version)
                and each.benchmark_id == report.benchmark_id
            )
            return Against(kind=reference.kind, name=reference.name, before=before, diff=skill)
    return None


def _digests(outcomes: Iterable[TaskOutcome]) -> dict[str, str | None]:
    return {outcome.task_id: outcome.task_digest for outcome in outcomes}


def _tallies(
    outcomes: Iterable[TaskOutcome], report: SkillCompletionReport, digests: dict[str, str | None], *, alone: bool
) -> dict[str, Tally]:
    """The tallies of tasks that are unchanged; of a skill that is `alone` under its id, every version counts."""
    found: dict[str, Tally] = {}
    for outcome in outcomes:
        same = outcome.skill_id == report.skill_id and (alone or outcome.skill_version == report.skill_version)
        if same and digests.get(outcome.task_id, "") == outcome.task_digest:
            found[outcome.task_id] = found.get(outcome.task_id, Tally()) + outcome.tally
    return found
