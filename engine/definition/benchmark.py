"""The benchmark that a request names, how the answers to its tasks are scored, and the digests of all that decides a score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_skills.benchmarks import benchmark_folder, checked_benchmark, filter_tasks, load_benchmark, load_tasks
from eval_skills.benchmarks.loader import unreviewed_note
from eval_skills.benchmarks.locations import shadowing_remarks
from eval_skills.benchmarks.own_tests import OwnTests, load_own_tests
from eval_skills.core.config.judging import JudgeOptions, ScoringOptions
from eval_skills.core.config.options import TaskChoice, own_benchmarks
from eval_skills.core.documents.loading import folder_of
from eval_skills.core.errors import ConfigError, InputError, UsageError
from eval_skills.core.fingerprint import canonical_json, digest_of_canonical, digest_of_folder, digest_of_json
from eval_skills.core.models import Benchmark, EvalTask
from eval_skills.core.skills import load_skills
from eval_skills.core.text import first_of, nearest, plural
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.scorers import ScoringSettings, TaskScoring
from eval_skills.scorers.answer import file_of_benchmark
from eval_skills.scorers.code.jail import why_no_jail
from eval_skills.scorers.code.scorer import NAME as CODE_TESTS
from eval_skills.scorers.registry import find_scorer

EVERY_TASK: dict[str, Any] = {
    "task_tags": [],
    **{name: field.get_default(call_default_factory=True) for name, field in TaskChoice.model_fields.items()},
}
"""What narrows the tasks of a request, unsaid."""


def with_every_task(
    request: EvaluateRequest, benchmark: str | None = None, tasks: str | None = None, benchmarks_dir: str | None = None
) -> EvaluateRequest:
    """The request with all tasks of its benchmark, or of another one where `benchmark`, or a file of `tasks`, is named."""
    update: dict[str, Any] = {**EVERY_TASK}
    if directory := searched_for(benchmark, benchmarks_dir):
        update["benchmarks_dir"] = directory
    if tasks is not None:
        update |= {"tasks": tasks, "own_tests": False, "map": columns_of(request, tasks)}
    elif benchmark is not None:
        update |= {"benchmark": benchmark, "tasks": None, "own_tests": False, "map": []}
    return request.model_copy(update=update)


def searched_for(benchmark: str | None, benchmarks_dir: str | None) -> str | None:
    """The folder in which a benchmark that is named for a stored run is looked up; None: that of the run itself."""
    return benchmarks_dir or (own_benchmarks() if benchmark is not None else None)


def columns_of(request: EvaluateRequest, tasks: str | None) -> list[str]:
    """The mapping of the request's columns, where `tasks` is the same file; another one has columns of its own."""
    same = tasks is not None and request.tasks is not None and Path(tasks).resolve() == Path(request.tasks).resolve()
    return list(request.map) if same else []


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


@dataclass(frozen=True, slots=True)
class ScoredBenchmark:
    """A benchmark with the tasks that a request selects, the `folder` that their files are resolved in (None: there is none), and
    how the answers to each are scored, by its id. `of` is how many tasks the whole benchmark has."""

    benchmark: Benchmark
    folder: Path | None
    scorings: dict[str, TaskScoring]
    of: int


def resolve_scored(request: EvaluateRequest, held: Benchmark | None = None, own: OwnTests | None = None) -> ScoredBenchmark:
    """`resolve_benchmark` and `build_scorings` in one: what checks the tasks is what scores their answers.

    Raises:
        UserError: as these two.
    """
    built: dict[str, TaskScoring] = {}
    benchmark, folder = resolve_benchmark(request, held, own, scorings=built)
    if benchmark.parts:  # their tasks got the ids of their skills since they were checked
        whole = len(own.benchmark.tasks) if own else len(benchmark.tasks)
        return ScoredBenchmark(benchmark, folder, build_scorings(request, benchmark, folder), whole)
    return ScoredBenchmark(benchmark, folder, {task.id: built[task.id] for task in benchmark.tasks}, len(built))


