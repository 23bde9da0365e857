"""What the files of the standard share: snake_case keys, unknown ones ignored, and errors that name the file and the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, ConfigDict

from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import InputError
from eval_skills.core.models import Model
from eval_skills.core.text import excerpt


class Document(Model):
    """A part of such a file. Programs add keys of their own; a key that is known must hold what it should."""

    model_config = ConfigDict(extra="ignore", alias_generator=None)


def _number_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Identifier = Annotated[str, BeforeValidator(_number_as_text)]
"""The id of an eval, which may be written as a number."""

D = TypeVar("D", bound=Document)


def read_as(model: type[D], path: Path) -> D:
    """The file as a `model`.

    Raises:
        InputError: it cannot be read, is not JSON, or does not hold what it should; the message has the file and the place.
    """
    return validate(model, an_object(read_document(path), path), source=path)


def an_object(value: Any, source: Path | str) -> dict[str, Any]:
    """The value, which must be an object.

    Raises:
        InputError: it is something else.
    """
    if not isinstance(value, dict):
        raise InputError(f"expected an object, got {excerpt(value, 80)}", source=source)
    return value


def written(value: Any) -> str:
    """The JSON text of such a file, as it is written."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def inner_path(name: str) -> str:
    """The name of a file in a folder, with ``/`` between its parts and without ``.``: ``evals/files/a.csv``.

    Raises:
        ValueError: it is empty, absolute, or leads out of the folder.
    """
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    drive = len(parts) > 0 and len(parts[0]) == 2 and parts[0][1] == ":"
    if not parts or name.startswith(("/", "\\")) or drive or "\0" in name:
        raise ValueError(f"expected a path relative to the folder, got {excerpt(name, 80)}")
    if ".." in parts:
        raise ValueError(f"{excerpt(name, 80)} leads out of the folder; name a file in it")
    return "/".join(parts)
