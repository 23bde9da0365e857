"""Reading a benchmark so that it is ready to run: every task's scorer and its options are checked here, not at run time."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from eval_skills.benchmarks.importers import is_case, read_suite
from eval_skills.benchmarks.importers.archive import LOG_SUFFIX
from eval_skills.benchmarks.importers.langsmith_api import refuse_dataset
from eval_skills.benchmarks.importers.tables import TABLE_SUFFIXES, WORKBOOKS
from eval_skills.benchmarks.locations import locate
from eval_skills.core.documents import DOCUMENT_SUFFIXES
from eval_skills.core.documents.loading import (
    check_path,
    folder_of,
    from_home,
    holds_lines,
    read_document,
    read_json_lines,
    validate,
)
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Benchmark, EvalTask
from eval_skills.core.models.base import known_keys
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from eval_skills.benchmarks.importers.evalview.judge import JudgeIs
    from eval_skills.scorers import ScoringSettings, TaskScoring


def load_benchmark(
    id_or_path: str | Path,
    *,
    benchmarks_dir: Path | None = None,
    settings: ScoringSettings | Mapping[str, Any] | None = None,
    scorings: dict[str, TaskScoring] | None = None,
    skip_unreadable: bool = False,
) -> Benchmark:
    """The benchmark of that id, file or folder (`eval_skills.benchmarks.locations.locate` says in which order they are tried).

    A file or folder may also be EvalView's; see `read_suite` in `eval_skills.benchmarks.importers.evalview`. With
    `skip_unreadable` its test cases that cannot be used are left out, and `metadata` says which.

    `settings` are those that the tasks will be scored with; they name the scorer of a task that names none, and the model that
    judges. Without them a custom scorer is accepted, and so is a generated task of which nothing is expected yet, since reading a
    benchmark does not run it. `scorings` takes what was built
    to check them, by task id: of many tasks that is most of the work of reading.

    Raises:
        InputError: there is no such benchmark; it is malformed; it has no tasks; or a task's scorer is unknown, lacks what it
            compares with, or does not know an option. The message names the file and the place (``tasks[3].evaluator``).
        UsageError: it is not an id or a path; or it is ``dataset:NAME``, and nothing is fetched here.
    """
    if not isinstance(id_or_path, str | os.PathLike):
        said = "load_benchmark takes the id of a benchmark, or the path of its file or folder"
        raise UsageError(f"{said}; got a value of type {type(id_or_path).__name__}")
    check_path(str(id_or_path), "benchmark", "give the id of a benchmark, or the path of its file or folder")
    id_or_path = from_home(str(id_or_path))
    if not Path(id_or_path).exists():
        refuse_dataset(id_or_path)
    file = locate(id_or_path, benchmarks_dir=benchmarks_dir)
    if file.is_dir() or file.suffix.lower() == ".toml":
        return _imported(file, settings, scorings, skip_unreadable)
    benchmark = _written(file)
    if benchmark is None:
        return _imported(file, settings, scorings, skip_unreadable)
    _check_tasks(benchmark, file, settings, scorings)
    return benchmark


def load_tasks(
    path: str | Path,
    *,
    columns: Sequence[str] = (),
    settings: ScoringSettings | Mapping[str, Any] | None = None,
    scorings: dict[str, TaskScoring] | None = None,
) -> Benchmark:
    """The tasks in a JSON or YAML file, an array of tasks or a whole benchmark; or in JSON Lines (``.jsonl``), one task a line.

    An array becomes a benchmark of version 0.0.0 whose id is the file's name in lower case, other characters as ``-``. Tables,
    folders and the files of other programs are imported (see `eval_skills.benchmarks.importers.importing.import_tasks`);
    `columns` are ``TARGET=COLUMN`` pairs that say which column is what.

    Raises:
        InputError, UsageError: as `load_benchmark`.
    """
    file = Path(path)
    if not file.exists():
        refuse_dataset(path)
    if columns or file.is_dir() or _is_table(file):
        return _taken(file, columns, settings, scorings)
    if (benchmark := _listed(file)) is None:
        read = _imported if not holds_lines(file) and is_case(read_document(file)) else partial(_taken, columns=columns)
        return read(file, settings=settings, scorings=scorings)
    _check_tasks(benchmark, file, settings, scorings)
    return benchmark


def is_read_as_tasks(file: Path) -> bool:
    """Whether `load_tasks` reads this file and `load_benchmark` does not: a list of tasks, a table, another program's suite."""
    if not file.is_file():
        return False
    if _is_table(file) or holds_lines(file):
        return True
    if file.suffix.lower() not in DOCUMENT_SUFFIXES:
        return False
    document = read_document(file)
    return isinstance(document, list) or (not is_case(document) and _is_foreign(document))


