"""What a run is compared with while it grows, and the p at which each look at it decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eval_skills.core.diff.until import Decision, decide, levels_of_looks
from eval_skills.core.errors import UsageError
from eval_skills.core.models import Benchmark, Skill, SkillCompletionReport
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.engine.stored_runs.run_ids import LATEST


@dataclass(frozen=True, slots=True)
class Baseline:
    """The earlier report of every skill of a run, by the skill's key, and the levels of its looks by their numbers of runs.

    `name` is a run id, or the absolute path of a JSON report.
    """

    name: str
    reports: dict[str, SkillCompletionReport]
    levels: dict[str, dict[int, float]]

    def look(self, report: SkillCompletionReport, runs: int) -> Decision:
        """What the comparison with `report`, of a skill after so many runs, says."""
        levels = self.levels[report.skill_key]
        before = self.reports[report.skill_key]
        return decide(before, report, against=self.name, most=max(levels), runs=runs, level=levels[runs])


def find_baseline(
    request: EvaluateRequest, skills: Mapping[str, Skill], benchmark: Benchmark, digests: Mapping[str, str]
) -> Baseline:
    """What the request's `against` names.

    Of each skill the report with its version counts, else the one with the latest.

    Raises:
        UsageError: it holds no report of a skill on this benchmark, or none of today's tasks: nothing would ever be decided.
        InputError: it cannot be read.
    """
    source = read_source(request.against or LATEST, request.store)
    name = source.name if source.file is None else str(source.file.resolve())
    same = [report for report in source.reports if report.benchmark_id == benchmark.id]
    reports = {key: _report_of(skill, same, name, benchmark.id) for key, skill in skills.items()}
    levels = {
        key: levels_of_looks(request.runs, request.most_runs, _runs_of_shared(report, digests, name), len(skills))
        for key, report in reports.items()
    }
    return Baseline(name, reports, levels)


def _report_of(skill: Skill, reports: list[SkillCompletionReport], against: str, benchmark_id: str) -> SkillCompletionReport:
    of_skill = {report.skill_version: report for report in reports if report.skill_id == skill.id}
    if not of_skill:
        known = ", ".join(sorted(report.skill_key for report in reports)) or "none at all"
        raise UsageError(
            f"--against {against} holds no report of {skill.id} on {benchmark_id}, so nothing would be decided; it holds {known}"
        )
    latest = max(of_skill.values(), key=lambda report: report.timestamp)
    return of_skill.get(skill.version, latest)


def _runs_of_shared(report: SkillCompletionReport, digests: Mapping[str, str], against: str) -> float:
    """How many runs the tasks that both sides have got there, on average."""
    shared = [
        result.task_id
        for result in report.task_results
        if (digest := digests.get(f"task/{result.task_id}")) is not None
        and result.task_digest in (None, digest)
        and result.scoring_digest in (None, digests[f"scoring/{result.task_id}"])
    ]
    if not shared:
        raise UsageError(
            f"--against {against}: {report.skill_key} ran none of today's tasks there, so nothing would be decided; "
            "score its answers by today's tasks with: eval-skills rescore RUN"
        )
    return len(shared) / len(set(shared))
