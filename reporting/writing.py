"""Writing reports: the formats by name, and their files, all of a run under one stem of its own, or where --output says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.store.files import PRIVATE, make_folder, openness, write_pieces
from eval_skills.core.text import nearest
from eval_skills.reporting.context import ReportContext


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a report down: the ending of its file, and the function that renders it as ``module:function``, imported
    when it is first used: templates and charts would slow every command that only prints. `streamed` names the function that
    renders it piece by piece, where there is one."""

    extension: str
    renderer: str
    streamed: str | None = None

    def content(self, reports: Sequence[SkillCompletionReport], context: ReportContext) -> Content:
        """The same as `render`, made piece by piece while it is written where the format can be."""
        return (
            self.render(reports, context) if self.streamed is None else Pieces(partial(_named(self.streamed), reports, context))
        )

    def render(self, reports: Sequence[SkillCompletionReport], context: ReportContext) -> str | bytes:
        """The reports in this format, the best skill first; bytes where the format is binary."""
        written: str | bytes = _named(self.renderer)(reports, context)
        return written


class Pieces:
    """Text that is made piece by piece, anew whenever it is iterated over."""

    def __init__(self, make: Callable[[], Iterator[str]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[str]:
        return self._make()


ELSEWHERE = "; name another output folder"
"""What to do where reports cannot be written."""

Content = str | bytes | Pieces
"""What a report file holds."""


def _named(place: str) -> Callable[..., Any]:
    module, _, function = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"{__package__}.{module}"), function)
    return found


FORMATS: dict[str, Format] = {
    "json": Format("json", "json_report:render", streamed="json_report:parts"),
    "markdown": Format("md", "markdown:render"),
    "html": Format("html", "html.report:render"),
    "csv": Format("csv", "table:render_csv"),
    "junit": Format("xml", "junit_report:render"),
    "parquet": Format("parquet", "table:render_parquet"),
    "gaia": Format("gaia.jsonl", "exports.gaia:render"),
    "promptfoo": Format("promptfoo.json", "exports.promptfoo:render"),
    "inspect": Format("inspect.json", "exports.inspect_log:render"),
    "langsmith": Format("langsmith.csv", "exports.langsmith:render"),
    "openai-evals": Format("openai-evals.jsonl", "exports.openai_evals:render"),
    "evalview": Format("evalview.json", "exports.evalview:render"),
}


OWN_FORMATS = ("json", "markdown", "html", "csv", "junit", "parquet")
"""Those that are not another program's."""


def formats() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(FORMATS)


def format_named(name: str) -> Format:
    """The format of this name.

    Raises:
        UsageError: there is none; the message names the valid ones and the nearest.
    """
    if name not in FORMATS:
        raise UsageError(f"unknown report format {name!r}{nearest(name, FORMATS)}; valid are {', '.join(FORMATS)}")
    return FORMATS[name]


def check_formats(names: Iterable[str]) -> None:
    """Refuse an unknown format before anything is run for it; see `format_named`."""
    for name in names:
        format_named(name)


def render(
    format: str,  # noqa: A002 - the word that people use
    reports: Sequence[SkillCompletionReport],
    context: ReportContext,
) -> str | bytes:
    """The reports in this format, the best skill first; bytes where the format is binary.

    Raises:
        UsageError: the format is unknown.
    """
    return format_named(format).render(reports, context)


def write_reports(
    reports: Sequence[SkillCompletionReport], formats: Sequence[str], output_dir: Path | str, context: ReportContext
) -> list[Path]:
    """Render the reports in each of the formats and write them; see `write_rendered`.

    Raises:
        UsageError: a format is unknown, none is given, or the folder cannot be written to.
    """
    return write_rendered({name: format_named(name).content(reports, context) for name in formats}, output_dir, context)


def write_rendered(contents: Mapping[str, Content], output_dir: Path | str, context: ReportContext) -> list[Path]:
    """Write reports that are rendered already, by format; the paths of the files, in that order.

    The folder is made, private, when it is missing; files are as open as it is, and appear by rename.
    Where another run's files have the name already (a stem has milliseconds), ``-2``, ``-3`` … is appended for all formats.

    Raises:
        UsageError: a format is unknown, none is given, or the folder cannot be written to.
    """
    if not contents:
        raise UsageError(f"no report format is given; valid are {', '.join(FORMATS)}")
    files = {format_named(name).extension: _bytes(content) for name, content in contents.items()}
    folder = Path(output_dir)
    try:
        make_folder(folder, PRIVATE)
        with _own_stem(folder, context.stem) as stem:
            paths = {folder / f"{stem}.{extension}": content for extension, content in files.items()}
            for path, content in paths.items():
                write_pieces(path, content, mode=openness(folder))
            return list(paths)
    except OSError as error:
        raise UsageError(f"{folder}: reports cannot be written here: {error.strerror}{ELSEWHERE}") from None


