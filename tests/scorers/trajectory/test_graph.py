"""Trajectories of graphs: nodes, turn by turn."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.scorers.trajectory import (
    create_async_graph_trajectory_match_evaluator,
    create_graph_trajectory_match_evaluator,
)
from tests.tables import each_row

MODES = ("strict", "unordered", "subset", "superset")
STEPS = st.lists(st.lists(st.sampled_from(["agent", "tools", "end"]), max_size=4), max_size=3)


def result(output: Any, reference: Any, mode: Any) -> dict[str, Any]:
    return dict(create_graph_trajectory_match_evaluator(trajectory_match_mode=mode)(outputs=output, reference_outputs=reference))


@each_row(
    ("output", "reference", "modes"),
    [
        pytest.param([["a", "b"], ["c"]], [["a", "b"], ["c"]], "strict unordered subset superset", id="equal"),
        pytest.param([["b", "a"]], [["a", "b"]], "unordered subset superset", id="another-order"),
        pytest.param([["a"], ["b"]], [["a", "b"]], "unordered subset superset", id="another-turn"),
        pytest.param([["a", "b", "b"]], [["a", "b"]], "superset", id="once-too-often"),
        pytest.param([["a"]], [["a", "b"]], "subset", id="one-missing"),
        pytest.param([["a", "c"]], [["a", "b"]], "", id="another-node"),
        pytest.param([], [["a"]], "subset", id="nothing-visited"),
        pytest.param([["a"]], [], "superset", id="nothing-expected"),
        pytest.param([], [], "strict unordered subset superset", id="both-empty"),
        pytest.param([["a"], []], [["a"]], "unordered subset superset", id="an-empty-turn"),
        pytest.param([["A"]], [["a"]], "", id="names-are-exact"),
    ],
)
def test_modes(output: Any, reference: Any, modes: str) -> None:
    results = {mode: result(output, reference, mode) for mode in MODES}
    assert [mode for mode in MODES if results[mode]["score"]] == modes.split()
    assert [results[mode]["key"] for mode in MODES] == [f"graph_trajectory_{mode}_match" for mode in MODES]
    assert [mode for mode in MODES if results[mode]["comment"] is None] == modes.split()


@pytest.mark.parametrize(
    "given",
    [
        pytest.param([["a", "b"]], id="turns"),
        pytest.param(["a", "b"], id="one-turn"),
        pytest.param((("a", "b"),), id="tuples"),
        pytest.param({"steps": [["a", "b"]], "results": [{}], "inputs": None}, id="with-results"),
        pytest.param({"output": {"steps": [["a", "b"]]}}, id="as-langsmith-wraps-it"),
    ],
)
def test_shapes(given: Any) -> None:
    before = copy.deepcopy(given)
    assert result(given, [["a", "b"]], "strict")["score"] is True
    assert given == before
    assert result([], None, "strict")["score"] is True


@each_row("given", ["a", 5, {}, {"nodes": []}, [["a", 1]], [["a"], "b"], {"steps": {"a": 1}}, [[["a"]]]])
def test_what_is_no_list_of_steps_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="outputs: expected a list of turns"):
        result(given, [], "strict")
    with pytest.raises(ValueError, match="reference_outputs: expected a list of turns"):
        result([], given, "strict")


@each_row(
    ("output", "reference", "comment"),
    [
        pytest.param([["a", "c"]], [["a", "b", "c"]], "turn 1: missing: b", id="missing-node"),
        pytest.param([["a", "x", "b"]], [["a", "b"]], "turn 1: extra: x", id="extra-node"),
        pytest.param([["a"], ["x"]], [["a"], ["b"]], "turn 2: step 1: expected b, got x", id="another-node"),
        pytest.param([["c"]], [["a", "b"], ["c"]], "missing: turn 1 (a, b)", id="missing-turn"),
        pytest.param([["a"], ["b\nb"]], [["a"]], "extra: turn 2 (b b)", id="extra-turn"),
    ],
)
def test_p93_the_smallest_edit(output: Any, reference: Any, comment: str) -> None:
    assert result(output, reference, "strict")["comment"] == comment


@given(STEPS, STEPS)
def test_modes_agree_with_counting(output: list[list[str]], reference: list[list[str]]) -> None:
    called, expected = (Counter(node for turn in side for node in turn) for side in (output, reference))
    scores = {mode: result(output, reference, mode)["score"] for mode in MODES}
    assert scores == {
        "strict": output == reference,
        "unordered": called == expected,
        "subset": called <= expected,
        "superset": called >= expected,
    }
    assert scores["superset"] == result(reference, output, "subset")["score"]


def test_partial_scores() -> None:
    figures = result([["a", "b", "x"]], [["b", "a", "c", "d"]], "strict")["metadata"]
    assert figures == {
        "matched": 2,
        "missing": 2,
        "extra": 1,
        "precision": pytest.approx(2 / 3),
        "recall": 0.5,
        "f1": pytest.approx(4 / 7),
        "lcs": 0.25,
    }


async def test_asynchronously() -> None:
    evaluator = create_async_graph_trajectory_match_evaluator(trajectory_match_mode="superset")
    found = await evaluator(outputs=[["a", "b"]], reference_outputs=[["a"]], inputs="ignored")
    assert (found["key"], found["score"]) == ("graph_trajectory_superset_match", True)


def test_unknown_mode() -> None:
    with pytest.raises(ValueError, match="valid are strict, unordered, subset, superset"):
        create_graph_trajectory_match_evaluator(trajectory_match_mode="ordered")  # type: ignore[arg-type]


@each_row("mode", MODES)
def test_no_output_at_all_matches_nothing_whatever_the_mode(mode: str) -> None:
    found = result(None, [], mode)
    assert (found["score"], "no output" in found["comment"]) == (False, True)
    assert result([], [], mode)["score"] is True
