"""Texts of the configuration that are paths, and the marks by which relative ones are resolved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

PATH, ID_OR_PATH, STORE = "path", "id or path", "store"
"""Marks in the type of a text that is a path; of one that is a path where it has a slash or an ending such as ``.json``; of one
that is a path unless it is a URL."""


def _not_blank(value: Any) -> Any:
    if not isinstance(value, str | Path) or not str(value).strip():
        raise ValueError("give a path, as text that is not blank")
    return value


WrittenPath = Annotated[Path, BeforeValidator(lambda value: Path(_not_blank(value)))]
"""A path, written as text."""

PathText = Annotated[str, BeforeValidator(lambda value: str(_not_blank(value))), PATH]
"""A path that stays text: requests are sent as JSON."""
