from __future__ import annotations

from typing import Any

import pytest

from eval_skills.adapters.config import read_config
from eval_skills.adapters.http.address import address_of, host_and_port, needs_port, shown, sibling
from eval_skills.adapters.http.config import HttpConfig
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill
from tests.tables import each_row

SERVE = {"serve": {"command": "python3 app.py --port {port}"}}


def skill(entrypoint: str, config: dict[str, Any]) -> Skill:
    data = {"id": "a", "name": "A", "version": "1.0.0", "adapterType": "http", "entrypoint": entrypoint}
    return Skill.model_validate(data | {"adapterConfig": config})


def address(entrypoint: str, config: dict[str, Any], port: int | None = None) -> str:
    probe = skill(entrypoint, config)
    return address_of(probe, read_config(HttpConfig, probe), port)


@each_row(
    ("entrypoint", "config", "url"),
    [
        pytest.param("https://h/run?x=1", {}, "https://h/run?x=1", id="whole"),
        pytest.param("/run", {"baseUrl": "http://h:8/api/"}, "http://h:8/api/run", id="p22-path-below-base"),
        pytest.param("run", {"baseUrl": "http://h"}, "http://h/run", id="p22-relative"),
        pytest.param("http://127.0.0.1:{port}/run", SERVE, "http://127.0.0.1:4242/run", id="port"),
        pytest.param("/run", {"baseUrl": "http://h:{port}", "serve": {"command": "x"}}, "http://h:4242/run", id="port-in-base"),
    ],
)
def test_the_address(entrypoint: str, config: dict[str, Any], url: str) -> None:
    assert address(entrypoint, config, 4242) == url


@each_row(
    ("entrypoint", "config", "message"),
    [
        pytest.param("run", {}, "not an http:// or https:// URL", id="no-url"),
        pytest.param("ftp://h/x", {}, "not an http:// or https:// URL", id="other-scheme"),
        pytest.param("http:///x", {}, "not an http:// or https:// URL", id="no-host"),
        pytest.param("http://h:99999/", {}, "not a URL: Port out of range", id="port-out-of-range"),
        pytest.param("http://h/", {"baseUrl": "http://g"}, "keep only the path", id="two-whole-urls"),
        pytest.param("http://h:{port}/", {}, "needs adapterConfig.serve", id="port-without-service"),
        pytest.param("http://h:8000/", SERVE, "write it there too", id="port-in-command-only"),
    ],
)
def test_an_address_that_cannot_be_is_refused(entrypoint: str, config: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        address(entrypoint, config)


def test_a_free_port_is_needed_where_its_mark_stands() -> None:
    for entrypoint, needed in (("http://h:{port}/", True), ("http://h:8000/", False)):
        probe = skill(entrypoint, {"serve": {"command": "x"}})
        assert needs_port(probe, read_config(HttpConfig, probe)) is needed


def test_messages_show_no_password_and_no_query() -> None:
    assert shown("https://user:pass@h:1/run?key=secret#x") == "https://h:1/run"


def test_the_ready_path_is_on_the_same_host() -> None:
    assert sibling("http://u:p@h:8/api/run?x", "/ready") == "http://h:8/ready"
    assert host_and_port("https://h/x") == ("h", 443)
    assert host_and_port("http://h:8/x") == ("h", 8)
