"""``eval-skills benchmarks lint``: what is wrong with tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eval_skills.cli.commands.benchmarks import benchmarks_folder
from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import current, existing_store
from eval_skills.cli.options import SHOWN, PastResults, option, whole
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from eval_skills.core.store import Store

FOUND_ERRORS = 1


def lint_command(
    benchmarks: Annotated[list[str], Mark.ID_OR_PATH, Parameter(help="Ids, or paths of benchmark files or folders")],
    /,
    *,
    runs: Annotated[
        int | None,
        Parameter(group=SHOWN, converter=whole, help="Runs of each task that a comparison would have [default: 1]"),
    ] = None,
    benchmarks_dir: Annotated[Path | None, option("benchmarks_dir", SHOWN)] = None,
    store: PastResults = None,
) -> int:
    """Check the tasks of benchmarks, before a skill is asked any of them.

    Finds duplicates and contradictions, expected answers that fail their own evaluator, answers that stand in the input,
    evaluators that empty, echoed or constant answers pass, generated tasks that nobody has reviewed, and tasks that all stored
    runs passed or failed; says how small a difference so many tasks show. Evaluators that ask a model or run custom code are
    not run, and counted. Exit code 1 on errors.

    Example: eval-skills benchmarks lint my-benchmark.json

    Example: eval-skills benchmarks lint coding-easy --runs 3 --store ./eval-store
    """
    from eval_skills.cli.output.benchmark_tasks import show_lints
    from eval_skills.engine.task_linting.linting import lint

    if runs is not None and not 1 <= runs <= 1000:
        raise UsageError(f"--runs is {runs}; give a number of runs from 1 to 1000")
    config = current().config({"runs": runs})
    folder = benchmarks_folder(benchmarks_dir)
    past = past_store(store)
    found = [
        lint(each, benchmarks_dir=folder, store=past, runs=config.runs, evaluator=config.evaluator)
        for each in dict.fromkeys(benchmarks)
    ]
    show_lints(found)
    return FOUND_ERRORS if any(each.count("error") for each in found) else 0


def past_store(store: str | None) -> Store | None:
    """The store that was named, or the usual one where it is there."""
    try:
        return existing_store(store)
    except UsageError:
        if store is not None:
            raise
        return None
