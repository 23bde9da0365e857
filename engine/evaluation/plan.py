"""The plan of a run: skills × tasks × runs, minus what is already done, and the checks that come before it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.adapters import Confinement, check_skill, secrets_of, warnings_for
from eval_skills.adapters.sandbox.limits import sandbox_remarks
from eval_skills.agent_skills.as_skill import load_inspected
from eval_skills.benchmarks.own_tests import TEST_FILES, load_own_tests
from eval_skills.core.config.values import LOCAL
from eval_skills.core.errors import InputError, UsageError, UserError
from eval_skills.core.fingerprint import digest_of_folder, digest_of_json
from eval_skills.core.models import Benchmark, EvalTask, Skill
from eval_skills.core.models.base import collection_paused
from eval_skills.core.models.report import MAX_DETAILED_ITEMS
from eval_skills.core.redaction import short_secrets, values_of_variables
from eval_skills.core.skills import Discovery, InvalidSkill, load_skills, refuse_duplicates
from eval_skills.core.store import Manifest, Store, write_manifest
from eval_skills.core.store.manifest import EXPERIMENT, TRIGGERS
from eval_skills.core.text import first_of, plural
from eval_skills.engine.definition.benchmark import (
    ScoredBenchmark,
    benchmark_digests,
    benchmark_warnings,
    check_code_sandbox,
    check_judges,
    check_simulators,
    resolve_scored,
    scoring_settings,
)
from eval_skills.engine.definition.request import (
    PART,
    EvaluateRequest,
    check_writable,
    confinement_asked,
    part_remarks,
    redacted_request,
)
from eval_skills.engine.definition.scoring import judges_of, scoring_digests
from eval_skills.engine.evaluation.cluster.reachable import check_task_runner
from eval_skills.engine.evaluation.recordings import Recordings, request_of_recordings, request_of_replay
from eval_skills.engine.handover import held_in_memory
from eval_skills.engine.judging.preflight import check_key_is_ours, check_one_budget
from eval_skills.engine.stored_runs.chosen_tasks import with_chosen_tasks
from eval_skills.reporting.stopping import going_on_words
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.judging.model import judge_secrets

if TYPE_CHECKING:
    from eval_skills.core.diff.until import Decision
    from eval_skills.core.models.result import ItemKey
    from eval_skills.core.models.task import Subject
    from eval_skills.engine.evaluation.baseline import Baseline
    from eval_skills.engine.evaluation.replaced import Replaced
    from eval_skills.scorers.judging import Judges


SKILLS_NAMED = 20
"""So many skills are named in a line about some of them."""


@dataclass(frozen=True, slots=True)
class Item:
    """The unit of work, of retry and of timeout: one skill (``id@version``), one task, one run (counted from 0)."""

    skill: str
    task: str
    run: int

    def __str__(self) -> str:
        return f"{self.skill}/{self.task}#{self.run + 1}"

    @property
    def key(self) -> ItemKey:
        """The same as `ItemResult.key` of its result."""
        return (self.skill, self.task, self.run)


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything a run needs, checked. `items` are the ones still to do, `finished` counts those that are done.

    `replaced` are the results that items have already which are asked again. `remarks` are notes for the user that stop nothing.
    `began` is when the run really started, whatever its date is. With `recordings` nothing is called: the items are those of
    recorded runs. With `baseline` they are all that may be needed, and `decisions` say at the end why no more were.
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
    baseline: Baseline | None = None
    decisions: list[Decision] = field(default_factory=list)
    replaced: dict[Item, Replaced] = field(default_factory=dict)

    @property
    def skips(self) -> list[str]:
        """Why skills that were asked for are `skipped`, a remark each: these stand first."""
        return self.remarks[: self.skipped]

    @property
    def calls_skills(self) -> bool:
        """Whether skills are called, and do not only have their records judged."""
        return self.recordings is None

    @property
    def judges(self) -> Judges | None:
        """What judges its answers and plays its users; None where no model is asked."""
        return judges_of(self.scorings, simulators=self.calls_skills)

    @property
    def planned(self) -> int:
        """All items of the run, done or not."""
        return len(self.items) + self.finished

    @property
    def line(self) -> str:
        """What is to be done: ``3 skills × 20 tasks × 3 runs = 180 items, 60 of them done already``."""
        skills, tasks = plural(len(self.skills), "skill"), plural(len(self.benchmark.tasks), "task")
        asked = f"{skills} with {tasks} of their own" if self.benchmark.parts else f"{skills} × {tasks}"
        items = f"{'at most ' if self.baseline else ''}{plural(self.planned, 'item')}"
        resumed = f", {self.finished:,} of them done already" if self.finished else ""
        return f"{asked} × {plural(self.request.most_runs, 'run')} = {items}{resumed}"

    def going_on(self, *, whole_night: bool = False) -> str:
        """How to go on with the run, or with the `whole_night` that ends with it; see `going_on_words`."""
        return going_on_words(self.run_id, self.store.path, self.request.provenance, whole_night=whole_night)

    def narrowed(self, items: list[Item]) -> RunPlan:
        """The same run with only these of its items still to do."""
        return replace(self, items=items, finished=self.planned - len(items))

    def secrets(self) -> dict[str, str]:
        """Values that must never be written down, by the name of the environment variable that holds each."""
        named = values_of_variables(self.request.secrets)
        if self.request.llm.model or self.request.llm.api_key_env:
            named |= judge_secrets(self.request.llm, os.environ)
        return named | {name: value for skill in self.skills.values() for name, value in secrets_of(skill).items()}

    def write_manifest(self, manifest: Manifest) -> None:
        """Write the manifest of the run, without its secrets.

        Raises:
            RunError: it cannot be written.
        """
        folder = self.store.run_folder(self.run_id)
        write_manifest(folder, manifest, secrets=self.secrets(), redact_request=redacted_request)

    def amend_manifest(self, **changed: Any) -> None:
        """Write the manifest of a run that has begun again, with these fields, unless they are what it says already.

        Raises:
            RunError: it cannot be written.
        """
        manifest = self.store.manifest(self.run_id)
        if (amended := manifest.model_copy(update=changed)) != manifest:
            self.write_manifest(amended)

    def dated(self, moment: datetime) -> datetime:
        """A moment of the run as its rows record it: as far from the run's date as it was from its start."""
        return moment if self.request.at is None else self.request.at + (moment - self.began)

    def timeout_s(self, task: EvalTask, of_turn_ms: int | None = None) -> float:
        """The `timeoutMs` of a turn that has its own, else that of the task, else the run's; in seconds."""
        return (of_turn_ms or task.timeout_ms or self.request.timeout_ms) / 1000


