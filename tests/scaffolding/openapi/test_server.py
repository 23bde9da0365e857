"""Where the service of a document is."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import UsageError
from tests.scaffolding.openapi.documents import OK, Load, document, one, skill_of
from tests.tables import each_row

TOOK = "took the first server, http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("servers", "base_url", "address"),
    [
        pytest.param([{"url": "https://h/v1/"}], None, "https://h/v1", id="document"),
        pytest.param([{"url": "https://h/v1"}], "http://127.0.0.1:8080/x/", "http://127.0.0.1:8080/x", id="base-url-wins"),
        pytest.param([], "http://g", "http://g", id="none-and-base-url"),
        pytest.param(
            [{"url": "https://{r}.h:{p}", "variables": {"r": {"default": "eu"}, "p": {"default": "8443"}}}],
            None,
            "https://eu.h:8443",
            id="variables",
        ),
    ],
)
def test_the_address(load: Load, servers: Any, base_url: str | None, address: str) -> None:
    assert skill_of(load(one() | {"servers": servers}, base_url=base_url))["adapterConfig"]["baseUrl"] == address


def test_the_nearest_server_counts(load: Load) -> None:
    assert skill_of(load(one(servers=[{"url": "https://own"}])))["adapterConfig"]["baseUrl"] == "https://own"


@pytest.mark.parametrize(
    ("servers", "base_url", "remarks"),
    [
        pytest.param(
            ["http://127.0.0.1:1/v1/", "https://b", "/v2"],
            None,
            [f"{TOOK}/v1; --base-url takes another, such as https://b, /v2"],
            id="several",
        ),
        pytest.param(
            ["http://127.0.0.1:1", *(f"http://s{number}" for number in range(5))],
            None,
            [f"{TOOK}; --base-url takes another, such as http://s0, http://s1, http://s2 and 2 more"],
            id="many",
        ),
        pytest.param(["http://127.0.0.1:1", "http://127.0.0.1:1/"], None, [], id="the-same-twice"),
        pytest.param(["http://127.0.0.1:1", "https://b"], "http://127.0.0.1:2", [], id="chosen"),
    ],
)
def test_which_of_several_servers_was_taken_is_said_once(
    load: Load, servers: list[str], base_url: str | None, remarks: list[str]
) -> None:
    two = document({"/a": {"get": {"responses": OK}}, "/b": {"get": {"responses": OK}}})
    assert load(two | {"servers": [{"url": url} for url in servers]}, base_url=base_url).remarks == remarks


@each_row(
    ("servers", "base_url", "message"),
    [
        pytest.param(
            [{"url": "/v1"}], None, "the document's server is '/v1'; give its whole address with --base-url", id="relative"
        ),
        pytest.param([], None, "names no server; give its whole address", id="none"),
        pytest.param([{"url": "file:///etc/passwd"}], None, "give its whole address", id="file"),
        pytest.param([{"url": "https://{region}.h"}], None, "and braces", id="variable-without-default"),
        pytest.param([{"url": "https://u:p@h"}], None, "without user", id="password"),
        pytest.param([], "127.0.0.1:80", "not an http:// or https:// URL", id="no-scheme"),
        pytest.param([], "http://h/?x", "without user, query", id="query"),
        pytest.param([], "http://h/\nx", "not an http:// or https:// URL", id="line-break"),
        pytest.param([], "http://h:99999", "not a URL: Port out of range", id="port"),
    ],
)
def test_no_address(load: Load, servers: Any, base_url: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load(one() | {"servers": servers}, base_url=base_url)
