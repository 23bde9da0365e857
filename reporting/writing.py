"""Report files: all formats of a run under one stem, each there at once and whole, none over another run's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.formats import FORMATS, format_named


def write_reports(
    reports: Sequence[SkillCompletionReport], formats: Sequence[str], output_dir: Path | str, context: ReportContext
) -> list[Path]:
    """Render the reports in each of the formats and write them; see `write_rendered`. Nothing is written before all is rendered.

    Raises:
        UsageError: a format is unknown, none is given, or the folder cannot be written to.
    """
    return write_rendered({name: format_named(name).render(reports, context) for name in formats}, output_dir, context)


def write_rendered(contents: Mapping[str, str | bytes], output_dir: Path | str, context: ReportContext) -> list[Path]:
    """Write reports that are rendered already, by format; the paths of the files, in that order.

    The folder is made when it is missing, and a file appears by rename. Where another run's files have the name already (a stem
    has milliseconds), ``-2``, ``-3`` … is appended for all formats.

    Raises:
        UsageError: a format is unknown, none is given, or the folder cannot be written to.
    """
    if not contents:
        raise UsageError(f"no report format is given; valid are {', '.join(FORMATS)}")
    files = {format_named(name).extension: _bytes(content) for name, content in contents.items()}
    folder = Path(output_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _own_stem(folder, context.stem) as stem:
            return [_write(folder / f"{stem}.{extension}", content) for extension, content in files.items()]
    except OSError as error:
        raise UsageError(f"{folder}: reports cannot be written here: {error.strerror}; name another output folder") from None


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


def _write(path: Path, content: bytes) -> Path:
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content
