"""What a run will do: skills × tasks × runs, minus what is already done. And nothing is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from eval_skills.adapters import doubts_of, secrets_of
from eval_skills.adapters.sandbox.limits import networked
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.fingerprint import digest_of_folder, digest_of_json
from eval_skills.core.models import Benchmark, EvalTask, Skill
from eval_skills.core.redaction import short_secrets, values_of_variables
from eval_skills.core.skills import Discovery, load_skills
from eval_skills.core.store import Store, new_run_id
from eval_skills.engine.definition.benchmark import benchmark_warnings, build_scorings, check_judges, resolve_benchmark
from eval_skills.engine.definition.digests import benchmark_digests
from eval_skills.engine.definition.paths import check_writable
from eval_skills.engine.definition.request import EvaluateRequest, confinement_asked
from eval_skills.engine.evaluation.preflight import check_subject, check_task_runner, usable_skills
from eval_skills.engine.evaluation.recordings import Recordings, read_recordings
from eval_skills.engine.judging.outcome import check_one_budget
from eval_skills.engine.judging.preflight import check_key_is_ours
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.judging.model import judge_secrets


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
    With `recordings` nothing is called: the items are those of recorded runs.
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
    recordings: Recordings | None = None

    @property
    def planned(self) -> int:
        """All items of the run, done or not."""
        return len(self.items) + self.finished

    def narrowed(self, items: list[Item]) -> RunPlan:
        """The same run with only these of its items still to do."""
        return replace(self, items=items, finished=self.planned - len(items))

    def secrets(self) -> dict[str, str]:
        """Values that must never be written down, by the name of the environment variable that holds each."""
        named = values_of_variables(self.request.secrets)
        if self.request.llm.model or self.request.llm.api_key_env:
            named |= judge_secrets(self.request.llm, os.environ)
        return named | {name: value for skill in self.skills.values() for name, value in secrets_of(skill).items()}

    def dated(self, moment: datetime) -> datetime:
        """A moment of the run as its rows tell it: as far from the run's date as it was from its beginning."""
        return moment if self.request.at is None else self.request.at + (moment - self.began)

    def timeout_s(self, task: EvalTask) -> float:
        """The one rule: a task's own `timeoutMs` wins over the run's."""
        return (task.timeout_ms or self.request.timeout_ms) / 1000


@dataclass(frozen=True, slots=True)
class HeldInMemory:
    """What a caller in this process holds as objects: the skills, and the benchmark unless the request names one by its path."""

    skills: Discovery
    benchmark: Benchmark | None


_held: ContextVar[HeldInMemory | None] = ContextVar("eval_skills_held_in_memory", default=None)


@contextmanager
def holding(held: HeldInMemory) -> Iterator[None]:
    """Let `make_plan` take `held` for what its request names: a flow's request is JSON, and functions are not."""
    token = _held.set(held)
    try:
        yield
    finally:
        _held.reset(token)


def make_plan(request: EvaluateRequest, *, run_id: str | None = None) -> RunPlan:
    """A checked plan for a new run.

    Raises:
        UserError: a skill, benchmark, option or the combination of them cannot be used, or there is nothing to do.
    """
    check_writable(request)
    check_task_runner(request.task_runner)
    check_one_budget(request, request.task_runner)
    confinement = confinement_asked(request)
    confinement.check()
    held = _held.get()
    found = held.skills if held else Discovery() if request.traces else load_skills(request.skills)
    benchmark, folder = resolve_benchmark(request, held.benchmark if held else None)
    if request.traces:
        return _recorded(request, benchmark, folder, run_id)
    named = {str(Path(path).resolve()) for path in request.skills}
    skills, unusable = usable_skills(found.skills, named=named, subject=benchmark.subject, confinement=confinement)
    if not skills:
        raise UsageError(
            "no skill to evaluate: " + ("; ".join(f"{bad.path}: {bad.reason}" for bad in unusable) or "none was given")
        )
    check_subject(benchmark, skills)
    scorings = check_judges(build_scorings(request, benchmark, folder))
    check_key_is_ours(request.llm, skills, scorings)
    plan = RunPlan(
        run_id=run_id or new_run_id(request.at),
        request=request,
        store=Store(request.store),
        skills={skill.key: skill for skill in skills},
        benchmark=benchmark,
        scorings=scorings,
        digests=digests_of(skills, benchmark, folder),
        items=all_items(skills, benchmark, request.runs),
        benchmark_path=folder,
        remarks=[
            *(bad.remark for bad in [*found.invalid, *unusable]),
            *(doubt for skill in skills for doubt in doubts_of(skill, benchmark.subject)),
            *benchmark_warnings(benchmark, request),
            *networked(skills, confinement),
        ],
        skipped=len(found.invalid) + len(unusable),
    )
    return replace(plan, remarks=[*plan.remarks, *short_secrets(plan.secrets())])


