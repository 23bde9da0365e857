"""Schemas of a document as JSON Schemas that stand on their own, whatever they refer to."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.benchmarks import load_tasks
from eval_skills.core.errors import InputError
from eval_skills.scaffolding.draft import write_drafts
from tests.scaffolding.openapi.documents import Load, answering, skill_of
from tests.tables import each_row


@each_row(
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


@pytest.mark.slow
def test_a_long_chain_and_a_huge_schema_are_no_trouble(load: Load) -> None:
    chain: dict[str, Any] = {f"S{n}": {"type": "array", "items": {"$ref": f"#/components/schemas/S{n + 1}"}} for n in range(3000)}
    chain["S3000"] = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(25_000)}}
    imported = load(answering({"$ref": "#/components/schemas/S0"}, components={"schemas": chain}))
    assert "left out: the whole schema is too large" in imported.drafts[0].files["skill.json"]


def test_references_in_a_circle_are_named(load: Load) -> None:
    circle = {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}
    with pytest.raises(InputError, match="leads back to itself"):
        load(answering({"$ref": "#/components/schemas/A"}, components={"schemas": circle}))


@each_row("reference", ["http://127.0.0.1:1/x.json", "file:///etc/passwd", "a.yaml#/b", "#/info/title/0", "#nowhere", 5])
def test_nothing_is_fetched(load: Load, reference: Any) -> None:
    with pytest.raises(InputError, match=r"\$ref|expected an object, got text"):
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


def linked(count: int, **more: Any) -> dict[str, Any]:
    """Schemas that each refer to the next two, in a circle, and one that nothing refers to."""
    schemas: dict[str, Any] = {
        f"S{n}": {
            "type": "object",
            "description": f"What thing {n} is.",
            "properties": {
                "description": {"type": "string", "description": "its words", "example": "x"},
                "next": {"$ref": f"#/components/schemas/S{(n + 1) % count}"},
                "others": {"type": "array", "items": {"$ref": f"#/components/schemas/S{(n + 2) % count}"}},
            },
        }
        for n in range(count)
    }
    return {"components": {"schemas": schemas | {"Alone": {"type": "string"}} | more}}


@pytest.mark.slow
@pytest.mark.parametrize(("count", "worded"), [(20, True), (300, False)])
def test_a_large_schema_has_each_definition_that_it_reaches_once(load: Load, count: int, worded: bool) -> None:
    imported = load(answering({"$ref": "#/components/schemas/S0"}, **linked(count)))
    output = skill_of(imported)["outputSchema"]
    assert output["$defs"].keys() == {f"S{n}" for n in range(count)}
    assert output["description"] == "What thing 0 is."
    definition = output["$defs"]["S7"]
    assert definition["properties"]["next"] == {"$ref": "#/$defs/S8"}
    assert ("description" in definition, "examples" in definition["properties"]["description"]) == (worded, worded)
    text = imported.drafts[0].files["skill.json"]
    assert len(text) < 400 * count + 4_000
    assert len([line for line in text.splitlines() if line.lstrip().startswith('"S7": {"type": "object"')]) == 1, "on one line"
    write_drafts(imported.drafts)
    load_tasks(imported.drafts[0].folder / "tests" / "basic.eval.json")


def test_what_is_shared_is_not_repeated_where_nothing_is_recursive(load: Load) -> None:
    leaf = {"type": "object", "properties": {f"p{n}": {"type": "string", "description": f"the part {n}"} for n in range(20)}}
    whole = {"type": "object", "properties": {f"q{n}": {"$ref": "#/components/schemas/Leaf"} for n in range(20)}}
    imported = load(answering({"$ref": "#/components/schemas/W"}, components={"schemas": {"Leaf": leaf, "W": whole}}))
    assert imported.drafts[0].files["skill.json"].count("the part 7") == 1
