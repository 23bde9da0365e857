"""Where the document says its service listens."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from eval_skills.core.errors import UsageError
from eval_skills.scaffolding.openapi.document import Document, mapping, sequence
from eval_skills.scaffolding.openapi.operation import Operation

_VARIABLE = re.compile(r"\{([^{}]+)\}")


def base_url_of(document: Document, operation: Operation, base_url: str | None) -> str:
    """The address below which the operation's path lies: `base_url`, else the first server of the operation, path or document.

    Raises:
        UsageError: `base_url` is no whole address; or none was given and the document names none.
    """
    if base_url is not None:
        return _whole(base_url, f"--base-url {base_url!r}")
    nodes = next((nodes for nodes in _servers(document, operation) if nodes), [])
    written = _filled(mapping(nodes[0])) if nodes else "/"
    if not written.startswith(("http://", "https://")):
        where = f"the document's server is {written!r}" if nodes else "the document names no server"
        raise UsageError(f"{document.source}: {where}; give its whole address with --base-url https://…")
    return _whole(written, f"{document.source}: the server {written!r}")


def _servers(document: Document, operation: Operation) -> list[list[Any]]:
    return [sequence(node.get("servers")) for node in (operation.node, operation.shared, document.data)]


def _filled(server: dict[str, Any]) -> str:
    variables = mapping(server.get("variables"))
    return _VARIABLE.sub(lambda hit: str(mapping(variables.get(hit[1])).get("default", hit[0])), str(server.get("url", "/")))


def _whole(address: str, what: str) -> str:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise UsageError(f"{what} is no URL: {error}") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not re.fullmatch(r"[\x21-\x7e]+", address):
        raise UsageError(f"{what} is no http:// or https:// URL with a host")
    if "@" in parts.netloc or parts.query or parts.fragment or "{" in address or "}" in address:
        raise UsageError(f"{what} must be scheme, host and path only, without user, query, fragment and braces")
    return address.rstrip("/")