def plan_for(request: EvaluateRequest) -> RunPlan:
    """The checked plan of a new run, or of the rest of the one that the request resumes; raises as these do."""
    if not request.resume:
        return make_plan(request)
    from eval_skills.engine.evaluation.resume import resumed_plan

    return resumed_plan(request)


@collection_paused()
def make_plan(request: EvaluateRequest, *, run_id: str | None = None) -> RunPlan:
    """A checked plan for a new run; nothing is written.

    Raises:
        UserError: a skill, benchmark, option or the combination of them cannot be used, or there is nothing to do.
    """
    check_writable(request)
    if request.task_runner != LOCAL:
        check_task_runner(request.task_runner)
    if request.max_judge_cost is not None:
        check_one_budget(request, request.task_runner)
    request = _with_kept_answers(request)
    confinement = confinement_asked(request)
    confinement.check()
    if request.tasks_from and not run_id:  # a resumed run keeps its choice
        request = with_chosen_tasks(request, Store(request.store))
    held = held_in_memory()
    if request.traces:
        return _plan_recorded(request, resolve_scored(request, held.benchmark if held else None), run_id)
    scored = None if request.own_tests else resolve_scored(request, held.benchmark if held else None)
    found = held.skills if held else skills_at(request.skills, scored.benchmark.subject if scored else "call")
    if request.replay:
        return _plan_replayed(request, _asked_skills(request, found, scored, None), run_id)
    return _plan_called(request, _asked_skills(request, found, scored, confinement), confinement, run_id)


