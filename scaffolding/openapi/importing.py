"""From an OpenAPI document to the skills that call its service, at the address that the document names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from eval_skills.core.errors import InputError, UsageError
from eval_skills.scaffolding.draft import Draft
from eval_skills.scaffolding.names import SkillName
from eval_skills.scaffolding.network import is_outside
from eval_skills.scaffolding.openapi.call import call_of
from eval_skills.scaffolding.openapi.document import Document, mapping, plain, read_openapi, sequence
from eval_skills.scaffolding.openapi.operation import ALL, UNREAD, Choice, Operation, chosen, operations_of
from eval_skills.scaffolding.openapi.security import auth_of
from eval_skills.scaffolding.openapi.skill import READS_ONLY, Target, draft_of, name_of
from eval_skills.scaffolding.skill_templates import TESTS_FILE


@dataclass(frozen=True, slots=True)
class Imported:
    """Skills to be written, the environment variables they read, remarks about what was left out, and which tests change data."""

    drafts: list[Draft]
    variables: list[str]
    remarks: list[str]
    changes: list[str] = field(default_factory=list)


def import_openapi(
    path: Path,
    folder: Path,
    *,
    operation: str | None = None,
    choice: Choice = ALL,
    name: SkillName | None = None,
    base_url: str | None = None,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Imported:
    """A skill in `folder` for every operation of the document that is the `choice`, or for the one called `operation`.

    `tell` is called after each, with how many of how many are done.

    `name` is the name of a single skill, and goes before the names of several. What no skill can call is left out with a remark.

    Raises:
        InputError: the document cannot be used, the operation that was wanted cannot be called, or none can.
        UsageError: there is no such operation, or no address of the service.
    """
    document = read_openapi(path)
    operations, remarks = operations_of(document)
    try:
        wanted = choice.of(operations) if operation is None else [chosen(operations, operation)]
    except UsageError as error:
        unread = [remark for remark in remarks if remark.startswith(UNREAD)]
        raise UsageError("; ".join([str(error), *unread[:_SHOWN]])) from None
    alone = len(wanted) == 1
    made = _Made(document, remarks)
    for done, each in enumerate(wanted):
        tell(done, len(wanted))
        address = base_url_of(document, each, base_url)
        target = Target(address, auth_of(document, each)[0], has_examples=base_url is not None or not is_outside(address))
        try:
            draft, said = _draft(document, each, name_of(each, name, alone=alone), target, folder)
        except InputError as error:
            if alone:
                raise
            remarks.append(f"left out {each.title}: {error.message}")
            continue
        made.add(each, draft, target, said)
        if base_url is None:
            made.note_server(each, draft, address)
    if not made.drafts:
        raise document.error(f"no operation can become a skill: {_some(remarks, '; ') or 'the document has none'}", "paths")
    return made.imported(only=wanted if operation is not None or len(wanted) < len(operations) else None)


@dataclass(slots=True)
class _Made:
    """The skills of a document so far, and what is to be said of them, each thing once."""

    document: Document
    remarks: list[str]
    drafts: list[Draft] = field(default_factory=list)
    variables: dict[str, None] = field(default_factory=dict)
    outside: dict[str, None] = field(default_factory=dict)
    elsewhere: dict[str, None] = field(default_factory=dict)
    changing: dict[str, list[str]] = field(default_factory=dict)

    def add(self, operation: Operation, draft: Draft, target: Target, said: list[str]) -> None:
        """Add the skill of an operation; `said` are remarks about it."""
        self.drafts.append(draft)
        self.remarks += [f"{operation.title}: {remark}" for remark in said]
        self.variables |= dict.fromkeys(target.auth.variables)
        self.outside |= {} if target.has_examples else {target.base_url: None}

    def note_server(self, operation: Operation, draft: Draft, address: str) -> None:
        """Note what is to be said of a server that the document names, and nobody has chosen."""
        self.elsewhere |= dict.fromkeys(_other_servers(self.document, operation, address))
        if operation.method not in READS_ONLY and TESTS_FILE in draft.files:
            self.changing.setdefault(address, []).append(draft.folder.name)

    def imported(self, *, only: list[Operation] | None) -> Imported:
        """All of it; with `only`, remarks about other operations are left out."""
        remarks = self.remarks if only is None else [each for each in self.remarks if _about(each, only)]
        changes = [_about_changes(address, names) for address, names in self.changing.items()]
        remarks = [*remarks, *self.elsewhere, *map(_about_outside, self.outside)]
        return Imported(self.drafts, list(self.variables), remarks, changes)


def _about_changes(address: str, names: list[str]) -> str:
    return f"every run of the tests of {_some(names)} changes data at {address}; use a test server (--base-url)"


def _about_outside(address: str) -> str:
    expected = "expect the form of its answers only; for the document's own answers, name a test server with --base-url"
    return f"the tests call {address}, which needs an outside network, and {expected}"


def _draft(document: Document, operation: Operation, name: SkillName, target: Target, folder: Path) -> tuple[Draft, list[str]]:
    call = call_of(document, operation)
    call.remarks.extend(auth_of(document, operation)[1])
    draft = draft_of(call, name, target, folder)
    return draft, call.remarks


def _about(remark: str, wanted: list[Operation]) -> bool:
    return any(remark.removeprefix("left out ").startswith(f"{each.title}:") for each in wanted)


_VARIABLE = re.compile(r"\{([^{}]+)\}")


def base_url_of(document: Document, operation: Operation, base_url: str | None) -> str:
    """The address below which the operation's path lies: `base_url`, else the first server of the operation, path or document.

    Raises:
        UsageError: `base_url` is not a whole address; or none was given and the document names none.
    """
    if base_url is not None:
        return _whole(base_url, f"--base-url {base_url!r}")
    nodes = _servers(document, operation)
    written = _filled(mapping(nodes[0])) if nodes else "/"
    if not written.startswith(("http://", "https://")):
        where = f"the document's server is {written!r}" if nodes else "the document names no server"
        raise UsageError(f"{document.source}: {where}; give its whole address with --base-url https://…")
    return _whole(written, f"{document.source}: the server {written!r}")


def _servers(document: Document, operation: Operation) -> list[Any]:
    """The servers of the operation; without any those of its path, then those of the document."""
    named = (sequence(node.get("servers")) for node in (operation.node, operation.shared, document.data))
    return next((nodes for nodes in named if nodes), [])


_SHOWN = 3


def _other_servers(document: Document, operation: Operation, address: str) -> list[str]:
    """That the document names others than the one at `address`, which is taken, as one line; none where it names no other."""
    written = dict.fromkeys(plain(_filled(mapping(node)).rstrip("/"), 200) for node in _servers(document, operation))
    others = [each for each in written if each != address]
    return [f"took the first server, {address}; --base-url takes another, such as {_some(others)}"] if others else []


def _some(names: list[str], between: str = ", ") -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{between.join(names[:_SHOWN])}{more}"


def _filled(server: dict[str, Any]) -> str:
    variables = mapping(server.get("variables"))
    return _VARIABLE.sub(lambda hit: str(mapping(variables.get(hit[1])).get("default", hit[0])), str(server.get("url", "/")))


def _whole(address: str, what: str) -> str:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise UsageError(f"{what} is not a URL: {error}") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not re.fullmatch(r"[\x21-\x7e]+", address):
        raise UsageError(f"{what} is not an http:// or https:// URL with a host")
    if "@" in parts.netloc or parts.query or parts.fragment or "{" in address or "}" in address:
        raise UsageError(f"{what} must be scheme, host and path only, without user, query, fragment and braces")
    return address.rstrip("/")
