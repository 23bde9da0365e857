"""What a broken connection is for an item: the libraries' errors in words, sorted by whether another attempt can help."""

from __future__ import annotations

import os
import socket
import ssl
from http import HTTPStatus

from eval_skills.adapters.address import shown
from eval_skills.adapters.tls import tls_problem
from eval_skills.core.errors import ContractError, InfraError, ItemError, SkillUnavailable


def connection_error(error: Exception, url: str) -> ItemError:
    """What a library's `error` about the connection to `url` is for an item."""
    root = _root(error)
    if isinstance(root, ssl.SSLError) and not isinstance(root, ssl.SSLEOFError | ssl.SSLZeroReturnError | ssl.SSLSyscallError):
        return InfraError(f"TLS with {shown(url)} failed: {tls_problem(root)}")
    if getattr(root, "error_status_hint", None) == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        return ContractError(
            f"the headers of {shown(url)} never end, or are longer than the 100 kB that a response may begin with"
        )
    if isinstance(root, socket.gaierror):
        unknown = root.errno in {socket.EAI_NONAME, socket.EAI_NODATA}
        message = f"connection to {shown(url)} failed: its host is not found ({root.strerror})"
        return InfraError(message) if unknown else SkillUnavailable(message)
    return SkillUnavailable(f"connection to {shown(url)} failed: {_cause(root, secure=url.lower().startswith('https:'))}")


def _cause(root: BaseException, *, secure: bool) -> str:
    if isinstance(root, ssl.SSLError):
        return tls_problem(root)
    broke = isinstance(root, BrokenPipeError | ConnectionResetError) or type(root).__name__ == "BrokenResourceError"
    if broke and secure:  # whether the alert that says why is read before the reset is a race
        return "the server broke it; one that wants to know us does so: give adapterConfig.tls.clientCert, or another one"
    if isinstance(root, ConnectionError) and root.errno:
        return os.strerror(root.errno)
    return "the other side broke it" if broke else str(root) or type(root).__name__


def _root(error: BaseException) -> BaseException:
    """What began it: the libraries wrap the system's error several times, and group several attempts."""
    while not (isinstance(error, OSError) and error.errno):
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        elif (inner := error.__cause__ or error.__context__) is not None:
            error = inner
        else:
            break
    return error
