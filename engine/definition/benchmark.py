"""The benchmark that a request names, and how the answers to its tasks are scored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eval_skills.benchmarks import benchmark_folder, checked_benchmark, filter_tasks, load_benchmark, load_tasks
from eval_skills.core.config.options import JudgeOptions, ScoringOptions
from eval_skills.core.errors import ConfigError, InputError, UsageError
from eval_skills.core.models import Benchmark
from eval_skills.core.text import nearest
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.scorers import ScoringSettings, TaskScoring
from eval_skills.scorers.registry import find_scorer


def with_every_task(
    request: EvaluateRequest, benchmark: str | None = None, tasks: str | None = None, benchmarks_dir: str | None = None
) -> EvaluateRequest:
    """The request with all tasks of its benchmark, or of another one where `benchmark`, or a file of `tasks`, is named."""
    update: dict[str, Any] = {"task_tags": [], "task_ids": [], "complexity": []}
    if benchmarks_dir:
        update["benchmarks_dir"] = benchmarks_dir
    if tasks is not None:
        update["tasks"] = tasks
    elif benchmark is not None:
        update |= {"benchmark": benchmark, "tasks": None}
    return request.model_copy(update=update)


def scoring_settings(request: ScoringOptions, folder: Path | None) -> ScoringSettings:
    """The part of the request that scorers see; `folder` holds the files that its tasks name."""
    return ScoringSettings(
        weights=request.weights,
        tool_categories=request.tool_categories,
        tool_names=request.tool_names,
        default_evaluator=request.evaluator,
        allow_custom_code=request.allow_custom_code,
        benchmark_folder=folder,
        **{name: getattr(request, name) for name in JudgeOptions.model_fields},
    )


def resolve_benchmark(request: EvaluateRequest, held: Benchmark | None = None) -> tuple[Benchmark, Path | None]:
    """The benchmark with the tasks that the request selects, and the folder that the files of its tasks are resolved in.

    A benchmark that the caller has `held` in memory stands for the one that the request names, and has no folder.

    Raises:
        UserError: there is no such benchmark, it or a task in it is malformed, or no task has the tags and complexity.
    """
    _check_evaluator(request.evaluator)
    directory, settings = Path(request.benchmarks_dir) if request.benchmarks_dir else None, scoring_settings(request, None)
    if directory is not None and not directory.is_dir():
        raise InputError(
            "this is a file; name a folder" if directory.exists() else "no such folder of benchmarks", source=directory
        )
    folder: Path | None = None
    if held is not None:
        benchmark = checked_benchmark(held, settings)
    elif request.tasks:
        benchmark, folder = load_tasks(Path(request.tasks), settings=settings), Path(request.tasks).resolve().parent
    else:
        benchmark = load_benchmark(request.benchmark, benchmarks_dir=directory, settings=settings)
        folder = benchmark_folder(request.benchmark, benchmarks_dir=directory)
    chosen = filter_tasks(benchmark, request.task_tags, request.complexity)
    return _only(chosen, request.task_ids) if request.task_ids else chosen, folder


def _only(benchmark: Benchmark, task_ids: list[str]) -> Benchmark:
    known = [task.id for task in benchmark.tasks]
    if unknown := next((task_id for task_id in task_ids if task_id not in known), None):
        raise UsageError(f"benchmark {benchmark.id!r} has no task {unknown!r}{nearest(unknown, known)}")
    return benchmark.model_copy(update={"tasks": [task for task in benchmark.tasks if task.id in task_ids]})


def _check_evaluator(name: str) -> None:
    """Refuse an unknown scorer even where every task names its own: the name would never be looked up."""
    try:
        find_scorer(name)
    except InputError as error:
        raise UsageError(f"--evaluator: {error}") from None


def build_scorings(request: EvaluateRequest, benchmark: Benchmark, folder: Path | None) -> dict[str, TaskScoring]:
    """How the answers to each task are scored, by its id; `folder` holds the benchmark's own files. No model is asked.

    No model is asked, and the judges' keys need not be there: see `check_judges`.

    Raises:
        UserError: a task cannot be scored.
    """
    settings = scoring_settings(request, folder)
    return {task.id: TaskScoring(task, settings) for task in benchmark.tasks}


def check_judges(scorings: dict[str, TaskScoring]) -> dict[str, TaskScoring]:
    """These scorings, refused where a judging model cannot be asked, as far as that is known without asking.

    Raises:
        UsageError: a task needs a model and none is named, its name has no provider, or its key is not set.
    """
    for task_id, scoring in scorings.items():
        for model in scoring.models:
            try:
                scoring.settings.judges.judge(model).check_name()
            except ConfigError as error:
                raise UsageError(f"task {task_id!r} is judged by a model: {error}") from None
    return scorings


def benchmark_warnings(benchmark: Benchmark, request: EvaluateRequest) -> list[str]:
    """What is allowed but probably not intended."""
    imported = benchmark.metadata if benchmark.metadata.get("source") == "EvalView" else {}
    warnings = [str(warning) for warning in imported.get("warnings", ())]
    if benchmark.k > request.runs:
        more = "record more of them" if request.traces else "raise --runs"
        warnings.append(f"pass@{benchmark.k} and pass^{benchmark.k} stay unknown with {request.runs} runs of each task; {more}")
    for task in benchmark.tasks:
        score = task.thresholds.min_score if task.thresholds else None
        if score is not None and 0 < score <= 1:
            warnings.append(f"task {task.id!r} asks for a minScore of {score:g} of 100; thresholds.minScore is in points of 100")
    return warnings
