"""A schema may come from somebody who means harm: preparing it ends, and so does every judgement."""

from __future__ import annotations

import pytest

from eval_skills.core.documents.json_schema import MIXED_ENTRIES, BoundedSchema
from eval_skills.core.errors import InputError

DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def test_p08_a_judgement_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(TimeoutError):
        BoundedSchema({"pattern": "(a|aa)+$"}).reason("a" * 60 + "b", 0.05)


@pytest.mark.parametrize(("formats", "valid"), [(True, False), (False, True)])
def test_a_format_is_a_rule_or_a_remark(formats: bool, valid: bool) -> None:
    assert (BoundedSchema({"format": "date"}, formats=formats).reason("no date", 5) is None) == valid


@pytest.mark.parametrize("schema", [{"pattern": "("}, {"patternProperties": {"(": {}}}], ids=lambda schema: next(iter(schema)))
def test_a_pattern_that_is_none_is_found_without_formats_too(schema: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"pattern|valid schema"):
        BoundedSchema(schema, formats=False)


def test_p08_preparing_an_enum_that_would_be_compared_pair_by_pair_is_refused() -> None:
    entries: list[object] = [*range(MIXED_ENTRIES), "x"]
    with pytest.raises(InputError, match="a list of 501 values of several kinds"):
        BoundedSchema({"$schema": DRAFT_4, "properties": {"a": {"enum": entries}}})
    assert BoundedSchema({"$schema": DRAFT_4, "enum": list(range(5 * MIXED_ENTRIES))}).reason(7, 60) is None
    assert BoundedSchema({"enum": entries}).reason("x", 60) is None


def test_references_to_anchors_and_ids_are_followed() -> None:
    inner = {"$id": "https://example.org/inner", "$anchor": "n", "type": "number"}
    schema = BoundedSchema(
        {
            "$defs": {"a": {"$anchor": "s", "type": "string"}, "n": inner},
            "anyOf": [{"$ref": "#s"}, {"$ref": "inner#n"}],
            "$id": "https://example.org/outer",
        }
    )
    assert schema.reason("x", 60) is None
    assert schema.reason(1, 60) is None
    assert schema.reason([], 60) is not None
    with pytest.raises(InputError, match="has no target"):
        BoundedSchema({"$ref": "#nowhere", "$defs": {"a": {"$anchor": "somewhere"}}})
