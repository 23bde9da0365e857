"""An OpenAPI document, read and looked up in; nothing is ever fetched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from referencing import Registry, Specification
from referencing.exceptions import Unresolvable

from eval_skills.core.documents.loading import read_document
from eval_skills.core.errors import InputError
from eval_skills.scaffolding.openapi.references import Circles, Soundness

MAX_VALUES = 2_000_000
"""How many values a document may hold once its YAML aliases are unfolded."""

MAX_DEPTH = 100
"""How deep a document may nest; real ones stay below 40."""

_READ = re.compile(r"3\.[01](\.\d+)?([-+].*)?\Z")


@dataclass(frozen=True)
class Document:
    """A document of OpenAPI 3.0 or 3.1. `source` is its file, as messages name it."""

    source: Path
    data: dict[str, Any]

    @property
    def is_3_0(self) -> bool:
        """Whether schemas are those of 3.0, with `nullable` and without siblings of ``$ref``."""
        return str(self.data["openapi"]).startswith("3.0")

    @property
    def info(self) -> dict[str, Any]:
        """The part `info`; empty when it is none."""
        return mapping(self.data.get("info"))

    def error(self, message: str, where: str = "") -> InputError:
        """An error about the place `where` of this document."""
        return InputError(message, source=self.source, path=where)

    def lookup(self, reference: Any, where: str) -> Any:
        """What ``$ref`` leads to inside the document.

        Raises:
            InputError: it leads outside, or to nothing.
        """
        if not isinstance(reference, str):
            raise self.error("$ref is no text", where)
        if not reference.startswith("#"):
            outside = (
                f"$ref {_short(reference)} leads outside this file, and nothing is fetched; bundle the document into one file"
            )
            raise self.error(outside, where)
        if reference in self._found:
            return self._found[reference]
        try:
            return self._found.setdefault(reference, self._resolver.lookup(reference).contents)
        except (Unresolvable, TypeError, ValueError, LookupError):
            raise self.error(f"$ref {_short(reference)} leads to nothing in this file", where) from None

    def object_at(self, node: Any, where: str) -> dict[str, Any]:
        """`node` as an object, after its ``$ref`` if it is one.

        Raises:
            InputError: it is no object, or its references go in a circle or astray.
        """
        seen: set[str] = set()
        while isinstance(node, dict) and isinstance(reference := node.get("$ref"), str):
            if reference in seen:
                raise self.error(f"$ref {_short(reference)} leads in a circle", where)
            seen.add(reference)
            node = self.lookup(reference, where)
        if not isinstance(node, dict):
            raise self.error(f"expected an object, found {_kind(node)}", where)
        return node

    @cached_property
    def circles(self) -> Circles:
        """Which references lead back to themselves."""
        return Circles(self.lookup)

    @cached_property
    def soundness(self) -> Soundness:
        """Which schemas an answer can be checked against."""
        return Soundness()

    @cached_property
    def _found(self) -> dict[str, Any]:
        return {}

    @cached_property
    def _resolver(self) -> Any:
        return Registry().resolver_with_root(Specification.OPAQUE.create_resource(self.data))


def read_openapi(path: Path) -> Document:
    """The document in a JSON or YAML file.

    Raises:
        InputError: the file cannot be read, is no OpenAPI 3.0 or 3.1, or is too large or nested too deeply.
    """
    data = read_document(path)
    if not isinstance(data, dict):
        raise InputError("an OpenAPI document is an object", source=path)
    _refuse_other_versions(data, path)
    document = Document(path, _with_text_keys(data, path))
    if not mapping(document.data.get("paths")):
        raise document.error("the document has no paths, so there is nothing to call", "paths")
    return document


def mapping(value: Any) -> dict[str, Any]:
    """`value` if it is an object, else an empty one: for parts that only describe."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """`value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def _refuse_other_versions(data: dict[str, Any], path: Path) -> None:
    if "swagger" in data:
        raise InputError(
            f"this is Swagger {_short(data['swagger'])}, and OpenAPI 3.0 and 3.1 are read; convert it to OpenAPI 3 first"
            " (the Swagger Editor and swagger2openapi do that)",
            source=path,
            path="swagger",
        )
    if "openapi" not in data:
        raise InputError("this is no OpenAPI document: it has no key 'openapi' with its version", source=path)
    if not _READ.match(str(data["openapi"])):
        raise InputError(f"version {_short(data['openapi'])} is not read; 3.0 and 3.1 are", source=path, path="openapi")


def _with_text_keys(data: dict[str, Any], path: Path) -> dict[str, Any]:
    """A copy whose keys are all texts: YAML reads the status ``200:`` as a number."""
    left = iter(range(MAX_VALUES))

    def copied(value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise InputError(f"nested deeper than {MAX_DEPTH} levels", source=path)
        if next(left, None) is None:
            raise InputError(f"holds more than {MAX_VALUES:,} values", source=path)
        if isinstance(value, dict):
            return {_text_key(key, path): copied(part, depth + 1) for key, part in value.items()}
        return [copied(part, depth + 1) for part in value] if isinstance(value, list) else value

    result: dict[str, Any] = copied(data, 0)
    return result


def _text_key(key: Any, path: Path) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    raise InputError(f"YAML reads a key as {key!r}; put it into quotes", source=path)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


def _kind(value: Any) -> str:
    names = {str: "a text", list: "an array", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else "something else")
