"""Files that do not exist yet: checked, and written without changing any that exist."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import UsageError
from eval_skills.core.models import Benchmark, Skill
from eval_skills.core.skills import SKILL_FILE
from eval_skills.core.store.files import refuse_where_no_file_fits, write_whole

FORCE = "give another name or folder, or --force to overwrite it"
"""What to do about a file that exists, where the command has such an option."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A folder to be written: its path, and the text of each file by its path inside, with ``/`` between the parts."""

    folder: Path
    files: Mapping[str, str]

    def paths(self) -> list[Path]:
        """Where the files will be."""
        return [self.folder / name for name in self.files]


def checked_skill(draft: Draft) -> Draft:
    """The draft, once its ``skill.json`` has been read as a skill, and each of its ``tests/*.eval.json`` as a benchmark.

    Raises:
        InputError: one of them is malformed; the message names the file and the place in it.
        ValueError: one of them is not JSON.
    """
    validate(Skill, json.loads(draft.files[SKILL_FILE]), source=draft.folder / SKILL_FILE)
    for name, text in draft.files.items():
        if name.startswith("tests/") and name.endswith(".eval.json"):
            validate(Benchmark, json.loads(text), source=draft.folder / name)
    return draft


def write_drafts(drafts: Sequence[Draft], *, force: bool = False, advice: str = FORCE) -> list[Path]:
    """Write every file of every draft, each by rename; the paths, in order. Nothing is written if one of them is in the way.

    `advice` is what the message about a file that exists says to do. If a file cannot be written, those that are new are removed
    again; with `force`, those that were replaced stay replaced.

    Raises:
        UsageError: a file exists and `force` is not given, a folder stands where a file or a folder should be, two drafts have
            the same file, or the place may not be written.
    """
    _refuse_twins(drafts)
    for draft in drafts:
        _refuse_what_is_in_the_way(draft, force=force, advice=advice)
    with _all_or_nothing() as new:
        for draft in drafts:
            for name, text in draft.files.items():
                _write(draft.folder / name, text, new)
    return [path for draft in drafts for path in draft.paths()]


def _refuse_twins(drafts: Sequence[Draft]) -> None:
    seen: set[Path] = set()
    for path in (path for draft in drafts for path in draft.paths()):
        if path in seen:
            raise UsageError(f"{path} would be written twice; give the two different names")
        seen.add(path)


def _refuse_what_is_in_the_way(draft: Draft, *, force: bool, advice: str) -> None:
    for path in draft.paths():
        refuse_where_no_file_fits(path)
        if os.path.lexists(path) and not force:
            raise UsageError(f"{path} exists; {advice}")


def _write(path: Path, text: str, new: list[Path]) -> None:
    """Write one file; what was not there before, its folders too, is added to `new`."""
    missing = [each for each in (path, *path.parents) if not os.path.lexists(each)]
    new += reversed(missing)
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


@contextmanager
def _all_or_nothing() -> Iterator[list[Path]]:
    """The list of what is new; whatever ends the block early, an interrupt too, all of it is removed."""
    new: list[Path] = []
    try:
        yield new
    except BaseException:
        for path in reversed(new):
            _remove(path)
        raise


def _remove(path: Path) -> None:
    if not os.path.lexists(path):
        return
    if not path.is_dir():
        path.unlink()
    elif not any(path.iterdir()):  # another process may have put something there meanwhile
        path.rmdir()
