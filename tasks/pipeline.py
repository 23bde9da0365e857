"""The Prefect tasks of the pipeline besides the evaluation: find the skills, load the benchmark, select the best."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE

from eval_skills import benchmarks
from eval_skills.core.models import Benchmark, Skill, SkillCompletionReport
from eval_skills.core.selection import RankedSkill, SelectStrategy, select
from eval_skills.engine.definition.request import PipelineRequest
from eval_skills.engine.discovery import FoundSkills, matching_skills
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.tasks.run_log import FlowRunLog


@task(persist_result=False, cache_policy=NO_CACHE)
def find_skills(request: PipelineRequest) -> FoundSkills:
    """Find the skills of the request; see `matching_skills`."""
    return matching_skills(request)


@task(persist_result=False, cache_policy=NO_CACHE)
def load_benchmark(
    benchmark: str,
    benchmarks_dir: str | None = None,
    tasks: str | None = None,
    columns: Sequence[str] = (),
    skip_unreadable: bool = False,
) -> Benchmark:
    """Load the benchmark by id or path, or the file of tasks that replaces it, with the columns that are mapped."""
    if tasks:
        return benchmarks.load_tasks(Path(tasks), columns=columns)
    folder = Path(benchmarks_dir) if benchmarks_dir else None
    return benchmarks.load_benchmark(benchmark, benchmarks_dir=folder, skip_unreadable=skip_unreadable)


@task(persist_result=False, cache_policy=NO_CACHE)
def select_skills(
    skills: Sequence[Skill], reports: Sequence[SkillCompletionReport], strategy: SelectStrategy
) -> list[RankedSkill]:
    """Rank the skills that pass the strategy's filters."""
    return select(skills, reports, strategy)


def log_selection(summary: RunSummary) -> None:
    """Say in the log of the flow run which skills are selected, and why others are not."""
    log = FlowRunLog()
    log.say_all([f"Selected, {choice.rank}: {choice.skill.key}" for choice in summary.selected or ()], "skill")
    log.say_all([f"Not selected: {line}" for line in summary.removed], "skill")
