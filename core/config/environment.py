"""The layer of environment variables: ``EVAL_SKILLS_TIMEOUT_MS=5000``, ``EVAL_SKILLS_LLM__MODEL=gpt-4o``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from eval_skills.core.config.keys import Leaf, flatten, is_list, is_mapping, is_optional, known_leaves, resolve, without_marks
from eval_skills.core.config.layer import Layer, Setting, checked
from eval_skills.core.config.settings import Config
from eval_skills.core.errors import ConfigError
from eval_skills.core.text import nearest

PREFIX = "EVAL_SKILLS_"


def environment_layer(environ: Mapping[str, str], cwd: Path, home: Path, model: type[Config] = Config) -> tuple[Layer, list[str]]:
    """The layer, and the variables that start with our prefix and name no key.

    Two underscores go down a level. A blank variable counts as not set, as a CI system leaves it when an input is empty.
    Where a variable holds a whole mapping and another one a key of it, the longer name wins.

    Raises:
        ConfigError: a value cannot be what its key holds.
    """
    layer: Layer = {}
    unknown: list[str] = []
    for name in sorted(filter(_is_ours, environ), key=lambda name: (name.count("__"), name)):
        if not (text := environ[name].strip()):
            continue
        try:
            leaf, annotation = resolve(tuple(name.removeprefix(PREFIX).lower().split("__")), model)
        except ConfigError:
            unknown.append(name)
            continue
        if annotation is Any:
            continue
        for key, value in _leaves(name, leaf, annotation, text, model).items():
            layer[key] = Setting(value, name, name)
    return checked(layer, cwd, home, model), unknown


def refuse_unknown(names: Iterable[str], model: type[Config] = Config) -> None:
    """Raise a ConfigError for the first of these variables, with the nearest one that exists."""
    for name in names:
        # The common prefix is left out of the comparison: it would make every name look alike.
        hint = nearest(name.removeprefix(PREFIX), [variable_of(leaf).removeprefix(PREFIX) for leaf, _ in known_leaves(model)])
        hint = hint.replace("'", f"'{PREFIX}", 1) or "; if it holds a secret of your own, name it under 'secrets'"
        raise ConfigError(f"{name}: no configuration key has this name{hint}")


def variable_of(leaf: Leaf) -> str:
    """The variable of a key: ``EVAL_SKILLS_LLM__API_BASE``."""
    return PREFIX + "__".join("".join(f"_{c}" if c.isupper() else c.upper() for c in part) for part in leaf)


def read_text(annotation: Any, text: str) -> Any:
    """The value that `text` spells for a key of this type.

    Lists are JSON or divided by commas, mappings are JSON, ``null`` empties an optional key. Text that cannot be read is returned
    as it is: the check that follows refuses it with the key's own rule.
    """
    if text == "null" and is_optional(annotation):
        return None
    if is_list(annotation) and not text.startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    if is_list(annotation) or is_mapping(annotation):
        return _json_or_text(text)
    try:
        return TypeAdapter(without_marks(annotation)).validate_python(text)
    except ValidationError:
        return text


def _is_ours(name: str) -> bool:
    return name.startswith(PREFIX)


def _leaves(name: str, leaf: Leaf, annotation: Any, text: str, model: type[Config]) -> dict[Leaf, Any]:
    value = read_text(annotation, text)
    if not is_mapping(annotation):
        return {leaf: value}
    if not isinstance(value, dict):
        raise ConfigError(f'{name}: {".".join(leaf)}: expected a JSON object such as {{"key": …}}; got {text[:80]!r}')
    try:
        return flatten(value, leaf, model)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
