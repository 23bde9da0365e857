"""A folder of EvalView test cases, or one of them, as a benchmark; errors name the line of the file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from eval_skills.benchmarks.importers.evalview.case import Case
from eval_skills.benchmarks.importers.evalview.config import SuiteDefaults, suite_defaults
from eval_skills.benchmarks.importers.evalview.files import OTHERS, document_of, files_in, other_kind, with_line
from eval_skills.benchmarks.importers.evalview.judge import UNJUDGED, JudgeIs, completed, is_unjudged
from eval_skills.benchmarks.importers.evalview.task import slug, task_of, unsupported
from eval_skills.core.documents.aliases import refuse_cycles
from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import InputError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.models import Benchmark, EvalTask
from eval_skills.core.text import plural

SHOWN_FILES = 3
"""How many files a remark on many names."""

_VERSION_DIGITS = 8

Check = Callable[[EvalTask], object]
"""Raises `InputError` for a task that cannot be scored; its `path` names a place inside the task."""


@dataclass(frozen=True, slots=True)
class _Read:
    file: Path
    document: dict[str, Any]
    case: Case
    task: EvalTask
    unjudged: bool


@dataclass(slots=True)
class _Files:
    """What became of each file: a case, something else of EvalView's, or an error."""

    folder: Path
    read: list[_Read] = field(default_factory=list)
    others: dict[Path, str] = field(default_factory=dict)
    bad: dict[Path, InputError] = field(default_factory=dict)

    def name(self, file: Path) -> str:
        """The file as remarks name it, from the suite's folder on."""
        return file.relative_to(self.folder).as_posix()


def holds_cases(folder: Path) -> bool:
    """Whether a folder holds files that `read_suite` would read."""
    return next(files_in(folder), None) is not None


def read_suite(path: Path, *, check: Check | None = None, judge: JudgeIs = "unknown", skip_unreadable: bool = False) -> Benchmark:
    """The test case in a file, or all of them in a folder and its subfolders, in the order of their paths.

    Read are ``*.yaml``, ``*.yml`` and ``*.toml``, except hidden ones and ``config.*``; what else of EvalView's is there (see
    `OTHERS`) is left out. The benchmark's id is the folder's name; its version is ``0.0.N``, where N changes with whatever a case
    says (but for comments). A task's id is made of the case's name; where cases in several folders have one, the folders stand
    before it. Cases that need a model as their judge have one unless `judge` says that none is named (the file ``judge.py``).

    `metadata` says what was read and skipped, in `warnings` what has no effect here, one sentence for each kind, and in `notes`
    what is not in the benchmark and should be in its reports: with `skip_unreadable` the files that cannot be used.

    Raises:
        InputError: a file cannot be read, a key is unknown, a value is invalid, something cannot be done here, `check` refuses a
            task, two cases in a folder have one id; or there is no case at all. The message names every such file and, in YAML,
            the line.
    """
    found = _Files(path if path.is_dir() else path.parent)
    defaults = suite_defaults(found.folder)
    for file in sorted(files_in(path)) if path.is_dir() else [path]:
        _sort_in(found, file, defaults, judge)
    found.read = _told_apart(found)
    _check_all(found, check)
    if found.bad and not skip_unreadable:
        raise _refusal(found, path)
    if not found.read:
        raise _nothing_here(found, path)
    return _benchmark(path, found, defaults)


def _sort_in(found: _Files, file: Path, defaults: SuiteDefaults, judge: JudgeIs) -> None:
    try:
        document = document_of(file)
        if (kind := other_kind(document)) is not None:
            found.others[file] = kind
        else:
            found.read.append(_read(file, document, defaults, judge))
    except InputError as error:
        found.bad[file] = error


def _read(file: Path, document: Any, defaults: SuiteDefaults, judge: JudgeIs) -> _Read:
    if not isinstance(document, dict):
        raise InputError("not an EvalView test case: the file must be a mapping with name and input", source=file)
    try:
        refuse_cycles(document)
        case = validate(Case, document)
        task = completed(task_of(case, file.stem), case, defaults, judge)
        return _Read(file, document, case, validate(EvalTask, task), is_unjudged(task, case, judge))
    except InputError as error:
        raise with_line(error, file) from None


def _told_apart(found: _Files) -> list[_Read]:
    """The cases with an id each: where several folders have one, the folder stands before it; two in one folder are refused."""
    named = defaultdict(list)
    for each in found.read:
        named[each.task.id].append(each)
    placed = [_with_folder(each, found) if _lie_apart(named[each.task.id]) else each for each in found.read]
    first: dict[str, _Read] = {}
    for each in placed:
        before = first.setdefault(each.task.id, each)
        if before is not each:
            both = f"{each.case.name!r} becomes the id {each.task.id!r}, and so does {before.case.name!r} in {before.file}"
            found.bad[each.file] = with_line(InputError(f"{both}; rename one", path="name"), each.file)
    return list(first.values())


