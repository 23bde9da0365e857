"""A file that a benchmark names, within the benchmark's own folder."""

from __future__ import annotations

from pathlib import Path

from eval_skills.core.errors import InputError


def file_of_benchmark(written: str, folder: Path | None, *, option: str, what: str) -> tuple[Path, Path]:
    """The benchmark's folder and the file `written` in it, both with links followed; the file need not exist.

    `option` is what named it, and `what` it is.

    Raises:
        InputError: the folder is unknown, the file lies outside of it (compared by resolved path components), or nothing can have
            that name.
    """
    if folder is None:
        raise InputError(
            "the benchmark's folder is unknown, so there is nowhere to look; load the benchmark from a file", path=option
        )
    root = folder.resolve()
    try:
        path = (root / written).resolve()
    except (OSError, ValueError, RuntimeError) as error:  # a name with a null, links in a circle
        raise InputError(
            f"{written!r} cannot be found ({error}); name the {what} in the benchmark's folder", path=option
        ) from None
    if not path.is_relative_to(root):
        raise InputError(f"{written!r} lies outside the benchmark's folder; put the {what} into it", path=option)
    return root, path
