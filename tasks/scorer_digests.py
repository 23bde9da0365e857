"""Which scorers judge a run, and which code each of them is. Plain: no Prefect."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from eval_skills.core.fingerprint import digest_of_folder, digest_of_json
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.registry import find_scorer

CUSTOM = "custom"


def scorer_digests(scorings: Iterable[TaskScoring], folder: Path | None) -> dict[str, str]:
    """A digest by the name of every scorer that these tasks need: of the file that the scorer is written in.

    That of ``custom`` covers the Python files in the benchmark's `folder` too: they are the code that it runs.
    """
    names = sorted({scoring.scorer for scoring in scorings if scoring.scorer is not None})
    return {name: _scorer_digest(name, folder) for name in names}


def _scorer_digest(name: str, folder: Path | None) -> str:
    code = _code(find_scorer(name).target)
    if name != CUSTOM or folder is None:
        return code
    own = {path.name: digest_of_folder(path) for path in sorted(folder.glob("*.py"))}
    return digest_of_json({"scorer": code, "own": own})


def _code(target: Callable[..., Any]) -> str:
    """A plug-in need not be written in a file: then its name has to do."""
    try:
        written_in = Path(inspect.getfile(inspect.unwrap(target)))
    except TypeError:
        return digest_of_json(repr(type(target)))
    return digest_of_folder(written_in) if written_in.is_file() else digest_of_json(str(written_in.name))
