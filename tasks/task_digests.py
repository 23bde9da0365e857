"""What is expected of an answer, in one word each: of a benchmark, and of each of its tasks. Plain: no Prefect."""

from __future__ import annotations

from pathlib import Path

from eval_skills.core.fingerprint import digest_of_folder, digest_of_json
from eval_skills.core.models import Benchmark, EvalTask

FILE_OPTIONS = ("rubric",)
"""Options of an evaluator that may name a file in the benchmark's folder: what it says is as good as written into the task."""


def task_digest(task: EvalTask, folder: Path | None) -> str:
    """The digest of a task and of the files in the benchmark's `folder` that its evaluator names.

    A task that names none has the digest of its JSON alone. The code of custom scorers does not count here, but as a scorer's.
    """
    files = _files(task, folder)
    return digest_of_json({"task": task.to_json(), "files": files} if files else task.to_json())


def benchmark_digests(benchmark: Benchmark, folder: Path | None) -> dict[str, str]:
    """The digests of ``benchmark`` and of each ``task/<id>``; see `task_digest`."""
    files = {task.id: named for task in benchmark.tasks if (named := _files(task, folder))}
    whole = digest_of_json({"benchmark": benchmark.to_json(), "files": files} if files else benchmark.to_json())
    return {"benchmark": whole, **{f"task/{task.id}": task_digest(task, folder) for task in benchmark.tasks}}


def _files(task: EvalTask, folder: Path | None) -> dict[str, str]:
    options = task.evaluator.options if task.evaluator else {}
    named = {name: options[name] for name in FILE_OPTIONS if isinstance(options.get(name), str)}
    if folder is None or not named:
        return {}
    return {name: digest_of_folder(folder / written) for name, written in named.items() if (folder / written).is_file()}
