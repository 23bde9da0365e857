"""TLS: which certificates a connection trusts, the client certificate that it presents, and why a server's is refused."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import ENOENT
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.adapters.config import source_of
from eval_skills.adapters.http.address import shown
from eval_skills.adapters.http.config import AuthConfig, TlsConfig
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill
from eval_skills.core.text import one_line

if TYPE_CHECKING:
    import ssl

AUTHORITY_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Where OpenSSL, Python and httpx look for whom to trust instead of the public authorities; the first that is set counts."""

_HINTS = {
    "WRONG_VERSION_NUMBER": "the server does not seem to speak TLS; should its address begin with http://?",
    "RECORD_LAYER_FAILURE": "the server does not seem to speak TLS; should its address begin with http://?",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "the server requires a client certificate: set adapterConfig.tls.clientCert",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "the server may require a client certificate: set adapterConfig.tls.clientCert",
    "TLSV1_ALERT_UNKNOWN_CA": "the server does not trust the authority that signed adapterConfig.tls.clientCert",
}

_NOT_YET, _EXPIRED, _SELF_SIGNED, _NAMES = 9, 10, 18, frozenset({62, 63, 64})
_UNKNOWN = frozenset({2, 19, 20, 21})
"""OpenSSL's numbers of why a certificate is refused (X509_verify_cert_error_string(3))."""


def trust_of(skill: Skill, config: AuthConfig, url: str) -> ssl.SSLContext | None:
    """How to speak TLS with `skill` at `url`; None where neither its configuration nor a variable says anything about it.

    Raises:
        InputError: a file in `tls` or one named by a variable cannot be used, or `url` does not use TLS.
    """
    is_secure = url.lower().startswith("https:")
    if config.tls is None:
        try:
            return trust_of_environment() if is_secure else None
        except ValueError as error:
            raise InputError(str(error), source=source_of(skill)) from None
    if not is_secure:
        message = f"tls is for https:// addresses, and this one is {shown(url)}"
        raise InputError(message, source=source_of(skill), path="adapterConfig.tls")
    try:
        return tls_context(config.tls, skill.folder)
    except ValueError as error:
        option, problem = error.args
        raise InputError(problem, source=source_of(skill), path=option and f"adapterConfig.tls.{option}") from None


def trust_of_environment() -> ssl.SSLContext | None:
    """Whom the first of the `AUTHORITY_VARIABLES` that is set says to trust; None: none is.

    Raises:
        ValueError: it names nothing that can be used.
    """
    import ssl

    if (name := next(filter(os.environ.get, AUTHORITY_VARIABLES), None)) is None:
        return None
    path = os.environ[name]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if name == "SSL_CERT_DIR" and not any(map(os.path.isdir, path.split(os.pathsep))):  # OpenSSL takes it for an empty one
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT))
        context.load_verify_locations(**{"cafile" if name == "SSL_CERT_FILE" else "capath": path})
    except OSError as error:
        what = f"a {'file' if name == 'SSL_CERT_FILE' else 'folder'} of certificates in PEM format"
        raise ValueError(f"{name} is {path!r}, which cannot be used ({_short(error)}); name {what}, or unset it") from None
    return context


def tls_warnings(skill: Skill, config: AuthConfig) -> list[str]:
    """What a person should know of a trust that checks nothing."""
    if config.tls is None or config.tls.verify:
        return []
    exposed = "so anyone between here and the server can read and change what is sent, secrets included"
    return [f"{skill.key}: its certificate is not checked (adapterConfig.tls.verify is false), {exposed}"]


def tls_context(config: TlsConfig, folder: Path | None) -> ssl.SSLContext:
    """How to speak TLS by `config`, whose files are looked for in `folder`.

    Raises:
        ValueError: a file cannot be used; the arguments are the option ("" for a variable) and a phrase that says why.
    """
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if not config.verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    elif config.ca_file is not None:
        _load_authorities(context, _file(config.ca_file, folder, "caFile"))
    else:
        import httpx

        try:
            context = trust_of_environment() or httpx.create_ssl_context(trust_env=False)
        except ValueError as error:
            raise ValueError("", str(error)) from None
    if config.client_cert is not None:
        certificate = _file(config.client_cert, folder, "clientCert")
        key = _file(config.client_key, folder, "clientKey") if config.client_key is not None else None
        _load_identity(context, certificate, key)
    return context


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a server shows: the times between which its certificate is valid, and for which names and addresses."""

    begins: datetime
    ends: datetime
    names: tuple[str, ...]


_LOOK_S = 2.0
_NO_CHECK_TIME = 0x200000
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME, which `ssl.VerifyFlags` has no name for."""


