"""Every operation becomes a skill, or is named with the reason why not."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.skills import load_skill
from eval_skills.scaffolding.draft import write_drafts
from eval_skills.scaffolding.names import skill_name
from tests.scaffolding.openapi.documents import OK, Load, document, ids, one, skill_of


def test_p67_every_operation_becomes_a_skill_or_is_named(load: Load) -> None:
    upload = {"required": True, "content": {"multipart/mixed": {"schema": {"type": "object"}}}}
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
        ("left out HEAD /a", "HEAD has no answer for a skill to return"),
        ("left out GET /d?x", "its path is not valid: it must start with /, "),
        ("left out PATCH /e", "it is not an object"),
        ("left out GET /b", "the answer is image/png; JSON and plain text "),
        ("left out POST /b", "the body is multipart/mixed; JSON and forms ("),
        ("left out GET /c", "the required cookie parameter 'sid' is sent i"),
        ("left out PUT /c", "$ref 'other.yaml#/b' leads outside this file,"),
        ("left out GET /e", "$ref '#/components/parameters/lost' has no ta"),
    ]


def test_a_path_that_cannot_be_read_keeps_no_other_out(load: Load) -> None:
    unread = {"/b": {"$ref": "paths/b.yaml"}, "/c": None}
    some = document({"/a": {"get": {"responses": OK}}, **unread})
    imported = load(some)
    assert ids(imported) == ["get-a"]
    elsewhere, nothing = imported.remarks
    assert elsewhere.startswith("left out the path /b: $ref 'paths/b.yaml' leads outside this file")
    assert nothing == "left out the path /c: expected an object, got null"
    with pytest.raises(UsageError, match=r"'getB' is not in the document; it has GET /a; left out the path /b: "):
        load(some, operation="getB")
    with pytest.raises(InputError, match=r"no operation can become a skill: left out the path /b: .*; left out the path /c: "):
        load(document(unread))


def test_one_that_is_wanted_must_work(load: Load) -> None:
    broken = document({"/a": {"get": {"responses": OK}}, "/b": {"get": {"operationId": "b", "requestBody": {"$ref": "#/no"}}}})
    with pytest.raises(InputError, match="'#/no' has no target"):
        load(broken, operation="b")
    assert ids(load(broken, operation="GET /a")) == ["get-a"]


@pytest.mark.parametrize(
    ("operation_ids", "expected"),
    [
        pytest.param(["listPets", "ListPETS", "list_pets"], ["list-pets", "list-pets-2", "list_pets"], id="p-collision"),
        pytest.param(["a", "a", "a-2"], ["a", "a-2", "a-2-2"], id="numbered-name-is-taken"),
        pytest.param(["../../etc/passwd", "a\nb", "Ünï"], ["etc-passwd", "a-b", "uni"], id="weird"),
        pytest.param(["ÄnderungÄndern", "søkŁódź", "Straße"], ["anderung-andern", "sok-lodz", "strasse"], id="accents"),
        pytest.param(["ſuche", "suche", "Œuvre"], ["suche", "suche-2", "oeuvre"], id="alike-without-accents"),
        pytest.param(["\u4f60Pets", "получитьPets", "v2"], ["get-p0", "get-p1", "v2"], id="partly-of-another-alphabet"),
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
