"""A folder of EvalView test cases, or one of them, as a benchmark; errors name the line of the file."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.benchmarks.importers.evalview_case import Case
from eval_skills.benchmarks.importers.evalview_task import task_of, unsupported
from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import InputError
from eval_skills.core.fingerprint import IGNORED_FOLDERS, digest_of_json
from eval_skills.core.models import Benchmark, EvalTask

if TYPE_CHECKING:
    from yaml import Node

SUFFIXES = (".yaml", ".yml", ".toml")
_VERSION_DIGITS = 8
_OF_CASES = {"input", "turns", "expected", "thresholds", "adapter", "adapter_config"}
"""Keys of test cases that no benchmark has."""


@dataclass(frozen=True, slots=True)
class ImportedSuite:
    """A benchmark, and for each of its tasks the file that it stands in."""

    benchmark: Benchmark
    files: tuple[Path, ...]

    def refusal(self, error: InputError, index: int) -> InputError:
        """An error about the task of that index, with the file and line of its case."""
        return with_line(error, self.files[index])


@dataclass(frozen=True, slots=True)
class _Read:
    file: Path
    document: dict[str, Any]
    case: Case
    task: EvalTask


def is_case(document: Any) -> bool:
    """Whether a document is a test case rather than a benchmark of ours; one that lacks its `input` is a test case too."""
    return isinstance(document, dict) and not document.keys() & {"tasks", "id"} and bool(document.keys() & _OF_CASES)


def holds_cases(folder: Path) -> bool:
    """Whether a folder holds files that `read_suite` would read."""
    return next(_files(folder), None) is not None


def read_suite(path: Path) -> ImportedSuite:
    """The test case in a file, or all of them in a folder and its subfolders, in the order of their paths.

    Read are ``*.yaml``, ``*.yml`` and ``*.toml``, except hidden ones and ``config.*``; a file with a key `skill` is EvalView's
    test of something else and is skipped. The benchmark's id is the folder's name; its version is ``0.0.N``, where N changes with
    whatever a case says (but for comments); `metadata` says what was read, what was skipped and what is not supported.

    Raises:
        InputError: a file cannot be read, a key is unknown, a value is invalid, something cannot be done here, two cases have
            one id, or there is no case at all. The message names the file and, in YAML, the line.
    """
    documents = {file: _document(file) for file in (sorted(_files(path)) if path.is_dir() else [path])}
    skipped = [file for file, document in documents.items() if isinstance(document, dict) and "skill" in document]
    read = [_read(file, document) for file, document in documents.items() if file not in skipped]
    if not read:
        raise InputError(f"no EvalView test case here; {len(skipped)} files with a key 'skill' were skipped", source=path)
    _refuse_same_ids(read)
    return ImportedSuite(_benchmark(path, read, skipped), tuple(each.file for each in read))


def _benchmark(path: Path, read: list[_Read], skipped: list[Path]) -> Benchmark:
    name = path.resolve().name if path.is_dir() else path.stem
    folder = path if path.is_dir() else path.parent
    digest = digest_of_json({_relative(each.file, folder): each.document for each in read})
    metadata = {
        "source": "EvalView",
        "digest": digest,
        "imported": len(read),
        "skipped": [_relative(file, folder) for file in skipped],
        "warnings": [
            f"{_relative(each.file, folder)}: {doubt}" for each in read for doubt in unsupported(each.case, each.document)
        ],
    }
    return Benchmark(
        id=re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-") or "evalview",
        name=name,
        version=f"0.0.{int(digest.removeprefix('sha256:')[:_VERSION_DIGITS], 16)}",
        description=f"{len(read)} EvalView test case{'' if len(read) == 1 else 's'}",
        metadata=metadata,
        tasks=[each.task for each in read],
    )


def _read(file: Path, document: Any) -> _Read:
    if not isinstance(document, dict):
        raise InputError("not an EvalView test case: the file must be a mapping with name and input", source=file)
    try:
        _refuse_cycles(document)
        case = validate(Case, document)
        return _Read(file, document, case, validate(EvalTask, task_of(case)))
    except InputError as error:
        raise with_line(error, file) from None


def _refuse_cycles(document: dict[str, Any]) -> None:
    """YAML lets a part contain itself; no test case means that, and walking through it would never end."""
    above: dict[int, None] = {}
    rest: list[tuple[Any, str, bool]] = [(document, "", False)]
    done: set[int] = set()
    while rest:
        part, path, left = rest.pop()
        if left:
            above.pop(id(part))
            done.add(id(part))
        elif id(part) in above:
            raise InputError("this part contains itself (a YAML anchor used inside its own value); write it out", path=path)
        elif isinstance(part, dict | list) and id(part) not in done:
            above[id(part)] = None
            rest.append((part, path, True))
            inside = part.items() if isinstance(part, dict) else enumerate(part)
            rest += [
                (each, f"{path}[{key}]" if isinstance(part, list) else f"{path}.{key}".lstrip("."), False) for key, each in inside
            ]


def _document(file: Path) -> Any:
    if file.suffix.lower() != ".toml":
        return read_document(file)
    try:
        return json.loads(json.dumps(tomllib.loads(file.read_text(encoding="utf-8")), default=str))  # a date stays text
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=file) from None
    except ValueError as error:
        raise InputError(f"not valid TOML: {error}", source=file) from None


def _files(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in IGNORED_FOLDERS)
        for name in sorted(files):
            hidden = name.startswith((".", "config."))
            if not hidden and Path(name).suffix.lower() in SUFFIXES:
                yield Path(here, name)


def _refuse_same_ids(read: list[_Read]) -> None:
    first: dict[str, _Read] = {}
    for each in read:
        before = first.setdefault(each.task.id, each)
        if before is not each:
            both = f"{each.case.name!r} becomes the id {each.task.id!r}, and so does {before.case.name!r} in {before.file}"
            raise with_line(InputError(f"{both}; rename one", path="name"), each.file)


def _relative(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix()


_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_UNKNOWN_KEY = re.compile(r"unknown key '([^']*)'")
_HUMP = re.compile(r"(?<!^)(?=[A-Z])")


def with_line(error: InputError, file: Path) -> InputError:
    """The error with the line of `file` that its path stands for: ``case.yaml:12: thresholds: …``.

    A path that the file does not hold stands for the innermost part that it does; camelCase finds snake_case too. A file that is
    not YAML has no lines here: the error names the file alone.
    """
    line = _line_of(file, error.path, error.message)
    return InputError(error.message, source=f"{file}:{line}" if line else file, path=error.path)


def _line_of(file: Path, path: str, message: str) -> int | None:
    import yaml

    if file.suffix.lower() == ".toml":
        return None
    try:
        node = yaml.compose(file.read_text(encoding="utf-8-sig"), yaml.SafeLoader)
    except (yaml.YAMLError, OSError, ValueError, RecursionError):
        return None
    if node is None:
        return None
    unknown = _UNKNOWN_KEY.match(message)
    return _descend(node, [*_PART.findall(path), *([("", unknown[1])] if unknown else [])])


def _descend(node: Node, parts: list[tuple[str, str]]) -> int:
    """The line of the key or element that the parts lead to."""
    from yaml import MappingNode, SequenceNode

    line = node.start_mark.line
    for index, name in parts:
        if isinstance(node, SequenceNode) and index and int(index) < len(node.value):
            node = node.value[int(index)]
            line = node.start_mark.line
        elif isinstance(node, MappingNode) and (found := _entry(node, name)) is not None:
            line, node = found
        else:
            break
    return int(line) + 1


def _entry(node: Node, name: str) -> tuple[int, Node] | None:
    spellings = {name, _HUMP.sub("_", name).lower()}
    return next(((key.start_mark.line, value) for key, value in node.value if key.value in spellings), None)