def load_benchmark_or_tasks(id_or_path: str | Path, *, benchmarks_dir: Path | None = None) -> Benchmark:
    """What `load_benchmark` reads, and of a file what `load_tasks` does: for those who look at tasks without running them.

    Raises:
        InputError, UsageError: as `load_benchmark`.
    """
    path = Path(id_or_path)
    if path.is_file() and path.suffix.lower() != ".toml":
        return load_tasks(path)
    return load_benchmark(id_or_path, benchmarks_dir=benchmarks_dir)


def checked_benchmark(
    benchmark: Benchmark,
    settings: ScoringSettings | Mapping[str, Any] | None = None,
    scorings: dict[str, TaskScoring] | None = None,
) -> Benchmark:
    """A benchmark that was made in memory, if it is ready to run; it has no folder that files could be named in.

    `scorings` as for `load_benchmark`.

    Raises:
        InputError: it has no tasks, or a task's scorer is unknown or cannot be built; the message names the place.
    """
    if not benchmark.tasks:
        raise InputError("a benchmark needs at least one task; this list is empty", path="tasks")
    _check_tasks(benchmark, None, settings, scorings)
    return benchmark


def _taken(
    path: Path,
    columns: Sequence[str],
    settings: ScoringSettings | Mapping[str, Any] | None,
    scorings: dict[str, TaskScoring] | None,
) -> Benchmark:
    from eval_skills.benchmarks.importers.importing import import_tasks

    return import_tasks(path, columns=columns, settings=settings, scorings=scorings).benchmark


def _imported(
    path: Path,
    settings: ScoringSettings | Mapping[str, Any] | None,
    scorings: dict[str, TaskScoring] | None,
    skip_unreadable: bool = False,
) -> Benchmark:
    checked_with = _settings_in(folder_of(path), settings)
    judge: JudgeIs = "unknown" if settings is None else "named" if _asks_a_model(checked_with) else "not named"
    benchmark = read_suite(path, check=lambda task: _check(task, checked_with), judge=judge, skip_unreadable=skip_unreadable)
    if scorings is not None:
        scorings.update((task.id, _check(task, checked_with)) for task in benchmark.tasks)
    return benchmark


def _asks_a_model(settings: ScoringSettings) -> bool:
    """Whether the settings say that, or which, model judges what nothing else does."""
    from eval_skills.scorers.registry import find_scorer

    return settings.llm.model is not None or find_scorer(settings.default_evaluator).name == "llm_judge"


def _written(file: Path) -> Benchmark | None:
    """The benchmark in a file; None where that holds a test case of EvalView's."""
    if _is_table(file) or holds_lines(file):
        raise InputError(f"it is a table or list of tasks, not a benchmark; {_AS_TASKS}", source=file)
    document = read_document(file)
    if isinstance(document, list):
        what = "it is a list of tasks, and a benchmark is an object with id, name, version and tasks"
        raise InputError(f"{what}; write one around the list, or {_AS_TASKS}", source=file)
    if not is_case(document) and _is_foreign(document):
        raise InputError(f"it is a file of another program, not a benchmark; {_AS_TASKS}", source=file)
    return None if is_case(document) else _validated(document, file)


_AS_TASKS = "give it to eval, run or rescore with --tasks"


def _is_table(file: Path) -> bool:
    return file.suffix.lower() in (*TABLE_SUFFIXES, *WORKBOOKS, LOG_SUFFIX)


def _listed(file: Path) -> Benchmark | None:
    """The tasks in a file; None where that is written in somebody else's format."""
    data = read_json_lines(file) if holds_lines(file) else read_document(file)
    if (isinstance(data, dict) and is_case(data)) or _is_foreign(data):
        return None
    if not isinstance(data, list):
        return _validated(data, file)
    name = re.sub(r"[^a-z0-9_-]+", "-", file.stem.lower()).strip("-") or "tasks"
    return _validated({"id": name, "name": file.stem, "version": "0.0.0", "tasks": data}, file)


_OF_TASKS = {"inputData", "input_data", "expectedOutput", "evaluator", "thresholds", "checks", "weights", "timeoutMs"}
"""Keys that only our tasks have."""


