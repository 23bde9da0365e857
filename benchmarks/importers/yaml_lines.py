"""The line of a YAML file that a complaint is about."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.core.errors import InputError

if TYPE_CHECKING:
    from yaml import Node

_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_UNKNOWN_KEY = re.compile(r"unknown key '([^']*)'")
_HUMP = re.compile(r"(?<!^)(?=[A-Z])")


def with_line(error: InputError, file: Path) -> InputError:
    """The error with the line of `file` that its path stands for: ``case.yaml:12: thresholds: …``.

    A path that the file does not hold stands for the innermost part that it does; camelCase finds snake_case too. A file that is
    no YAML has no lines here: the error names the file alone.
    """
    line = _line_of(file, error.path, error.message)
    return InputError(error.message, source=f"{file}:{line}" if line else file, path=error.path)


def _line_of(file: Path, path: str, message: str) -> int | None:
    import yaml

    if file.suffix.lower() == ".toml":
        return None
    try:
        node = yaml.compose(file.read_text(encoding="utf-8-sig"), yaml.SafeLoader)
    except (yaml.YAMLError, OSError, ValueError, RecursionError):
        return None
    if node is None:
        return None
    unknown = _UNKNOWN_KEY.match(message)
    return _descend(node, [*_PART.findall(path), *([("", unknown[1])] if unknown else [])])


def _descend(node: Node, parts: list[tuple[str, str]]) -> int:
    """The line of the key or element that the parts lead to."""
    from yaml import MappingNode, SequenceNode

    line = node.start_mark.line
    for index, name in parts:
        if isinstance(node, SequenceNode) and index and int(index) < len(node.value):
            node = node.value[int(index)]
            line = node.start_mark.line
        elif isinstance(node, MappingNode) and (found := _entry(node, name)) is not None:
            line, node = found
        else:
            break
    return int(line) + 1


def _entry(node: Node, name: str) -> tuple[int, Node] | None:
    spellings = {name, _HUMP.sub("_", name).lower()}
    return next(((key.start_mark.line, value) for key, value in node.value if key.value in spellings), None)
