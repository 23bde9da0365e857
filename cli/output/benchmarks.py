"""Benchmarks and their tasks, as the terminal and JSON show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eval_skills.benchmarks import count_complexity, count_tags
from eval_skills.cli.context import current, print_json, printable
from eval_skills.cli.output.tables import Column, print_table
from eval_skills.core.models import Benchmark, EvalTask
from eval_skills.core.models.evaluators import described
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from pathlib import Path

    from eval_skills.benchmarks.importers.importing import Imported

NOT_RATED = "unrated"
"""What stands for the complexity of tasks that say none."""


LISTED = (
    Column("id"), Column("version"), Column("name", least=12, drop=2), Column("tasks", right=True),
    Column("complexity", least=16, drop=3), Column("subject", drop=4), Column("scoring", drop=5),
    Column("tags", least=12, drop=1),
)  # fmt: skip
TASKS = (
    Column("task"), Column("evaluator", least=12), Column("tags", least=12, drop=2), Column("complexity", drop=3),
    Column("description", least=12, drop=1),
)  # fmt: skip


def show_benchmarks(found: list[Benchmark], invalid: list[dict[str, str]]) -> None:
    """A row for each benchmark; `invalid` are the ids of the malformed ones and the reasons why they are."""
    if current().json:
        print_json({"benchmarks": [_entry(benchmark) for benchmark in found], "invalid": invalid})
        return
    rows = [[printable(str(cell)) for cell in entry.values()] for entry in map(_row, found)]
    print_table(LISTED, rows)
    for bad in invalid:
        current().say(f"invalid  {bad['reason']}", style="yellow")


def show_benchmark(benchmark: Benchmark) -> None:
    """One benchmark, and a row for each of its tasks."""
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
    print_table(TASKS, [[*map(printable, row)] for row in cells])


def show_import(imported: Imported, written: list[Path]) -> None:
    """What was imported, what was skipped and why, and where it was `written`; empty where nothing was to be."""
    benchmark, call = imported.benchmark, current()
    if call.json:
        print_json(
            {
                "kind": imported.kind.name,
                "source": imported.kind.title,
                "id": benchmark.id,
                "version": benchmark.version,
                "read": imported.read,
                "imported": len(benchmark.tasks),
                "skipped": imported.skips(),
                "remarks": list(imported.remarks),
                "licence": imported.licence,
                "digest": imported.digest,
                "written": [str(path) for path in written],
            }
        )
        return
    call.say(f"{benchmark.id}@{benchmark.version}  from {imported.kind.title}", style="bold")
    skipped = imported.read - len(benchmark.tasks)
    call.say(f"read {imported.read:,}, imported {len(benchmark.tasks):,}, skipped {skipped:,}")
    for skip in imported.skips():
        more = " …" if skip["count"] > len(skip["places"]) else ""
        call.say(f"skipped {skip['count']:,}: {skip['reason']} ({', '.join(skip['places'])}{more})", style="yellow")
    for remark in imported.remarks:
        call.remark(remark)
    call.say(f"licence {imported.licence or 'not stated; --licence says it'}")
    call.say(f"digest  {imported.digest}")
    for path in written:
        call.say(f"wrote   {path}")


def _entry(benchmark: Benchmark) -> dict[str, Any]:
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
    several = None if task.evaluators is None else described(task.evaluators, task.combine)
    dimensions = "agent run" if task.expected is not None and not task.expected.is_empty else None
    turns = "goal_achieved" if task.user is not None else None if task.turns is None else plural(len(task.turns), "turn")
    return {
        "id": task.id,
        "description": task.description,
        "evaluator": several or task.evaluator_type or dimensions or turns or "default",
        "tags": task.tags,
        "complexity": task.complexity,
        "weight": task.weight,
        "timeoutMs": task.timeout_ms,
    }
