"""Whom a skill behind https:// trusts, and how it shows who it is."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import trustme

from eval_skills.adapters import check_skill, open_adapter, warnings_for
from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.adapters.http.errors import connection_error
from eval_skills.core.errors import InfraError, InputError, ItemError, SkillUnavailable
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
async def secure(authorities: Authorities, *, asks: bool = False) -> AsyncIterator[str]:
    """The address of a server on TLS that may ask for a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authorities.own.issue_cert("127.0.0.1").configure_cert(context)
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