def resolve_benchmark(
    request: EvaluateRequest,
    held: Benchmark | None = None,
    own: OwnTests | None = None,
    *,
    scorings: dict[str, TaskScoring] | None = None,
) -> tuple[Benchmark, Path | None]:
    """The benchmark with the tasks that the request selects, and the folder that the files of its tasks are resolved in.

    A benchmark that the caller has `held` in memory stands for the one that the request names, and has no folder. `own` are the
    skills' own tests, where the caller has read them already. `scorings` takes what was built to check the tasks, by their ids.

    Raises:
        UserError: there is no such benchmark, it or a task in it is malformed, or no task has what is asked for.
    """
    _check_evaluator(request.evaluator)
    directory, settings = Path(request.benchmarks_dir) if request.benchmarks_dir else None, scoring_settings(request, None)
    if directory is not None and not directory.is_dir():
        raise InputError(
            "this is a file; name a folder" if directory.exists() else "no such folder of benchmarks", source=directory
        )
    folder: Path | None = None
    if held is not None:
        benchmark = checked_benchmark(held, settings, scorings)
    elif request.own_tests:
        own = own or load_own_tests(load_skills(request.skills).skills, settings=settings)
        benchmark, folder = own.benchmark, own.folder
    elif request.tasks:
        given = Path(request.tasks)
        benchmark = load_tasks(given, columns=request.map, settings=settings, scorings=scorings)
        folder = folder_of(given)
    else:
        benchmark = load_benchmark(
            request.benchmark, benchmarks_dir=directory, settings=settings, scorings=scorings,
            skip_unreadable=request.skip_unreadable,
        )  # fmt: skip
        folder = benchmark_folder(request.benchmark, benchmarks_dir=directory)
    if benchmark.metadata.get("importedAs") == RECORDED and not request.traces:
        raise UsageError(
            f"{benchmark.id} comes from a log of Inspect: its tasks only hold how its own runs were scored, so no skill can "
            "answer them; have these runs written by benchmarks import inspect-log LOG -o DIR, and give --traces DIR/runs.jsonl"
        )
    narrowed = (request.task_tags, request.complexity, request.filter)
    chosen = filter_tasks(benchmark, *narrowed) if any(narrowed) else benchmark
    chosen = _only(chosen, request.task_ids) if request.task_ids else chosen
    chosen = _with_parts_of(chosen) if chosen.parts else chosen
    return _first(chosen, request.first) if request.first else chosen, folder


def _with_parts_of(chosen: Benchmark) -> Benchmark:
    """The benchmark whose parts have only the tasks that it has itself, without those that have none left."""
    kept = {task.id for task in chosen.tasks}
    left = {key: [task for task in part.tasks if task.id in kept] for key, part in chosen.parts.items()}
    return chosen.of_parts({key: chosen.parts[key].model_copy(update={"tasks": tasks}) for key, tasks in left.items() if tasks})


def _first(chosen: Benchmark, number: int) -> Benchmark:
    """The benchmark with so many tasks at most, its first ones; of skills' own tests the first of each skill."""
    if not chosen.parts:
        return chosen.model_copy(update={"tasks": chosen.tasks[:number]})
    return chosen.of_parts({key: _first(part, number) for key, part in chosen.parts.items()})


_TASKS_NAMED = 10


def _only(benchmark: Benchmark, task_ids: list[str]) -> Benchmark:
    known, asked = {task.id: None for task in benchmark.tasks}, set(task_ids)
    if unknown := next((task_id for task_id in task_ids if task_id not in known), None):
        there = first_of([*known], _TASKS_NAMED)
        raise UsageError(f"benchmark {benchmark.id!r} has no task {unknown!r}{nearest(unknown, known)}; its tasks are {there}")
    return benchmark.model_copy(update={"tasks": [task for task in benchmark.tasks if task.id in asked]})


def _check_evaluator(name: str) -> None:
    """Refuse an unknown scorer even where every task names its own: the name would never be looked up."""
    try:
        find_scorer(name)
    except InputError as error:
        raise UsageError(f"--evaluator: {error}") from None


def build_scorings(request: EvaluateRequest, benchmark: Benchmark, folder: Path | None) -> dict[str, TaskScoring]:
    """How the answers to each task are scored, by its id; `folder` holds the benchmark's own files.

    No model is asked, and the judges' keys need not be there: see `check_judges`.

    Raises:
        UserError: a task cannot be scored.
    """
    settings = scoring_settings(request, folder)
    placed = {place: settings.in_folder(place) for place in {task.folder for task in benchmark.tasks}}
    return {task.id: TaskScoring(task, placed[task.folder]) for task in benchmark.tasks}


