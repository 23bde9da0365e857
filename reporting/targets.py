"""Where rendered documents go that a person names a place for: a file, or a folder for several formats."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval_skills.core.errors import UsageError
from eval_skills.core.store.durable import write_whole
from eval_skills.reporting.formats import FORMATS

_ENDINGS = frozenset(each.extension for each in FORMATS.values())


def target_files(output: str, extensions: Mapping[str, str], stem: str, *, inputs: Sequence[Path] = ()) -> dict[str, Path]:
    """The file of each format of `extensions`, which holds file endings by format.

    `output` is a folder where it is one, ends with a slash, or stands for several formats: files in it are named `stem` and the
    format's ending. Else it is the file itself, whatever its ending. What is there already is replaced.

    Raises:
        UsageError: several formats for one file; a file that would replace one of the `inputs`, or is no regular file.
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
        _refuse_unfit(file, inputs)
    return files


def write_targets(contents: Mapping[Path, str | bytes]) -> list[Path]:
    """Write each file so that it appears by rename, whole; folders are made where they are missing.

    Raises:
        UsageError: one cannot be written, with the reason of the operating system.
    """
    for path, content in contents.items():
        try:
            write_whole(path, content.encode("utf-8") if isinstance(content, str) else content)
        except OSError as error:
            raise UsageError(f"--output {path}: this file cannot be written: {error.strerror}; name another") from None
    return list(contents)


def _refuse_unfit(file: Path, inputs: Sequence[Path]) -> None:
    if file.exists() and not file.is_file():
        raise UsageError(f"--output {file}: this is {'a folder' if file.is_dir() else 'no regular file'}; name another file")
    if any(file.resolve() == given.resolve() for given in inputs):
        raise UsageError(f"--output {file}: this would replace what is read; name another file or folder")
