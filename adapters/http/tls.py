"""TLS: which certificates a connection trusts, and the client certificate that it presents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eval_skills.adapters.config import source_of
from eval_skills.adapters.http.address import shown
from eval_skills.adapters.http.config import AuthConfig, TlsConfig
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill

if TYPE_CHECKING:
    import ssl

_HINTS = {
    "CERTIFICATE_VERIFY_FAILED": "if that authority is yours, name its file in adapterConfig.tls.caFile",
    "WRONG_VERSION_NUMBER": "the server does not seem to speak TLS; should its address begin with http://?",
    "RECORD_LAYER_FAILURE": "the server does not seem to speak TLS; should its address begin with http://?",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "the server requires a client certificate: set adapterConfig.tls.clientCert",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "the server may require a client certificate: set adapterConfig.tls.clientCert",
    "TLSV1_ALERT_UNKNOWN_CA": "the server does not trust the authority that signed adapterConfig.tls.clientCert",
}


def trust_of(skill: Skill, config: AuthConfig, url: str) -> ssl.SSLContext | None:
    """How to speak TLS with `skill` at `url`; None where its configuration says nothing about it.

    Raises:
        InputError: a file of `tls` cannot be used, or there is no TLS at `url`.
    """
    if config.tls is None:
        return None
    if not url.lower().startswith("https:"):
        message = f"tls is for https:// addresses, and this one is {shown(url)}"
        raise InputError(message, source=source_of(skill), path="adapterConfig.tls")
    try:
        return tls_context(config.tls, skill.folder)
    except ValueError as error:
        option, problem = error.args
        raise InputError(problem, source=source_of(skill), path=f"adapterConfig.tls.{option}") from None


def tls_warnings(skill: Skill, config: AuthConfig) -> list[str]:
    """What a person should know of a trust that checks nothing."""
    if config.tls is None or config.tls.verify:
        return []
    exposed = "so anyone between here and the server can read and change what is sent, secrets included"
    return [f"{skill.key}: its certificate is not checked (adapterConfig.tls.verify is false), {exposed}"]


def tls_context(config: TlsConfig, folder: Path | None) -> ssl.SSLContext:
    """How to speak TLS by `config`, whose files are looked for in `folder`.

    Raises:
        ValueError: a file cannot be used; the arguments are the option and a phrase that says why.
    """
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if not config.verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    elif config.ca_file is not None:
        _load_authorities(context, _file(config.ca_file, folder, "caFile"))
    else:
        import httpx

        context = httpx.create_ssl_context(trust_env=False)
    if config.client_cert is not None:
        certificate = _file(config.client_cert, folder, "clientCert")
        key = _file(config.client_key, folder, "clientKey") if config.client_key is not None else None
        _load_identity(context, certificate, key)
    return context


def tls_problem(error: ssl.SSLError) -> str:
    """What went wrong, and what to do about it where that is known, as one phrase."""
    reason = error.reason or type(error).__name__
    said = getattr(error, "verify_message", "") or reason.replace("_", " ").lower()
    if reason == "CERTIFICATE_VERIFY_FAILED":
        said = f"its certificate is not trusted: {said.rstrip('.')}"
    return f"{said}; {_HINTS[reason]}" if reason in _HINTS else said


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
