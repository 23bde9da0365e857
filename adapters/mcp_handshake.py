"""Which protocol version the handshake offers: the newest, or an older one to a server that refuses that."""

from __future__ import annotations

import re

import mcp_types
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from eval_skills.adapters.mcp_watch import Watcher

_VERSION = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_ABOUT_VERSIONS = re.compile(r"protocol.?version", re.IGNORECASE)


class Handshake(Watcher):
    """Offers what the SDK does until `step_back` says otherwise.

    By the specification a server that does not know the version it is offered answers with one that it does know. Some answer
    with an error instead, at best with a list of what they know.
    """

    def __init__(self) -> None:
        self._offer: str | None = None
        self._request_id: str | int | None = None
        self._refusal: mcp_types.ErrorData | None = None

    def sent(self, message: mcp_types.JSONRPCMessage) -> None:
        """Put the older version into the handshake, where there is one to offer."""
        if isinstance(message, mcp_types.JSONRPCRequest) and message.method == "initialize":
            self._request_id = message.id
            if self._offer is not None and message.params is not None:
                message.params["protocolVersion"] = self._offer

    def came(self, message: mcp_types.JSONRPCMessage) -> None:
        """Note that the handshake is refused."""
        if isinstance(message, mcp_types.JSONRPCError) and message.id is not None and message.id == self._request_id:
            self._refusal = message.error

    def step_back(self) -> bool:
        """Offer an older version from now on, if one was refused and none was offered before; whether to begin again."""
        refusal, self._refusal = self._refusal, None
        if refusal is None or self._offer is not None or not _is_about_the_version(refusal):
            return False
        self._offer = _older(refusal)
        return True


def _is_about_the_version(refusal: mcp_types.ErrorData) -> bool:
    return refusal.code == mcp_types.INVALID_PARAMS or _ABOUT_VERSIONS.search(refusal.message) is not None


def _older(refusal: mcp_types.ErrorData) -> str:
    """The newest version that the server names beside the one it refused; the oldest of all where it names none we know."""
    older = HANDSHAKE_PROTOCOL_VERSIONS[:-1]
    named = set(_VERSION.findall(f"{refusal.message} {refusal.data}"))
    return next((version for version in reversed(older) if version in named), older[0])
