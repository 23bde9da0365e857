"""What is imported: a file or a folder, opened once, with the digest of what was read and the licence that lies beside it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_skills.agent_skills.workspaces.layout import is_workspace, read_workspace
from eval_skills.benchmarks.importers.archive import LOG_SUFFIX, read_json_log, read_log
from eval_skills.benchmarks.importers.python_literals import listed_literals
from eval_skills.benchmarks.importers.rows import Row, row_of
from eval_skills.benchmarks.importers.tables import ARROW_SUFFIXES, TABLE_SUFFIXES, Cells, read_cells, read_table
from eval_skills.core.documents import DOCUMENT_SUFFIXES
from eval_skills.core.documents.aliases import refuse_cycles
from eval_skills.core.documents.loading import LINES_SUFFIXES, holds_lines, numbered_json_lines, read_document, read_text
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.text import nearest, plural

PYTHON_SUFFIX = ".py"
READ_SUFFIXES = (*LINES_SUFFIXES, *TABLE_SUFFIXES, *DOCUMENT_SUFFIXES, LOG_SUFFIX, PYTHON_SUFFIX)

_NAMED = (
    "promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json", "evals/evals.json", "evals.json",
    "metadata.jsonl", "metadata.parquet",
)  # fmt: skip
"""What stands for a folder that holds it: files by which programs know theirs."""

BFCL_FILE = re.compile(r"BFCL_v\d+_(?!format_sensitivity)\w+\.jsonl?")
"""The data files of BFCL, one for each category; a folder of them is read whole. One is an index of prompts in other forms."""

_SPLIT = re.compile(r"(?P<split>[A-Za-z][\w.]*?)(?:[-_]\d{5}-of-\d{5})?(?:-[0-9a-f]{8,})?\.(?:parquet|arrow)")
_LICENCE_CHARS = 120


@dataclass(slots=True)
class Source:
    """What was opened: the `rows` of a table, of lines or of a list, or else the one `document` of a file.

    `folder` is where other files that it names lie. `attachments` are those that its tasks need, by their names there; `remarks`
    are about the whole, `runs` are recorded ones that it holds. All are filled while tasks are made. `fetched` is the digest of
    what came from elsewhere; then there are no files.
    """

    path: Path
    files: tuple[Path, ...]
    read: Callable[[], list[Row]] = list
    document: Any = None
    name: str = ""
    attachments: dict[str, Path] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    fetched: str | None = None
    _rows: list[Row] | None = None

    @property
    def rows(self) -> list[Row]:
        """The rows, read when they are first asked for; none of one document."""
        if self._rows is None:
            self._rows = self.read()
        return self._rows

    @rows.setter
    def rows(self, rows: list[Row]) -> None:
        self._rows = rows

    @property
    def folder(self) -> Path:
        """Where the files that entries name lie."""
        return self.files[0].parent if self.files else Path()

    @property
    def names(self) -> list[str]:
        """The names of the files, of one in a folder below the first with that; or what was fetched."""
        if self.fetched is not None:
            return [str(self.path)]
        return [
            file.relative_to(self.folder).as_posix() if file.is_relative_to(self.folder) else file.name for file in self.files
        ]

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the first entry, or of the document; by them a format is known."""
        if self.rows:
            return frozenset(self.rows[0].data)
        return frozenset(map(str, self.document)) if isinstance(self.document, dict) else frozenset()

    def entries(self) -> list[Row]:
        """The rows.

        Raises:
            InputError: this is one document.
        """
        if not self.rows:
            raise InputError("expected a table, JSON Lines or a list of entries, and this is one object", source=self.path)
        return self.rows

    def listed(self, key: str) -> list[Row]:
        """The entries of the document's list under `key`.

        Raises:
            InputError: it is missing, or is not a list of objects.
        """
        found = self.document.get(key) if isinstance(self.document, dict) else None
        if not isinstance(found, list):
            raise InputError("expected a list of entries under this key", source=self.path, path=key)
        return [row_of(value, f"{self.path}: {key}[{index}]") for index, value in enumerate(found)]

    def cells(self) -> Cells:
        """The cells of a CSV file, for formats whose files have no header."""
        return read_cells(self.files[0])

    def say(self, remark: str) -> None:
        """Note a remark about the import, once."""
        if remark not in self.remarks:
            self.remarks.append(remark)

    def attach(self, name: str, *, above: str = "") -> str:
        """The name of a file beside the source that a task needs, as the task should name it; links are followed.

        Where the source lies in a folder called `above`, names are relative to the folder above that.

        Raises:
            ValueError: it lies outside of the folder, or is not there.
        """
        root = self.folder.resolve()
        root = root.parent if above and root.name == above else root
        path = (root / name).resolve()
        shown = self.folder if root == self.folder.resolve() else (self.folder.parent if self.folder.name else root)
        if not path.is_relative_to(root):
            raise ValueError(f"{name!r} lies outside of {shown}")
        if not path.is_file():
            raise ValueError(f"no file {name!r} in {shown}; put it there, or correct the name")
        self.attachments[name] = path
        return name

    def digest(self) -> str:
        """The SHA-256 of the one file that was read, as ``sha256sum`` prints it; of several, of its lines for them all."""
        if self.fetched is not None:
            return self.fetched
        sums = {file.relative_to(self._root).as_posix(): _sum(file) for file in self.files}
        if len(sums) == 1:
            return f"sha256:{next(iter(sums.values()))}"
        lines = "".join(f"{found}  {name}\n" for name, found in sorted(sums.items()))
        return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"

    def licence(self) -> str | None:
        """The licence that the folder states: in ``dataset_info.json``, at the top of ``README.md``, or in a file LICENSE."""
        if self.fetched is not None:
            return None
        return next((found for place in dict.fromkeys((self._root, self.folder)) if (found := _licence_in(place))), None)

    @property
    def _root(self) -> Path:
        return self.path if self.path.is_dir() else self.path.parent


