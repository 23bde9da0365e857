"""Whom a skill behind https:// trusts, and how it shows who it is."""

from __future__ import annotations

import asyncio
import errno
import re
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import trustme

from eval_skills.adapters import check_skill, open_adapter, warnings_for
from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.adapters.http.errors import connection_error
from eval_skills.adapters.http.tls import AUTHORITY_VARIABLES, Certificate, tls_problem
from eval_skills.adapters.mcp.server import server_at
from eval_skills.core.errors import InfraError, InputError, ItemError, SkillUnavailable, UsageError
from eval_skills.core.models import Skill
from tests.adapters.skills import make_skill
from tests.adapters.wire import Wire, failure, response

Secure = Callable[..., Skill]


@dataclass(frozen=True, slots=True)
class Authorities:
    """The one that signed the server and one client, and a stranger."""

    own: trustme.CA
    other: trustme.CA


@pytest.fixture(scope="module")
def authorities() -> Authorities:
    return Authorities(trustme.CA(), trustme.CA())


@pytest.fixture
def secure_folder(authorities: Authorities, tmp_path: Path) -> Path:
    """A skill's folder with certificates in it."""
    (tmp_path / "tls").mkdir()
    authorities.own.cert_pem.write_to_path(str(tmp_path / "tls" / "ca.pem"))
    for name, authority in (("client", authorities.own), ("stranger", authorities.other)):
        leaf = authority.issue_cert(f"{name}@h")
        leaf.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "tls" / f"{name}.pem"))
        leaf.private_key_pem.write_to_path(str(tmp_path / "tls" / f"{name}.key"))
        leaf.cert_chain_pems[0].write_to_path(str(tmp_path / "tls" / f"{name}.crt"))
    (tmp_path / "notes.txt").write_text("no certificate")
    return tmp_path


@asynccontextmanager
async def secure(
    authorities: Authorities, *names: str, asks: bool = False, begins: datetime | None = None, ends: datetime | None = None
) -> AsyncIterator[str]:
    """The address of a server on TLS that may ask for a certificate, and shows one for these names and times."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authorities.own.issue_cert(*(names or ("127.0.0.1",)), not_before=begins, not_after=ends).configure_cert(context)
    if asks:
        authorities.own.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    wire = Wire()
    async with await asyncio.start_server(wire.serve, "127.0.0.1", 0, ssl=context) as server:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # a handshake that fails is what this is about
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


@contextmanager
def refusing(authorities: Authorities, version: ssl.TLSVersion) -> Iterator[str]:
    """The address of a server that asks for a certificate and says why it refuses one, which asyncio's do not."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = version
    authorities.own.issue_cert("127.0.0.1").configure_cert(context)
    authorities.own.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED

    def refuse(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) as wrapped:
            with suppress(ssl.SSLError):
                wrapped.do_handshake()
            raw = socket.socket(fileno=wrapped.detach())
        with raw:
            raw.shutdown(socket.SHUT_WR)
            while raw.recv(1000):  # closed with something unread, the connection would be reset and the alert lost
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=refuse, args=(listener,))
        thread.start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}/"
        thread.join()


@pytest.mark.parametrize(
    ("tls", "asks"),
    [
        pytest.param({"caFile": "tls/ca.pem"}, False, id="own-authority"),
        pytest.param({"verify": False}, False, id="nothing-is-checked"),
        pytest.param({"caFile": "tls/ca.pem", "clientCert": "tls/client.pem"}, True, id="client-with-its-key"),
        pytest.param(
            {"caFile": "tls/ca.pem", "clientCert": "tls/client.crt", "clientKey": "tls/client.key"}, True, id="client-and-its-key"
        ),
    ],
)
async def test_a_connection_that_is_trusted(
    authorities: Authorities, secure_folder: Path, tls: dict[str, Any], asks: bool
) -> None:
    async with secure(authorities, asks=asks) as url:
        probe = make_skill("http", url, {"tls": tls}, secure_folder)
        HttpAdapter.check(probe)
        assert (await response(probe, {})).output == {"ok": True}