def _recorded(request: EvaluateRequest, benchmark: Benchmark, folder: Path | None, run_id: str | None) -> RunPlan:
    """The plan to judge what the trace file holds: as many runs of each skill as it has there, all of them in one attempt."""
    if benchmark.subject == "package":
        raise UsageError(f"benchmark {benchmark.id!r} inspects a skill's folder, and recorded runs have none; evaluate the skill")
    everything, _ = resolve_benchmark(request.model_copy(update={"task_tags": [], "task_ids": [], "complexity": []}))
    recordings = read_recordings(
        Path(str(request.traces)),
        tasks={task.id for task in everything.tasks},
        benchmark=benchmark.id,
        skill=request.trace_skill,
    )
    runs = max(recordings.runs.values())
    about = {"mode": "traces", "file": str(recordings.file), "runs": len(recordings.offsets), "digests": recordings.digests}
    asked = {"runs": runs, "retries": 0, "origin": "traces", "provenance": {**request.provenance, **about}}
    request = request.model_copy(update=asked)
    items = [item for item in all_items(recordings.skills, benchmark, runs) if item.run < recordings.runs[item.skill]]
    if not any(item.key in recordings.offsets for item in items):
        raise InputError("none of its lines is about a task that is asked; loosen what chooses the tasks", source=request.traces)
    return RunPlan(
        run_id=run_id or new_run_id(request.at),
        request=request,
        store=Store(request.store),
        skills={skill.key: skill for skill in recordings.skills},
        benchmark=benchmark,
        scorings=check_judges(build_scorings(request, benchmark, folder)),
        digests=digests_of((), benchmark, folder) | recordings.digests,
        items=items,
        benchmark_path=folder,
        remarks=[*_gaps(items, recordings), *benchmark_warnings(benchmark, request)],
        recordings=recordings,
    )


def _gaps(items: list[Item], recordings: Recordings) -> list[str]:
    """What was asked and not recorded, and what was recorded and not asked."""
    missing = [item for item in items if item.key not in recordings.offsets]
    beside = len(recordings.offsets) - (len(items) - len(missing))
    gaps = []
    if missing:
        few = ", ".join(map(str, missing[:3])) + (" …" if len(missing) > 3 else "")
        gaps.append(f"{len(missing)} of {len(items)} items have no line in {recordings.file.name} and end as errors: {few}")
    if beside:
        gaps.append(f"{beside} of {len(recordings.offsets)} lines are about tasks that are not asked, and are left out")
    return gaps


def all_items(skills: Iterable[Skill], benchmark: Benchmark, runs: int) -> list[Item]:
    """Every item, run by run, so that an interrupted run has asked every task about equally often."""
    keys = [skill.key for skill in skills]
    return [Item(key, task.id, run) for run in range(runs) for task in benchmark.tasks for key in keys]


def digests_of(skills: Iterable[Skill], benchmark: Benchmark, folder: Path | None = None) -> dict[str, str]:
    """Fingerprints by ``id@version``, ``benchmark`` and ``task/<id>``: what changed between two runs, in one word each."""
    digests = {skill.key: digest_of_folder(skill.folder) if skill.folder else digest_of_json(skill.to_json()) for skill in skills}
    return digests | benchmark_digests(benchmark, folder)
