"""How an operation is called: each part of the input in its place."""

from __future__ import annotations

from eval_skills.adapters.config import read_config
from eval_skills.adapters.http.config import HttpConfig
from eval_skills.core.skills import load_skill
from eval_skills.scaffolding.draft import write_drafts
from tests.scaffolding.openapi.documents import OK, Load, document, one, skill_of, tasks_of


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
        "header parameter 'Host': it is not a header that a skill may set",
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


def test_a_generated_skill_is_a_valid_http_skill(load: Load) -> None:
    imported = load(one("put", "/a/{b}", requestBody={"content": {"application/json": {}}}))
    write_drafts(imported.drafts)
    config = read_config(HttpConfig, load_skill(imported.drafts[0].folder))
    assert (config.method, config.own_shape) == ("PUT", True)
