"""The files of an EvalView suite: which are read, which are something else, and the lines that errors name."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.core.documents.loading import read_document
from eval_skills.core.errors import InputError
from eval_skills.core.fingerprint import IGNORED_FOLDERS

if TYPE_CHECKING:
    from yaml import Node

SUFFIXES = (".yaml", ".yml", ".toml")
_OF_CASES = {"input", "turns", "expected", "thresholds", "adapter", "adapter_config"}
"""Keys of test cases that no benchmark has."""


def files_in(folder: Path) -> Iterator[Path]:
    """The files that may be test cases, in `folder` and below it: neither hidden nor called ``config.…``."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in IGNORED_FOLDERS)
        for name in sorted(files):
            hidden = name.startswith((".", "config."))
            if not hidden and Path(name).suffix.lower() in SUFFIXES:
                yield Path(here, name)


def document_of(file: Path) -> Any:
    """What a file holds.

    Raises:
        InputError: it is not YAML, or not TOML.
    """
    if file.suffix.lower() != ".toml":
        return read_document(file)
    try:
        return json.loads(json.dumps(tomllib.loads(file.read_text(encoding="utf-8")), default=str))  # a date stays text
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=file) from None
    except ValueError as error:
        raise InputError(f"not valid TOML: {error}", source=file) from None


SKILL_SUITE = "a suite for a skill, by its key 'skill'"
OTHERS = {
    SKILL_SUITE: "a skill's own tests run here with --own-tests, from the tests/*.eval.json in its folder",
    "a configuration": "only .evalview/config.yaml is read; the options of a run are those of eval-skills.config.yaml",
    "a suite of canary prompts": "write each prompt as a test case, with input.query",
}
"""What else EvalView's files may be, and what to do instead."""


def other_kind(document: Any) -> str | None:
    """Which of `OTHERS` a document is; None for a test case, and for what is not known."""
    if not isinstance(document, dict):
        return None
    if "skill" in document:
        return SKILL_SUITE
    if document.keys() >= {"suite_name", "prompts"}:
        return "a suite of canary prompts"
    said = document.keys() & {"name", "input", "turns", "expected", "thresholds"}
    return "a configuration" if document.keys() >= {"adapter", "endpoint"} and not said else None


def is_case(document: Any) -> bool:
    """Whether a document is EvalView's rather than a benchmark of ours; a test case that lacks its `input` is one, too."""
    if not isinstance(document, dict) or document.keys() & {"tasks", "id"}:
        return False
    return bool(document.keys() & _OF_CASES) or other_kind(document) is not None


_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_UNKNOWN_KEY = re.compile(r"unknown key '([^']*)'")
_HUMP = re.compile(r"(?<!^)(?=[A-Z])")


def with_line(error: InputError, file: Path) -> InputError:
    """The error with the line of `file` that its path stands for: ``case.yaml:12: thresholds: …``.

    A path that the file does not hold stands for the innermost part that it does; camelCase finds snake_case too. A file that is
    not YAML has no lines here: the error names the file alone.
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