@pytest.mark.parametrize(
    ("tls", "message"),
    [
        pytest.param(None, "its certificate is not trusted: .*caFile", id="unknown-authority"),
        pytest.param({"caFile": "tls/stranger.crt"}, "its certificate is not trusted", id="another-authority"),
    ],
)
async def test_a_connection_that_is_not_trusted_is_an_infra_error_that_no_retry_mends(
    authorities: Authorities, secure_folder: Path, tls: dict[str, Any] | None, message: str
) -> None:
    async with secure(authorities) as url:
        error = await failure(make_skill("http", url, {"tls": tls} if tls else {}, secure_folder), {})
    assert type(error) is InfraError
    with pytest.raises(InfraError, match=f"TLS with {url} failed: .*{message}"):
        raise error


CLOCK = "; renew it on the server, or set the clock of this machine right"


@pytest.mark.parametrize(
    ("names", "times", "message"),
    [
        pytest.param([], {"ends": datetime(2026, 1, 2)}, f"has expired (valid until 2026-01-02 00:00 UTC){CLOCK}", id="expired"),
        pytest.param(
            [],
            {"begins": datetime(2098, 1, 2), "ends": datetime(2099, 1, 1)},
            f"is not yet valid (valid from 2098-01-02 00:00 UTC){CLOCK}",
            id="not-yet",
        ),
        pytest.param(
            ["a.example", "*.b.example"],
            {},
            "is not valid for '127.0.0.1', but for a.example, *.b.example; ask the server by such a name, or renew it there",
            id="another-name",
        ),
    ],
)
async def test_a_certificate_that_no_authority_helps_is_told_with_what_does(
    authorities: Authorities, secure_folder: Path, names: list[str], times: dict[str, Any], message: str
) -> None:
    async with secure(authorities, *names, **times) as url:
        error = await failure(make_skill("http", url, {"tls": {"caFile": "tls/ca.pem"}}, secure_folder), {})
    assert str(error) == f"TLS with {url} failed: its certificate {message}"


def refusal(code: int, message: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "refused")
    error.reason, error.verify_code, error.verify_message = "CERTIFICATE_VERIFY_FAILED", code, message
    return error


PAST, COMING = datetime(2020, 1, 2, tzinfo=UTC), datetime(2098, 1, 2, tzinfo=UTC)
VALID = Certificate(PAST, COMING, ())


@pytest.mark.parametrize(
    ("error", "shown", "problem"),
    [
        pytest.param(refusal(10, "certificate has expired"), None, f"its certificate has expired{CLOCK}", id="nothing-shown"),
        pytest.param(
            refusal(9, "certificate is not yet valid or the system clock is incorrect"),
            None,
            f"its certificate is not yet valid{CLOCK}",
            id="words-of-a-later-openssl",
        ),
        pytest.param(
            refusal(10, "certificate has expired"),
            VALID,
            f"its certificate has expired (valid until 2098-01-02 00:00 UTC, so that of an authority above it is meant){CLOCK}",
            id="an-authority-has-expired",
        ),
        pytest.param(
            refusal(62, "Hostname mismatch, certificate is not valid for 'h'."),
            VALID,
            "its certificate is not valid for 'h'; ask the server by another name, or renew it there",
            id="it-names-nobody",
        ),
        pytest.param(
            refusal(23, "certificate revoked"), VALID, "its certificate is not trusted: certificate revoked", id="revoked"
        ),
        pytest.param(
            refusal(18, "self-signed certificate"),
            None,
            "its certificate is not trusted: self-signed certificate; if it is yours, name its file in adapterConfig.tls.caFile, "
            "or set SSL_CERT_FILE",
            id="self-signed",
        ),
    ],
)
def test_a_refusal_is_told_with_what_is_known(
    monkeypatch: pytest.MonkeyPatch, error: ssl.SSLError, shown: Certificate | None, problem: str
) -> None:
    for name in AUTHORITY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert tls_problem(error, shown) == problem


