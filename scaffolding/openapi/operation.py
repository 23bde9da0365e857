"""The operations of a document, and the skill id of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.text import nearest
from eval_skills.scaffolding.names import latin, unique_id
from eval_skills.scaffolding.openapi.document import Document, mapping, plain, sequence

METHODS = ("get", "post", "put", "patch", "delete")
OTHER_METHODS = ("head", "options", "trace")
UNREAD = "left out the path "
"""How a remark on a path begins of which no operation is known."""

MAX_ID = 80
"""Characters of an id that is made from a document; it names a folder."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path. `skill_id` is unique among the document's; `shared` is what its path says for all methods."""

    method: str
    path: str
    skill_id: str
    node: dict[str, Any]
    shared: dict[str, Any]

    @property
    def title(self) -> str:
        """``GET /pets``."""
        return f"{self.method.upper()} {self.path}"

    @property
    def operation_id(self) -> str | None:
        """Its own id in the document, if it has one."""
        given = self.node.get("operationId")
        return given if isinstance(given, str) and given.strip() else None

    @property
    def where(self) -> str:
        """Its place in the document."""
        return f"paths.{self.path}.{self.method}"


def operations_of(document: Document) -> tuple[list[Operation], list[str]]:
    """Every operation, in the document's order, and remarks about those that no skill can call.

    Ids are the operation ids in lower case (``listPets`` is ``list-pets``, ``süßeÄpfel`` is ``susse-apfel``); or method and path,
    where there is none, or one with letters that are not Latin. Equal ones are numbered.
    """
    found: list[Operation] = []
    remarks: list[str] = []
    taken: set[str] = set()
    for path, method, node, shared in _nodes(document, remarks):
        given = node.get("operationId")
        name = given if isinstance(given, str) and _slug(given) and _is_latin(given) else f"{method}-{path}"
        found.append(Operation(method, path, unique_id(_slug(name) or method, taken), node, shared))
    return found, remarks


def chosen(operations: list[Operation], wanted: str) -> Operation:
    """The operation called `wanted`: its operationId, its skill's id, or ``GET /pets``.

    Raises:
        UsageError: there is none, or several; the message names what there is.
    """
    for name in ("operation_id", "skill_id", "title"):
        hits = [each for each in operations if getattr(each, name) == wanted]
        if len(hits) > 1:
            raise UsageError(f"--operation {wanted!r} is {' and '.join(each.title for each in hits)}; name one of them so")
        if hits:
            return hits[0]
    known = [each.operation_id or each.title for each in operations]
    shown = ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
    raise UsageError(f"--operation {wanted!r} is not in the document{nearest(wanted, known)}; it has {shown or 'none'}")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which operations become skills: those with all of `tags`, at or below `path`, the first `limit` of them."""

    tags: Sequence[str] = ()
    path: str | None = None
    limit: int | None = None

    def of(self, operations: list[Operation]) -> list[Operation]:
        """The operations that are meant, in their order.

        Raises:
            UsageError: none is; the message has the tags, or some of the paths, that there are.
        """
        tagged = [each for each in operations if {*self.tags} <= {*_tags(each)}]
        found = [each for each in tagged if self._holds(each.path)]
        if operations and not tagged:
            known = sorted({tag for each in operations for tag in _tags(each)})
            hint = next((nearest(tag, known) for tag in self.tags if tag not in known), "")
            raise UsageError(f"--tag {' '.join(self.tags)}: no operation has it{hint}; there are {_some(known)}")
        if tagged and not found:
            paths = sorted({each.path for each in tagged})
            raise UsageError(
                f"--path {self.path!r}: no operation is there{nearest(str(self.path), paths)}; there are {_some(paths)}"
            )
        return found[: self.limit]

    def _holds(self, path: str) -> bool:
        return self.path is None or path == self.path or path.startswith(f"{self.path.rstrip('/')}/")


ALL = Choice()
"""Every operation."""


def _tags(operation: Operation) -> list[str]:
    return [tag for tag in sequence(operation.node.get("tags")) if isinstance(tag, str)]


def _some(names: list[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "") or "none"


def _nodes(document: Document, remarks: list[str]) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    for path, item in mapping(document.data.get("paths")).items():
        if path.startswith("x-"):
            continue
        try:
            shared = document.object_at(item, f"paths.{path}")
        except InputError as error:  # the other paths are none the worse for it
            remarks.append(f"{UNREAD}{plain(path, 200)}: {error.message}")
            continue
        for method in (*METHODS, *OTHER_METHODS):
            node = shared.get(method)
            if node is None:
                continue
            if (problem := _problem(path, method, node)) is not None:
                remarks.append(f"left out {plain(f'{method.upper()} {path}', 200)}: {problem}")
            else:
                yield path, method, node, shared


def _problem(path: str, method: str, node: Any) -> str | None:
    if method in OTHER_METHODS:
        return f"{method.upper()} has no answer for a skill to return"
    if not isinstance(node, dict):
        return "it is not an object"
    if not path.startswith("/") or re.search(r"[?#\\\s]|//|[^\x20-\x7e]", path) or not path.isprintable():
        return "its path is not valid: it must start with /, have no blank, ?, #, \\ or //, and percent-encode what is not ASCII"
    return None


def _is_latin(text: str) -> bool:
    return not any(letter.isalpha() and not letter.isascii() for letter in latin(text[:_READ]).casefold())


_READ = 1000
"""So much of an operation id is looked at: a document may say anything."""


def _slug(text: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", latin(text[:_READ]))
    return re.sub(r"[^a-z0-9_]+", "-", words.casefold())[:MAX_ID].strip("-_")
