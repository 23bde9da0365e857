"""The options of `evaluate`: those of the command line's evaluation, as far as a call in this process has a use for them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

from eval_skills.adapters.python.host.errors import a_type, described
from eval_skills.core.config.judging import ScoringOptions
from eval_skills.core.config.options import option_of
from eval_skills.core.documents.loading import check_path, from_home, validate_options
from eval_skills.core.errors import EvalSkillsError, InputError, RunError, UsageError, UserError
from eval_skills.core.models import Weights
from eval_skills.core.models.base import Complexity
from eval_skills.core.store import Store
from eval_skills.core.store.layout import Layout
from eval_skills.core.text import nearest, one_line
from eval_skills.engine.definition.request import EvaluateRequest

M = TypeVar("M", bound=ScoringOptions)


class ScoreOptions(TypedDict, total=False):
    """How answers are scored. The values, their bounds and defaults are those of `eval-skills eval`.

    `evaluator` scores the tasks that name no scorer: a scorer's name, or a function, which is called as
    ``function(output, expected, task)`` with as many of these as it takes. `llm` is the judging model: ``{"model": "gpt-4o"}``.
    The limits `judge_concurrency` and `max_judge_cost` (USD) are about what it is asked.
    """

    evaluator: str | Callable[..., Any]
    allow_custom_code: bool
    weights: Mapping[str, float] | Weights
    tool_categories: Mapping[str, Sequence[str]]
    tool_names: Literal["exact", "normalised"]
    llm: Mapping[str, Any]
    judge_concurrency: int
    max_judge_cost: float | None
    no_judge_cache: bool
    no_judge_check: bool


class EvaluateOptions(ScoreOptions, total=False):
    """How items are executed and chosen. `timeout_ms` is in ms, `memory_mb` in MiB, `cpu_seconds` in s.

    `task_tags`, `task_ids`, `tasks_from` (``["failed:RUN"]``), `complexity` and `filter` (``["metadata.level=2"]``) narrow the
    tasks, and `first` asks the first of those alone; `benchmarks_dir` is searched for the id of a benchmark, and
    `skip_unreadable` leaves out what of an imported suite cannot be used. The limits and the sandbox hold processes: a function
    of this program is refused with them. `record` writes all answers to a file, and `replay` takes them from it; `cache` keeps
    the answers of skills that have a folder, and `cache_runs` shares them among runs. `items_per_task`, `task_runner` and
    `fail_fast` need ``prefect=True``.

    `resume` goes on with a run of the `store`, by its id, its beginning, or ``"latest"``, and asks only what has no result yet;
    with `retry_errors` its errors and timeouts, too.
    """

    runs: int
    until: Literal["decided"]
    against: str
    max_runs: int
    concurrency: int
    timeout_ms: int
    retries: int
    task_tags: Sequence[str]
    task_ids: Sequence[str]
    tasks_from: Sequence[str]
    complexity: Sequence[Complexity]
    filter: Sequence[str]
    first: int | None
    benchmarks_dir: str | os.PathLike[str] | None
    skip_unreadable: bool
    memory_mb: int | None
    cpu_seconds: int | None
    open_files: int | None
    max_output_bytes: int | None
    sandbox: Literal["none", "bwrap"]
    sandbox_network: Literal["declared", "none", "all"]
    sandbox_paths: Literal["declared", "none"]
    sandbox_processes: int | None
    sandbox_mb: int | None
    max_cost: float | None
    max_tokens: int | None
    max_duration_s: float | None
    rate: str | None
    secrets: Sequence[str]
    record: str | os.PathLike[str]
    replay: str | os.PathLike[str]
    cache: bool
    cache_runs: bool
    items_per_task: int | Literal["auto"]
    task_runner: str
    fail_fast: bool
    resume: str
    retry_errors: bool


_FILES = frozenset({"record", "replay", "benchmarks_dir"})
NEEDS_PREFECT = ("items_per_task", "task_runner", "fail_fast")
INSTEAD = {
    "benchmark": "give the benchmark's id, path or object as tasks",
    "own_tests": "name a skill's tests as tasks; those of many skills run with: eval-skills eval --own-tests --skills FOLDER",
    "map": "import the table first: eval-skills benchmarks import table FILE --map TARGET=COLUMN --output FOLDER",
    "traces": "evaluate recorded runs with: eval-skills eval --traces FILE",
    "format": "write the result with result.save(PATH), or with: eval-skills report convert",
    "output_dir": "write the result with result.save(PATH), or with: eval-skills report convert",
    "min_completion": "assert on result.completion",
    "exit_on_fail": "assert on result.completion",
}
"""Options of the command line that a Python caller has something else for."""

_CHOOSING = ("task_ids", "task_tags", "tasks_from", "complexity")
"""Options that choose tasks. An empty one, as of a result without failures, means none to a program, and would ask all."""


def evaluate_request(options: Mapping[str, Any], **own: Any) -> EvaluateRequest:
    """The request with these options and the caller's `own` fields. What is written to stays where it is now, wherever a skill
    goes: they share this process, and its working directory.

    Raises:
        UsageError: an option does not exist, or its value is not valid; the message names it and what is valid.
    """
    known = EvaluateOptions.__optional_keys__
    for name in options:
        if name in INSTEAD:
            raise UsageError(f"{name} is not an option of evaluate; {INSTEAD[name]}")
        _check_known(name, sorted(known))
        if name in _CHOOSING and isinstance(options[name], Sized) and not len(options[name]):
            raise UsageError(f"{name} is empty, so no task would be asked; leave it out to ask all")
    given = {name: as_read(value) for name, value in {**options, **own}.items()}
    for name in _FILES & given.keys():
        if isinstance(given[name], str):
            check_path(given[name], name, "give a path")
            given[name] = from_home(given[name])
    written = {name: _absolute(given[name]) for name in ("store", "record", "output_dir") if name in given}
    return _validated(EvaluateRequest, given | written)


def _absolute(place: Any) -> Any:
    """A path as one that does not depend on the working directory; a URL, and what is not a path at all, as it is."""
    if not isinstance(place, str) or not place.strip():
        return place
    scheme, separator, path = place.rpartition("://")
    return place if separator and scheme != "file" else f"{scheme}{separator}{Path(path).absolute()}"


def path_given(given: Any, place: str, valid: str) -> str:
    """A path that a caller gave as `place`, as text; `valid` says what may be given there.

    Raises:
        UsageError: it is not a path; see also `check_path`.
    """
    path = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(path, str):
        raise UsageError(f"{place} is {a_type(given)}; {valid}")
    check_path(path, place, valid)
    return from_home(path)


def store_path(store: str | os.PathLike[str] | Store) -> str:
    """The path of the store that a caller gave; raises as `path_given`."""
    if isinstance(store, Store):
        return store.path
    if (path := path_given(store, "store", _STORE)).strip():
        Layout.of(path)  # refuses what is not a store, as it was written
    return path


_STORE = "give a path or a Store, or None to keep nothing"


def refuse_without_prefect(options: Mapping[str, Any]) -> None:
    """Refuse, with a UsageError, what only says something of Prefect task runs."""
    if (unfit := next((name for name in NEEDS_PREFECT if name in options), None)) is not None:
        raise UsageError(f"{unfit} is about the Prefect task runs of an evaluation; add prefect=True, or leave it out")


def check_resume(options: Mapping[str, Any], store: object) -> None:
    """Refuse, with a UsageError, a `resume` that names no run, or that has no store to find one in."""
    run = options.get("resume")
    if run is not None and store is None:
        raise UsageError("resume goes on with a run of a store; give its place as store")
    if isinstance(run, str) and not run.strip():
        raise UsageError("resume is blank; give the id of a run, the beginning of one, or latest")


def scoring_options(options: Mapping[str, Any]) -> ScoringOptions:
    """The options of scoring alone; raises as `evaluate_request`."""
    for name in options:
        _check_known(name, sorted(ScoreOptions.__optional_keys__))
    return _validated(ScoringOptions, options)


def in_python(said: str) -> str:
    """What is said to the command line's user, for a Python caller: its options without dashes, but for whole commands."""
    words, command, rest = said.partition("eval-skills ")
    words = _RUN_TO_RESUME.sub(r'resume="\1"', words.replace(_JUDGING_MODEL, 'llm={"model": "PROVIDER/MODEL"}'))
    named = _OPTION.sub(lambda found: _OPTIONS.get(found[0], found[0]), words)
    return named + command + rest


_OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*(?![\w.-])")
_RUN_TO_RESUME = re.compile(r"(?<![\w-])--resume (\d{8}T\d{6}Z-\w+)")
_JUDGING_MODEL = "--judge-model PROVIDER/MODEL or llm.model"
_OF_THE_CALL = ("skills", "tasks", "benchmark", "store", "arms", "old")
_OPTIONS = {option_of(name): name for name in (*EvaluateOptions.__optional_keys__, *_OF_THE_CALL)}


@contextmanager
def asking(given: Any, place: str) -> Iterator[None]:
    """Inside, what a caller gave as `place` is asked what it is: its own code may answer, such as `__getattr__` or `__repr__`.

    Raises:
        UsageError: that code raised.
    """
    try:
        yield
    except EvalSkillsError:
        raise
    except Exception as error:
        raise UsageError(
            f"{place} is {a_type(given)}, which raises when it is asked what it is ({one_line(described(error))}); "
            "give a function that calls it"
        ) from error


@contextmanager
def python_words() -> Iterator[None]:
    """Errors that are raised inside name options as Python does."""
    try:
        yield
    except (UserError, RunError) as error:
        error.args = tuple(in_python(each) if isinstance(each, str) else each for each in error.args)
        if isinstance(error, InputError):
            error.message = in_python(error.message)
        raise


_ELSEWHERE = {
    **dict.fromkeys(("epochs", "repeat", "repetitions", "num_repetitions", "num_runs", "n_runs"), "runs"),
    **dict.fromkeys(("max_workers", "max_concurrency", "max_concurrent", "max_samples", "max_connections"), "concurrency"),
    **dict.fromkeys(("data", "dataset", "test_cases", "benchmark"), "tasks"),
    **dict.fromkeys(("scorer", "scorers", "metric", "metrics", "evaluators"), "evaluator"),
    **dict.fromkeys(("judge", "judge_model"), "llm"),
}
"""What our options are called in other libraries: which of them is meant no similarity of the names tells."""


def _check_known(name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise UsageError(f"unknown option {name!r}{nearest(_ELSEWHERE.get(name, name), known)}; known are {', '.join(known)}")


def _validated(model: type[M], options: Mapping[str, Any]) -> M:
    return validate_options(model, {name: as_read(value) for name, value in options.items()})


def as_read(value: Any) -> Any:
    """The value of an option as it would be read of a file: a list for other collections, Python's types for those of NumPy and
    pandas, text for a path."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if type(value).__module__.partition(".")[0] in ("numpy", "pandas") and hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, tuple | set | frozenset) else value