@pytest.mark.parametrize("adapter_type", ["http", pytest.param("mcp", marks=pytest.mark.slow)])
async def test_authorities_of_the_environment_are_trusted(
    authorities: Authorities, secure_folder: Path, monkeypatch: pytest.MonkeyPatch, adapter_type: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(secure_folder / "tls" / "ca.pem"))
    async with secure(authorities) as url, open_adapter(make_skill(adapter_type, url, {}, secure_folder)) as adapter:
        if adapter_type == "http":
            assert (await adapter.call({}, 60)).output == {"ok": True}
            return
        with pytest.raises(ItemError) as caught:  # what answers there is no MCP server
            await adapter.call({}, 60)
    assert "certificate" not in str(caught.value)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"SSL_CERT_FILE": "none.pem"},
            "SSL_CERT_FILE is 'none.pem', which cannot be used (No such file or directory); name a file",
        ),
        ({"SSL_CERT_FILE": "notes.txt"}, "SSL_CERT_FILE is 'notes.txt', which cannot be used (NO_CERTIFICATE"),
        ({"SSL_CERT_FILE": "", "SSL_CERT_DIR": "none:gone"}, "SSL_CERT_DIR is 'none:gone', which cannot be used (No such file"),
        ({"SSL_CERT_FILE": "", "SSL_CERT_DIR": "none:tls"}, None),
    ],
)
def test_authorities_of_the_environment_that_cannot_be_used_are_refused_before_the_run(
    secure_folder: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str | None
) -> None:
    monkeypatch.chdir(secure_folder)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for config in ({}, {"tls": {"clientCert": "tls/client.pem"}}):
        probe = make_skill("http", "https://127.0.0.1:1/", config, secure_folder)
        with pytest.raises(InputError, match=re.escape(message)) if message else nullcontext():
            check_skill(probe)
    with pytest.raises(UsageError, match=re.escape(message)) if message else nullcontext():
        server_at("https://127.0.0.1:1/", secure_folder)
    check_skill(make_skill("http", "http://127.0.0.1:1/", {}, secure_folder))
    check_skill(make_skill("http", "https://127.0.0.1:1/", {"tls": {"caFile": "tls/ca.pem"}}, secure_folder))


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize(
    ("client", "message"),
    [
        pytest.param({}, "set adapterConfig.tls.clientCert", id="none"),
        pytest.param({"clientCert": "tls/stranger.pem"}, "the server does not trust the authority that signed", id="stranger"),
    ],
)
async def test_a_server_that_does_not_trust_us_says_why(
    authorities: Authorities, secure_folder: Path, version: ssl.TLSVersion, client: dict[str, str], message: str
) -> None:
    with refusing(authorities, version) as url:
        error = await failure(make_skill("http", url, {"tls": {"caFile": "tls/ca.pem", **client}}, secure_folder), {})
    assert type(error) is InfraError
    assert message in str(error)


@pytest.mark.parametrize(
    "cause", [ConnectionResetError(errno.ECONNRESET, "reset"), anyio.BrokenResourceError(), BrokenPipeError(errno.EPIPE, "pipe")]
)
def test_a_refusal_whose_alert_was_lost_has_the_same_remedy(cause: Exception) -> None:
    wrapped = httpx.ReadError("")
    wrapped.__cause__ = cause
    error = connection_error(wrapped, "https://h:1/a")
    assert type(error) is SkillUnavailable
    assert "set adapterConfig.tls.clientCert" in str(error)
    plain = str(connection_error(wrapped, "http://h:1/a"))
    assert "clientCert" not in plain
    assert "BrokenResourceError" not in plain


async def test_a_server_that_misses_our_certificate_always_has_the_same_remedy(
    authorities: Authorities, secure_folder: Path
) -> None:
    async with secure(authorities, asks=True) as url:
        probe = make_skill("http", url, {"tls": {"caFile": "tls/ca.pem"}}, secure_folder)
        errors = [await failure(probe, {}) for _ in range(5)]
    assert [str(error) for error in errors if "set adapterConfig.tls.clientCert" not in str(error)] == []