_checked: ContextVar[tuple[EvaluateRequest, RunPlan] | None] = ContextVar("eval_skills_checked_plan", default=None)


@contextmanager
def planned_already(request: EvaluateRequest, plan: RunPlan) -> Iterator[None]:
    """Let a flow inside that is called with `request` take `plan`, which was just made of it: a large one takes a while."""
    token = _checked.set((request, plan))
    try:
        yield
    finally:
        _checked.reset(token)


def plan_made_of(request: EvaluateRequest) -> RunPlan | None:
    """The plan that `planned_already` was given for this request; None where it was given none, or one of another request."""
    made = _checked.get()
    return made[1] if made is not None and made[0] == request else None


def _with_kept_answers(request: EvaluateRequest) -> EvaluateRequest:
    """The request of a run that may take kept answers says so: its rows say nothing new of a skill's course over time.

    Raises:
        UsageError: workers elsewhere ask, and the answers are kept here.
    """
    if not request.cache:
        return request
    if request.task_runner != LOCAL:
        raise UsageError(
            f"--cache keeps answers on this machine, and --task-runner {request.task_runner} asks elsewhere; leave one out"
        )
    return request.model_copy(update={"origin": "cached"}) if request.origin == "run" else request


@dataclass(frozen=True, slots=True)
class _Asked:
    """The skills that are asked, and what; `skips` say why others cannot be, `remarks` what else is to be said of the skills."""

    skills: list[Skill]
    scored: ScoredBenchmark
    skips: list[str]
    remarks: list[str]


def _asked_skills(
    request: EvaluateRequest, found: Discovery, scored: ScoredBenchmark | None, confinement: Confinement | None
) -> _Asked:
    """Without a `confinement` none is called, and whatever was found is usable."""
    named = {str(Path(path).resolve()) for path in request.skills}
    subject = scored.benchmark.subject if scored else "call"
    skills, unusable = some_usable(found, named, subject, confinement)
    skips = [bad.remark for bad in [*found.invalid, *unusable]]
    if scored is None:
        asked = _asked_own_tests(request, skills, named)
        return replace(asked, skips=[*skips, *asked.skips], remarks=[*found.remarks, *asked.remarks])
    check_subject(scored.benchmark, skills)
    return _Asked(skills, scored, skips, found.remarks)


def _asked_own_tests(request: EvaluateRequest, skills: list[Skill], named: set[str]) -> _Asked:
    own = load_own_tests(skills, named=named, settings=scoring_settings(request, None))
    scored = resolve_scored(request, own=own)
    asked = [skill for skill in own.skills if skill.key in scored.benchmark.parts]
    others = [skill for skill in own.skills if skill.key not in scored.benchmark.parts]
    remarks = [
        *([_left_out(own.without, f"no {TEST_FILES}")] if own.without else []),
        *([_left_out(others, "no test that was chosen")] if others else []),
    ]
    return _Asked(asked, scored, [bad.remark for bad in own.invalid], remarks)


def _left_out(skills: list[Skill], lacking: str) -> str:
    have, are = ("has", "is") if len(skills) == 1 else ("have", "are")
    names = first_of([skill.key for skill in skills], SKILLS_NAMED)
    return f"{plural(len(skills), 'skill')} {have} {lacking} and {are} left out: {names}"


def _plan_called(request: EvaluateRequest, asked: _Asked, confinement: Confinement, run_id: str | None) -> RunPlan:
    """The plan to call the skills, which are held by `confinement`."""
    skills, benchmark = asked.skills, asked.scored.benchmark
    plan = _plan(request, asked.scored, run_id, skills, all_items(skills, benchmark, request.most_runs))
    if run_id is None:  # what has begun may be finished
        _refuse_too_many(plan)
    check_simulators(plan.scorings)
    if request.until is not None:
        plan = _compared(plan)
    if request.llm.api_key_env is not None or plan.judges is not None:
        check_key_is_ours(request.llm, skills, plan.scorings)
    remarks = [
        *asked.skips,
        *asked.remarks,
        *part_remarks(plan.request.provenance, benchmark.id),
        *(warning for skill in skills for warning in warnings_for(skill, benchmark.subject)),
        *benchmark_warnings(benchmark, request),
        *sandbox_remarks(skills, confinement),
        *short_secrets(plan.secrets()),
        *plan.store.remarks,
    ]
    return replace(plan, remarks=remarks, skipped=len(asked.skips))