def check_judges(scorings: dict[str, TaskScoring]) -> dict[str, TaskScoring]:
    """These scorings, refused where a judging model cannot be asked, as far as that is known without asking.

    Raises:
        UsageError: a task needs a model and none is named, its name has no provider, or its key is not set.
    """
    for task_id, scoring in scorings.items():
        for model in scoring.models:
            try:
                scoring.settings.judges.member(model).check_name()
            except ConfigError as error:
                own = " (the goal of its user is; or give the task an evaluator of its own)" if scoring.judges_goal else ""
                raise UsageError(f"task {task_id!r} is judged by a model{own}: {error}") from None
    return scorings


def check_code_sandbox(scorings: Mapping[str, TaskScoring]) -> None:
    """Refuse tasks whose answers are programs to be run where no sandbox works.

    Raises:
        UsageError: there is such a task; the message says what is missing.
    """
    running = (task_id for task_id, scoring in scorings.items() if any(CODE_TESTS in part.scorers for part in scoring.parts))
    task_id = next(running, None)
    if task_id is not None and (problem := why_no_jail()):
        raise UsageError(f"task {task_id!r} runs the code of answers, which is done in a sandbox only: {problem}")


def check_simulators(scorings: Mapping[str, TaskScoring]) -> None:
    """Refuse a task whose simulated user no model can play, as far as that is known without asking.

    Raises:
        UsageError: no model is named for it, its name has no provider, or its key is not set.
    """
    for task_id, scoring in scorings.items():
        for model in scoring.simulators:
            try:
                scoring.settings.judges.judge(model).check_name()
            except ConfigError as error:
                own = "" if model else "; user.model names one for this user alone"
                raise UsageError(f"task {task_id!r} has a simulated user: {error}{own}") from None


def benchmark_warnings(benchmark: Benchmark, request: EvaluateRequest) -> list[str]:
    """What is allowed but probably not intended."""
    imported = benchmark.metadata if _is_imported(benchmark) else {}
    warnings = [*not_imported(benchmark), *map(str, imported.get("warnings", ())), *unreviewed_note(benchmark.tasks)]
    warnings += _instead_of_built_in(benchmark, request)
    if benchmark.k > request.runs:
        more = "record more of them" if request.traces else "raise --runs"
        runs = plural(request.runs, "run")
        warnings.append(f"pass@{benchmark.k} and pass^{benchmark.k} stay unknown with {runs} of each task; {more}")
    for task in benchmark.tasks:
        score = task.thresholds.min_score if task.thresholds else None
        if score == 0 and task.named_scorers:
            warnings.append(f"task {task.id!r} asks for a minScore of 0, which any answer reaches; give more, or leave it out")
        if score is not None and 0 < score <= 1:
            warnings.append(f"task {task.id!r} asks for a minScore of {score:g} of 100; thresholds.minScore is in points of 100")
    return warnings


def _instead_of_built_in(benchmark: Benchmark, request: EvaluateRequest) -> list[str]:
    """A remark on a benchmark that was asked for by an id that a built-in one has, too."""
    if request.tasks or request.own_tests or request.benchmark != benchmark.id:
        return []
    directory = Path(request.benchmarks_dir) if request.benchmarks_dir else None
    return shadowing_remarks(benchmark.id, f"{benchmark.id}@{benchmark.version}", benchmarks_dir=directory)


def benchmark_notes(benchmark: Benchmark | None) -> list[str]:
    """What reports should say of the benchmark: files and entries that are not in it, and tasks nobody has reviewed."""
    if benchmark is None:
        return []
    imported = benchmark.metadata.get("notes", ()) if _is_imported(benchmark) else ()
    return [*not_imported(benchmark), *map(str, imported), *unreviewed_note(benchmark.tasks)]


def not_imported(benchmark: Benchmark) -> list[str]:
    """How many entries of another program's file could not be read as tasks, and why."""
    skipped = benchmark.metadata.get("skipped") if "importedAs" in benchmark.metadata else None
    if not isinstance(skipped, dict) or not skipped:
        return []
    reasons = "; ".join(f"{count} because {reason}" for reason, count in skipped.items())
    return [f"{benchmark.id}: entries that could not be read as tasks are left out: {reasons}"]


def _is_imported(benchmark: Benchmark) -> bool:
    return benchmark.metadata.get("source") == "EvalView" or "importedAs" in benchmark.metadata


FILE_OPTIONS = {"rubric": "rubric"}
"""By evaluator, the option that may name a file in the benchmark's folder: its content counts like text in the task itself."""


