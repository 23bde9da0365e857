from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.adapters.template.placeholder import MISSING, Placeholder, filled, refuse_malformed
from tests.tables import each_row

INPUT = {"q": "é", "n": 5, "yes": True, "none": None, "list": [1, "b"], "deep": {"a.b": [{"c": 1}]}, "evil": "{{input.q}}"}


@each_row(
    ("template", "value"),
    [
        pytest.param("{{input.n}}", 5, id="whole-keeps-its-type"),
        pytest.param("{{ input.list }}", [1, "b"], id="blanks"),
        pytest.param("{{input}}", INPUT, id="all-of-it"),
        pytest.param("{{input.none}}", None, id="null-is-a-value"),
        pytest.param("a {{input.n}}/{{input.yes}} {{input.q}}", "a 5/true é", id="inside-text"),
        pytest.param("x{{input.list}}", 'x[1,"b"]', id="list-inside-text"),
        pytest.param('{{input.list | join(", ")}}', "1, b", id="join"),
        pytest.param('{{input.n | join(",")}}', 5, id="join-of-no-list"),
        pytest.param('{{input.deep["a.b"].0.c}}', 1, id="any-key-and-index"),
        pytest.param("{{input.list.2}}", MISSING, id="index-past-the-end"),
        pytest.param("{{input.list.-1}}", MISSING, id="no-index-from-the-end"),
        pytest.param("{{input.n.x}}", MISSING, id="below-a-scalar"),
        pytest.param("a{{input.absent}}", MISSING, id="a-text-with-a-hole"),
        pytest.param({"a": "{{input.absent}}", "b": 1}, {"b": 1}, id="key-dropped"),
        pytest.param(["{{input.absent}}", "{{input.n}}"], [5], id="item-dropped"),
        pytest.param({"a": {"b": "{{input.absent}}"}}, {"a": {}}, id="object-stays"),
        pytest.param("{{input.evil}}", "{{input.q}}", id="what-is-put-in-is-not-filled-again"),
        pytest.param("{{input.evil}} {{input.evil}}", "{{input.q}} {{input.q}}", id="nor-inside-a-text"),
        pytest.param("", "", id="empty"),
        pytest.param(3, 3, id="number"),
    ],
)
def test_what_stands_in_a_template(template: Any, value: Any) -> None:
    assert filled(template, INPUT) == value


@each_row("text", ["{{x}}", "{{input.}}", "{{input.a b}}", "{{input['a']}}", '{{input["\\q"]}}', "a {{", "{{input.a | upper}}"])
def test_what_is_no_placeholder_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a placeholder|escape"):
        refuse_malformed({"a": [text]})


@given(st.lists(st.text(), max_size=4), st.one_of(st.none(), st.text()))
def test_a_placeholder_reads_as_it_was_written(keys: list[str], glue: str | None) -> None:
    text = str(Placeholder(tuple(keys), glue))
    refuse_malformed(text)
    data: Any = ["x", "y"]
    for key in reversed(keys):
        data = {key: data}
    assert filled(text, data) == (["x", "y"] if glue is None else f"x{glue}y")


def test_an_input_that_is_no_object_has_no_keys() -> None:
    assert filled({"a": "{{input.q}}", "b": "{{input}}"}, 3) == {"b": 3}
