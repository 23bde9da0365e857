"""JSON schema: valid or not, in bounded time and without looking elsewhere."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse
from eval_skills.scorers import Score
from eval_skills.scorers.builtin.json_schema import JsonSchema
from tests.tables import each_row


async def scored(schema: Any, output: Any, **options: Any) -> Score:
    return await JsonSchema(schema=schema, **options).score(SkillResponse(output=output))


@each_row(
    ("schema", "output", "value"),
    [
        pytest.param({"type": "object", "required": ["a"]}, {"a": 1}, 1, id="object"),
        pytest.param({"type": "object", "required": ["a"]}, {"result": {"a": 1}}, 0, id="not-unwrapped"),
        pytest.param({"type": "array"}, "[1, 2]", 1, id="text-that-is-json"),
        pytest.param({"type": "string"}, "[1, 2]", 1, id="and-valid-as-text-too"),
        pytest.param({"type": "number"}, "NaN", 0, id="nan-is-no-json"),
        pytest.param({"type": "array"}, "[" * 100_000, 0, id="text-too-deep-to-parse"),
        pytest.param(True, None, 1, id="schema-true"),
        pytest.param(False, 1, 0, id="schema-false"),
        pytest.param({"type": "integer"}, 1.0, 1, id="1.0-is-an-integer"),
        pytest.param({"format": "date"}, "2026-02-30", 0, id="format-date"),
        pytest.param({"format": "iri"}, "https://grün.example/ö", 1, id="format-iri"),
        pytest.param({"format": "iri"}, "no iri", 0, id="format-iri-invalid"),
        pytest.param({"format": "regex"}, r"\p{L}+", 1, id="format-regex"),
        pytest.param({"format": "regex"}, "(", 0, id="format-regex-invalid"),
        pytest.param({"format": "of-our-own"}, "x", 1, id="unknown-format"),
        pytest.param({"x-note": "y", "type": "string"}, "x", 1, id="p07-unknown-keyword"),
        pytest.param({"uniqueItems": True}, [1, True, {"a": 1}], 1, id="unique"),
        pytest.param({"uniqueItems": True}, [{"a": 1}, {"a": 1.0}], 0, id="not-unique"),
        pytest.param({"multipleOf": 0.01}, 4.35, 1, id="multiple-as-it-is-written"),
        pytest.param({"multipleOf": 0.01}, 4.355, 0, id="no-multiple"),
        pytest.param({"multipleOf": 0.5}, 10**400, 1, id="multiple-beyond-floats"),
        pytest.param({"type": "number", "multipleOf": 0.5}, "1e400", 0, id="infinity-is-no-multiple"),
        pytest.param({"pattern": "^a"}, "ba", 0, id="pattern"),
        pytest.param({"patternProperties": {"^n_": {"type": "number"}}}, {"n_a": "x"}, 0, id="pattern-properties"),
        pytest.param({"patternProperties": {"^n_": {}}, "additionalProperties": False}, {"n_a": 1}, 1, id="matched"),
        pytest.param({"patternProperties": {"^n_": {}}, "additionalProperties": False}, {"m": 1}, 0, id="additional"),
        pytest.param({"properties": {"a": {}}, "additionalProperties": {"type": "null"}}, {"b": 1}, 0, id="additional-schema"),
        pytest.param({"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}}, "x", 0, id="reference-within"),
        pytest.param({"$ref": "https://json-schema.org/draft/2020-12/schema"}, {"type": 5}, 0, id="published-metaschema"),
    ],
)
async def test_value(schema: Any, output: Any, value: float) -> None:
    assert (await scored(schema, output)).value == value


@pytest.mark.parametrize(
    ("draft", "value"),
    [
        pytest.param("https://json-schema.org/draft/2020-12/schema", 0, id="2020-12"),
        pytest.param("http://json-schema.org/draft-07/schema#", 1, id="draft-7-knows-no-prefixItems"),
        pytest.param(None, 0, id="2020-12-without-a-name"),
    ],
)
async def test_p07_the_draft_is_that_of_the_schema(draft: str | None, value: float) -> None:
    named = {} if draft is None else {"$schema": draft}
    assert (await scored({**named, "prefixItems": [{"type": "string"}]}, [1])).value == value


async def test_p07_a_repeated_id_never_affects_another_schema() -> None:
    one = JsonSchema(schema={"$id": "https://example.org/s", "$ref": "#/$defs/x", "$defs": {"x": {"type": "string"}}})
    two = JsonSchema(schema={"$id": "https://example.org/s", "$ref": "#/$defs/x", "$defs": {"x": {"type": "number"}}})
    outcomes = [(await each.score(SkillResponse(output=output))).value for each in (one, two, one) for output in ("a", 1)]
    assert outcomes == [1, 0, 0, 1, 1, 0]
    with pytest.raises(InputError, match="has no target"):
        JsonSchema(schema={"$ref": "https://example.org/s"})


@each_row(
    ("schema", "message"),
    [
        pytest.param({"type": "strin"}, "not a valid schema", id="invalid"),
        pytest.param({"$schema": "https://example.org/draft"}, "unknown draft", id="unknown-draft"),
        pytest.param({"$schema": "http://json-schema.org/draft-03/schema#"}, "unknown draft", id="draft-3"),
        pytest.param({"$schema": 7}, "unknown draft", id="draft-is-no-text"),
        pytest.param({"$ref": "http://127.0.0.1:9/s.json"}, "nothing is fetched", id="remote-reference"),
        pytest.param({"properties": {"a": {"$ref": "other.json"}}}, "nothing is fetched", id="reference-to-a-file"),
        pytest.param({"$ref": "#/$defs/none"}, "has no target", id="lost-reference"),
        pytest.param({"pattern": "("}, "not a valid schema", id="invalid-pattern"),
        pytest.param({"patternProperties": {"(": {}}}, "no valid pattern|not a valid schema", id="invalid-property-pattern"),
        pytest.param({"items": {"$schema": "http://json-schema.org/draft-07/schema#"}}, "whole schema", id="draft-inside"),
        pytest.param(
            {"allOf": [{"patternProperties": {"x": {}}}], "unevaluatedProperties": False}, "additionalProperties", id="unbounded"
        ),
    ],
)
def test_what_cannot_be_judged_is_a_load_error(schema: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        JsonSchema(schema=schema)
    assert caught.value.path.startswith("schema")


def test_a_schema_too_deep_to_check_is_a_load_error() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5_000):
        schema = {"not": schema}
    with pytest.raises(InputError, match="too deeply"):
        JsonSchema(schema=schema)


@each_row("draft", ["draft-04", "draft-06", "draft-07"])
@each_row(
    ("schema", "output"),
    [
        pytest.param({"dependencies": {"a": ["b"]}}, {"a": 1}, id="names"),
        pytest.param({"dependencies": {"a": {"required": ["b"]}}}, {"a": 1}, id="schema"),
        pytest.param({"items": [{"type": "string"}], "additionalItems": {"type": "null"}}, ["x", 1], id="items"),
        pytest.param({"definitions": {"n": {"type": "number"}}, "$ref": "#/definitions/n"}, "x", id="definitions"),
        pytest.param({"type": ["object", "array"], "additionalProperties": {"type": ["null"]}}, {"a": 1}, id="types"),
        pytest.param({"not": {"anyOf": [{"type": "object"}, {}]}}, 1, id="not"),
    ],
)
async def test_p07_older_drafts_are_walked_and_enforced(draft: str, schema: dict[str, Any], output: Any) -> None:
    assert (await scored({"$schema": f"http://json-schema.org/{draft}/schema#", **schema}, output)).value == 0


async def test_p07_the_recursion_of_2019_09_is_followed() -> None:
    draft = "https://json-schema.org/draft/2019-09/schema"
    schema = {"$schema": draft, "properties": {"a": {"$recursiveRef": "#"}}, "additionalProperties": False}
    assert (await scored(schema, {"a": {"a": {}}})).value == 1
    assert (await scored(schema, {"a": {"b": 1}})).value == 0


def test_data_that_looks_like_a_reference_is_none() -> None:
    JsonSchema(schema={"enum": [{"$ref": "elsewhere.json"}], "properties": {"$ref": {"type": "string"}}})


LAUGHS = {
    "$ref": "#/$defs/d0",
    "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}},
}
BAIT = "a" * 60 + "b"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "output"),
    [
        pytest.param({"pattern": "(a|aa)+$"}, BAIT, id="pattern"),
        pytest.param({"patternProperties": {"(a|aa)+$": {}}}, {BAIT: 1}, id="patternProperties"),
        pytest.param(LAUGHS, 1, id="references-that-double"),
    ],
)
async def test_p08_validation_ends_in_time(schema: Any, output: Any) -> None:
    began = time.monotonic()
    score = await scored(schema, output, timeout_ms=200)
    assert time.monotonic() - began < 60
    assert (score.value, score.reasons[0].code) == (0, "OUTPUT_SCHEMA_TIMEOUT")


async def test_an_answer_nested_too_deeply_fails_with_a_reason() -> None:
    score = await scored({"items": {"$ref": "#"}}, json.loads("[" * 900 + "]" * 900))
    assert "too deeply" in score.reasons[0].message


async def test_the_reason_names_the_path_the_rule_and_the_value() -> None:
    score = await scored({"properties": {"rows": {"items": {"type": "number"}}}}, {"rows": [1, "two"]})
    assert [(each.code, each.message, each.where) for each in score.reasons] == [
        ("OUTPUT_SCHEMA", 'at $.rows[1]: expected type "number", got "two"', "$.rows[1]")
    ]


async def test_the_reason_of_a_text_speaks_of_the_value_it_spells() -> None:
    score = await scored({"type": "object", "required": ["a"]}, '{"b": 1}')
    assert 'expected required ["a"], got {"b": 1}' in score.reasons[0].message
