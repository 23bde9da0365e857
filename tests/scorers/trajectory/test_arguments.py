"""How arguments are compared, and what rules are refused."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from eval_skills.core.errors import InputError, ScorerError
from eval_skills.scorers.trajectory.arguments import ABSENT, KeyPath, rules_of
from eval_skills.scorers.trajectory.calls import Call
from tests.tables import each_row

Arguments = dict[str, Any]


def holds(output: Any, reference: Any, mode: str = "exact", override: Any = None, *, deep: bool = False) -> bool:
    rules = rules_of(mode, {} if override is None else {"a": override}, deep=deep)
    return rules.holds(*(Call("a", side if isinstance(side, dict) else None, side, "a") for side in (output, reference)))


@each_row(
    ("output", "reference", "modes"),
    [
        pytest.param({"x": 1}, {"x": 1}, "exact ignore subset superset", id="equal"),
        pytest.param({"x": 1}, {"x": 1.0}, "exact ignore subset superset", id="1-is-1.0"),
        pytest.param({"x": 1}, {"x": True}, "ignore", id="true-is-not-1"),
        pytest.param({"x": "1"}, {"x": 1}, "ignore", id="text-is-no-number"),
        pytest.param({"x": 1}, {"x": 1, "y": 2}, "ignore subset", id="one-fewer"),
        pytest.param({"x": 1, "y": 2}, {"x": 1}, "ignore superset", id="one-more"),
        pytest.param({"x": None}, {}, "ignore superset", id="null-is-not-absent"),
        pytest.param({}, {"x": 1}, "ignore subset", id="none-of-them"),
        pytest.param({"x": [1, 2]}, {"x": [2, 1]}, "ignore", id="list-order-counts"),
        pytest.param({"x": {"y": 1}}, {"x": {"y": 1, "z": 2}}, "ignore", id="nested-values-are-whole"),
        pytest.param({"x": 1, "y": 2}, {"x": 1, "z": 2}, "ignore", id="overlap"),
    ],
)
def test_p90_output_against_reference(output: Arguments, reference: Arguments, modes: str) -> None:
    assert [mode for mode in ("exact", "ignore", "subset", "superset") if holds(output, reference, mode)] == modes.split()


@each_row(
    ("part", "whole", "within"),
    [
        pytest.param({"x": {"y": 1}}, {"x": {"y": 1, "z": 2}}, True, id="object"),
        pytest.param({"x": [{"y": 1}, 2]}, {"x": [{"y": 1, "z": 3}, 2]}, True, id="object-in-a-list"),
        pytest.param({"x": [1]}, {"x": [1, 2]}, False, id="lists-are-as-long"),
        pytest.param({"x": {"y": 1}}, {"x": {"y": 2, "z": 2}}, False, id="other-value"),
        pytest.param({"x": {"y": 1}}, {"x": 1}, False, id="no-object"),
        pytest.param({"x": {}}, {"x": []}, False, id="an-object-is-no-list"),
        pytest.param({"x": {"y": True}}, {"x": {"y": 1}}, False, id="true-is-not-1"),
    ],
)
def test_deep_reaches_into_objects(part: Arguments, whole: Arguments, within: bool) -> None:
    assert holds(part, whole, "subset", deep=True) is within
    assert holds(whole, part, "superset", deep=True) is within
    assert not holds(part, whole, "exact", deep=True)


def test_deep_has_no_depth_limit() -> None:
    part: Arguments = {}
    whole: Arguments = {"more": 1}
    for _ in range(20_000):
        part, whole = {"x": part}, {"x": whole}
    assert holds(part, whole, "subset", deep=True)
    assert not holds(whole, part, "subset", deep=True)


@each_row(
    ("path", "value"),
    [
        ("q", 1),
        ("t.a.b", 2),
        ("l.0.k", 3),
        ("l.1", None),
        (r"a\.b", 4),
        (r"t.x\.y", 5),
        ("t.7", 6),
        ("nope", ABSENT),
        ("l.2", ABSENT),
        ("l.-1", ABSENT),
        ("l.first", ABSENT),
        ("q.x", ABSENT),
        ("a.b", ABSENT),
        ("l.99999999999999999999", ABSENT),
    ],
)
def test_p91_paths(path: str, value: Any) -> None:
    arguments = {"q": 1, "t": {"a": {"b": 2}, "x.y": 5, "7": 6}, "l": [{"k": 3}, None], "a.b": 4}
    assert KeyPath.of(path).value(arguments) is value or KeyPath.of(path).value(arguments) == value


def test_p91_a_path_must_lead_somewhere_on_both_sides() -> None:
    assert holds({"q": None, "n": 1}, {"q": None, "n": 2}, override=["q"])
    for output, reference in (({"q": None}, {}), ({}, {"q": None}), ({}, {})):
        assert not holds(output, reference, override=["q"])
    rule = rules_of("exact", {"a": ["q"]}).of("a")
    assert rule.differences({}, {}) == ["q is on neither side"]


def test_overrides_beat_the_mode_for_their_tool() -> None:
    assert holds({"x": 1}, {"x": 2}, "exact", "ignore")
    assert not holds({"x": 1}, {"x": 2}, "ignore", "exact")
    assert holds({"x": 1}, {"x": 2}, "exact", [])
    assert rules_of("exact", {"a": "ignore"}).of("b") == rules_of("exact").default


@each_row("unreadable", ["{bad", [1], None, 7])
def test_malformed_arguments_match_only_where_they_are_ignored(unreadable: Any) -> None:
    for mode in ("exact", "subset", "superset"):
        assert not holds(unreadable, {}, mode)
    for override in (["q"], lambda *_: True):
        assert not holds(unreadable, {"q": 1}, "ignore", override)
    assert holds(unreadable, {"q": 1}, "ignore")
    assert holds(unreadable, {"q": 1}, "exact", "ignore")


def test_p92_a_function_gets_copies_output_first() -> None:
    def greedy(output: Arguments, reference: Arguments) -> Any:
        same = output.pop("list") == reference.pop("list")
        output["x"] = reference["x"] = 9
        return same

    output, reference = {"list": [1]}, {"list": [1]}
    assert holds(output, reference, override=greedy)
    assert output == reference == {"list": [1]}
    assert holds({"x": 1, "y": 1}, {"x": 1}, override=lambda output, reference: len(output) > len(reference))
    assert holds({}, {}, override=lambda *_: numpy.bool_(True))
    assert not holds({}, {}, override=lambda *_: numpy.bool_(False))


@each_row("answer", ["no", None, 1, 0.0, [False], numpy.int64(1)])
def test_a_function_that_answers_no_boolean_broke(answer: Any) -> None:
    with pytest.raises(ScorerError, match="return True or False"):
        holds({}, {}, override=lambda *_: answer)


async def _answers_later(*_: Any) -> bool:
    return False


@pytest.mark.parametrize(
    ("function", "said"),
    [
        pytest.param(lambda *both: both[0]["x"], "KeyError: 'x'", id="raises"),
        pytest.param(lambda output: True, "TypeError", id="takes-one-argument"),
        pytest.param(lambda *both: _answers_later(*both), "asynchronous", id="awaitable"),
    ],
)
def test_a_broken_function_is_an_error_not_a_mismatch(function: Any, said: str) -> None:
    with pytest.raises(ScorerError, match=f"matcher of tool 'a' failed: .*{said}"):
        holds({}, {}, override=function)


@each_row(
    ("override", "said"),
    [
        pytest.param("ignored", "did you mean 'ignore'.*valid are exact, ignore, subset, superset", id="p91-unknown-mode"),
        pytest.param("", "the override is ''", id="blank"),
        pytest.param(None, "the override is None; give a mode", id="null"),
        pytest.param(0, "the override is 0", id="falsy"),
        pytest.param({}, "the override is {}", id="empty-object"),
        pytest.param([5], "5 is not a key path", id="path-is-no-text"),
        pytest.param(["q", " "], "' ' is not a key path", id="blank-path"),
        pytest.param(_answers_later, "plain function", id="asynchronous-function"),
    ],
)
def test_useless_overrides_are_refused_at_once(override: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        rules_of("exact", {"a": override})
    assert caught.value.path == "overrides.a"


@each_row("mode", ["exactly", None, 1, ["exact"], True])
def test_unknown_modes_are_refused_with_the_known_ones(mode: Any) -> None:
    with pytest.raises(ValueError, match="valid are exact, ignore, subset, superset"):
        rules_of(mode)
    with pytest.raises(ValueError, match="expected an object of tools' names"):
        rules_of("exact", [mode])