def open_source(path: Path, *, split: str | None = None) -> Source:
    """The file, or the folder: of `datasets`, of Parquet files, or one that holds a file which stands for it.

    Where a folder holds several splits, `split` names one; `test` is the one where none is named and there is one.

    Raises:
        InputError: it cannot be read, or does not say what to read.
        UsageError: `split` is not one of its splits.
    """
    if path.is_dir():
        return _open_folder(path, split)
    if split is not None:
        raise UsageError(f"--split is about a folder with several splits, and {path} is a file")
    return _opened(path, (path,), _name_of(path))


def _open_folder(folder: Path, split: str | None) -> Source:
    if (named := next((folder / name for name in _NAMED if (folder / name).is_file()), None)) is not None:
        return _opened(folder, (named,), folder.resolve().name)
    if is_workspace(folder):
        workspace = read_workspace(folder)
        return Source(folder, tuple(file for run in workspace.runs for file in run.files), list, workspace, workspace.skill)
    if files := sorted(file for file in folder.iterdir() if BFCL_FILE.fullmatch(file.name)):
        return _opened(folder, tuple(files), folder.resolve().name)
    found = _splits(folder)
    if not found:
        lines = sorted(file for file in folder.iterdir() if file.suffix.lower() in (*LINES_SUFFIXES, ".csv"))
        if len(lines) == 1:
            return _opened(folder, (lines[0],), folder.resolve().name)
        several = f"it holds {plural(len(lines), 'file')} of rows; name one of them" if lines else "name a file"
        raise InputError(f"nothing in this folder says what to read: {several}", source=folder)
    return _of_split(folder, found, split)


def _of_split(folder: Path, found: dict[str, list[Path]], split: str | None) -> Source:
    known = ", ".join(sorted(found))
    if split is not None and split not in found:
        raise UsageError(f"--split {split!r}: {folder} has no such split{nearest(split, found)}; it has {known}")
    if split is None and len(found) > 1 and "test" not in found:
        raise InputError(f"the folder holds several splits ({known}); choose one with --split, or name its file", source=folder)
    chosen = split or ("test" if len(found) > 1 else next(iter(found)))
    files = sorted(found[chosen])
    if len({file.parent for file in files}) > 1:
        places = ", ".join(sorted({file.parent.name for file in files})[:5])
        raise InputError(f"the split {chosen!r} lies in several folders ({places} …); name one of them", source=folder)
    source = _opened(folder, tuple(files), f"{folder.resolve().name}-{chosen}" if len(found) > 1 else folder.resolve().name)
    if split is None and len(found) > 1:
        source.say(f"the folder holds several splits ({known}), and test was read; --split chooses another")
    return source