def _refuse_too_many(plan: RunPlan) -> None:
    """Refuse an experiment whose items no report would list: what it is to show is computed from them."""
    if plan.planned > MAX_DETAILED_ITEMS and plan.request.provenance.keys() & {EXPERIMENT, TRIGGERS}:
        counts = [(len(plan.skills), "skill"), (len(plan.benchmark.tasks), "task"), (plan.request.runs, "run")]
        asked = " × ".join(plural(*each) for each in counts)
        raise UsageError(
            f"{asked} are {plan.planned:,} items, and reports list at most {MAX_DETAILED_ITEMS:,} one by one, which this is "
            "computed from; ask fewer tasks, or fewer --runs"
        )


def _compared(plan: RunPlan) -> RunPlan:
    from eval_skills.engine.evaluation.baseline import find_baseline  # numpy

    baseline = find_baseline(plan.request, plan.skills, plan.benchmark, plan.digests)
    return replace(plan, baseline=baseline, request=plan.request.model_copy(update={"against": baseline.name}))


def _plan_recorded(request: EvaluateRequest, scored: ScoredBenchmark, run_id: str | None) -> RunPlan:
    """The plan to score what the trace file holds: as many runs of each skill as it has there, all of them in one attempt."""
    benchmark = scored.benchmark
    request, recordings = request_of_recordings(request, benchmark)
    every = all_items(recordings.skills, benchmark, request.runs)
    items = [item for item in every if item.run < recordings.runs[item.skill]]
    if not any(item.key in recordings.offsets for item in items):
        message = "none of its lines is about a selected task; loosen the options that select tasks"
        raise InputError(message, source=request.traces)
    plan = _plan(request, scored, run_id, recordings.skills, items)
    remarks = [*recordings.gaps({item.key: str(item) for item in items}), *benchmark_warnings(benchmark, request)]
    return replace(plan, digests=plan.digests | recordings.digests, remarks=remarks, recordings=recordings)


def _plan_replayed(request: EvaluateRequest, asked: _Asked, run_id: str | None) -> RunPlan:
    """The plan to judge what the skills answered when they were recorded; none of them is called, or needs to be callable."""
    benchmark = asked.scored.benchmark
    request, recordings, taken = request_of_replay(request, benchmark, asked.skills)
    items = all_items(asked.skills, benchmark, request.runs)
    plan = _plan(request, asked.scored, run_id, asked.skills, items)
    remarks = [
        *asked.skips,
        *asked.remarks,
        *taken,
        *recordings.missing({item.key: str(item) for item in items}),
        *benchmark_warnings(benchmark, request),
    ]
    digests = plan.digests | recordings.digests
    return replace(plan, digests=digests, remarks=remarks, recordings=recordings, skipped=len(asked.skips))


def _plan(
    request: EvaluateRequest, scored: ScoredBenchmark, run_id: str | None, skills: list[Skill], items: list[Item]
) -> RunPlan:
    check_code_sandbox(scored.scorings)
    store = Store(request.store)
    return RunPlan(
        run_id=run_id or store.new_run_id(request.at),
        request=_marked_as_part(request, len(scored.benchmark.tasks), scored.of),
        store=store,
        skills={skill.key: skill for skill in skills},
        benchmark=scored.benchmark,
        scorings=check_judges(scored.scorings),
        digests=digests_of(skills, scored.benchmark, scored.folder) | scoring_digests(scored.scorings),
        items=items,
        benchmark_path=scored.folder,
    )


def _marked_as_part(request: EvaluateRequest, tasks: int, of: int) -> EvaluateRequest:
    """The request of a run that is asked a part of its benchmark says so; a suite's tasks are all that its nights ask."""
    if tasks >= of or request.origin != "run" or "suite" in request.provenance:
        return request
    return request.model_copy(update={"origin": PART, "provenance": {**request.provenance, PART: {"tasks": tasks, "of": of}}})


