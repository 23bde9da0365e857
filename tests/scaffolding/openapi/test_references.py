"""Schemas that many operations share are judged once, and each operation is told the verdict."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.documents import json_schema as schema_validation
from eval_skills.scaffolding.openapi.references import SchemaChecks
from tests.scaffolding.openapi.documents import Load, document, ids, skill_of
from tests.tables import each_row

COUNT = 12


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every schema that is judged from here on."""
    seen: list[Any] = []

    class Recorded(schema_validation.BoundedSchema):
        def __init__(self, schema: Any, **options: Any) -> None:
            seen.append(schema)
            super().__init__(schema, **options)

    monkeypatch.setattr(schema_validation, "BoundedSchema", Recorded)
    return seen


def interlinked(**last: Any) -> dict[str, Any]:
    """An operation for each of `COUNT` schemas, each of which refers to the next two; the last one is also `last`."""
    refs = [{"$ref": f"#/components/schemas/S{number}"} for number in range(COUNT)]
    schemas = {
        f"S{number}": {
            "type": "object",
            "properties": {"n": {"const": number}, "next": refs[(number + 1) % COUNT], "list": after},
        }
        for number in range(COUNT)
        for after in [{"type": "array", "items": refs[(number + 2) % COUNT]}]
    }
    schemas[f"S{COUNT - 1}"] |= last
    answers = [{"200": {"description": "d", "content": {"application/json": {"schema": ref}}}} for ref in refs]
    paths = {f"/p{number}": {"get": {"responses": answer}} for number, answer in enumerate(answers)}
    return document(paths, components={"schemas": schemas})


def test_a_definition_that_operations_share_is_judged_once(load: Load, judged: list[Any]) -> None:
    imported = load(interlinked())
    assert len(skill_of(imported)["outputSchema"]["$defs"]) == COUNT
    roots = COUNT + 1  # the answer of each, and the input that all have: none
    assert len(judged) == COUNT + roots


def test_p67_a_definition_that_is_no_schema_is_named_by_every_operation_that_reaches_it(load: Load) -> None:
    imported = load(interlinked(minProperties="many"))
    assert len(ids(imported)) == COUNT
    assert (
        len([remark for remark in imported.remarks if "left out the schema of the answer: not a valid schema" in remark]) == COUNT
    )


@each_row(
    ("schema", "sound"),
    [
        pytest.param({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}, True, id="names-itself"),
        pytest.param({"$ref": "#/$defs/A", "$defs": {"A": True}}, True, id="everything"),
        pytest.param({"type": "any", "$defs": {"A": {}}}, False, id="root"),
        pytest.param({"$defs": {"A": {"items": {"type": "any"}}}}, False, id="definition"),
        pytest.param({"examples": [{"$ref": "#/$defs/A"}]}, True, id="only-looks-like-a-reference"),
    ],
)
def test_root_and_definitions_are_judged(schema: dict[str, Any], sound: bool) -> None:
    assert (SchemaChecks().problem(schema) is None) is sound
