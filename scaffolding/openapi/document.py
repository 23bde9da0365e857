"""An OpenAPI document: reading it, looking up its references (nothing is fetched), and its texts as plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from referencing import Registry, Specification
from referencing.exceptions import Unresolvable

from eval_skills.core.documents.loading import read_document, read_text
from eval_skills.core.errors import InputError
from eval_skills.scaffolding.openapi.references import ReferenceCycles, SchemaChecks

MAX_VALUES = 2_000_000
"""How many values a document may hold once its YAML aliases are unfolded."""

MAX_DEPTH = 100
"""How deep a document may nest; real ones stay below 40."""

_READ = re.compile(r"3\.[01](\.\d+)?([-+].*)?\Z")
_UNSEEN = {"script", "style", "template", "iframe"}
_TAG = re.compile(r"</?[a-zA-Z!][^>]{0,2000}>")


@dataclass(frozen=True)
class Document:
    """A document of OpenAPI 3.0 or 3.1. `source` is its file, as messages name it."""

    source: Path
    data: dict[str, Any]

    @property
    def is_3_0(self) -> bool:
        """Whether schemas are those of 3.0, with `nullable` and without siblings of ``$ref``."""
        return str(self.data["openapi"]).startswith("3.0")

    @cached_property
    def info(self) -> dict[str, Any]:
        """The part `info`, its version as text also where YAML reads a number; empty when it is not an object."""
        info = mapping(self.data.get("info"))
        version = info.get("version")
        if isinstance(version, int | float) and not isinstance(version, bool):
            return {**info, "version": _as_written(self.source, version)}
        return info

    def error(self, message: str, where: str = "") -> InputError:
        """An error about the place `where` of this document."""
        return InputError(message, source=self.source, path=where)

    def lookup(self, reference: Any, where: str) -> Any:
        """The target of a ``$ref`` inside the document.

        Raises:
            InputError: it leads outside, or has no target.
        """
        if not isinstance(reference, str):
            raise self.error("$ref must be text", where)
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
            raise self.error(f"$ref {_short(reference)} has no target in this file", where) from None

    def object_at(self, node: Any, where: str) -> dict[str, Any]:
        """`node` as an object, after its ``$ref`` if it is one.

        Raises:
            InputError: it is not an object, or its references form a cycle or have no target.
        """
        seen: set[str] = set()
        while isinstance(node, dict) and isinstance(reference := node.get("$ref"), str):
            if reference in seen:
                raise self.error(f"$ref {_short(reference)} leads back to itself", where)
            seen.add(reference)
            node = self.lookup(reference, where)
        if not isinstance(node, dict):
            raise self.error(f"expected an object, got {_kind(node)}", where)
        return node

    @cached_property
    def reference_cycles(self) -> ReferenceCycles:
        """Which references lead back to themselves."""
        return ReferenceCycles(self.lookup)

    @cached_property
    def schema_checks(self) -> SchemaChecks:
        """Which schemas an answer can be checked against."""
        return SchemaChecks()

    @cached_property
    def _found(self) -> dict[str, Any]:
        return {}

    @cached_property
    def _resolver(self) -> Any:
        return Registry().resolver_with_root(Specification.OPAQUE.create_resource(self.data))


def read_openapi(path: Path) -> Document:
    """The document in a JSON or YAML file.

    Raises:
        InputError: the file cannot be read, is not OpenAPI 3.0 or 3.1, or is too large or nested too deeply.
    """
    data = read_document(path)
    if not isinstance(data, dict):
        raise InputError("an OpenAPI document is an object", source=path)
    _refuse_other_versions(data, path)
    document = Document(path, _with_text_keys(data, path))
    if not mapping(document.data.get("paths")):
        raise document.error("the document has no paths, so there is nothing to call", "paths")
    return document


def _as_written(source: Path, version: float) -> str:
    """The version as the document writes it: 1.10 is not 1.1."""
    import yaml

    node = yaml.compose(read_text(source), yaml.SafeLoader)  # YAML reads JSON, too
    for key in ("info", "version"):
        parts = node.value if isinstance(node, yaml.MappingNode) else []
        node = next((value for name, value in parts if name.value == key), None)
    return str(node.value) if isinstance(node, yaml.ScalarNode) else str(version)


def mapping(value: Any) -> dict[str, Any]:
    """`value` if it is an object, else an empty one: for parts that only describe."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """`value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def _refuse_other_versions(data: dict[str, Any], path: Path) -> None:
    if "swagger" in data:
        raise InputError(
            f"this is Swagger {_short(data['swagger'])}; only OpenAPI 3.0 and 3.1 can be read, so convert it to OpenAPI 3 first"
            " (the Swagger Editor and swagger2openapi do that)",
            source=path,
            path="swagger",
        )
    if "openapi" not in data:
        raise InputError("not an OpenAPI document: the key 'openapi' with its version is missing", source=path)
    if not _READ.match(str(data["openapi"])):
        raise InputError(f"version {_short(data['openapi'])} is not supported; 3.0 and 3.1 are", source=path, path="openapi")


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
    raise InputError(f"YAML reads a key as {key!r}; put it in quotes", source=path)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


def _kind(value: Any) -> str:
    names = {str: "text", list: "an array", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else "something else")


def plain(value: Any, limit: int = 500) -> str:
    """A description as one line of plain text of at most `limit` characters: HTML and unseen characters are taken out.

    Empty when it is not text. It must still be escaped wherever it is shown.
    """
    if not isinstance(value, str):
        return ""
    text = _without_tags(value[: 20 * limit]) if "<" in value or "&" in value else value[: 20 * limit]
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


class _Text(HTMLParser):
    """Collects what a reader would see."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._hidden += tag in _UNSEEN
        self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _UNSEEN and self._hidden > 0
        self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _without_tags(text: str) -> str:
    parser = _Text()
    parser.feed(text)
    parser.close()
    return _TAG.sub(" ", "".join(parser.parts))  # entities may have spelled tags, too
