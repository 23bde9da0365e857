"""How expected tool names are compared with called ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core.text import normalise_tool_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eval_skills.scorers.settings import ToolNames


def spelled(name: str, tool_names: ToolNames) -> str:
    """The name in the spelling that is compared: as it is for `exact`, without case and separators for `normalised`."""
    return normalise_tool_name(name) if tool_names == "normalised" else name


def same_tool_otherwise_spelled(name: str, called: Iterable[str]) -> str | None:
    """The first called name that is `name` but for case and separators, or None."""
    wanted = normalise_tool_name(name)
    return next((each for each in called if normalise_tool_name(each) == wanted), None)
