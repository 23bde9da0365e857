"""What a skill in a sandbox is not to see: where the expected answers of its run, and what others answered, are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.adapters import Confinement
from eval_skills.benchmarks.locations import locate
from eval_skills.core.errors import InputError

if TYPE_CHECKING:
    from eval_skills.tasks.plan import RunPlan


def confinement_of(plan: RunPlan) -> Confinement:
    """What the run holds every skill to, with all that its sandboxes hide: the folders of its benchmark, tasks and traces, its
    `benchmarks_dir`, the store, the reports, and Prefect's state."""
    held = plan.request.confinement()
    return replace(held, hidden=tuple(dict.fromkeys(str(path.resolve()) for path in _places(plan))))


def _places(plan: RunPlan) -> Iterator[Path]:
    request, layout = plan.request, plan.store.layout
    yield layout.root
    yield Path(request.output_dir)
    if layout.sqlite is not None:
        yield layout.sqlite
    if home := os.environ.get("PREFECT_HOME"):
        yield Path(home)
    if request.benchmarks_dir:
        yield Path(request.benchmarks_dir)
    for file in (*_benchmark_files(plan), *map(Path, filter(None, [request.traces]))):
        yield from (file.resolve().parent, file)


def _benchmark_files(plan: RunPlan) -> Iterator[Path]:
    request = plan.request
    if plan.benchmark_path is not None:
        yield plan.benchmark_path / "benchmark.json"
    if request.tasks:
        yield Path(request.tasks)
        return
    try:
        found = locate(request.benchmark, benchmarks_dir=Path(request.benchmarks_dir) if request.benchmarks_dir else None)
    except InputError:  # a run that goes on does not need it any more: its tasks are in the store
        return
    yield found / "benchmark.json" if found.is_dir() else found
