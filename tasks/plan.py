"""What a run will do: skills × tasks × runs, minus what is already done. Plain: no Prefect, and nothing is written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from eval_skills.adapters import check_skill, secrets_of
from eval_skills.benchmarks import benchmark_folder, filter_tasks, load_benchmark, load_tasks
from eval_skills.core.errors import InputError, UsageError, UserError, nearest
from eval_skills.core.fingerprint import digest_of_folder, digest_of_json
from eval_skills.core.models import Benchmark, EvalTask, Skill
from eval_skills.core.models.benchmark import Subject
from eval_skills.core.skills import InvalidSkill, load_skills
from eval_skills.core.store import Store, new_run_id
from eval_skills.scorers import ScoringSettings, TaskScoring
from eval_skills.scorers.registry import find_scorer
from eval_skills.tasks.cluster_request import check_task_runner
from eval_skills.tasks.places import check_places
from eval_skills.tasks.request import EvaluateRequest


@dataclass(frozen=True, slots=True)
class Item:
    """The unit of work, of retry and of timeout: one skill (``id@version``), one task, one run (counted from 0)."""

    skill: str
    task: str
    run: int

    def __str__(self) -> str:
        return f"{self.skill}/{self.task}#{self.run + 1}"

    @property
    def key(self) -> tuple[str, str, int]:
        """The same as `ItemResult.key` of its result."""
        return (self.skill, self.task, self.run)


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything a run needs, checked. `items` are the ones still to do, `finished` counts those that are done.

    `remarks` are things a person should know that stop nothing. `began` is when the run really began, whatever it is dated at.
    """

    run_id: str
    request: EvaluateRequest
    store: Store
    skills: dict[str, Skill]
    benchmark: Benchmark
    scorings: dict[str, TaskScoring]
    digests: dict[str, str]
    items: list[Item]
    benchmark_path: Path | None = None
    finished: int = 0
    remarks: list[str] = field(default_factory=list)
    skipped: int = 0
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def planned(self) -> int:
        """All items of the run, done or not."""
        return len(self.items) + self.finished

    def narrowed(self, items: list[Item]) -> RunPlan:
        """The same run with only these of its items still to do."""
        return replace(self, items=items, finished=self.planned - len(items))

    def secrets(self) -> dict[str, str]:
        """Values that must never be written down, by the name of the environment variable that holds each."""
        named = {name: os.environ[name] for name in self.request.secrets if os.environ.get(name)}
        return named | {name: value for skill in self.skills.values() for name, value in secrets_of(skill).items()}

    def dated(self, moment: datetime) -> datetime:
        """A moment of the run as its rows tell it: as far from the run's date as it was from its beginning."""
        return moment if self.request.at is None else self.request.at + (moment - self.began)

    def timeout_s(self, task: EvalTask) -> float:
        """The one rule: a task's own `timeoutMs` wins over the run's."""
        return (task.timeout_ms or self.request.timeout_ms) / 1000


def make_plan(request: EvaluateRequest, *, run_id: str | None = None) -> RunPlan:
    """A checked plan for a new run.

    Raises:
        UserError: a skill, benchmark, option or the combination of them cannot be used, or there is nothing to do.
    """
    check_places(request)
    check_task_runner(request.task_runner)
    found = load_skills(request.skills)
    benchmark, folder = benchmark_of(request)
    named = {str(Path(path).resolve()) for path in request.skills}
    skills, unusable = _usable(found.skills, named=named, subject=benchmark.subject)
    if not skills:
        raise UsageError(
            "no skill to evaluate: " + ("; ".join(f"{bad.path}: {bad.reason}" for bad in unusable) or "none was given")
        )
    _check_subject(benchmark, skills)
    return RunPlan(
        run_id=run_id or new_run_id(request.at),
        request=request,
        store=Store(request.store),
        skills={skill.key: skill for skill in skills},
        benchmark=benchmark,
        scorings=scorings_of(request, benchmark, folder),
        digests=digests_of(skills, benchmark),
        items=all_items(skills, benchmark, request.runs),
        benchmark_path=folder,
        remarks=[*(bad.remark for bad in [*found.invalid, *unusable]), *_doubts(benchmark, request)],
        skipped=len(found.invalid) + len(unusable),
    )


def all_items(skills: Iterable[Skill], benchmark: Benchmark, runs: int) -> list[Item]:
    """Every item, run by run, so that an interrupted run has asked every task about equally often."""
    keys = [skill.key for skill in skills]
    return [Item(key, task.id, run) for run in range(runs) for task in benchmark.tasks for key in keys]


