"""A schema is valid by its draft, however that is found out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import FormatChecker, validators
from jsonschema.exceptions import SchemaError

from eval_skills.core.documents.metaschema import check_schema
from tests.tables import each_row

DRAFT = validators.Draft202012Validator
FORMATS = DRAFT.FORMAT_CHECKER

KEYWORDS = sorted(
    {
        "properties", "patternProperties", "items", "prefixItems", "contains", "additionalProperties", "propertyNames", "if",
        "not", "allOf", "anyOf", "dependentSchemas", "unevaluatedItems", "type", "const", "enum", "minimum", "maxLength",
        "minItems", "uniqueItems", "required", "dependentRequired", "pattern", "title", "default", "examples", "deprecated",
        "format", "contentSchema", "$id", "$ref", "$anchor", "$dynamicRef", "$defs", "$comment", "definitions", "dependencies",
        "$recursiveRef", "unknown",
    }
)  # fmt: skip

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from(["string", "object", "a", "(", "#/x", "no uri"]),
    st.lists(st.sampled_from(["string", "object", "a"]), max_size=3),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=3)),
    max_leaves=12,
)


def is_refused(schema: Any) -> bool:
    try:
        check_schema(schema, DRAFT, FORMATS)
    except SchemaError:
        return True
    return False


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(ANYTHING)
def test_the_draft_s_own_documents_agree(schema: Any) -> None:
    assert is_refused(schema) is not DRAFT(DRAFT.META_SCHEMA, format_checker=FORMATS).is_valid(schema)


VALUES = [7, -1, "x", [], [{}], {"a": 5}, {"a": {"type": 5}}, True, {"type": "nothing"}, ["a", "a"], {"a": ["b", "b"]}]


@each_row("keyword", KEYWORDS)
def test_every_keyword_is_checked(keyword: str) -> None:
    schemas = [{"properties": {"inside": {keyword: value}}} for value in VALUES]
    whole = DRAFT(DRAFT.META_SCHEMA, format_checker=FORMATS)
    assert [is_refused(schema) for schema in schemas] == [not whole.is_valid(schema) for schema in schemas]


def test_what_the_error_says_is_by_the_book() -> None:
    schema = {"properties": {"a": {"type": "strnig"}}}
    with pytest.raises(SchemaError) as quick:
        check_schema(schema, DRAFT, FORMATS)
    with pytest.raises(SchemaError) as whole:
        DRAFT.check_schema(schema, format_checker=FORMATS)
    assert (quick.value.message, quick.value.json_path) == (whole.value.message, whole.value.json_path)


def test_the_formats_of_the_caller_are_checked() -> None:
    check_schema({"pattern": "("}, DRAFT, FormatChecker(formats=()))
    with pytest.raises(SchemaError):
        check_schema({"pattern": "("}, DRAFT, FORMATS)
