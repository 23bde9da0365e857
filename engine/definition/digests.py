"""Digests of what decides a score: the benchmark, each of its tasks, and the code of the scorers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.fingerprint import digest_of_folder, digest_of_json
from eval_skills.core.models import Benchmark, EvalTask
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.answer import file_of_benchmark
from eval_skills.scorers.registry import find_scorer

FILE_OPTIONS = {"rubric": "rubric"}
"""By evaluator, the option that may name a file in the benchmark's folder: its content counts like text in the task itself."""


def task_digest(task: EvalTask, folder: Path | None) -> str:
    """The digest of a task and of the files in the benchmark's `folder` that its evaluator names.

    A task that names none has the digest of its JSON alone. The code of custom scorers counts in `scorer_digests`, not here.
    """
    return _digest("task", task, _files(task, folder))


def benchmark_digests(benchmark: Benchmark, folder: Path | None) -> dict[str, str]:
    """The digests of ``benchmark`` and of each ``task/<id>``; see `task_digest`."""
    files = {task.id: named for task in benchmark.tasks if (named := _files(task, folder))}
    tasks = {f"task/{task.id}": _digest("task", task, files.get(task.id)) for task in benchmark.tasks}
    return {"benchmark": _digest("benchmark", benchmark, files), **tasks}


def digests_of_the_same(benchmark: Benchmark, folder: Path | None) -> dict[str, frozenset[str]]:
    """By the names of `benchmark_digests`, the digests that runs may have recorded of what has not changed since.

    Earlier versions did not read the files and recorded the digest of the JSON alone; their runs count as unchanged, since it is
    not known whether a file was different then.
    """
    alone = benchmark_digests(benchmark, None)
    return {name: frozenset({digest, alone[name]}) for name, digest in benchmark_digests(benchmark, folder).items()}


def _digest(name: str, expected: Benchmark | EvalTask, files: object) -> str:
    return digest_of_json({name: expected.to_json(), "files": files} if files else expected.to_json())


def _files(task: EvalTask, folder: Path | None) -> dict[str, str]:
    option = FILE_OPTIONS.get(task.evaluator_type or "")
    written = task.evaluator.options.get(option) if option and task.evaluator else None
    path = _file(written, folder) if isinstance(written, str) and folder is not None else None
    return {option: digest_of_folder(path)} if option and path else {}


def _file(written: str, folder: Path) -> Path | None:
    """The file of that name as a scorer finds it, with links followed; None where there is none."""
    try:
        _, path = file_of_benchmark(written, folder, option="rubric", what="rubric")
        return path if path.is_file() else None
    except (InputError, OSError):  # a name that is too long is an error of the operating system
        return None


CUSTOM = "custom"


def scorer_digests(scorings: Iterable[TaskScoring], folder: Path | None) -> dict[str, str]:
    """By the name of every scorer that these tasks need, the digest of the file that defines it.

    That of ``custom`` also covers the Python files in the benchmark's `folder`, which are the code that it runs.
    """
    names = sorted({scoring.scorer for scoring in scorings if scoring.scorer is not None})
    return {name: _scorer_digest(name, folder) for name in names}


def _scorer_digest(name: str, folder: Path | None) -> str:
    code = _code(find_scorer(name).target)
    if name != CUSTOM or folder is None:
        return code
    own = {path.name: digest_of_folder(path) for path in sorted(folder.glob("*.py"))}
    return digest_of_json({"scorer": code, "own": own})


def _code(target: Callable[..., Any]) -> str:
    """The digest of the defining file; of a plug-in without one, of its name."""
    try:
        written_in = Path(inspect.getfile(inspect.unwrap(target)))
    except TypeError:
        return digest_of_json(repr(type(target)))
    return digest_of_folder(written_in) if written_in.is_file() else digest_of_json(str(written_in.name))
