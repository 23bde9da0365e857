"""``eval-skills benchmarks``: what can be asked of skills."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from eval_skills.cli.configurable import Mark
from eval_skills.cli.session import current

if TYPE_CHECKING:
    from eval_skills.core.models import Benchmark, EvalTask

NOT_RATED = "unrated"
"""What stands for the complexity of tasks that say none."""

benchmarks_app = App(name="benchmarks", help="List benchmarks, and look at their tasks.")

Directory = Annotated[Path | None, Mark.SHARED, Parameter(help="Folder of benchmarks, searched before the built-in ones")]
Tags = Annotated[
    list[str] | None, Parameter(name=["-t", "--tag"], consume_multiple=1, help="Count and show only tasks with all of these tags")
]
Complexities = Annotated[
    list[str] | None,
    Parameter(
        consume_multiple=1, help="Count and show only tasks of one of these complexities: simple medium complex very_complex"
    ),
]


@benchmarks_app.command(name="list")
def list_benchmarks(*, tag: Tags = None, complexity: Complexities = None, benchmarks_dir: Directory = None) -> int:
    """List the built-in benchmarks and those of your own folder.

    Of each: how many tasks it has, how complex they are, and their tags. With --tag or --complexity only the tasks that match are
    counted, and benchmarks without any are left out. Malformed ones are listed with their reason.

    Example: eval-skills benchmarks list --benchmarks-dir ./benchmarks

    Example: eval-skills benchmarks list --complexity complex very_complex
    """
    from eval_skills.benchmarks import load_benchmark
    from eval_skills.benchmarks.locations import known_ids
    from eval_skills.core.errors import InputError

    _check_complexity(complexity)
    folder = _folder(benchmarks_dir)
    found: list[Benchmark] = []
    invalid: list[dict[str, str]] = []
    for name in known_ids(folder):
        try:
            found.append(load_benchmark(name, benchmarks_dir=folder))
        except InputError as error:
            invalid.append({"id": name, "reason": str(error)})
    _show_list(_matching(found, tag or [], complexity or []), invalid)
    return 0


@benchmarks_app.command
def show(
    benchmark: Annotated[str, Parameter(help="Id, or path of a benchmark file or folder")],
    /,
    *,
    tag: Tags = None,
    complexity: Complexities = None,
    benchmarks_dir: Directory = None,
) -> int:
    """Show a benchmark and its tasks.

    How many tasks are of each complexity and have each tag, and of each task: its evaluator, its tags, how complex it is, and
    what it asks.

    Example: eval-skills benchmarks show coding-easy

    Example: eval-skills benchmarks show coding-easy --complexity simple medium
    """
    from eval_skills.benchmarks import filter_tasks, load_benchmark

    _check_complexity(complexity)
    _show_one(filter_tasks(load_benchmark(benchmark, benchmarks_dir=_folder(benchmarks_dir)), tag or [], complexity or []))
    return 0


def _check_complexity(given: list[str] | None) -> None:
    from eval_skills.core.errors import UsageError, nearest
    from eval_skills.core.models.task import COMPLEXITIES

    if unknown := next((name for name in given or () if name not in COMPLEXITIES), None):
        raise UsageError(
            f"--complexity {unknown!r} is unknown{nearest(unknown, COMPLEXITIES)}; known are {', '.join(COMPLEXITIES)}"
        )


def _matching(benchmarks: list[Benchmark], tags: list[str], complexity: list[str]) -> list[Benchmark]:
    """The benchmarks with the tasks that match, without those that have none."""
    from eval_skills.benchmarks import filter_tasks
    from eval_skills.core.errors import InputError, UsageError

    found = []
    for benchmark in benchmarks:
        try:
            found.append(filter_tasks(benchmark, tags, complexity))
        except InputError:
            continue
    if benchmarks and not found:
        raise UsageError("no task of any benchmark matches; loosen --tag or --complexity")
    return found


def _folder(benchmarks_dir: Path | None) -> Path | None:
    from eval_skills.core.errors import InputError

    folder = current().config({"benchmarks_dir": benchmarks_dir}).benchmarks_dir
    if folder is not None and not folder.is_dir():
        raise InputError("this is a file; name a folder" if folder.exists() else "no such folder of benchmarks", source=folder)
    return folder


def _show_list(found: list[Benchmark], invalid: list[dict[str, str]]) -> None:
    from eval_skills.cli.tables import print_json

    if current().json:
        print_json({"benchmarks": [_entry(benchmark) for benchmark in found], "invalid": invalid})
        return
    rows = [[*map(str, entry.values())] for entry in map(_row, found)]
    _print_table(["id", "version", "name", "tasks", "complexity", "subject", "scoring", "tags"], rows)
    for bad in invalid:
        current().say(f"invalid  {bad['reason']}", style="yellow")


def _show_one(benchmark: Benchmark) -> None:
    from eval_skills.cli.tables import print_json

    tasks = [_task(task) for task in benchmark.tasks]
    if current().json:
        more = {"description": benchmark.description, "domain": benchmark.domain, "maxLatencyMs": benchmark.max_latency_ms}
        print_json(_entry(benchmark) | more | {"tasks": tasks})
        return
    row = _row(benchmark)
    current().say(f"{benchmark.id}@{benchmark.version}  {benchmark.name}", style="bold")
    count = f"{row['tasks']} task{'' if row['tasks'] == 1 else 's'}"
    current().say(f"{count}, subject {row['subject']}, scoring {row['scoring']}, domain {benchmark.domain}")
    if benchmark.description:
        current().say(benchmark.description)
    for about in ("complexity", "tags"):
        if row[about]:
            current().say(f"{about}: {row[about]}")
    cells = [
        [task["id"], task["evaluator"], ", ".join(task["tags"]), task["complexity"] or "", task["description"]] for task in tasks
    ]
    _print_table(["task", "evaluator", "tags", "complexity", "description"], cells)


def _entry(benchmark: Benchmark) -> dict[str, Any]:
    from eval_skills.benchmarks import count_complexity, count_tags

    tags, rated = count_tags(benchmark.tasks), count_complexity(benchmark.tasks)
    return {
        "id": benchmark.id,
        "version": benchmark.version,
        "name": benchmark.name,
        "tasks": len(benchmark.tasks),
        "subject": benchmark.subject,
        "scoringMethod": benchmark.scoring_method,
        "k": benchmark.k if benchmark.scoring_method == "pass_at_k" else None,
        "tags": list(tags),
        "tagCounts": tags,
        "complexity": {name or NOT_RATED: count for name, count in rated.items()},
    }


def _row(benchmark: Benchmark) -> dict[str, Any]:
    entry = _entry(benchmark)
    entry["scoringMethod"] += f" (k = {entry['k']})" if entry["k"] else ""
    return {
        **{name: entry[name] for name in ("id", "version", "name", "tasks")},
        "complexity": _counted(entry["complexity"]),
        "subject": entry["subject"],
        "scoring": entry["scoringMethod"],
        "tags": _counted(entry["tagCounts"]),
    }


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _task(task: EvalTask) -> dict[str, Any]:
    dimensions = "agent run" if task.expected is not None and not task.expected.is_empty else None
    return {
        "id": task.id,
        "description": task.description,
        "evaluator": task.evaluator_type or dimensions or "default",
        "tags": task.tags,
        "complexity": task.complexity,
        "weight": task.weight,
        "timeoutMs": task.timeout_ms,
    }


def _print_table(names: list[str], rows: list[list[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in names:
        fixed = name in {"id", "version", "task", "tasks"}
        table.add_column(name, overflow="fold", no_wrap=fixed, justify="right" if name == "tasks" else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    current().out().print(table)