@contextmanager
def _own_stem(folder: Path, wanted: str) -> Iterator[str]:
    """A stem that no file has, kept from other processes by a hidden file while the reports are written."""
    number = 1
    while True:
        stem = wanted if number == 1 else f"{wanted}-{number}"
        claim = folder / f".{stem}.claim"
        if _claimed(claim):
            try:
                if not any(folder.glob(f"{stem}.*")):
                    yield stem
                    return
            finally:
                claim.unlink(missing_ok=True)
        number += 1


def _claimed(claim: Path) -> bool:
    try:
        claim.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _bytes(content: Content) -> Iterable[bytes]:
    if isinstance(content, Pieces):
        return (piece.encode("utf-8") for piece in content)
    return (content.encode("utf-8") if isinstance(content, str) else content,)


def format_of_ending(file: Path) -> str | None:
    """The name of the format whose files end as `file` does, of several the first; None: that of no format."""
    ending = file.suffix.lower().removeprefix(".")
    return next((name for name, each in FORMATS.items() if each.extension.rpartition(".")[2] == ending), None)


_ENDINGS = frozenset(each.extension for each in FORMATS.values())


def target_files(output: str, extensions: Mapping[str, str], stem: str, *, inputs: Sequence[Path] = ()) -> dict[str, Path]:
    """The file of each format of `extensions`, which holds file endings by format.

    `output` is a folder where it is one, ends with a slash, or stands for several formats: files in it are named `stem` and the
    format's ending. Else it is the file itself, whatever its ending. What is there already is replaced.

    Raises:
        UsageError: several formats for one file; a file that would replace one of the `inputs`, or is not a regular file.
    """
    path = Path(output)
    if not output.strip():
        raise UsageError("--output is blank; name a file or a folder")
    if len(extensions) > 1 and (path.is_file() or path.suffix[1:] in _ENDINGS):
        raise UsageError(f"--output {output}: one file cannot hold {' and '.join(extensions)}; name a folder, or one format")
    if path.is_dir() or output.endswith(os.sep) or len(extensions) > 1:
        files = {name: path / f"{stem}.{ending}" for name, ending in extensions.items()}
    else:
        files = dict.fromkeys(extensions, path)
    for file in files.values():
        refuse_unfit(file, inputs)
    return files


def write_targets(contents: Mapping[Path, Content]) -> list[Path]:
    """Write each file so that it appears by rename, whole; folders are made where they are missing.

    Raises:
        UsageError: one cannot be written, with the reason of the operating system.
    """
    for path, content in contents.items():
        try:
            write_pieces(path, _bytes(content), mode=openness(path.parent))
        except OSError as error:
            raise UsageError(f"--output {path}: this file cannot be written: {error.strerror}; name another") from None
    return list(contents)


Document = TypeVar("Document")


@dataclass(frozen=True, slots=True)
class DocumentFormat(Generic[Document]):
    """A way to write one document down, an effect or the triggers: the ending of its file, and the function that renders it."""

    extension: str
    render: Callable[[Document], str | bytes]


def write_document(
    document: Document, formats: Mapping[str, DocumentFormat[Document]], asked: Iterable[str], folder: Path | str, stem: str
) -> list[Path]:
    """Write a document into `folder`, in those of the formats `asked` for that it has; the paths of the files.

    Raises:
        UsageError: the folder cannot be written to.
    """
    wanted = {name: formats[name] for name in dict.fromkeys(asked) if name in formats}
    if not wanted:
        return []
    files = target_files(f"{folder}/", {name: each.extension for name, each in wanted.items()}, stem)
    return write_targets({file: wanted[name].render(document) for name, file in files.items()})


def refuse_unfit(file: Path, inputs: Sequence[Path] = ()) -> None:
    """Refuse, with a UsageError, a file that is not a regular one, or would replace one of the `inputs`."""
    if file.exists() and not file.is_file():
        raise UsageError(f"--output {file}: this is {'a folder' if file.is_dir() else 'not a regular file'}; name another file")
    if any(file.resolve() == given.resolve() for given in inputs):
        raise UsageError(f"--output {file}: this would replace an input; name another file or folder")
