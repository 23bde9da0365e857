"""``eval-skills benchmarks``: what can be asked of skills."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from eval_skills.cli.configurable import Mark
from eval_skills.cli.session import current

if TYPE_CHECKING:
    from eval_skills.core.models import Benchmark, EvalTask

benchmarks_app = App(name="benchmarks", help="List benchmarks, and look at their tasks.")

Directory = Annotated[Path | None, Mark.SHARED, Parameter(help="Folder of benchmarks, searched before the built-in ones")]


@benchmarks_app.command(name="list")
def list_benchmarks(*, benchmarks_dir: Directory = None) -> int:
    """List the built-in benchmarks and those of your own folder.

    Malformed ones are listed with their reason.

    Example: eval-skills benchmarks list --benchmarks-dir ./benchmarks
    """
    from eval_skills.benchmarks import load_benchmark
    from eval_skills.benchmarks.locations import known_ids
    from eval_skills.core.errors import InputError

    folder = _folder(benchmarks_dir)
    found: list[Benchmark] = []
    invalid: list[dict[str, str]] = []
    for name in known_ids(folder):
        try:
            found.append(load_benchmark(name, benchmarks_dir=folder))
        except InputError as error:
            invalid.append({"id": name, "reason": str(error)})
    _show_list(found, invalid)
    return 0


@benchmarks_app.command
def show(
    benchmark: Annotated[str, Parameter(help="Id, or path of a benchmark file or folder")],
    /,
    *,
    benchmarks_dir: Directory = None,
) -> int:
    """Show a benchmark and its tasks.

    Of each task: its evaluator, its tags, how complex it is, and what it asks.

    Example: eval-skills benchmarks show coding-easy
    """
    from eval_skills.benchmarks import load_benchmark

    _show_one(load_benchmark(benchmark, benchmarks_dir=_folder(benchmarks_dir)))
    return 0


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
    _print_table(["id", "version", "name", "tasks", "subject", "scoring", "tags"], rows)
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
    current().say(f"{row['tasks']} tasks, subject {row['subject']}, scoring {row['scoring']}, domain {benchmark.domain}")
    if benchmark.description:
        current().say(benchmark.description)
    cells = [
        [task["id"], task["evaluator"], ", ".join(task["tags"]), task["complexity"] or "", task["description"]] for task in tasks
    ]
    _print_table(["task", "evaluator", "tags", "complexity", "description"], cells)


def _entry(benchmark: Benchmark) -> dict[str, Any]:
    return {
        "id": benchmark.id,
        "version": benchmark.version,
        "name": benchmark.name,
        "tasks": len(benchmark.tasks),
        "subject": benchmark.subject,
        "scoringMethod": benchmark.scoring_method,
        "k": benchmark.k if benchmark.scoring_method == "pass_at_k" else None,
        "tags": sorted({tag for task in benchmark.tasks for tag in task.tags}),
    }


def _row(benchmark: Benchmark) -> dict[str, Any]:
    entry = _entry(benchmark)
    entry["scoringMethod"] += f" (k = {entry['k']})" if entry["k"] else ""
    names = ("id", "version", "name", "tasks", "subject")
    return {name: entry[name] for name in names} | {"scoring": entry["scoringMethod"], "tags": ", ".join(entry["tags"])}


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
