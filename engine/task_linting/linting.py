"""All checks of one benchmark, and which of its tasks ask the same, or almost the same."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Any

from eval_skills.benchmarks import benchmark_folder, load_benchmark_or_tasks
from eval_skills.benchmarks.locations import shadowing_remarks
from eval_skills.core.fingerprint import canonical_json
from eval_skills.core.models import Benchmark, EvalTask
from eval_skills.core.store import Store
from eval_skills.core.text import plural
from eval_skills.engine.task_linting.case import NO_ANSWER_KNOWN, Case, Unchecked, case_of, expectations_of
from eval_skills.engine.task_linting.discrimination import Resolution, StoredItems, never_discriminating, too_few_tasks
from eval_skills.engine.task_linting.expectations import contradict, impossible, leaked
from eval_skills.engine.task_linting.finding import Finding, Lint, ordered
from eval_skills.engine.task_linting.similarity import near_pairs, same
from eval_skills.engine.task_linting.trivial import empty_answers, no_negative_cases, trivial_shares
from eval_skills.scorers import ScoringSettings

_ONE_OF_THEM = "keep one of them"


async def duplicates(tasks: Sequence[EvalTask], cases: Mapping[str, Sequence[Case]]) -> list[Finding]:
    """A finding for each task that asks what an earlier one asks: an error where they accept only different answers, of a
    conversation in any turn. `cases` are those of each task, by its id."""
    first: dict[str, EvalTask] = {}
    found = []
    for task in tasks:
        earlier = first.setdefault(same(task.asked), task)
        if earlier is not task:
            found.append(await _duplicate(task, earlier, cases))
    return found


async def _duplicate(task: EvalTask, earlier: EvalTask, cases: Mapping[str, Sequence[Case]]) -> Finding:
    of_place = {case.place: case for case in cases.get(earlier.id, ())}
    for case in cases.get(task.id, ()):
        other = of_place.get(case.place)
        if other is None or not await _clash(case, other):
            continue
        message = f"{case.place}asks what task {earlier.id!r} asks, and neither accepts the other's expected answer"
        return Finding("contradiction", "error", task.id, message, "find out which answer is right, and remove the other task")
    return Finding("duplicate-input", "warning", task.id, f"asks what task {earlier.id!r} asks", _ONE_OF_THEM)


async def _clash(one: Case, other: Case) -> bool:
    try:
        return await contradict(one, other)
    except Unchecked:
        return False


def near_duplicates(tasks: Sequence[EvalTask]) -> tuple[list[Finding], list[str]]:
    """A finding for each task that asks and expects almost what an earlier one does; a remark where that was not looked at."""
    pairs, left = near_pairs([task.asked for task in tasks], [_expectation(task) for task in tasks])
    of_later: dict[int, int] = {}
    for one, other in pairs:
        of_later.setdefault(other, one)
    found = [
        Finding("near-duplicate", "note", tasks[other].id, f"asks almost what task {tasks[one].id!r} asks", _ONE_OF_THEM)
        for other, one in sorted(of_later.items())
    ]
    return found, [f"{left:,} pairs of tasks were not compared for almost equal inputs: too many"] if left else []


def _expectation(task: EvalTask) -> str:
    """What is equal for tasks that expect the same: tasks that differ there are meant to differ."""
    data = task.to_json()
    about = {"id", "description", "inputData", "tags", "weight", "metadata", "complexity"}
    return canonical_json({name: value for name, value in data.items() if name not in about})


def lint(
    given: str, *, benchmarks_dir: Path | None = None, store: Store | None = None, runs: int = 1, evaluator: str = "exact"
) -> Lint:
    """Check the benchmark of that id, file or folder. No model is asked and none of its own code is run.

    `store` says how its tasks went so far; without one that is not checked. `runs` of each task are what a comparison would
    have. `evaluator` judges tasks that name none.

    Raises:
        InputError: it cannot be read, or a task in it is malformed.
    """
    benchmark = load_benchmark_or_tasks(given, benchmarks_dir=benchmarks_dir)
    folder = benchmark_folder(given, benchmarks_dir=benchmarks_dir)
    settings = ScoringSettings(allow_custom_code=True, benchmark_folder=folder, default_evaluator=evaluator)
    found = asyncio.run(_of_expectations(benchmark, settings))
    stored = None if store is None else StoredItems.of(store, benchmark, folder)
    _look_at_the_past(found, benchmark, stored, runs)
    near, remarks = near_duplicates(benchmark.tasks)
    findings = ordered([*found.findings, *near, *_unreviewed(benchmark, given)])
    return Lint(
        benchmark=f"{benchmark.id}@{benchmark.version}",
        tasks=len(benchmark.tasks),
        findings=findings,
        checked=found.checked,
        unchecked=dict(found.unchecked.most_common()),
        figures=found.figures,
        remarks=[
            *shadowing_remarks(given, f"{benchmark.id}@{benchmark.version}", benchmarks_dir=benchmarks_dir),
            *found.remarks,
            *remarks,
        ],
    )


class _Found:
    """What the checks have found so far."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.unchecked: Counter[str] = Counter()
        self.figures: dict[str, Any] = {}
        self.remarks: list[str] = []
        self.checked = 0


async def _of_expectations(benchmark: Benchmark, settings: ScoringSettings) -> _Found:
    found, cases, of_task = _Found(), list[Case](), defaultdict[str, list[Case]](list)
    for task_id, label, task in expectations_of(benchmark):
        try:
            case = case_of(task_id, label, task, settings)
            cases.append(case)
            of_task[task_id].append(case)
            found.findings += await impossible(case)
        except Unchecked as reason:
            if str(reason) != NO_ANSWER_KNOWN:  # the rule itself is checked with trivial answers
                found.unchecked[str(reason)] += 1
    found.checked = len(cases)
    shares, empty = await trivial_shares(cases)
    found.figures["trivialAnswers"] = {name: asdict(share) for name, share in shares.items()}
    found.findings += [*no_negative_cases(shares), *empty_answers(cases, empty), *leaked(cases)]
    found.findings += await duplicates(benchmark.tasks, of_task)
    return found


def _look_at_the_past(found: _Found, benchmark: Benchmark, stored: StoredItems | None, runs: int) -> None:
    sample = None if stored is None else stored.sample
    resolution = Resolution.of(len(benchmark.tasks), runs, sample)
    found.findings += too_few_tasks(len(benchmark.tasks), runs, resolution)
    found.figures["smallestDifference"] = {**asdict(resolution), "tasks": len(benchmark.tasks), "runs": runs}
    if stored is None:
        found.remarks.append("no store: whether tasks tell skills apart was not checked; name one with --store")
        return
    found.findings += never_discriminating(stored)
    found.figures["stored"] = {"items": len(stored.rows), "ofOlderTasks": stored.older}
    if stored.rows.empty:
        found.remarks.append("the store holds no items of these tasks: whether they tell skills apart was not checked")
    if stored.older:
        found.remarks.append(f"{plural(stored.older, 'stored item')} of tasks that were changed or removed since did not count")


def _unreviewed(benchmark: Benchmark, given: str) -> list[Finding]:
    fix = f"read and accept it: eval-skills benchmarks review {quote(given)}"
    found = []
    for task in benchmark.tasks:
        if task.lacks_expectation:
            found.append(Finding("no-expectation", "error", task.id, "nothing is expected of the answer yet", fix))
        elif task.is_unreviewed:
            by = task.metadata["generated"].get("by", "a program")
            found.append(Finding("unreviewed", "warning", task.id, f"generated by {by} and not reviewed", fix))
    return found
