"""An imported benchmark as a folder: ``benchmark.json``, the attachments that its tasks name, and recorded runs."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from eval_skills.benchmarks.importers.importing import Imported
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.store.files import refuse_where_no_file_fits, write_whole

BENCHMARK_FILE = "benchmark.json"
RUNS_FILE = "runs.jsonl"


def write_benchmark(imported: Imported, folder: Path, *, force: bool = False) -> list[Path]:
    """Write the benchmark and its attachments; the paths, the benchmark's first. It is written last.

    Raises:
        UsageError: a file exists and `force` is not given, or the place may not be written.
        InputError: an attachment cannot be read.
    """
    target = folder / BENCHMARK_FILE
    copies = {folder / name: source for name, source in imported.files.items()}
    lines = (
        {folder / RUNS_FILE: "".join(json.dumps(run, ensure_ascii=False) + "\n" for run in imported.runs)}
        if imported.runs
        else {}
    )
    for path in (target, *copies, *lines):
        _refuse_what_is_in_the_way(path, copies.get(path), force=force)
    try:
        for path, source in copies.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if not (path.exists() and path.samefile(source)):
                shutil.copyfile(source, path)
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in lines.items():
            write_whole(path, text.encode())
        write_whole(target, (text_of(imported) + "\n").encode())
    except OSError as error:
        if error.filename in {str(source) for source in copies.values()}:
            raise InputError(f"cannot be read: {error.strerror}", source=str(error.filename)) from None
        raise UsageError(f"{error.filename or target} cannot be written: {error.strerror}") from None
    return [target, *copies, *lines]


def text_of(imported: Imported) -> str:
    """The benchmark as JSON text: what its tasks say, and not what they leave to defaults."""
    content = imported.benchmark.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return json.dumps(content, ensure_ascii=False, indent=2)


def _refuse_what_is_in_the_way(path: Path, source: Path | None, *, force: bool) -> None:
    refuse_where_no_file_fits(path)
    if os.path.lexists(path) and not force and (source is None or not path.samefile(source)):
        raise UsageError(f"{path} exists; name another folder with --output, or --force to overwrite it")