def digests_of(skills: Iterable[Skill], benchmark: Benchmark) -> dict[str, str]:
    """Fingerprints by ``id@version``, ``benchmark`` and ``task/<id>``: what changed between two runs, in one word each."""
    digests = {skill.key: digest_of_folder(skill.folder) if skill.folder else digest_of_json(skill.to_json()) for skill in skills}
    digests["benchmark"] = digest_of_json(benchmark.to_json())
    return digests | {f"task/{task.id}": digest_of_json(task.to_json()) for task in benchmark.tasks}


def scoring_settings(request: EvaluateRequest, folder: Path | None) -> ScoringSettings:
    """The part of the request that scorers see."""
    return ScoringSettings(
        weights=request.weights,
        tool_categories=request.tool_categories,
        tool_names=request.tool_names,
        default_evaluator=request.evaluator,
        allow_custom_code=request.allow_custom_code,
        benchmark_folder=folder,
    )


def benchmark_of(request: EvaluateRequest) -> tuple[Benchmark, Path | None]:
    """The tasks that the request asks, ready to run, and the folder that their own files are resolved in.

    Raises:
        UserError: there is no such benchmark, it or a task in it is malformed, or no task has the tags.
    """
    _check_evaluator(request.evaluator)
    directory, settings = Path(request.benchmarks_dir) if request.benchmarks_dir else None, scoring_settings(request, None)
    if directory is not None and not directory.is_dir():
        raise InputError(
            "this is a file; name a folder" if directory.exists() else "no such folder of benchmarks", source=directory
        )
    if request.tasks:
        benchmark, folder = load_tasks(Path(request.tasks), settings=settings), Path(request.tasks).resolve().parent
    else:
        benchmark = load_benchmark(request.benchmark, benchmarks_dir=directory, settings=settings)
        folder = benchmark_folder(request.benchmark, benchmarks_dir=directory)
    tagged = filter_tasks(benchmark, request.task_tags) if request.task_tags else benchmark
    return _only(tagged, request.task_ids) if request.task_ids else tagged, folder


def _only(benchmark: Benchmark, task_ids: list[str]) -> Benchmark:
    known = [task.id for task in benchmark.tasks]
    if unknown := next((task_id for task_id in task_ids if task_id not in known), None):
        raise UsageError(f"benchmark {benchmark.id!r} has no task {unknown!r}{nearest(unknown, known)} to be asked")
    return benchmark.model_copy(update={"tasks": [task for task in benchmark.tasks if task.id in task_ids]})


def _check_evaluator(name: str) -> None:
    """Also where every task names its scorer: a name that is never looked up would hide its mistake."""
    try:
        find_scorer(name)
    except InputError as error:
        raise UsageError(f"--evaluator: {error}") from None


def scorings_of(request: EvaluateRequest, benchmark: Benchmark, folder: Path | None) -> dict[str, TaskScoring]:
    """How the answers to each task are judged, by its id; `folder` holds the benchmark's own files."""
    settings = scoring_settings(request, folder)
    return {task.id: TaskScoring(task, settings) for task in benchmark.tasks}


def _usable(skills: list[Skill], *, named: set[str], subject: Subject) -> tuple[list[Skill], list[InvalidSkill]]:
    """Those that can be called. One that was named must be; one found in a folder of skills is passed over with a remark."""
    usable, unusable = [], []
    for skill in skills:
        try:
            check_skill(skill, subject)
            usable.append(skill)
        except UserError as error:
            if named & {str(skill.folder), f"{skill.folder}/skill.json"}:
                raise
            unusable.append(InvalidSkill(skill.folder or Path(skill.id), str(error)))
    return usable, unusable


def _doubts(benchmark: Benchmark, request: EvaluateRequest) -> list[str]:
    """What is allowed and yet probably not meant."""
    imported = benchmark.metadata if benchmark.metadata.get("source") == "EvalView" else {}
    doubts = [str(warning) for warning in imported.get("warnings", ())]
    if benchmark.k > request.runs:
        doubts.append(
            f"pass@{benchmark.k} and pass^{benchmark.k} stay unknown with {request.runs} runs of each task; raise --runs"
        )
    for task in benchmark.tasks:
        score = task.thresholds.min_score if task.thresholds else None
        if score is not None and 0 < score <= 1:
            doubts.append(f"task {task.id!r} asks for a minScore of {score:g} of 100; thresholds.minScore is in points of 100")
    return doubts


def _check_subject(benchmark: Benchmark, skills: list[Skill]) -> None:
    homeless = [skill.key for skill in skills if skill.folder is None]
    if benchmark.subject == "package" and homeless:
        raise UsageError(f"benchmark {benchmark.id!r} inspects a skill's folder, and {homeless[0]} has none; load it from a file")
