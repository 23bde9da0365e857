"""Foreign files as a benchmark: each entry becomes a task, or is counted as skipped with the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.benchmarks.importers.columns import parse_columns, with_targets
from eval_skills.benchmarks.importers.kinds import Kind, find_kind, kind_of
from eval_skills.benchmarks.importers.langsmith_api import fetched_dataset, names_dataset, refuse_dataset
from eval_skills.benchmarks.importers.rows import Row, Skip, Task
from eval_skills.benchmarks.importers.source import Source, open_source
from eval_skills.benchmarks.importers.table import EXPECTING
from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import InputError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.models import Benchmark, EvalTask
from eval_skills.core.text import one_line, plural

if TYPE_CHECKING:
    from eval_skills.scorers import ScoringSettings, TaskScoring

_VERSION_DIGITS = 8
_DESCRIPTION_CHARS = 80
_PLACES = 5
"""How many places of skipped entries are named for each reason."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A benchmark that was made of foreign files.

    `skipped` are the places of the entries that are not tasks, by the reason. `places` are those of the tasks, in their order;
    `files` the attachments that they need, by the name under which the benchmark's folder must hold each. `runs` are the lines of
    a trace file, where what was read holds answers.
    """

    kind: Kind
    benchmark: Benchmark
    read: int
    skipped: Mapping[str, tuple[str, ...]]
    places: tuple[str, ...]
    files: Mapping[str, Path]
    digest: str
    licence: str | None
    remarks: tuple[str, ...]
    runs: tuple[dict[str, Any], ...] = ()

    def refusal(self, error: InputError, index: int) -> InputError:
        """An error about the task of that index, with the place that it was read from."""
        return InputError(error.message, source=self.places[index], path=error.path)

    def skips(self) -> list[dict[str, Any]]:
        """The reasons with their counts and first places, the most frequent first."""
        ordered = sorted(self.skipped.items(), key=lambda item: -len(item[1]))
        return [{"reason": reason, "count": len(places), "places": list(places[:_PLACES])} for reason, places in ordered]


def import_tasks(
    path: str | Path,
    kind: str | None = None,
    *,
    columns: Sequence[str] = (),
    split: str | None = None,
    licence: str | None = None,
    benchmark_id: str | None = None,
    settings: ScoringSettings | Mapping[str, Any] | None = None,
    scorings: dict[str, TaskScoring] | None = None,
) -> Imported:
    """The benchmark in a file or folder of the named kind; without a name, of the kind that its content shows.

    `columns` are ``TARGET=COLUMN`` pairs (see `with_targets`), `split` one of several in a folder, `licence` what the folder does
    not state itself. `scorings` takes what was built to check the tasks, by task id. Nothing is written, and nothing fetched but
    for the kind ``langsmith`` with ``dataset:NAME``.

    Raises:
        InputError: it cannot be read, is of no known kind, is malformed, or holds no entry that can be a task; two entries have
            one id. The message names the file and the place.
        UsageError: the kind, the split or a mapping does not exist.
    """
    mapped = parse_columns(columns)
    source = _opened(path, kind, split)
    found = _kind(kind, source, mapped)
    if mapped:
        source.rows = with_targets(source.entries(), mapped, kept=_kept(mapped) if found.name == "table" else None)
    rows = list(found.entries(source))
    tasks, skipped = _tasks(found, source, rows)
    if not tasks:
        raise InputError(_nothing(rows, skipped), source=source.path)
    digest, stated = source.digest(), licence or source.licence()
    imported = Imported(
        kind=found,
        benchmark=_benchmark(found, source, tasks, len(rows), skipped, digest, stated, benchmark_id),
        read=len(rows),
        skipped={reason: tuple(places) for reason, places in skipped.items()},
        places=tuple(row.place for row, _ in tasks),
        files=source.attachments,
        digest=digest,
        licence=stated,
        remarks=tuple(source.remarks),
        runs=tuple(source.runs),
    )
    _check(imported, source, settings, scorings)
    return imported


def _kept(mapped: Mapping[str, str]) -> frozenset[str]:
    """The columns that a table keeps beside those that are mapped: what is expected, where no mapping says it."""
    return frozenset() if any(target.partition(".")[0] in EXPECTING for target in mapped) else EXPECTING


def _opened(path: str | Path, kind: str | None, split: str | None) -> Source:
    if kind == "langsmith" and names_dataset(path):
        return fetched_dataset(path, split=split)
    refuse_dataset(path)
    return open_source(Path(path), split=split)


def _kind(name: str | None, source: Source, mapped: Mapping[str, str]) -> Kind:
    if name is not None and name != "auto":
        return find_kind(name)
    if mapped:
        return find_kind("table")
    return kind_of(source) or _unknown(source)


def _unknown(source: Source) -> Kind:
    if not source.rows:
        raise InputError(
            "this is none of the known formats; name its kind: eval-skills benchmarks import --help", source=source.path
        )
    return find_kind("table")  # says which column it does not know, and how to map it


def _tasks(kind: Kind, source: Source, rows: Sequence[Row]) -> tuple[list[tuple[Row, EvalTask]], dict[str, list[str]]]:
    made: list[tuple[Row, EvalTask]] = []
    skipped: dict[str, list[str]] = {}
    ids: dict[str, Row] = {}
    for number, row in enumerate(rows, 1):
        try:
            task = _task(kind.task(row, source), number, row)
        except Skip as skip:
            skipped.setdefault(str(skip), []).append(row.place)
            continue
        if (before := ids.setdefault(task.id, row)) is not row:
            raise row.refusal(f"its id {task.id!r} is that of {before.place}, too; make it unique")
        made.append((row, task))
    return made, skipped


def _task(data: Task, number: int, row: Row) -> EvalTask:
    complete = {"id": f"row-{number}", **data}
    if not complete.get("description") and (asked := _first_text(data.get("inputData"))):
        complete["description"] = one_line(asked, _DESCRIPTION_CHARS)
    try:
        json.dumps(complete, allow_nan=False)
    except ValueError:
        raise row.refusal("it holds an infinite number, which JSON has not; give finite ones, or map other columns") from None
    except TypeError:
        raise row.refusal("it holds something that is not JSON, such as the bytes of a picture; map other columns") from None
    return validate(EvalTask, complete, source=row.place)


def _first_text(asked: Any) -> str | None:
    """What a task asks, where that is text: the first part of the input that is."""
    parts = asked.values() if isinstance(asked, dict) else [asked]
    return next((part for part in parts if isinstance(part, str) and part.strip()), None)


def _nothing(rows: Iterable[Row], skipped: Mapping[str, list[str]]) -> str:
    if not skipped:
        return "nothing to import: it holds no entries"
    if (count := len(list(rows))) == 1:
        return f"nothing to import: the only entry was skipped, because {next(iter(skipped))}"
    reasons = "; ".join(f"{len(places):,} because {reason}" for reason, places in skipped.items())
    return f"nothing to import: all {count:,} entries were skipped, {reasons}"


def _benchmark(
    kind: Kind,
    source: Source,
    tasks: Sequence[tuple[Row, EvalTask]],
    read: int,
    skipped: Mapping[str, list[str]],
    digest: str,
    licence: str | None,
    benchmark_id: str | None,
) -> Benchmark:
    content = digest_of_json([task.to_json() for _, task in tasks]).removeprefix("sha256:")
    metadata = {
        "source": kind.title,
        "importedAs": kind.name,
        "files": source.names,
        "digest": digest,
        "licence": licence,
        "read": read,
        "imported": len(tasks),
        "skipped": {reason: len(places) for reason, places in skipped.items()},
        "warnings": list(source.remarks),
    }
    return validate(
        Benchmark,
        {
            "id": benchmark_id or re.sub(r"[^a-z0-9_-]+", "-", source.name.lower()).strip("-") or kind.name,
            "name": source.name or kind.title,
            "version": f"0.0.{int(content[:_VERSION_DIGITS], 16)}",
            "description": f"{plural(len(tasks), 'task')} from {kind.title}",
            "metadata": metadata,
            "tasks": [task for _, task in tasks],
        },
        source=None if benchmark_id is None else "--id",
    )


def _check(
    imported: Imported,
    source: Source,
    settings: ScoringSettings | Mapping[str, Any] | None,
    scorings: dict[str, TaskScoring] | None,
) -> None:
    """Refuse a task that cannot be scored, at the place that it was read from."""
    from eval_skills.scorers import ScoringSettings, TaskScoring

    given = ScoringSettings(allow_custom_code=True) if settings is None else ScoringSettings.of(settings)
    checked_with = given.in_folder(source.folder.resolve())
    for index, task in enumerate(imported.benchmark.tasks):
        try:
            scoring = TaskScoring(task, checked_with)
        except InputError as error:
            inside = error.path.removeprefix(f"task {task.id!r}").removeprefix(": ")
            raise imported.refusal(InputError(error.message, path=inside), index) from None
        if scorings is not None:
            scorings[task.id] = scoring