def _splits(folder: Path) -> dict[str, list[Path]]:
    """The tables of a folder, in it, in ``data/`` or one folder down, by the split that their names (or folders) say."""
    found: dict[str, list[Path]] = {}
    for file in sorted(path for suffix in ARROW_SUFFIXES for path in (*folder.glob(f"*{suffix}"), *folder.glob(f"*/*{suffix}"))):
        named = _SPLIT.fullmatch(file.name)
        split = named["split"] if named else file.stem
        if split == "data" and file.parent != folder:  # what `datasets` saves: train/data-00000-of-00001.arrow
            split = file.parent.name
        found.setdefault(split, []).append(file)
    return found


def _opened(path: Path, files: tuple[Path, ...], name: str) -> Source:
    file, rows, document = files[0], list[Row](), None
    suffix = file.suffix.lower()
    if suffix in TABLE_SUFFIXES:
        return Source(path, files, lambda: [row for each in files for row in read_table(each)], None, name)
    if holds_lines(file) or len(files) > 1:  # of several files one may have a single line
        rows = [row_of(value, f"{each}:{number}") for each in files for number, value in numbered_json_lines(each)]
        if not rows:
            raise InputError("the file is empty", source=file)
    elif suffix in DOCUMENT_SUFFIXES:
        document = _read_document(file)
        if isinstance(document, list):
            rows, document = [row_of(value, f"{file}: [{index}]") for index, value in enumerate(document)], None
            if not rows:
                raise InputError("the list is empty", source=file)
        elif not isinstance(document, dict):
            raise InputError("expected a list of entries, or an object", source=file)
    elif suffix == LOG_SUFFIX:
        document = read_log(file)
    elif suffix == PYTHON_SUFFIX:
        rows = [row_of(value, f"{file}:{number}") for number, value in listed_literals(file)]
    elif not file.exists():
        raise InputError("no such file or folder", source=file)
    else:
        raise InputError(f"files of this kind are not read; known are {', '.join(READ_SUFFIXES)}, and folders", source=file)
    return Source(path, files, lambda: rows, document, name)


def _read_document(file: Path) -> Any:
    """As `read_document`; a log of Inspect may hold NaN, which no other document may."""
    if file.suffix.lower() == ".json":
        try:
            log = read_json_log(read_text(file))
        except (ValueError, RecursionError):
            log = None  # `read_document` says what is wrong, and where
        if log is not None:
            return log
    document = read_document(file)
    try:
        refuse_cycles(document)
    except InputError as error:
        raise InputError(error.message, source=file, path=error.path) from None
    return document


def _name_of(file: Path) -> str:
    """What a file is called: a shard is named after its folder (above ``data/``) and its split."""
    named = _SPLIT.fullmatch(file.name)
    if named is None or "-of-" not in file.stem:
        return file.stem
    above = file.resolve().parent
    return f"{(above.parent if above.name == 'data' else above).name}-{named['split']}"


def _sum(file: Path) -> str:
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read for its digest: {error.strerror}", source=file) from None


def _licence_in(folder: Path) -> str | None:
    for name, read in (("dataset_info.json", _licence_of_info), ("README.md", _licence_of_card), ("LICENSE", _first_line)):
        file = folder / name
        if file.is_file() and (found := read(file)):
            return found[:_LICENCE_CHARS]
    return None


def _licence_of_info(file: Path) -> str | None:
    try:
        found = json.loads(_text(file))
    except ValueError:
        return None
    licence = found.get("license") if isinstance(found, dict) else None
    return licence.strip() or None if isinstance(licence, str) else None


def _licence_of_card(file: Path) -> str | None:
    """The key `license` of the front matter of a dataset card."""
    matter = re.match(r"---\s*\n(.*?)\n---", _text(file), re.DOTALL)
    found = re.search(r"^license:[ \t]*['\"]?([^\s'\"#\[]+)", matter[1], re.MULTILINE) if matter else None
    return found[1] if found else None


def _first_line(file: Path) -> str | None:
    return next((line.strip() for line in _text(file).splitlines() if line.strip()), None)


def _text(file: Path) -> str:
    try:
        return file.read_bytes()[:1_000_000].decode("utf-8-sig", "replace")
    except OSError:
        return ""
