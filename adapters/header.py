"""What an HTTP header may hold."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import StringConstraints

HeaderName = Annotated[str, StringConstraints(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]
"""A token of RFC 9110, section 5.1."""

HeaderValue = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]*$")]
"""Printable ASCII: no line breaks, so that no header can carry another one."""

FRAMING = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect"})
"""Headers (in lower case) that say where a request goes and where it ends; they are the transport's own."""

_VALUE = re.compile(r"[\x20-\x7e]*\Z")


def is_header_value(text: str) -> bool:
    """Whether a header may carry `text`: printable ASCII and nothing else."""
    return _VALUE.match(text) is not None
