"""Where benchmarks lie: a path, a folder of one's own benchmarks, or the built-in ones beside this file."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

from eval_skills.benchmarks.importers import holds_cases
from eval_skills.core.documents import DOCUMENT_SUFFIXES
from eval_skills.core.documents.loading import folder_of
from eval_skills.core.errors import InputError
from eval_skills.core.text import nearest

BUILTIN_DIR = Path(__file__).parent
BENCHMARK_FILES = tuple(f"benchmark{suffix}" for suffix in DOCUMENT_SUFFIXES)
_ID = re.compile(r"[a-z0-9_-]+")


def builtin_ids() -> list[str]:
    """The ids of the benchmarks that ship with the package, sorted."""
    return list(_built_in())


@cache
def _built_in() -> tuple[str, ...]:
    """Of the installed package, which does not change while it runs; every plan asks for them."""
    return tuple(_ids_in(BUILTIN_DIR))


def known_ids(benchmarks_dir: Path | None = None) -> list[str]:
    """Every id that `locate` finds: those in `benchmarks_dir`, if it exists, and the built-in ones; sorted, each once."""
    own = _ids_in(benchmarks_dir) if benchmarks_dir is not None and benchmarks_dir.is_dir() else []
    return sorted({*own, *builtin_ids()})


def locate(id_or_path: str | Path, *, benchmarks_dir: Path | None = None) -> Path:
    """The benchmark file that `id_or_path` stands for; the first of these that exists:

    1. a path: a file, or a folder that holds ``benchmark.json`` (or ``.yaml``, ``.yml``);
    2. an id in `benchmarks_dir` (which need not exist): ``<id>/benchmark.json`` or ``<id>.json``, or the same in YAML;
    3. the id of a built-in benchmark, wherever the command runs;
    4. a folder of EvalView test cases, which is the result itself.

    Raises:
        InputError: none of them exists; the message lists the known ids, or what the folder lacks.
    """
    path = Path(id_or_path)
    if path.is_file():
        return path
    if str(id_or_path).strip() and (inside := _in_folder(path)) is not None:
        return inside
    for folder in (benchmarks_dir, BUILTIN_DIR) if _ID.fullmatch(str(id_or_path)) else ():
        if folder is not None and (found := _by_id(folder, str(id_or_path))) is not None:
            return found
    if str(id_or_path).strip() and path.is_dir() and holds_cases(path):
        return path
    raise _not_found(id_or_path, path, benchmarks_dir)


def benchmark_folder(id_or_path: str | Path, *, benchmarks_dir: Path | None = None) -> Path:
    """The absolute folder that a benchmark's own files (custom scorers, fixtures) are resolved in.

    Raises:
        InputError: as `locate`.
    """
    return folder_of(locate(id_or_path, benchmarks_dir=benchmarks_dir))


def shadowing(benchmark_id: str, *, benchmarks_dir: Path | None = None) -> Path | None:
    """What `locate` finds for the id of a built-in benchmark, where that is another benchmark; else None."""
    if benchmark_id not in builtin_ids():
        return None
    found = locate(benchmark_id, benchmarks_dir=benchmarks_dir)
    return None if BUILTIN_DIR.resolve() in found.resolve().parents else found


def shadowing_remarks(given: str, key: str, *, benchmarks_dir: Path | None = None) -> list[str]:
    """That the benchmark `key` (``id@version``) was read in place of the built-in one that has the id `given`; else nothing."""
    found = shadowing(given, benchmarks_dir=benchmarks_dir)
    return [] if found is None else [f"{key} is {found}: it comes before the built-in benchmark of that id"]


def _in_folder(folder: Path) -> Path | None:
    return next((folder / name for name in BENCHMARK_FILES if (folder / name).is_file()), None)


def _by_id(folder: Path, benchmark_id: str) -> Path | None:
    single = (folder / f"{benchmark_id}{suffix}" for suffix in DOCUMENT_SUFFIXES)
    return _in_folder(folder / benchmark_id) or next((file for file in single if file.is_file()), None)


def _ids_in(folder: Path) -> list[str]:
    names = {entry.name if entry.is_dir() else entry.stem for entry in folder.iterdir() if not entry.name.startswith(".")}
    return sorted(name for name in names if _ID.fullmatch(name) and _by_id(folder, name) is not None)


def _not_found(given: str | Path, path: Path, benchmarks_dir: Path | None) -> InputError:
    if str(given).strip() and path.is_dir():
        missing = f"the folder holds none of {', '.join(BENCHMARK_FILES)}, and no EvalView test cases"
        return InputError(f"no benchmark here: {missing}", source=path)
    if path.suffix.lower() in DOCUMENT_SUFFIXES or os.sep in str(given):
        return InputError("no such benchmark file or folder", source=path)
    known = known_ids(benchmarks_dir)
    hint = nearest(str(given), known)
    return InputError(f"unknown benchmark {str(given)!r}{hint}; known are {', '.join(known)}; or give a path to a benchmark file")
