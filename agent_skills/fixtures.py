"""The files that a task gives an agent: which ones, and where each lies in the agent's workspace."""

from __future__ import annotations

from typing import Any

from eval_skills.agent_skills.documents import inner_path

_FOLDERS = ("evals/files/", "files/")


def files_of(input_data: Any) -> tuple[str, ...]:
    """The names in ``inputData.files`` of a task for an agent; none where it names none."""
    if not isinstance(input_data, dict) or "prompt" not in input_data:
        return ()
    names = input_data.get("files")
    return tuple(name for name in names if isinstance(name, str) and name) if isinstance(names, list) else ()


def placed(name: str) -> str:
    """The path in the workspace of a file of this name: relative to ``evals/files/`` or ``files/`` where it lies below such a
    folder, else as it is named.

    Raises:
        ValueError: the name is empty, absolute, or leads out of its folder.
    """
    path = inner_path(name)
    for folder in _FOLDERS:
        _, found, rest = f"/{path}".partition(f"/{folder}")
        if found and rest:
            return rest
    return path
