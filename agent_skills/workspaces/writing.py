"""Writing an iteration of a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from eval_skills.agent_skills.workspaces.layout import next_iteration
from eval_skills.core.errors import UsageError


def write_iteration(parent: Path, skill: str, files: Mapping[str, bytes]) -> Path:
    """Write the files, by their path in it, as the next iteration of ``<skill>-workspace`` in `parent`; its folder.

    Raises:
        UsageError: the place may not be written to.
    """
    folder = next_iteration(parent / f"{skill}-workspace")
    try:
        folder.mkdir(parents=True)
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        raise UsageError(
            f"--output {error.filename or folder}: cannot be written: {error.strerror}; name another folder"
        ) from None
    return folder