@pytest.mark.parametrize(
    ("tls", "message"),
    [
        pytest.param(
            {"caFile": "tls/none.pem"}, r"adapterConfig.tls.caFile: the file .*tls/none\.pem does not exist", id="no-file"
        ),
        pytest.param(
            {"caFile": "notes.txt"}, r"adapterConfig.tls.caFile: .*notes.txt does not hold a certificate", id="no-certificate"
        ),
        pytest.param(
            {"clientCert": "tls/client.crt"}, r"adapterConfig.tls.clientCert: .*are not a certificate and its key", id="no-key"
        ),
        pytest.param(
            {"clientCert": "tls/client.crt", "clientKey": "tls/stranger.key"}, r"adapterConfig.tls.clientKey: ", id="other-key"
        ),
        pytest.param(
            {"clientKey": "tls/client.key"}, r"adapterConfig.tls: .*clientKey has no effect without clientCert", id="half"
        ),
        pytest.param({"caFile": "tls/ca.pem", "verify": False}, r"verify false trusts everyone; keep one", id="both"),
        pytest.param({"cafile": "x"}, r"adapterConfig.tls: unknown key 'cafile' .did you mean 'caFile'", id="p60-misspelt"),
        pytest.param({"verify": "no"}, r"adapterConfig.tls.verify: ", id="text-for-bool"),
    ],
)
@pytest.mark.parametrize("adapter_type", ["http", "mcp"])
def test_what_cannot_be_used_is_found_before_the_run(
    secure_folder: Path, adapter_type: str, tls: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        check_skill(make_skill(adapter_type, "https://127.0.0.1:1/", {"tls": tls}, secure_folder))


@pytest.mark.parametrize("adapter_type", ["http", "mcp"])
def test_tls_needs_an_address_that_has_it(secure_folder: Path, adapter_type: str) -> None:
    with pytest.raises(
        InputError, match=r"adapterConfig.tls: tls is for https:// addresses, and this one is http://127.0.0.1:1/"
    ):
        check_skill(make_skill(adapter_type, "http://127.0.0.1:1/?key=x", {"tls": {}}, secure_folder))


@pytest.mark.parametrize("adapter_type", ["http", "mcp"])
def test_an_unchecked_certificate_is_warned_of(secure_folder: Path, adapter_type: str) -> None:
    def warnings(config: dict[str, Any]) -> list[str]:
        return warnings_for(make_skill(adapter_type, "https://127.0.0.1:1/", config, secure_folder))

    [doubt] = warnings({"tls": {"verify": False}})
    assert doubt.startswith("probe@1.2.3: its certificate is not checked (adapterConfig.tls.verify is false)")
    assert warnings({"tls": {"caFile": "tls/ca.pem"}}) == warnings({}) == []


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_an_mcp_server_that_does_not_trust_us_says_why(
    authorities: Authorities, secure_folder: Path, version: ssl.TLSVersion
) -> None:
    config = {"tls": {"caFile": "tls/ca.pem"}}
    with refusing(authorities, version) as url:
        async with open_adapter(make_skill("mcp", url, config, secure_folder)) as adapter:
            with pytest.raises(InfraError, match=r"TLS with .* failed: .*set adapterConfig\.tls\.clientCert"):
                await adapter.call({}, 60)


@pytest.mark.slow  # loads the SDK
@pytest.mark.parametrize(("tls", "trusted"), [({"caFile": "tls/ca.pem"}, True), ({"verify": False}, True), ({}, False)])
async def test_an_mcp_server_is_trusted_by_the_same_options(
    authorities: Authorities, secure_folder: Path, tls: dict[str, Any], trusted: bool
) -> None:
    async with secure(authorities) as url, open_adapter(make_skill("mcp", url, {"tls": tls}, secure_folder)) as adapter:
        with pytest.raises(ItemError) as caught:  # what answers there is no MCP server
            await adapter.call({}, 60)
    assert ("is not trusted" in str(caught.value)) is not trusted