def _is_foreign(data: Any) -> bool:
    """Whether a document is in a known format of another program; what is not is read as ours, and refused as such."""
    from eval_skills.benchmarks.importers.kinds import kind_of
    from eval_skills.benchmarks.importers.rows import Row
    from eval_skills.benchmarks.importers.source import Source

    first = data[0] if isinstance(data, list) and data else data
    if not isinstance(first, dict) or not first or _is_ours(first, isinstance(data, list)):
        return False
    rows = [Row("", {str(key): value for key, value in first.items()})] if isinstance(data, list) else []
    found = kind_of(Source(Path(), (Path(),), lambda: rows, None if rows else data))
    return found is not None


def _is_ours(first: dict[str, Any], is_task: bool) -> bool:
    if not is_task:
        return {"id", "tasks"} <= first.keys() or first.keys() <= known_keys(Benchmark)
    return bool(_OF_TASKS & first.keys()) or first.keys() <= known_keys(EvalTask)


def _validated(data: Any, file: Path) -> Benchmark:
    if isinstance(data, dict) and "weights" in data:
        places = "in each task, or for all of them in the configuration (weights: {toolAccuracy: 0.5})"
        raise InputError(f"a benchmark has no weights of its own; give them {places}", source=file, path="weights")
    if isinstance(data, dict) and isinstance(data.get("tasks"), list):
        _replace_by_tasks(data["tasks"])
    benchmark = validate(Benchmark, data, source=file)
    if not benchmark.tasks:
        raise InputError("a benchmark needs at least one task; this list is empty", source=file, path="tasks")
    return benchmark


def _replace_by_tasks(written: list[Any]) -> None:
    """Put the tasks in the place of what is written of them: so many of them are not in memory in both forms at once.

    The first that is not valid ends it; what is wrong with it and those behind it is found where they are validated together.
    """
    for index, each in enumerate(written):
        try:
            task = EvalTask.model_validate(each).compact()
        except ValidationError:
            return
        if task.expected_output is not None:
            task.expected_output.compact()
        written[index] = task


def _check_tasks(
    benchmark: Benchmark,
    file: Path | None,
    settings: ScoringSettings | Mapping[str, Any] | None,
    scorings: dict[str, TaskScoring] | None,
) -> None:
    checked_with = _settings_in(folder_of(file) if file else None, settings)
    drafts = [index for index, task in enumerate(benchmark.tasks) if task.lacks_expectation]
    if drafts and settings is not None:
        raise InputError(_not_reviewed(benchmark, len(drafts), file), source=file, path=f"tasks[{drafts[0]}]")
    for index, task in enumerate(benchmark.tasks):
        if task.lacks_expectation:
            continue
        try:
            scoring = _check(task, checked_with)
        except InputError as error:
            place = f"tasks[{index}].{error.path}" if error.path else f"tasks[{index}]"
            raise InputError(f"{error.message} (task {task.id!r})", source=file, path=place) from None
        if scorings is not None:
            scorings[task.id] = scoring


def unreviewed_note(tasks: Sequence[EvalTask]) -> list[str]:
    """The line on tasks that were generated and that nobody has accepted; empty where there is none."""
    unread = sum(task.is_unreviewed for task in tasks)
    if not unread:
        return []
    are = "is" if unread == 1 else "are"
    share = f"{unread:,} of {plural(len(tasks), 'task')} ({100 * unread / len(tasks):.0f} %) {are}"
    return [f"{share} generated and not reviewed: what they expect is not yet known to be right"]


def _not_reviewed(benchmark: Benchmark, drafts: int, file: Path | None) -> str:
    have = "has" if drafts == 1 else "have"
    command = f"eval-skills benchmarks review {quote(str(file))}" if file else "eval-skills benchmarks review FILE"
    return f"{drafts:,} of {plural(len(benchmark.tasks), 'task')} {have} no expectation yet; say what is right: {command}"


def _check(task: EvalTask, settings: ScoringSettings) -> TaskScoring:
    """What scores the task. Raises InputError: it cannot be scored; `path` names the place inside it."""
    # The scorers bring jsonschema and more along, which a mere listing of ids should not pay for.
    from eval_skills.scorers import TaskScoring

    try:
        return TaskScoring(task, settings)
    except InputError as error:
        inside = error.path.removeprefix(f"task {task.id!r}").removeprefix(": ")
        raise InputError(error.message, path=inside) from None


def _settings_in(folder: Path | None, settings: ScoringSettings | Mapping[str, Any] | None) -> ScoringSettings:
    from eval_skills.scorers import ScoringSettings

    if settings is None:
        # Reading a benchmark runs none of its code; whether that may run is asked where it would.
        return ScoringSettings(allow_custom_code=True, benchmark_folder=folder)
    given = ScoringSettings.of(settings)
    return given if given.benchmark_folder else given.model_copy(update={"benchmark_folder": folder})
