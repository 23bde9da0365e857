"""Changing one key of a configuration file: its comments, its order and its other keys stay."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eval_skills.core.config.environment import read_text
from eval_skills.core.config.keys import Leaf, dotted, flatten, is_mapping, nest, resolve
from eval_skills.core.config.layer import Setting, checked, file_leaves
from eval_skills.core.config.settings import Config
from eval_skills.core.errors import ConfigError


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
    from eval_skills.core.store.durable import replace_durably

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
    from eval_skills.core.config.yaml_text import edited

    if path.suffix.lower() == ".json":
        return json.dumps(nest(leaves), ensure_ascii=False, indent=2) + "\n"
    return edited(path.read_text(encoding="utf-8-sig") if path.exists() else "", changes, model)