def _lie_apart(cases: list[_Read]) -> bool:
    return len({each.file.parent for each in cases}) > 1


def _with_folder(case: _Read, found: _Files) -> _Read:
    folder = slug(case.file.parent.relative_to(found.folder).as_posix().strip("."))
    return replace(case, task=case.task.model_copy(update={"id": f"{folder}-{case.task.id}"})) if folder else case


def _check_all(found: _Files, check: Check | None) -> None:
    kept = []
    for each in found.read if check else ():
        try:
            check(each.task)  # type: ignore[misc]  # it is there, or there is nothing to go through
            kept.append(each)
        except InputError as error:
            found.bad[each.file] = with_line(error, each.file)
    found.read = kept if check else found.read


def _refusal(found: _Files, path: Path) -> InputError:
    """Every file that cannot be used, with its error; of one alone its error as it is."""
    errors = [found.bad[file] for file in sorted(found.bad)]
    if len(errors) == 1 and (path.is_file() or not found.read):
        return errors[0]
    hint = f"; --skip-unreadable evaluates the other {plural(len(found.read), 'case')}" if found.read else ""
    if len(errors) == 1:
        return InputError(f"{errors[0].message}{hint}", source=errors[0].source, path=errors[0].path)
    return InputError(f"{len(errors)} files cannot be used: {'; '.join(map(str, errors))}{hint}", source=path)


def _nothing_here(found: _Files, path: Path) -> InputError:
    if path.is_file() and path in found.others:
        kind = found.others[path]
        return InputError(f"this is {kind}, and not an EvalView test case; {OTHERS[kind]}", source=path)
    said = [*_left_out(found), *_unreadable(found)]
    return InputError("; ".join(["no EvalView test case here", *said]), source=path)


def _benchmark(path: Path, found: _Files, defaults: SuiteDefaults) -> Benchmark:
    name = path.resolve().name if path.is_dir() else path.stem
    documents = {found.name(each.file): each.document for each in found.read}
    digest = digest_of_json({**documents, ".evalview": defaults.deciding} if defaults.deciding else documents)
    metadata = {
        "source": "EvalView",
        "digest": digest,
        "imported": len(found.read),
        "skipped": [found.name(file) for file in found.others],
        "warnings": [*_unreadable(found), *_left_out(found), *defaults.remarks, *_renamed(found.read), *_without_effect(found)],
        **({"notes": notes} if (notes := _unreadable(found)) else {}),
    }
    return Benchmark(
        id=slug(name) or "evalview",
        name=name,
        version=f"0.0.{int(digest.removeprefix('sha256:')[:_VERSION_DIGITS], 16)}",
        description=f"{len(found.read)} EvalView test case{'' if len(found.read) == 1 else 's'}",
        metadata=metadata,
        tasks=[each.task for each in found.read],
    )


def _unreadable(found: _Files) -> list[str]:
    if not found.bad:
        return []
    errors = "; ".join(str(error).replace(f"{file}", found.name(file), 1) for file, error in sorted(found.bad.items()))
    return [f"{plural(len(found.bad), 'file')} cannot be used and {_is_left_out(len(found.bad))}: {errors}"]


def _left_out(found: _Files) -> list[str]:
    """One sentence for each kind of file that is something else, with what to do instead."""
    of_kind = _by_kind((kind, found.name(file)) for file, kind in found.others.items())
    return [
        f"{_files(files)} {_is_left_out(len(files))}: {kind}, and not a test case; {OTHERS[kind]}"
        for kind, files in of_kind.items()
    ]


def _renamed(read: Iterable[_Read]) -> list[str]:
    moved = [each.task.id for each in read if each.task.id != slug(each.case.name) and slug(each.case.name)]
    if not moved:
        return []
    return [f"equal names in several folders are told apart by the folder, in the ids of {_files(moved, 'case')}"]


def _without_effect(found: _Files) -> list[str]:
    """What cases say in vain: one sentence for each kind."""
    said = ((doubt, found.name(each.file)) for each in found.read for doubt in unsupported(each.case, each.document))
    unjudged = ((UNJUDGED, found.name(each.file)) for each in found.read if each.unjudged)
    of_kind = _by_kind([*said, *unjudged])
    return [
        f"{files[0]}: {doubt}" if len(files) == 1 else f"{doubt} ({_files(files, 'case')})" for doubt, files in of_kind.items()
    ]


def _by_kind(pairs: Iterable[tuple[str, str]]) -> Mapping[str, list[str]]:
    found = defaultdict(list)
    for kind, file in pairs:
        found[kind].append(file)
    return found


def _files(files: list[str], noun: str = "file") -> str:
    """``1 file (a.yaml)``, ``12 files (a.yaml, b.yaml, c.yaml, …)``."""
    more = ", …" if len(files) > SHOWN_FILES else ""
    return f"{plural(len(files), noun)} ({', '.join(files[:SHOWN_FILES])}{more})"


def _is_left_out(number: int) -> str:
    return "is left out" if number == 1 else "are left out"
