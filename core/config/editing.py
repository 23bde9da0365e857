"""Changing one key of a configuration file: its comments, its order and its other keys stay.

A configuration's YAML text with some keys changed, and with everything else as a person wrote it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.core.config.keys import Leaf, dotted, flatten, is_mapping, nest, resolve
from eval_skills.core.config.layers import Setting, checked, file_leaves, read_text
from eval_skills.core.config.options import Config
from eval_skills.core.documents.yaml_documents import yaml_of
from eval_skills.core.errors import ConfigError

if TYPE_CHECKING:
    from ruamel.yaml import YAML


def set_in_file(path: Path, key: str, text: str, model: type[Config] = Config) -> Any:
    """Set the dotted `key` to what `text` spells, and return the value as it was written.

    The file and its folder are made when they are missing; the new content appears by rename, with the file's permissions,
    and where the file is a link, behind it. A file that ends in ``.json`` stays JSON, every other one is YAML.

    Raises:
        ConfigError: there is no such key, the value is wrong, the file cannot be read or written, or the change would touch
            another key (as in a mapping that several keys share by an alias).
    """
    with _alone(path.resolve().parent):
        return _set_in_file(path, key, text, model)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait for other calls that change a file of this folder: two that read it and then both write would lose one change."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    try:
        held = os.open(there, os.O_RDONLY)
    except OSError as error:
        raise ConfigError(f"{there}: cannot be opened: {error.strerror}") from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _set_in_file(path: Path, key: str, text: str, model: type[Config]) -> Any:
    leaf, annotation = resolve(tuple(key.split(".")), model)
    value = _plain(read_text(annotation, text.strip()), text.strip())
    if is_mapping(annotation) and not isinstance(value, dict):
        raise ConfigError(f"{dotted(leaf)} is a group of keys; set one of them ({dotted(leaf)}.… ) or give a JSON object")
    old = file_leaves(path, model) if os.path.lexists(path) else {}
    changes = flatten(value, leaf, model) if is_mapping(annotation) else {leaf: value}
    leaves = old | changes
    checked({each: Setting(held, str(path), str(path)) for each, held in leaves.items()}, path.parent, path.parent, model)
    try:
        _replace(path, leaves, changes, model)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from None
    return value


def _plain(value: Any, text: str) -> Any:
    return text if isinstance(value, Path) else value


def _replace(path: Path, leaves: dict[Leaf, Any], changes: dict[Leaf, Any], model: type[Config]) -> None:
    from eval_skills.core.store.files import replace_durably

    target = path.resolve()
    scratch = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix}")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        scratch.write_text(_content(target, leaves, changes, model), encoding="utf-8")
        if not _says(scratch, leaves, model):
            raise ConfigError(f"{path}: setting {dotted(next(iter(changes), ()))} would change other keys; edit the file by hand")
        if target.exists():
            shutil.copymode(target, scratch)
        replace_durably(scratch, target)
    finally:
        scratch.unlink(missing_ok=True)


def _says(path: Path, leaves: dict[Leaf, Any], model: type[Config]) -> bool:
    try:
        return file_leaves(path, model) == leaves
    except ConfigError:
        return False


def _content(path: Path, leaves: dict[Leaf, Any], changes: dict[Leaf, Any], model: type[Config]) -> str:
    if path.suffix.lower() == ".json":
        return json.dumps(nest(leaves), ensure_ascii=False, indent=2) + "\n"
    return edited(path.read_text(encoding="utf-8-sig") if path.exists() else "", changes, model)


_NO_WIDTH = 1_000_000


def edited(text: str, changes: Mapping[Leaf, Any], model: type[Config] = Config) -> str:
    """`text`, a valid configuration, with these keys set. Comments, order, quotes and the spellings of keys stay.

    A new key is appended to its group. A list keeps its style, in one line or one entry per line.

    Raises:
        ConfigError: a key is held by something that several places share, so that it cannot be changed alone.
    """
    from ruamel.yaml.error import YAMLError

    editor = _editor(text)
    try:
        text = _uncommented(text, changes, editor.load(text))
        document = editor.load(text)
        if document is None:  # nothing, or comments only: these belong to no key, so the editor would lose them
            document, head = editor.map(), text if not text or text.endswith("\n") else text + "\n"
        else:
            head = ""
        _indent(editor, document)
        for leaf, value in changes.items():
            _set(editor, document, leaf, value, model)
        return head + _dumped(editor, document)
    except YAMLError as error:
        raise ConfigError(f"cannot be edited with its comments: {' '.join(str(error).split())}; edit it by hand") from None


def _uncommented(text: str, changes: Mapping[Leaf, Any], document: Any) -> str:
    """The text with each new top-level key where a comment such as ``#timeoutMs: 30000`` keeps its place, if there is one.

    Appended to the last group instead, it would stand between that group's name and the comments below it.
    """
    for leaf, value in changes.items():
        if len(leaf) == 1 and leaf[0] not in (document or {}):
            line = _line(leaf[0], value)
            text = re.sub(rf"^# ?{re.escape(leaf[0])}:.*$", lambda _, line=line: line, text, count=1, flags=re.MULTILINE)  # type: ignore[misc]
    return text


def _line(key: str, value: Any) -> str:
    listed = yaml_of([value], flow=True, width=_NO_WIDTH)
    return f"{key}: {listed.strip()[1:-1]}"


def _editor(text: str) -> YAML:
    from ruamel.yaml import YAML

    editor = YAML()
    editor.preserve_quotes, editor.width, editor.explicit_start = True, _NO_WIDTH, text.startswith("---")
    return editor


def _indent(editor: YAML, document: Any) -> None:
    """Let the editor write nested lines as deep as the first ones that are there."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    blocks = [value for value in document.values() if isinstance(value, CommentedMap | CommentedSeq) and not _is_flow(value)]
    depths = [value.lc.col for value in blocks if isinstance(value, CommentedMap) and value]
    dashes = [value.lc.col for value in blocks if isinstance(value, CommentedSeq) and value]
    dash = min(dashes, default=0)
    editor.indent(mapping=min(depths, default=2), sequence=dash + 2, offset=dash)


