"""What every model shares: snake_case in Python, camelCase in JSON and YAML, unknown keys refused, NaN refused; and what makes
very many of them at once cheaper."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from eval_skills.core.text import nearest

Rate = Annotated[float, Field(ge=0, le=1)]
"""A share in [0, 1]."""

_IDENTIFIER, _SEMVER = r"^[a-z0-9_-]+$", r"^\d+\.\d+\.\d+$"

IN_WORDS = {_IDENTIFIER: "lower-case letters, digits, - and _", _SEMVER: "a version such as 1.0.0"}
"""What a text by a pattern is, and an object by its model's name, for the message about one that is not."""


def text_like(pattern: str, words: str) -> StringConstraints:
    """The constraint of a text by `pattern`, with the `words` that say what is valid: nobody is shown the pattern."""
    IN_WORDS[pattern] = words
    return StringConstraints(pattern=pattern)


def object_like(name: str, words: str) -> None:
    """Say what an object that the model called `name` describes looks like: for the message about something else in its place."""
    IN_WORDS[name] = words


Identifier = Annotated[str, StringConstraints(pattern=_IDENTIFIER)]
"""Lower-case letters, digits, ``_`` and ``-``: safe in file names, URLs and SQL."""

SemVer = Annotated[str, StringConstraints(pattern=_SEMVER)]
"""``X.Y.Z``."""

Text = Annotated[str, StringConstraints(pattern=r"\S")]
"""Text that is not blank."""


Complexity = Literal["simple", "medium", "complex", "very_complex"]
"""How hard a task is, as its author says."""


class Model(BaseModel):
    """A strict model: no silent conversion (``"5"`` is not a number), no unknown keys, no NaN, both spellings of a key."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        frozen=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, data: Any) -> Any:
        if isinstance(data, dict) and cls.model_config.get("extra") == "forbid":
            for key in data:
                if key not in known_keys(cls):
                    known = sorted(fields_by_key(cls))
                    hint = _under(cls, key) or nearest(str(key), known) or f"; known are {', '.join(known)}"
                    raise PydanticCustomError(
                        "unknown_key", "unknown key {key}{hint}", {"key": repr(key), "hint": hint, "name": key}
                    )
        return data

    def compact(self) -> Self:
        """The model itself, in less memory: which fields were given is one set for all models that were given the same ones.

        For many small models that stay: the set is a third of each. As they are frozen, it never changes.
        """
        given = self.__pydantic_fields_set__
        object.__setattr__(self, "__pydantic_fields_set__", _given.setdefault(frozenset(given), given))
        return self

    def to_json(self) -> dict[str, Any]:
        """The model as JSON-ready data under its camelCase names."""
        return self.model_dump(mode="json", by_alias=True)


def _under(model: type[BaseModel], key: object) -> str:
    """Where a key belongs that is one of a group of the model: ``; it belongs under options``; "" of any other."""
    types = {name: field.annotation for name, field in fields_by_key(model).items()}
    groups = {name: each for name, each in types.items() if isinstance(each, type) and issubclass(each, Model)}
    found = [name for name, group in groups.items() if key in known_keys(group)]
    return f"; it belongs under {found[0]}" if len(found) == 1 else ""


_given: dict[frozenset[str], set[str]] = {}
"""The sets of given fields that compact models share; there are few, as a benchmark is written in a few ways."""


@cache
def known_keys(model: type[BaseModel]) -> frozenset[str]:
    """Every spelling of the keys that `model` knows: field names and aliases."""
    return frozenset(
        spelling for name, field in model.model_fields.items() for spelling in (name, field.alias) if spelling is not None
    )


def fields_by_key(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by their keys, as JSON and YAML spell them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


@contextmanager
def collection_paused() -> Iterator[None]:
    """Inside, the collector does not run, as far as it ran before: for work that makes many objects and leaves hardly any cycles.

    It halves the time that reading 100,000 tasks takes. Counted references free objects as ever; the pause holds for all threads.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
