"""Whether a call would leave this machine and its network: a test that was generated must not expect what only others give."""

from __future__ import annotations

import ipaddress
import re
from typing import Any
from urllib.parse import urlsplit

from eval_skills.core.redaction import texts_in

_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".test", ".home.arpa")
"""Names that no public server has (RFC 6761, 6762, 8375, and ICANN's reservation of ``internal``)."""

_ADDRESS = re.compile(r"(?:https?|wss?|ftp)://", re.IGNORECASE)


def is_outside(address: str) -> bool:
    """Whether a URL leads to a public host. A name without a dot, such as that of a container, is a local one."""
    try:
        host = (urlsplit(address).hostname or "").rstrip(".").lower()
    except ValueError:
        return False
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith(_LOCAL_ENDINGS)


def outside_addresses(value: Any) -> list[str]:
    """The URLs of public hosts among the texts of a JSON value."""
    return [text for text in texts_in(value) if _ADDRESS.match(text) and is_outside(text)]
