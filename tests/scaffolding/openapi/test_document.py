"""Documents as they are found: which can be read, and what is said of the others."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import InputError
from tests.scaffolding.openapi.documents import Load, document, ids, one, skill_of
from tests.tables import each_row


@each_row(
    ("content", "message"),
    [
        pytest.param({"swagger": "2.0", "paths": {}}, r"Swagger '2\.0'; only OpenAPI 3\.0 and 3\.1 can be read", id="swagger"),
        pytest.param({"swagger": 2.0}, r"Swagger 2\.0", id="swagger-number"),
        pytest.param({"openapi": "4.0.0", "paths": {}}, r"version '4\.0\.0' is not supported", id="future"),
        pytest.param({"openapi": "3.10.0", "paths": {}}, r"version '3\.10\.0' is not supported", id="not-3-1"),
        pytest.param({"paths": {}}, "the key 'openapi' with its version is missing", id="no-version"),
        pytest.param([], "is an object", id="array"),
        pytest.param(document({}), "no paths", id="no-paths"),
        pytest.param(document([1]), "no paths", id="paths-no-object"),
        pytest.param("{", "not valid JSON", id="broken"),
        pytest.param('{"a":' * 150 + "1" + "}" * 150, "the key 'openapi' with its version is missing", id="deep-elsewhere"),
        pytest.param('{"openapi": "3.0.0", "x":' + "[" * 150 + "]" * 150 + "}", "deeper than 100 levels", id="deep"),
    ],
)
def test_what_cannot_be_read_is_refused(load: Load, content: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(content)


@pytest.mark.parametrize("version", ["3.0.0", "3.0", "3.1.0", "3.1.1", "3.1.0-rc1"])
def test_these_versions_are_read(load: Load, version: str) -> None:
    assert ids(load(one() | {"openapi": version})) == ["get-x"]


@pytest.mark.slow
def test_yaml_aliases_cannot_unfold_without_end(load: Load) -> None:
    bomb = "openapi: 3.0.0\na0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    with pytest.raises(InputError, match="make more than 1,000,000 parts"):
        load(bomb, "api.yaml")
    with pytest.raises(InputError, match="deeper than 100 levels"):
        load("openapi: 3.0.0\na: &a {b: *a}\n", "api.yaml")


def test_a_key_that_yaml_changes_is_named(load: Load) -> None:
    with pytest.raises(InputError, match="YAML reads a key as False; put it in quotes"):
        load("openapi: 3.0.0\npaths: {false: 1}\n", "api.yaml")


@pytest.mark.parametrize(
    ("info", "version"),
    [("{title: T, version: 1.0}", "1.0"), ("{version: 1.10}", "1.10"), ("{version: 2}", "2"), ("{version: true}", "")],
)
def test_a_version_without_quotes_is_its_text(load: Load, info: str, version: str) -> None:
    rest = "servers: [{url: 'https://h.test'}]\npaths: {/x: {get: {operationId: off, responses: {200: {description: d}}}}}\n"
    openapi = skill_of(load(f"openapi: 3.0\ninfo: {info}\n{rest}", "api.yaml"))["metadata"]["openapi"]
    assert (openapi["apiVersion"], openapi["operationId"]) == (version, "off")