async def shown_certificate(url: str, trusted: ssl.SSLContext) -> Certificate | None:
    """The certificate at `url`, if one of the `trusted` authorities signed it, whatever its times and names; None if it
    cannot be had. Nothing is sent. A refused one is forgotten by the libraries, so this asks for it again.
    """
    import ssl
    from urllib.parse import urlsplit

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags = ssl.VerifyFlags(context.verify_flags | _NO_CHECK_TIME)
    if authorities := b"".join(trusted.get_ca_certs(binary_form=True)):
        context.load_verify_locations(cadata=authorities)
    parts = urlsplit(url)
    with suppress(OSError, TimeoutError):  # it is only for the message about the refusal, which there is without it
        async with asyncio.timeout(_LOOK_S):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 443, ssl=context)
            try:
                return _certificate(writer.get_extra_info("peercert"))
            finally:
                writer.transport.abort()
    return None


def _certificate(fields: dict[str, Any]) -> Certificate:
    import ssl

    begins, ends = (datetime.fromtimestamp(ssl.cert_time_to_seconds(fields[key]), UTC) for key in ("notBefore", "notAfter"))
    return Certificate(begins, ends, tuple(name for _, name in fields.get("subjectAltName", ())))


def tls_problem(error: ssl.SSLError, shown: Certificate | None = None) -> str:
    """What went wrong, and what to do about it where that is known, as one phrase; `shown` is the certificate that is refused."""
    import ssl

    reason = error.reason or type(error).__name__
    if isinstance(error, ssl.SSLCertVerificationError) and error.verify_message:
        return _refusal(error.verify_code, error.verify_message.rstrip("."), shown)
    said = reason.replace("_", " ").lower()
    return f"{said}; {_HINTS[reason]}" if reason in _HINTS else said


def _refusal(code: int, said: str, shown: Certificate | None) -> str:
    """Why a certificate is refused, and what helps: an authority to trust only where that is what is wrong."""
    if code in _NAMES:
        names = one_line(", ".join(shown.names), 100) if shown is not None else ""
        seen, which = (f", but for {names}", "such a name") if names else ("", "another name")
        said = said.partition("certificate is ")[2] or said
        return f"its certificate is {said}{seen}; ask the server by {which}, or renew it there"
    if code in {_NOT_YET, _EXPIRED}:
        what = "has expired" if code == _EXPIRED else "is not yet valid"  # OpenSSL's own words for it differ between its versions
        return f"its certificate {what}{_times(code, shown)}; renew it on the server, or set the clock of this machine right"
    said = f"its certificate is not trusted: {said}"
    if code != _SELF_SIGNED and code not in _UNKNOWN:
        return said
    whose = "it" if code == _SELF_SIGNED else "that authority"
    kept = next(filter(os.environ.get, AUTHORITY_VARIABLES), None)
    variable = f"add it to {kept}" if kept else f"set {AUTHORITY_VARIABLES[0]}"
    return f"{said}; if {whose} is yours, name its file in adapterConfig.tls.caFile, or {variable}"


def _times(code: int, shown: Certificate | None) -> str:
    if shown is None:
        return ""
    now = datetime.now(UTC)
    moment, is_it = (shown.ends, shown.ends < now) if code == _EXPIRED else (shown.begins, shown.begins > now)
    whose = "" if is_it else ", so that of an authority above it is meant"
    return f" (valid {'until' if code == _EXPIRED else 'from'} {moment:%Y-%m-%d %H:%M} UTC{whose})"


def _file(name: str, folder: Path | None, option: str) -> Path:
    path = (folder or Path()) / name
    if not path.is_file():
        raise ValueError(option, f"the file {path} does not exist")
    return path


def _load_authorities(context: ssl.SSLContext, path: Path) -> None:
    try:
        context.load_verify_locations(path)
    except OSError as error:
        raise ValueError("caFile", f"{path} does not hold a certificate in PEM format ({_short(error)})") from None


def _load_identity(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    try:
        context.load_cert_chain(certificate, key, password="")  # without one, OpenSSL would ask the terminal
    except OSError as error:
        option = "clientKey" if key is not None else "clientCert"
        message = (
            f"{certificate} and {key or 'the key in it'} are not a certificate and its key in PEM format without a passphrase"
        )
        raise ValueError(option, f"{message} ({_short(error)})") from None


def _short(error: OSError) -> str:
    return getattr(error, "reason", None) or error.strerror or type(error).__name__
