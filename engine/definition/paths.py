"""Checks that the output folder and the store can be written to, made before anything is called."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

from eval_skills.core.config.options import FlowOptions
from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store


def check_writable(request: FlowOptions) -> None:
    """Refuse an output folder or a store that cannot be written to. Nothing is left behind; missing folders are not created.

    Raises:
        UsageError: one of them is a file, lies below a file, or may not be written to.
    """
    layout = Store(request.store).layout
    check_folder(layout.root, "--store", "results")
    check_folder(Path(request.output_dir), "--output-dir", "reports")
    if layout.sqlite is not None:
        check_file(layout.sqlite, "--store", "results")


def check_folder(folder: Path, option: str, what: str) -> None:
    """Refuse a `folder` in which `what` cannot be written; it need not exist.

    A temporary file is created in it, or in the nearest existing folder above it: permissions alone do not show what root may do,
    nor a read-only file system.

    Raises:
        UsageError: it cannot be written to; the message has the reason.
    """
    try:
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        with TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise UsageError(f"{option} {folder}: {what} cannot be written here: {error.strerror}; name another folder") from None


def check_file(file: Path, option: str, what: str) -> None:
    """Refuse a `file` that cannot be written to; it need not exist. Raises UsageError: it is a folder, or see `check_folder`."""
    if file.is_dir():
        raise UsageError(f"{option} {file}: this is a folder; name a file")
    check_folder(file.parent, option, what)
