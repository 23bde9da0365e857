"""``eval-skills benchmarks``: what can be asked of skills, and bringing it in from other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Group, Parameter

from eval_skills.cli.configuration import Own
from eval_skills.cli.context import current
from eval_skills.cli.options import RESULTS, option
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.text import nearest

if TYPE_CHECKING:
    from eval_skills.core.models import Benchmark

benchmarks_app = App(name="benchmarks", help="List, check, generate, review and import benchmarks.")

READ = Group("What is read", sort_key=1)

Directory = Annotated[Path | None, option("benchmarks_dir")]
Tags = Annotated[
    list[str] | None, Parameter(name=["-t", "--tag"], consume_multiple=1, help="Count and show only tasks with all of these tags")
]
Complexities = Annotated[
    list[str] | None,
    Parameter(
        consume_multiple=1, help="Count and show only tasks of one of these complexities: simple medium complex very_complex"
    ),
]
Fields = Annotated[
    list[str] | None,
    Parameter(
        name="--filter", consume_multiple=1, help="Count and show only tasks whose fields have these values: metadata.level=2"
    ),
]


@benchmarks_app.command(name="list")
def list_benchmarks(
    *, tag: Tags = None, complexity: Complexities = None, fields: Fields = None, benchmarks_dir: Directory = None
) -> int:
    """List the built-in benchmarks and those of your own folder.

    Of each: how many tasks it has, how complex they are, and their tags. With --tag, --complexity or --filter only the tasks that
    match are counted, and benchmarks without any are left out. Malformed ones are listed with their reason.

    Example: eval-skills benchmarks list --benchmarks-dir ./benchmarks

    Example: eval-skills benchmarks list --complexity complex very_complex
    """
    from eval_skills.benchmarks import load_benchmark
    from eval_skills.benchmarks.locations import known_ids
    from eval_skills.cli.output.benchmarks import show_benchmarks

    _check_complexity(complexity)
    folder = benchmarks_folder(benchmarks_dir)
    found: list[Benchmark] = []
    invalid: list[dict[str, str]] = []
    for name in known_ids(folder):
        try:
            found.append(load_benchmark(name, benchmarks_dir=folder))
            _remark_on_shadowing(name, found[-1], folder)
        except InputError as error:
            invalid.append({"id": name, "reason": str(error)})
    show_benchmarks(_matching(found, tag or [], complexity or [], fields or []), invalid)
    return 0


@benchmarks_app.command
def show(
    benchmark: Annotated[str, Own("names the one to show"), Parameter(help="Id, or path of a benchmark file or folder")],
    /,
    *,
    tag: Tags = None,
    complexity: Complexities = None,
    fields: Fields = None,
    benchmarks_dir: Directory = None,
) -> int:
    """Show a benchmark and its tasks.

    How many tasks are of each complexity and have each tag, and of each task: its evaluator, its tags, how complex it is, and
    what it asks.

    Example: eval-skills benchmarks show coding-easy

    Example: eval-skills benchmarks show coding-easy --complexity simple medium
    """
    from eval_skills.benchmarks import filter_tasks, load_benchmark
    from eval_skills.cli.output.benchmarks import show_benchmark

    _check_complexity(complexity)
    folder = benchmarks_folder(benchmarks_dir)
    found = load_benchmark(benchmark, benchmarks_dir=folder)
    _remark_on_shadowing(benchmark, found, folder)
    show_benchmark(filter_tasks(found, tag or [], complexity or [], fields or []))
    return 0


@benchmarks_app.command(name="import")
def import_benchmark(
    kind: Annotated[str, Parameter(help="Format of the file, or auto to go by its content")],
    path: Annotated[Path, Parameter(help="File or folder to import, or dataset:NAME of langsmith")],
    /,
    *,
    map_: Annotated[
        list[str] | None,
        Parameter(group=READ, name="--map", consume_multiple=1, help="Which column is what, as TARGET=COLUMN: input.q=question"),
    ] = None,
    split: Annotated[
        str | None,
        Parameter(group=READ, help="Split of a folder or data set with several [default: test; of a data set all]"),
    ] = None,
    licence: Annotated[str | None, Parameter(group=RESULTS, help="Licence of the data [default: what the folder states]")] = None,
    id_: Annotated[
        str | None, Parameter(group=RESULTS, name="--id", help="Id of the benchmark [default: from the file's name]")
    ] = None,
    output: Annotated[
        Path | None,
        Parameter(
            group=RESULTS, name=["-o", "--output"], help="Folder for benchmark.json and attachments [required unless --check]"
        ),
    ] = None,
    check: Annotated[bool, Parameter(group=RESULTS, help="Read and check everything, write nothing", show_default=False)] = False,
    force: Annotated[bool, Parameter(group=RESULTS, help="Overwrite files that are there already", show_default=False)] = False,
) -> int:
    """Import the tasks of another program or data set as a benchmark.

    Says how many entries were read, imported and skipped, and why; refuses to import none. The benchmark records its source,
    licence and digest. --tasks reads the same formats without an import.

    Only local files are read, with one exception: langsmith dataset:NAME fetches the data set with the key in LANGSMITH_API_KEY,
    from LANGSMITH_ENDPOINT where that is set; --split names one of its splits.

    Kinds: auto, agent-skills, agent-skills-queries, agent-skills-workspace, bfcl, deepeval, gaia, humaneval, inspect,
    inspect-log, langsmith, mbpp, mcp-bench, mt-bench, multiple-choice, openai-evals, promptfoo, ragas, squad, table, tau-bench,
    toolbench.

    Example: eval-skills benchmarks import auto promptfooconfig.yaml -o greetings

    Example: eval-skills benchmarks import gaia ./2023/validation --check

    Example: eval-skills benchmarks import table faq.csv --map input.q=question

    Example: eval-skills benchmarks import langsmith dataset:faq -o faq
    """
    from eval_skills.benchmarks.importers.importing import import_tasks
    from eval_skills.benchmarks.importers.writing import write_benchmark
    from eval_skills.cli.output.benchmarks import show_import

    if output is None and not check:
        raise UsageError("--output is required: name the folder of the new benchmark, or give --check to write nothing")
    imported = import_tasks(path, kind, columns=map_ or (), split=split, licence=licence, benchmark_id=id_)
    written = write_benchmark(imported, output, force=force) if output is not None and not check else []
    show_import(imported, written)
    return 0


benchmarks_app.command("eval_skills.cli.commands.benchmark_tasks.lint:lint_command", name="lint")
benchmarks_app.command("eval_skills.cli.commands.benchmark_tasks.generate:generate_command", name="generate")
benchmarks_app.command("eval_skills.cli.commands.benchmark_tasks.review:review_command", name="review")


def _check_complexity(given: list[str] | None) -> None:
    from eval_skills.core.models.task import COMPLEXITIES

    if unknown := next((name for name in given or () if name not in COMPLEXITIES), None):
        raise UsageError(
            f"--complexity {unknown!r} is unknown{nearest(unknown, COMPLEXITIES)}; known are {', '.join(COMPLEXITIES)}"
        )


def _matching(benchmarks: list[Benchmark], tags: list[str], complexity: list[str], fields: list[str]) -> list[Benchmark]:
    """The benchmarks with the tasks that match, without those that have none."""
    from eval_skills.benchmarks import filter_tasks

    found = []
    for benchmark in benchmarks:
        try:
            found.append(filter_tasks(benchmark, tags, complexity, fields))
        except InputError:
            continue
    if benchmarks and not found:
        raise UsageError("no task of any benchmark matches; loosen --tag, --complexity or --filter")
    return found


def _remark_on_shadowing(given: str, found: Benchmark, folder: Path | None) -> None:
    from eval_skills.benchmarks.locations import shadowing_remarks

    for remark in shadowing_remarks(given, f"{found.id}@{found.version}", benchmarks_dir=folder):
        current().remark(remark)


def benchmarks_folder(benchmarks_dir: Path | None) -> Path | None:
    """The folder of one's own benchmarks, as typed or configured, or ``./benchmarks`` where it exists.

    Raises:
        InputError: it was named and does not exist, or is a file.
    """
    written = current().config({"benchmarks_dir": benchmarks_dir}).benchmarks_dir
    folder = Path(written) if written else None
    if folder is not None and not folder.is_dir():
        raise InputError("this is a file; name a folder" if folder.exists() else "no such folder of benchmarks", source=folder)
    return folder