def task_digest(task: EvalTask, folder: Path | None) -> str:
    """The digest of a task and of the files in the benchmark's `folder` that its evaluator names.

    A task that names none has the digest of its JSON alone. The code of custom scorers counts in `scoring_digests`, not here.
    """
    return _digest("task", [canonical_json(task.to_json())], _files(task, folder))


def benchmark_digests(benchmark: Benchmark, folder: Path | None) -> dict[str, str]:
    """The digests of ``benchmark`` and of each ``task/<id>``; see `task_digest`.

    Of a benchmark that is made of parts also those of each ``benchmark/<id@version>``, of which its own is made.
    """
    if benchmark.parts:
        found = {key: benchmark_digests(part, folder) for key, part in benchmark.parts.items()}
        parts = {f"benchmark/{key}": digests["benchmark"] for key, digests in found.items()}
        tasks = {name: digest for digests in found.values() for name, digest in digests.items() if name != "benchmark"}
        return {"benchmark": digest_of_json(parts), **parts, **tasks}
    files = {task.id: named for task in benchmark.tasks if (named := _files(task, folder))}
    written = {task.id: canonical_json(task.to_json()) for task in benchmark.tasks}
    tasks = {f"task/{task_id}": _digest("task", [text], files.get(task_id)) for task_id, text in written.items()}
    return {"benchmark": _digest("benchmark", _canonical(benchmark, written.values()), files), **tasks}


def _canonical(benchmark: Benchmark, tasks: Iterable[str]) -> Iterator[str]:
    """The canonical JSON of a benchmark in parts, from that of its `tasks`: each is written once for both digests."""
    rest = benchmark.model_copy(update={"tasks": []}).to_json()
    return _object({name: [canonical_json(value)] for name, value in rest.items()} | {"tasks": _array(tasks)})


def _array(members: Iterable[str]) -> Iterator[str]:
    opening = "["
    for member in members:
        yield opening
        yield member
        opening = ","
    yield "]" if opening == "," else "[]"


def _object(members: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """The canonical JSON of an object, in parts, whose members are canonical JSON in parts; there is at least one."""
    opening = "{"
    for name in sorted(members):
        yield f"{opening}{canonical_json(name)}:"
        yield from members[name]
        opening = ","
    yield "}"


def digests_of_the_same(benchmark: Benchmark, folder: Path | None) -> dict[str, frozenset[str]]:
    """By the names of `benchmark_digests`, the digests that runs may have recorded of what has not changed since.

    Earlier versions did not read the files and recorded the digest of the JSON alone; their runs count as unchanged, since it is
    not known whether a file was different then.
    """
    alone = benchmark_digests(benchmark, None)
    if not any(_files(task, folder) for task in benchmark.tasks):
        return {name: frozenset({digest}) for name, digest in alone.items()}
    return {name: frozenset({digest, alone[name]}) for name, digest in benchmark_digests(benchmark, folder).items()}


def _digest(name: str, written: Iterable[str], files: object) -> str:
    return digest_of_canonical(_object({name: written, "files": [canonical_json(files)]}) if files else written)


def _files(task: EvalTask, folder: Path | None) -> dict[str, str]:
    """The digests of the files that its evaluators name: by the option, and by the place as well for one of several; those of
    the turns of a conversation by the turn, too."""
    found: dict[str, str] = {}
    for index, turn in enumerate(task.turns or ()):
        found |= {f"turns[{index}].{name}": digest for name, digest in _files(task.of_turn(turn), folder).items()}
    folder = task.folder if folder is not None and task.folder is not None else folder
    for named in task.named_scorers:
        option = FILE_OPTIONS.get(named.type)
        written = named.options.get(option) if option else None
        path = _file(written, folder) if isinstance(written, str) and folder is not None else None
        if option and path:
            found[option if task.evaluators is None else f"{named.place}.{option}"] = digest_of_folder(path)
    return found


def _file(written: str, folder: Path) -> Path | None:
    """The file of that name as a scorer finds it, with links followed; None where there is none."""
    try:
        _, path = file_of_benchmark(written, folder, option="rubric", what="rubric")
        return path if path.is_file() else None
    except (InputError, OSError):  # a name that is too long is an error of the operating system
        return None


RECORDED = "inspect-log"
"""The kind of imports whose tasks are for the runs that came with them."""
