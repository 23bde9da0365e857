"""Documents as they are found: every operation becomes a skill, or is named with the reason why not; nothing is trusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.config import read_config
from eval_skills.adapters.http_config import HttpConfig
from eval_skills.benchmarks import load_tasks
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.skills import load_skill
from eval_skills.scaffolding.draft import write_drafts
from eval_skills.scaffolding.openapi import Imported, import_openapi
from eval_skills.scaffolding.openapi.text import plain
from eval_skills.scaffolding.skill_name import skill_name

OK = {"200": {"description": "fine", "content": {"application/json": {"schema": {"type": "object"}}}}}
Load = Callable[..., Imported]


def document(paths: Any, **parts: Any) -> dict[str, Any]:
    whole = {
        "openapi": "3.0.3",
        "info": {"title": "T", "version": "1"},
        "servers": [{"url": "https://h.example/v1"}],
        "paths": paths,
    }
    return whole | parts


def one(method: str = "get", path: str = "/x", **operation: Any) -> dict[str, Any]:
    return document({path: {method: {"responses": OK, **operation}}})


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def loaded(content: Any, file_name: str = "api.json", **options: Any) -> Imported:
        file = tmp_path / file_name
        file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return import_openapi(file, tmp_path / "skills", **options)

    return loaded


def skill_of(imported: Imported) -> Any:
    return json.loads(imported.drafts[0].files["skill.json"])


def tasks_of(imported: Imported) -> Any:
    return json.loads(imported.drafts[0].files["tests/basic.eval.json"])["tasks"]


def ids(imported: Imported) -> list[str]:
    return [draft.folder.name for draft in imported.drafts]


# What can be read


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(
            {"swagger": "2.0", "paths": {}}, r"Swagger '2\.0', and OpenAPI 3\.0 and 3\.1 are read; convert it", id="swagger"
        ),
        pytest.param({"swagger": 2.0}, r"Swagger 2\.0", id="swagger-number"),
        pytest.param({"openapi": "4.0.0", "paths": {}}, r"version '4\.0\.0' is not read", id="future"),
        pytest.param({"openapi": "3.10.0", "paths": {}}, r"version '3\.10\.0' is not read", id="not-3-1"),
        pytest.param({"paths": {}}, "no key 'openapi'", id="no-version"),
        pytest.param([], "is an object", id="array"),
        pytest.param(document({}), "no paths", id="no-paths"),
        pytest.param(document([1]), "no paths", id="paths-no-object"),
        pytest.param("{", "not valid JSON", id="broken"),
        pytest.param('{"a":' * 150 + "1" + "}" * 150, "no key 'openapi'", id="deep-elsewhere"),
        pytest.param('{"openapi": "3.0.0", "x":' + "[" * 150 + "]" * 150 + "}", "deeper than 100 levels", id="deep"),
    ],
)
def test_what_cannot_be_read_is_refused(load: Load, content: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(content)


@pytest.mark.parametrize("version", ["3.0.0", "3.0", "3.1.0", "3.1.1", "3.1.0-rc1"])
def test_these_versions_are_read(load: Load, version: str) -> None:
    assert ids(load(one() | {"openapi": version})) == ["get-x"]


def test_yaml_aliases_cannot_unfold_without_end(load: Load) -> None:
    bomb = "openapi: 3.0.0\na0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    with pytest.raises(InputError, match="more than 2,000,000 values"):
        load(bomb, "api.yaml")
    with pytest.raises(InputError, match="deeper than 100 levels"):
        load("openapi: 3.0.0\na: &a {b: *a}\n", "api.yaml")


def test_a_key_that_yaml_changes_is_named(load: Load) -> None:
    with pytest.raises(InputError, match="YAML reads a key as False; put it into quotes"):
        load("openapi: 3.0.0\npaths: {no: 1}\n", "api.yaml")


# Which operations


def test_p67_every_operation_becomes_a_skill_or_is_named(load: Load) -> None:
    upload = {"required": True, "content": {"multipart/form-data": {"schema": {"type": "object"}}}}
    image = {"200": {"description": "", "content": {"image/png": {}}}}
    session = [{"name": "sid", "in": "cookie", "required": True, "schema": {"type": "string"}}]
    paths = {
        "/a": {"get": {"responses": OK}, "head": {"responses": OK}, "delete": {"responses": OK}, "x-own": {}},
        "/b": {"post": {"requestBody": upload, "responses": OK}, "get": {"responses": image}},
        "/c": {
            "get": {"parameters": session, "responses": OK},
            "put": {"requestBody": {"$ref": "other.yaml#/b"}, "responses": OK},
        },
        "/d?x": {"get": {"responses": OK}},
        "/e": {"get": {"parameters": [{"$ref": "#/components/parameters/lost"}]}, "patch": 5},
        "x-paths": {"get": {}},
    }
    imported = load(document(paths))
    assert ids(imported) == ["get-a", "delete-a"]
    assert [(remark.split(":")[0], remark.partition(": ")[2][:45]) for remark in imported.remarks] == [
        ("left out HEAD /a", "no skill answers with what HEAD gives"),
        ("left out GET /d?x", "its path is none: it must start with / and ho"),
        ("left out PATCH /e", "it is no object"),
        ("left out GET /b", "the answer is image/png; JSON and plain text "),
        ("left out POST /b", "the body is multipart/form-data; JSON and for"),
        ("left out GET /c", "the required cookie parameter 'sid' is sent i"),
        ("left out PUT /c", "$ref 'other.yaml#/b' leads outside this file,"),
        ("left out GET /e", "$ref '#/components/parameters/lost' leads to "),
    ]


def test_one_that_is_wanted_must_work(load: Load) -> None:
    broken = document({"/a": {"get": {"responses": OK}}, "/b": {"get": {"operationId": "b", "requestBody": {"$ref": "#/no"}}}})
    with pytest.raises(InputError, match="'#/no' leads to nothing"):
        load(broken, operation="b")
    assert ids(load(broken, operation="GET /a")) == ["get-a"]


@pytest.mark.parametrize(
    ("operation_ids", "expected"),
    [
        pytest.param(["listPets", "ListPETS", "list_pets"], ["list-pets", "list-pets-2", "list_pets"], id="p-collision"),
        pytest.param(["a", "a", "a-2"], ["a", "a-2", "a-2-2"], id="numbered-name-is-taken"),
        pytest.param(["../../etc/passwd", "a\nb", "Ünï"], ["etc-passwd", "a-b", "n"], id="weird"),
        pytest.param(["", "\u4f60\u597d", None], ["get-p0", "get-p1", "get-p2"], id="method-and-path"),
        pytest.param([5, ["x"], "x" * 500], ["get-p0", "get-p1", "x" * 80], id="no-text-and-too-long"),
    ],
)
def test_ids(load: Load, operation_ids: list[Any], expected: list[str]) -> None:
    paths = {f"/p{number}": {"get": {"operationId": each, "responses": OK}} for number, each in enumerate(operation_ids)}
    imported = load(document(paths))
    assert ids(imported) == expected
    write_drafts(imported.drafts)
    assert [load_skill(draft.folder).id for draft in imported.drafts] == expected


def test_the_name_is_a_prefix_of_several_and_the_name_of_one(load: Load) -> None:
    paths = {"/a": {"get": {"summary": "Find it", "responses": OK}, "put": {"responses": OK}}}
    named = skill_name("My API")
    imported = load(document(paths), name=named)
    assert ids(imported) == ["my-api-get-a", "my-api-put-a"]
    assert skill_of(imported)["name"] == "My API: Find it"
    only = load(document(paths), name=named, operation="PUT /a")
    assert (ids(only), skill_of(only)["name"]) == (["my-api"], "My API")


def test_an_operation_that_is_not_there_is_refused_with_the_nearest(load: Load) -> None:
    with pytest.raises(UsageError, match=r"--operation 'getx' is not in the document \(did you mean 'getX'\?\); it has getX"):
        load(one(operationId="getX"), operation="getx")
    twice = {f"/{name}": {"get": {"operationId": "same", "responses": OK}} for name in "ab"}
    with pytest.raises(UsageError, match="'same' is GET /a and GET /b; name one of them so"):
        load(document(twice), operation="same")


# Where


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
    ("servers", "base_url", "message"),
    [
        pytest.param(
            [{"url": "/v1"}], None, "the document's server is '/v1'; give its whole address with --base-url", id="relative"
        ),
        pytest.param([], None, "names no server; give its whole address", id="none"),
        pytest.param([{"url": "file:///etc/passwd"}], None, "give its whole address", id="file"),
        pytest.param([{"url": "https://{region}.h"}], None, "and braces", id="variable-without-default"),
        pytest.param([{"url": "https://u:p@h"}], None, "without user", id="password"),
        pytest.param([], "127.0.0.1:80", "no http:// or https:// URL", id="no-scheme"),
        pytest.param([], "http://h/?x", "without user, query", id="query"),
        pytest.param([], "http://h/\nx", "no http:// or https:// URL", id="line-break"),
        pytest.param([], "http://h:99999", "no URL: Port out of range", id="port"),
    ],
)
def test_no_address(load: Load, servers: Any, base_url: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load(one() | {"servers": servers}, base_url=base_url)


# How


def with_security(scheme: Any, **operation: Any) -> dict[str, Any]:
    return one(security=[{"S": []}], **operation) | {"components": {"securitySchemes": {"S": scheme}}}


@pytest.mark.parametrize(
    ("scheme", "config"),
    [
        pytest.param(
            {"type": "apiKey", "in": "header", "name": "X-K"}, {"authType": "api-key", "authHeader": "X-K"}, id="header"
        ),
        pytest.param({"type": "apiKey", "in": "query", "name": "k"}, {"authType": "api-key", "authQuery": "k"}, id="query"),
        pytest.param(
            {"type": "apiKey", "in": "cookie", "name": "s"}, {"authType": "api-key", "authHeader": "Cookie"}, id="cookie"
        ),
        pytest.param({"type": "http", "scheme": "Bearer"}, {"authType": "bearer"}, id="bearer"),
        pytest.param({"type": "http", "scheme": "basic"}, {"authType": "api-key", "authHeader": "Authorization"}, id="basic"),
        pytest.param({"type": "oauth2", "flows": {}}, {"authType": "bearer"}, id="oauth2"),
    ],
)
def test_the_auth_scheme(load: Load, scheme: Any, config: dict[str, str]) -> None:
    imported = load(with_security(scheme))
    written = {key: value for key, value in skill_of(imported)["adapterConfig"].items() if key.startswith("auth")}
    assert written == config | {"authTokenEnvKey": "SKILL_T_S"}
    assert imported.variables == ["SKILL_T_S"]
    assert "`SKILL_T_S`" in imported.drafts[0].files["README.md"]


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        pytest.param({"type": "mutualTLS"}, "'S' (mutualTLS) is not supported", id="tls"),
        pytest.param({"type": "http", "scheme": "digest"}, "'S' (http digest) is not supported", id="digest"),
        pytest.param({"type": "apiKey", "in": "header", "name": "Host"}, "not supported", id="framing"),
        pytest.param({"type": "apiKey", "in": "header", "name": "A: b\r\nC"}, "not supported", id="injection"),
        pytest.param(5, "is not usable", id="no-object"),
    ],
)
def test_p67_an_auth_scheme_that_is_not_supported_is_named(load: Load, scheme: Any, said: str) -> None:
    imported = load(with_security(scheme))
    assert said in " ".join(imported.remarks)
    assert "authType" not in skill_of(imported)["adapterConfig"]


def test_no_document_can_ask_for_a_variable_of_another_service(load: Load) -> None:
    scheme = {"components": {"securitySchemes": {"SECRET_ACCESS_KEY": {"type": "http", "scheme": "bearer"}}}}
    stealing = one(security=[{"SECRET_ACCESS_KEY": []}]) | scheme | {"info": {"title": "AWS", "version": "1"}}
    assert load(stealing).variables == ["SKILL_AWS_SECRET_ACCESS_KEY"]


def test_alternatives(load: Load) -> None:
    schemes = {"a": {"type": "mutualTLS"}, "b": {"type": "http", "scheme": "bearer"}}
    parts = {"components": {"securitySchemes": schemes}}
    assert load(one(security=[{"a": []}, {"b": []}]) | parts).variables == ["SKILL_T_B"]
    assert load(one(security=[]) | parts | {"security": [{"b": []}]}).variables == []
    assert load(one() | parts | {"security": [{"b": []}]}).variables == ["SKILL_T_B"]
    both = load(one(security=[{"b": [], "c": []}]) | {"components": {"securitySchemes": schemes | {"c": schemes["b"]}}})
    assert "b and c at once" in both.remarks[0]
    assert load(one(security=[{}, {"a": []}]) | parts).remarks == []


def test_parameters_of_every_kind(load: Load) -> None:
    text = {"schema": {"type": "string"}}
    deep = {"type": "object", "properties": {"a": {"type": "string"}, "b.c": {"type": "integer"}}}
    parameters = [
        {"name": "id", "in": "query", **text},
        {"name": "body", "in": "query", **text},
        {"name": "filter", "in": "query", "style": "deepObject", "schema": deep},
        {"name": "spread", "in": "query", "schema": deep},
        {"name": "tags", "in": "query", "style": "pipeDelimited", "explode": False, "schema": {"type": "array"}},
        {"name": "odd.name[]", "in": "query", "schema": {"type": "array"}},
        {"name": "Authorization", "in": "header", **text},
        {"name": "Host", "in": "header", **text},
        {"name": "j", "in": "query", "content": {"application/json": text}},
    ]
    shared = [
        {"name": "id", "in": "path", "required": True, **text},
        {"name": "odd.name[]", "in": "query", "required": True, **text},
    ]
    patch = {"parameters": parameters, "requestBody": {"content": {"application/merge-patch+json": {}}}, "responses": OK}
    imported = load(document({"/{id}/{port}": {"parameters": shared, "patch": patch}}))
    config = skill_of(imported)["adapterConfig"]
    assert skill_of(imported)["entrypoint"] == "/{id}/{port_}"
    assert config["requestTemplate"] == {
        "path": {"id": "{{input.id}}", "port_": "{{input.port}}"},
        "query": {
            "id": "{{input.id_query}}",
            "body": "{{input.body_query}}",
            "filter[a]": "{{input.filter.a}}",
            "filter[b.c]": '{{input.filter["b.c"]}}',
            "a": "{{input.spread.a}}",
            "b.c": '{{input.spread["b.c"]}}',
            "tags": '{{input.tags | join("|")}}',
            "odd.name[]": '{{input["odd.name[]"]}}',
        },
        "headers": {"Content-Type": "application/merge-patch+json"},
        "body": "{{input.body}}",
    }
    assert skill_of(imported)["inputSchema"]["required"] == ["id", "port"]
    assert [remark.partition(": left out the ")[2] for remark in imported.remarks] == [
        "header parameter 'Host': it is no header that a skill may set",
        "query parameter 'j': it is sent as a whole document, which is not supported",
    ]
    assert "query parameter 'j'" in imported.drafts[0].files["README.md"]


def test_a_form_and_a_text(load: Load) -> None:
    form = {"content": {"application/x-www-form-urlencoded": {"schema": {"type": "object"}, "example": {"a": "1"}}}}
    answers = {"201": {"description": "", "content": {"text/plain": {"example": "created"}}}}
    imported = load(one("post", requestBody=form, responses=answers))
    assert skill_of(imported)["adapterConfig"]["requestTemplate"] == {
        "headers": {"Accept": "text/plain"},
        "form": "{{input.body}}",
    }
    assert tasks_of(imported)[0]["inputData"] == {"body": {"a": "1"}}
    assert tasks_of(imported)[0]["expectedOutput"] == {"type": "exact_match", "value": "created"}


# Schemas


def answering(schema: Any, **parts: Any) -> dict[str, Any]:
    return one(responses={"200": {"description": "d", "content": {"application/json": {"schema": schema}}}}) | parts


@pytest.mark.parametrize(
    ("version", "schema", "expected"),
    [
        pytest.param("3.0.0", {"type": "string", "nullable": True}, {"type": ["string", "null"]}, id="nullable"),
        pytest.param(
            "3.0.0",
            {"type": "string", "nullable": True, "enum": ["a"]},
            {"type": ["string", "null"], "enum": ["a", None]},
            id="nullable-enum",
        ),
        pytest.param(
            "3.0.0",
            {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            {"type": "integer", "exclusiveMinimum": 1},
            id="exclusive",
        ),
        pytest.param(
            "3.0.0",
            {"type": "integer", "maximum": 1, "exclusiveMaximum": False},
            {"type": "integer", "maximum": 1},
            id="inclusive",
        ),
        pytest.param(
            "3.0.0",
            {"type": "string", "xml": {}, "x-a": 1, "discriminator": {"propertyName": "k"}},
            {"type": "string"},
            id="own-words",
        ),
        pytest.param("3.0.0", {"type": "string", "pattern": "(?<bad"}, {"type": "string"}, id="pattern-of-another-dialect"),
        pytest.param(
            "3.0.0", {"$ref": "#/components/schemas/A", "nullable": True}, {"type": "integer"}, id="3.0-ref-stands-alone"
        ),
        pytest.param(
            "3.1.0", {"$ref": "#/components/schemas/A", "title": "t"}, {"type": "integer", "title": "t"}, id="3.1-beside-ref"
        ),
        pytest.param(
            "3.1.0",
            {"$ref": "#/components/schemas/A", "minimum": 1},
            {"minimum": 1, "allOf": [{"type": "integer"}]},
            id="3.1-both",
        ),
        pytest.param(
            "3.1.0",
            {"type": ["string", "null"], "const": "a", "$schema": "x", "$id": "y"},
            {"type": ["string", "null"], "const": "a"},
            id="3.1-id",
        ),
        pytest.param(
            "3.1.0",
            {"properties": {"$ref": {"type": "string"}, "nullable": True}},
            {"properties": {"$ref": {"type": "string"}, "nullable": True}},
            id="names-are-no-keywords",
        ),
        pytest.param(
            "3.0.0",
            {"properties": {"p": {"type": "string", "writeOnly": True}}, "required": ["p"]},
            {"properties": {}},
            id="write-only",
        ),
        pytest.param("3.0.0", {"$ref": "#/components/schemas/a~1b%20c"}, {"type": "boolean"}, id="escaped-pointer"),
    ],
)
def test_schemas_are_self_contained(load: Load, version: str, schema: Any, expected: Any) -> None:
    parts = {"components": {"schemas": {"A": {"type": "integer"}, "a/b c": {"type": "boolean"}}}, "openapi": version}
    output = skill_of(load(answering(schema, **parts)))["outputSchema"]
    assert {key: value for key, value in output.items() if key != "description"} == expected


def test_a_recursive_schema_is_kept_under_defs_and_judges(load: Load) -> None:
    tree = {
        "type": "object",
        "required": ["v"],
        "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/components/schemas/B"}},
    }
    schemas = {"A": tree, "B": {"type": "array", "items": {"$ref": "#/components/schemas/A"}}, "C": {"type": "string"}}
    listed = {"type": "array", "items": {"anyOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/C"}]}}
    imported = load(answering(listed, components={"schemas": schemas}))
    output = skill_of(imported)["outputSchema"]
    assert output["items"] == {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}
    assert output["$defs"].keys() == {"A", "B"}
    write_drafts(imported.drafts)
    load_tasks(imported.drafts[0].folder / "tests" / "basic.eval.json")


def test_a_schema_that_doubles_with_every_step_stays_small(load: Load) -> None:
    schemas: dict[str, Any] = {"S0": {"type": "string"}}
    for number in range(1, 40):
        part = {"$ref": f"#/components/schemas/S{number - 1}"}
        schemas[f"S{number}"] = {"type": "object", "properties": {"l": part, "r": part}}
    imported = load(answering({"$ref": "#/components/schemas/S39"}, components={"schemas": schemas}))
    assert len(imported.drafts[0].files["skill.json"]) < 30_000
    assert len(skill_of(imported)["outputSchema"]["$defs"]) == 39


def test_a_long_chain_and_a_huge_schema_are_no_trouble(load: Load) -> None:
    chain: dict[str, Any] = {f"S{n}": {"type": "array", "items": {"$ref": f"#/components/schemas/S{n + 1}"}} for n in range(3000)}
    chain["S3000"] = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(25_000)}}
    imported = load(answering({"$ref": "#/components/schemas/S0"}, components={"schemas": chain}))
    assert "left out: the whole schema is too large" in imported.drafts[0].files["skill.json"]


def test_references_in_a_circle_are_named(load: Load) -> None:
    circle = {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}
    with pytest.raises(InputError, match="leads in a circle"):
        load(answering({"$ref": "#/components/schemas/A"}, components={"schemas": circle}))


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:1/x.json", "file:///etc/passwd", "a.yaml#/b", "#/info/title/0", "#nowhere", 5]
)
def test_nothing_is_fetched(load: Load, reference: Any) -> None:
    with pytest.raises(InputError, match=r"\$ref|expected an object, found a text"):
        load(answering({"$ref": reference}))


@pytest.mark.parametrize(
    "schema", [{"type": "any"}, {"type": "string", "enum": "a"}, {"minimum": "1"}, {"allOf": 5}, {"required": True}]
)
def test_p67_a_schema_that_is_none_is_left_out_and_named(load: Load, schema: Any) -> None:
    imported = load(answering(schema))
    named = any("left out the schema of the answer" in remark for remark in imported.remarks)
    assert named is (schema != {"required": True})  # an old habit, and harmless
    write_drafts(imported.drafts)
    load_tasks(imported.drafts[0].folder / "tests" / "basic.eval.json")


# Starter tasks


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        pytest.param({"example": 1, "schema": {"type": "integer", "example": 2}}, {"p": 1}, id="example"),
        pytest.param({"examples": {"a": {"value": 3}, "b": {"value": 4}}}, {"p": 3}, id="examples"),
        pytest.param(
            {"examples": {"a": {"externalValue": "http://h"}}, "schema": {"default": 5}}, {"p": 5}, id="external-is-not-fetched"
        ),
        pytest.param({"schema": {"type": "integer", "example": 2}}, {"p": 2}, id="schema-example"),
        pytest.param({"schema": {"type": "integer", "examples": [6]}}, {"p": 6}, id="schema-examples"),
        pytest.param({"schema": {"type": "integer", "default": 7}}, {"p": 7}, id="default"),
        pytest.param({"schema": {"enum": ["x", "y"]}}, {}, id="optional-enum-is-not-sent"),
        pytest.param({"required": True, "schema": {"enum": ["x", "y"]}}, {"p": "x"}, id="required-enum"),
        pytest.param({"schema": {"type": "integer"}}, {}, id="optional-without-example"),
        pytest.param({"schema": {"$ref": "#/components/schemas/E"}}, {"p": "of the schema"}, id="by-reference"),
    ],
)
def test_the_input_is_what_the_document_gives(load: Load, parameter: dict[str, Any], given: Any) -> None:
    answers = {"200": {"description": "", "content": {"application/json": {"example": [1]}}}}
    parts = {"components": {"schemas": {"E": {"type": "string", "example": "of the schema"}}}}
    [task] = tasks_of(load(one(parameters=[{"name": "p", "in": "query", **parameter}], responses=answers) | parts))
    assert task["inputData"] == given
    assert task["expectedOutput"] == {"type": "exact_match", "value": [1]}


def test_a_made_up_input_is_said_and_never_expects_an_exact_answer(load: Load) -> None:
    answers = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}, "example": {"a": 1}}}}}
    schema = {
        "type": "object",
        "required": ["n", "when"],
        "properties": {"n": {"type": "integer", "minimum": 3}, "when": {"type": "string", "format": "date"}},
    }
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    [task] = tasks_of(load(one("post", requestBody=body, responses=answers)))
    assert task["inputData"] == {"body": {"n": 3, "when": "2024-01-31"}}
    assert task["evaluator"] == {"type": "json_schema"}
    assert "made up, as the document has no example, and to be replaced: body" in task["description"]


def test_a_recursive_body_is_made_up_to_an_end(load: Load) -> None:
    node = {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/components/schemas/N"}}}
    body = {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/N"}}}}
    [task] = tasks_of(load(one("post", requestBody=body) | {"components": {"schemas": {"N": node}}}))
    assert task["inputData"]["body"]["next"]["next"]


def test_examples_with_one_name_belong_together(load: Load) -> None:
    parameter = {"name": "q", "in": "query", "examples": {"cat": {"value": "c"}, "dog": {"value": "d"}, "eel": {"value": "e"}}}
    examples = {"Dog!": {"value": 0}, "dog": {"value": 2}, "cat": {"value": 1}}
    answers = {"200": {"description": "", "content": {"application/json": {"examples": examples}}}}
    tasks = tasks_of(load(one(parameters=[parameter], responses=answers)))
    assert [(task["id"], task["inputData"]["q"], task["expectedOutput"]["value"]) for task in tasks] == [
        ("dog", "d", 2),
        ("cat", "c", 1),
    ]


def test_names_that_become_one_task_id_are_told_apart(load: Load) -> None:
    names = {name: {"value": name} for name in ("a b", "a-b", "A B")}
    answers = {"200": {"description": "", "content": {"application/json": {"examples": names}}}}
    tasks = tasks_of(load(one(parameters=[{"name": "q", "in": "query", "examples": names}], responses=answers)))
    assert [task["id"] for task in tasks] == ["a-b", "a-b-2", "a-b-3"]


@pytest.mark.parametrize(
    ("responses", "expected"),
    [
        pytest.param({"204": {"description": ""}}, {"type": "exact_match", "value": None}, id="no-content"),
        pytest.param({"400": {"description": ""}}, {"type": "json_schema", "schema": True}, id="only-errors"),
        pytest.param(
            {
                "201": {"description": "", "content": {"application/json": {"example": 1}}},
                "200": {"description": "", "content": {"application/json": {"example": 0}}},
            },
            {"type": "exact_match", "value": 0},
            id="lowest",
        ),
        pytest.param(
            {"default": {"description": "", "content": {"application/json": {"example": 2}}}},
            {"type": "exact_match", "value": 2},
            id="default",
        ),
        pytest.param(
            {"2XX": {"description": "", "content": {"application/vnd.x+json": {"example": 3}}}},
            {"type": "exact_match", "value": 3},
            id="2xx",
        ),
    ],
)
def test_what_is_expected(load: Load, responses: Any, expected: Any) -> None:
    imported = load(one(responses=responses))
    assert tasks_of(imported)[0]["expectedOutput"] == expected
    write_drafts(imported.drafts)
    load_tasks(imported.drafts[0].folder / "tests" / "basic.eval.json")


# What the document says is text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("<p>a <b>b</b></p>\n c", "a b c", id="tags"),
        pytest.param("x<script>alert(1)</script><style>p{}</style>y", "x y", id="script"),
        pytest.param("&lt;script&gt;alert(1)&lt;/script&gt; 1 &amp; 2 &lt; 3", "alert(1) 1 & 2 < 3", id="entities"),
        pytest.param("a\x1b[31mb\u202ec\0", "a [31mb c", id="control"),
        pytest.param("a < b and c > d", "a < b and c > d", id="signs"),
        pytest.param("x" * 600, "x" * 499 + "…", id="long"),
        pytest.param(None, "", id="none"),
        pytest.param(["x"], "", id="no-text"),
    ],
)
def test_plain_text(text: Any, shown: str) -> None:
    assert plain(text) == shown


def test_p68_html_and_markdown_stay_text_in_the_readme(load: Load) -> None:
    evil = "[click](javascript:alert(1)) `x` # h\n\n# Title <img src=x onerror=alert(1)> a &lt;b"
    parts = {"info": {"title": "<script>T</script>", "version": "<b>", "license": {"name": "<i>MIT</i>"}}}
    imported = load(one(summary=evil, description=evil, operationId="a</p><script>", tags=["<u>t</u>"]) | parts)
    readme, skill = imported.drafts[0].files["README.md"], imported.drafts[0].files["skill.json"]
    assert "<" not in readme.replace("```", "")
    assert "\\[click" in readme
    assert readme.count("\n# ") == 0
    assert json.loads(skill)["metadata"]["license"] == "MIT"
    assert json.loads(skill)["tags"] == ["openapi", "t"]


def test_a_generated_skill_is_a_valid_http_skill(load: Load) -> None:
    imported = load(one("put", "/a/{b}", requestBody={"content": {"application/json": {}}}))
    write_drafts(imported.drafts)
    config = read_config(HttpConfig, load_skill(imported.drafts[0].folder))
    assert (config.method, config.own_shape) == ("PUT", True)
