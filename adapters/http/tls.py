"""Whom a connection over TLS trusts, and how it shows who we are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import model_validator

from eval_skills.core.models import Model
from eval_skills.core.models.base import Text

if TYPE_CHECKING:
    import ssl

_HINTS = {
    "CERTIFICATE_VERIFY_FAILED": "if that authority is yours, name its file in adapterConfig.tls.caFile",
    "WRONG_VERSION_NUMBER": "the server does not seem to speak TLS; is its address http://?",
    "RECORD_LAYER_FAILURE": "the server does not seem to speak TLS; is its address http://?",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "the server wants to know us: give adapterConfig.tls.clientCert",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "the server may want to know us: give adapterConfig.tls.clientCert",
    "TLSV1_ALERT_UNKNOWN_CA": "the server does not know the authority behind adapterConfig.tls.clientCert",
}


class TlsConfig(Model):
    """Files in PEM format, from the skill's folder.

    `ca_file` holds the authorities to trust instead of the public ones. `client_cert` is what we show to a server that asks;
    its key, without a passphrase, is in the same file or in `client_key`. `verify` false checks no certificate at all.
    """

    ca_file: Text | None = None
    client_cert: Text | None = None
    client_key: Text | None = None
    verify: bool = True

    @model_validator(mode="after")
    def _can_be_meant(self) -> TlsConfig:
        if self.client_key is not None and self.client_cert is None:
            raise ValueError("clientKey is of no use without clientCert; give both")
        if self.ca_file is not None and not self.verify:
            raise ValueError("caFile says whom to trust and verify false trusts everyone; keep one of them")
        return self


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
        raise ValueError(option, f"there is no file {path}")
    return path


def _load_authorities(context: ssl.SSLContext, path: Path) -> None:
    try:
        context.load_verify_locations(path)
    except OSError as error:
        raise ValueError("caFile", f"{path} holds no certificate in PEM format ({_short(error)})") from None


def _load_identity(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    try:
        context.load_cert_chain(certificate, key, password="")  # without one, OpenSSL would ask the terminal
    except OSError as error:
        option = "clientKey" if key is not None else "clientCert"
        message = f"{certificate} and {key or 'the key in it'} are no certificate and its key in PEM format without a passphrase"
        raise ValueError(option, f"{message} ({_short(error)})") from None


def _short(error: OSError) -> str:
    return getattr(error, "reason", None) or error.strerror or type(error).__name__