def all_items(skills: Iterable[Skill], benchmark: Benchmark, runs: int) -> list[Item]:
    """Every item, run by run, so that in an interrupted run all tasks have about equally many runs.

    Skills with tasks of their own take turns in the same way.
    """
    keys = [skill.key for skill in skills]
    if benchmark.parts:
        turns = zip_longest(*([(key, task.id) for task in benchmark.part_of(key).tasks] for key in keys))
        asked = [pair for turn in turns for pair in turn if pair is not None]
        return [Item(key, task, run) for run in range(runs) for key, task in asked]
    return [Item(key, task.id, run) for run in range(runs) for task in benchmark.tasks for key in keys]


def digests_of(skills: Iterable[Skill], benchmark: Benchmark, folder: Path | None = None) -> dict[str, str]:
    """Digests by ``id@version``, ``benchmark`` and ``task/<id>``, by which two runs show what changed between them."""
    digests = {skill.key: digest_of_folder(skill.folder) if skill.folder else digest_of_json(skill.to_json()) for skill in skills}
    return digests | benchmark_digests(benchmark, folder)


def skills_at(paths: Sequence[str], subject: Subject) -> Discovery:
    """The skills at these paths that a benchmark about `subject` is asked of: for `agent-skill` those with a ``SKILL.md``, which
    need no ``skill.json``; else those with a ``skill.json``.

    Raises:
        InputError: a path holds no such skill, or names a malformed one.
        UsageError: two different folders hold the same ``id@version``.
    """
    if subject != "agent-skill":
        return load_skills(paths)
    found = load_inspected(list(paths))
    refuse_duplicates(found.skills)
    return found


def folders_at(paths: Sequence[str]) -> set[str]:
    """The folders of all skills at these paths, whatever a benchmark is about.

    Raises:
        InputError: a path holds none, or names a malformed one.
    """
    try:
        skills = load_skills(paths).skills
    except InputError:
        return {str(skill.folder) for skill in load_inspected(list(paths)).skills}
    try:
        return {str(skill.folder) for skill in [*skills, *load_inspected(list(paths)).skills]}
    except InputError:
        return {str(skill.folder) for skill in skills}


def some_usable(
    found: Discovery, named: set[str], subject: Subject, confinement: Confinement | None
) -> tuple[list[Skill], list[InvalidSkill]]:
    """`usable_skills` of those that were found; UsageError: none of them is."""
    skills, unusable = usable_skills(found.skills, named=named, subject=subject, confinement=confinement)
    if not skills:
        raise UsageError(
            "no skill to evaluate: " + ("; ".join(f"{bad.path}: {bad.reason}" for bad in unusable) or "none was given")
        )
    return skills, unusable


def usable_skills(
    skills: list[Skill], *, named: set[str], subject: Subject, confinement: Confinement | None
) -> tuple[list[Skill], list[InvalidSkill]]:
    """The skills that can be called, and the others. A skill that was named, or has no folder, must be callable.

    Without a `confinement` none will be called, and all of them are usable.

    Raises:
        UserError: such a skill cannot be called.
    """
    if confinement is None:
        return skills, []
    usable, unusable = [], []
    for skill in skills:
        try:
            check_skill(skill, subject, confinement)
            usable.append(skill)
        except UserError as error:
            if skill.folder is None or named & {str(skill.folder), f"{skill.folder}/skill.json"}:
                raise
            unusable.append(InvalidSkill(skill.folder or Path(skill.id), str(error)))
    return usable, unusable


def check_subject(benchmark: Benchmark, skills: list[Skill]) -> None:
    """Refuse skills without a folder where the benchmark inspects folders, with a UsageError."""
    without = [skill.key for skill in skills if skill.folder is None]
    if benchmark.subject != "call" and without:
        raise UsageError(f"benchmark {benchmark.id!r} inspects a skill's folder, and {without[0]} has none; load it from a file")
