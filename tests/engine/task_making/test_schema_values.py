"""Inputs at the edges of a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_skills.core.errors import InputError
from eval_skills.engine.task_linting.similarity import same
from eval_skills.engine.task_making.schema_values import MAX_CHOICES, InputSchema, Variant, inputs_of
from tests.tables import each_row

WEATHER: dict[str, Any] = {
    "type": "object",
    "required": ["city", "days"],
    "additionalProperties": False,
    "properties": {
        "city": {"type": "string", "minLength": 2, "maxLength": 40},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "unit": {"enum": ["celsius", "kelvin"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "alerts": {"type": "boolean"},
        "place": {"$ref": "#/$defs/Place"},
    },
    "$defs": {"Place": {"type": "object", "required": ["lat"], "properties": {"lat": {"type": "number", "maximum": 90}}}},
}


def made(schema: dict[str, Any] = WEATHER, count: int = 500, seed: int = 0) -> list[Variant]:
    return inputs_of(InputSchema(schema, Path("skill.json")), count, seed)


@pytest.fixture(scope="module")
def of_weather() -> list[Variant]:
    """What is made of the schema above."""
    return made()


def values(variants: list[Variant], name: str, *, valid: bool) -> list[Any]:
    return [
        each.value[name] for each in variants if each.is_valid is valid and isinstance(each.value, dict) and name in each.value
    ]


def test_the_smallest_and_the_fullest_input_come_first() -> None:
    first, second, *_ = made(count=2)
    assert (first.sort, first.value.keys()) == ("plain", {"city", "days"})
    assert second.value.keys() == WEATHER["properties"].keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        pytest.param("days", [1, 14, 2, 13], [0, 15, "text", None, True, 0.5], id="number"),
        pytest.param("city", ["xx", "x" * 40], ["x", "x" * 41, "", 7], id="text"),
        pytest.param("unit", ["celsius", "kelvin"], ["text", None], id="choice"),
        pytest.param("tags", [[], ["text"] * 3], [["text"] * 4, "text"], id="array"),
        pytest.param("alerts", [True, False], ["text", 7], id="boolean"),
        pytest.param("place", [{"lat": 90}, {"lat": 89}], [{"lat": 91}, {}], id="behind-a-reference"),
    ],
)
def test_both_sides_of_every_boundary_are_tried(
    of_weather: list[Variant], name: str, inside: list[Any], outside: list[Any]
) -> None:
    assert [each for each in inside if each not in values(of_weather, name, valid=True)] == []
    invalid = [same(each) for each in values(of_weather, name, valid=False)]
    assert [each for each in outside if same(each) not in invalid] == []


@pytest.mark.slow
def test_what_is_optional_is_left_out_and_what_is_required_makes_it_invalid(of_weather: list[Variant]) -> None:
    without = {each.what: each.is_valid for each in of_weather if each.what.endswith("left out")}
    assert without == {
        "city left out": False, "days left out": False, "unit left out": True, "tags left out": True, "alerts left out": True,
        "place left out": True,
    }  # fmt: skip
    assert "the input with an unknown key" in [each.what for each in of_weather if not each.is_valid]


@pytest.mark.slow
def test_texts_are_unusual_empty_and_long() -> None:
    variants = made({"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}})
    assert {each.sort for each in variants if each.is_valid} >= {"unicode", "empty", "long"}


def test_a_third_of_them_at_most_is_invalid_and_each_is_another_one() -> None:
    variants = made(count=30)
    assert len(variants) == 30
    assert sum(not each.is_valid for each in variants) == 10
    assert len({same(each.value) for each in variants}) == 30


def test_the_seed_decides() -> None:
    assert made(count=30, seed=5) == made(count=30, seed=5)
    assert made(count=30, seed=5) != made(count=30, seed=6)


def test_where_edges_are_used_up_they_are_combined() -> None:
    variants = made(count=150)
    combined = [each for each in variants if each.sort == "combined"]
    assert combined
    assert all(each.is_valid for each in combined)


@each_row(
    ("schema", "says"),
    [
        pytest.param({"type": "nothing"}, "not a valid schema", id="not-a-schema"),
        pytest.param(
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"}}},
            "give it examples", id="pattern",
        ),
        pytest.param({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/none"}}}, "no target", id="ref"),
        pytest.param({"$ref": "https://example.com/schema"}, "has no target within the schema", id="foreign"),
    ],
)  # fmt: skip
def test_what_gives_no_valid_input_is_refused(schema: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        made(schema)


@pytest.mark.slow
def test_an_example_helps_with_a_pattern() -> None:
    part = {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$", "examples": ["ABC-1"]}
    assert made({"type": "object", "required": ["a"], "properties": {"a": part}})[0].value == {"a": "ABC-1"}


@pytest.mark.slow
def test_a_schema_that_leads_back_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}}}
    assert made({"$ref": "#/$defs/Node", "$defs": {"Node": node}})


LEAVES = st.sampled_from(
    [
        {"type": "string"}, {"type": "string", "minLength": 3}, {"type": "integer", "minimum": 0}, {"type": "number"},
        {"type": "boolean"}, {"type": ["string", "null"]}, {"enum": [1, "a", None]}, {"const": 5}, {},
        {"type": "array", "items": {"type": "integer"}, "minItems": 1}, {"type": "string", "format": "date"},
        {"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "integer", "multipleOf": 7, "minimum": 7},
    ]
)  # fmt: skip


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from("abcde"), LEAVES, max_size=5), st.integers(1, 60), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_the_schema_itself_says_what_is_valid(properties: dict[str, Any], count: int, seed: int) -> None:
    schema = {"type": "object", "properties": properties, "required": sorted(properties)[:2]}
    checked = InputSchema(schema, Path("skill.json"))
    variants = inputs_of(checked, count, seed)
    assert 0 < len(variants) <= count
    assert all((checked.objection(each.value) is None) is each.is_valid for each in variants)


@each_row(
    ("schema", "first"),
    [
        pytest.param({"items": {"type": "integer"}, "minItems": 3}, [1, 2, 3], id="numbers"),
        pytest.param({"items": {"enum": ["b", "a"]}, "minItems": 2}, ["b", "a"], id="choices"),
        pytest.param({"items": {"type": "string", "maxLength": 4}, "minItems": 2}, ["text", "tex1"], id="texts"),
        pytest.param(
            {"items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "number"}}}, "minItems": 2},
            [{"n": 1}, {"n": 2}],
            id="objects",
        ),
        pytest.param({"items": {"type": "boolean"}, "minItems": 2}, [True, False], id="booleans"),
    ],
)
def test_items_that_must_differ_do(schema: dict[str, Any], first: list[Any]) -> None:
    several = {"type": "array", "uniqueItems": True, **schema}
    assert made({"type": "object", "required": ["many"], "properties": {"many": several}}, 1)[0].value == {"many": first}


@each_row(
    ("schema", "first"),
    [
        pytest.param({"additionalProperties": {"type": "integer"}, "minProperties": 2}, {"key1": 1, "key2": 1}, id="of-a-schema"),
        pytest.param({"minProperties": 1}, {"key1": "text"}, id="of-any-value"),
        pytest.param({"required": ["a"]}, {"a": "text"}, id="required-and-not-described"),
        pytest.param({"required": ["a"], "additionalProperties": {"type": "number"}}, {"a": 1}, id="required-of-a-schema"),
    ],
)
def test_keys_that_must_be_there_are_though_nobody_describes_them(schema: dict[str, Any], first: dict[str, Any]) -> None:
    assert made({"type": "object", **schema}, 1)[0].value == first


def test_a_key_that_is_required_and_forbidden_is_said() -> None:
    with pytest.raises(InputError, match="no valid input can be made from it"):
        made({"type": "object", "required": ["a"], "additionalProperties": False})


@pytest.mark.slow
def test_of_a_long_enum_choices_from_its_whole_length_are_taken() -> None:
    choices = [f"choice {number}" for number in range(20_000)]
    variants = made({"type": "object", "required": ["c"], "properties": {"c": {"enum": choices}}}, 1_000)
    taken = {*values(variants, "c", valid=True)}
    assert (len(taken), {choices[0], choices[-1]} - taken) == (MAX_CHOICES, set())
    assert len(taken & {*choices[:10_000]}) == MAX_CHOICES / 2
    assert values(variants, "c", valid=False), "a long enum is no reason to leave out what it forbids"


@pytest.mark.slow
def test_of_very_many_properties_some_are_varied_and_the_seed_decides_which() -> None:
    many = {f"p{number}": {"type": "string"} for number in range(150)}
    schema = {"type": "object", "required": [*many], "properties": many}
    [one, other, again] = [[each.what for each in made(schema, 60, seed)] for seed in (0, 1, 0)]
    assert len(one) == len(other) == 60
    assert one == again != other
