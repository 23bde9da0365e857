"""The keys of the configuration: their spellings, their types, and nested mappings as flat leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, TypeGuard, Union, get_args, get_origin

from eval_skills.core.config.options import Config
from eval_skills.core.errors import ConfigError
from eval_skills.core.models.base import Model
from eval_skills.core.text import nearest

Leaf = tuple[str, ...]
"""A key as its camelCase parts: ``("llm", "apiBase")``."""

_ANNOTATED: Any = Annotated


def dotted(leaf: Leaf) -> str:
    """``llm.apiBase``."""
    return ".".join(leaf)


def known_leaves(model: type[Model] = Config, prefix: Leaf = ()) -> Iterator[tuple[Leaf, Any]]:
    """Every key that holds a value, with its type. A free mapping is one leaf here: its keys are the user's own."""
    for name, field in model.model_fields.items():
        leaf = (*prefix, field.alias or name)
        if is_model(field.annotation):
            yield from known_leaves(field.annotation, leaf)
        else:
            yield leaf, field.annotation


def resolve(parts: Leaf, model: type[Config] = Config) -> tuple[Leaf, Any]:
    """The key that `parts` spell, in snake_case or camelCase, and its type with its marks.

    `model` is `Config`, or a subclass of it that knows more keys (as the command line's does). The type is ``Any`` for everything
    in a group that the model names without describing it: the group of another command.

    Raises:
        ConfigError: there is no such key; the nearest known one is named.
    """
    leaf: Leaf = ()
    annotation: Any = model
    for part in parts:
        bare = without_marks(annotation)
        if is_model(bare):
            name, annotation = _field(bare, part, leaf)
        elif get_origin(bare) is dict:
            name, annotation = part, get_args(bare)[1]
        elif bare is Any:
            name = part
        else:
            raise ConfigError(f"{dotted(leaf)!r} holds one value and has no keys below it; {part!r} is unknown")
        leaf = (*leaf, name)
    return leaf, annotation


def flatten(data: Mapping[Any, Any], prefix: Leaf = (), model: type[Config] = Config) -> dict[Leaf, Any]:
    """The leaves of a nested mapping. A null where a mapping belongs says nothing; a null elsewhere is a value.

    Raises:
        ConfigError: a key is unknown, or given in both of its spellings.
    """
    leaves: dict[Leaf, Any] = {}
    seen: set[Leaf] = set()
    for key, value in data.items():
        leaf, annotation = resolve((*prefix, key if isinstance(key, str) else repr(key)), model)
        if leaf in seen:
            raise ConfigError(f"{dotted(leaf)!r} is given twice, in two spellings; keep one")
        seen.add(leaf)
        if annotation is Any:
            continue
        if not is_mapping(annotation):
            leaves[leaf] = value
        elif isinstance(value, Mapping):
            leaves |= flatten(value, leaf, model)
        elif value is not None:
            leaves[leaf] = value
    return leaves


def nest(leaves: Mapping[Leaf, Any]) -> dict[str, Any]:
    """The nested mapping of these leaves."""
    data: dict[str, Any] = {}
    for leaf, value in leaves.items():
        level = data
        for part in leaf[:-1]:
            level = level.setdefault(part, {})
        level[leaf[-1]] = value
    return data


def without_marks(annotation: Any) -> Any:
    """The type inside ``Annotated``."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def is_model(annotation: Any) -> TypeGuard[type[Model]]:
    """Whether the key holds a group of known keys."""
    return isinstance(annotation, type) and issubclass(annotation, Model)


def is_mapping(annotation: Any) -> bool:
    """Whether the key holds keys of its own, known or free."""
    bare = without_marks(annotation)
    return is_model(bare) or get_origin(bare) is dict


def is_optional(annotation: Any) -> bool:
    """Whether the key may hold nothing."""
    bare = without_marks(annotation)
    return get_origin(bare) in (Union, UnionType) and type(None) in get_args(bare)


def is_list(annotation: Any) -> bool:
    """Whether the key holds a list, or a list or nothing."""
    bare = without_marks(annotation)
    parts = get_args(bare) if is_optional(bare) else (bare,)
    return any(get_origin(without_marks(part)) is list for part in parts)


def is_known(leaf: Leaf, model: type[Config]) -> bool:
    """Whether `model` itself names the key's first part."""
    return any(leaf[0] in (name, field.alias) for name, field in model.model_fields.items())


def _field(model: type[Model], spelling: str, parent: Leaf) -> tuple[str, Any]:
    for name, field in model.model_fields.items():
        if spelling in (name, field.alias):
            marks = tuple(mark for mark in field.metadata if isinstance(mark, str))
            return field.alias or name, _ANNOTATED[(field.annotation, *marks)] if marks else field.annotation
    known = [dotted((*parent, field.alias or name)) for name, field in model.model_fields.items()]
    wrong = dotted((*parent, spelling))
    raise ConfigError(f"unknown key {wrong!r}{nearest(wrong, known) or '; known are ' + ', '.join(known)}")