def _set(editor: YAML, document: Any, leaf: Leaf, value: Any, model: type[Config]) -> None:
    level = document
    for depth in range(1, len(leaf)):
        name = _spelled(level, leaf[:depth], model)
        if level.get(name) is None:
            level[name] = editor.map()
        level = level[name]
    name = _spelled(level, leaf, model)
    level[name] = _node(editor, value, level.get(name))


def _spelled(level: Any, leaf: Leaf, model: type[Config]) -> str:
    """How the file spells the last part of `leaf`: keys may be written in snake_case."""
    return next((name for name in level if resolve((*leaf[:-1], name), model)[0] == leaf), leaf[-1])


def _node(editor: YAML, value: Any, old: Any) -> Any:
    """The value as the editor holds it.

    It is spelled so that each reader takes it for the same: the editor itself speaks YAML 1.2, where ``yes`` needs no quotes.
    """
    is_block = isinstance(old, list) and bool(old) and not _is_flow(old)
    text = yaml_of({"value": value}, flow=False if is_block else None, width=_NO_WIDTH)
    node = editor.load(text)["value"]
    if is_block and isinstance(node, list) and node and (comment := old.ca.items.get(len(old) - 1)):
        node.ca.items[len(node) - 1] = comment  # type: ignore[attr-defined]  # what follows a list hangs on its last entry
    return node


def _is_flow(node: Any) -> bool:
    return bool(node.fa.flow_style())


def _dumped(editor: YAML, document: Any) -> str:
    stream = StringIO()
    editor.dump(document, stream)
    return stream.getvalue()
