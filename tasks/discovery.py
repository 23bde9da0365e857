"""Find: the skills of a folder that match.

Load: the benchmark that a pipeline asks.
"""

from __future__ import annotations

from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE

from eval_skills import benchmarks
from eval_skills.core.models import Benchmark
from eval_skills.engine.definition.request import PipelineRequest
from eval_skills.engine.discovery import FoundSkills, matching_skills


@task(persist_result=False, cache_policy=NO_CACHE)
def find_skills(request: PipelineRequest) -> FoundSkills:
    """Find the skills of the request; see `matching_skills`."""
    return matching_skills(request)


@task(persist_result=False, cache_policy=NO_CACHE)
def load_benchmark(benchmark: str, benchmarks_dir: str | None = None, tasks: str | None = None) -> Benchmark:
    """The benchmark by id or path, or the file of tasks that replaces it."""
    if tasks:
        return benchmarks.load_tasks(Path(tasks))
    return benchmarks.load_benchmark(benchmark, benchmarks_dir=Path(benchmarks_dir) if benchmarks_dir else None)
