"""What holds for any two trajectories."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from eval_skills.scorers.trajectory import create_trajectory_match_evaluator

VALUES = st.none() | st.booleans() | st.integers(0, 1) | st.sampled_from(["", "1"]) | st.lists(st.integers(0, 1), max_size=2)
ARGUMENTS = st.dictionaries(st.sampled_from("xy"), VALUES, max_size=2)
CALL = st.builds(
    lambda name, arguments: {"function": {"name": name, "arguments": json.dumps(arguments)}}, st.sampled_from("ab"), ARGUMENTS
)
MESSAGE = st.one_of(
    st.sampled_from([{"role": "user", "content": "?"}, {"role": "tool", "content": "!"}]),
    st.builds(lambda calls: {"role": "assistant", "tool_calls": calls}, st.lists(CALL, max_size=3)),
)
TRAJECTORY = st.lists(MESSAGE, max_size=5)
MODES = st.sampled_from(["strict", "unordered", "subset", "superset"])
ARGUMENT_MODES = st.sampled_from(["exact", "ignore", "subset", "superset"])
Trajectory = list[dict[str, Any]]


def result(output: Trajectory, reference: Trajectory, mode: str, arguments: str = "exact") -> dict[str, Any]:
    evaluator = create_trajectory_match_evaluator(trajectory_match_mode=mode, tool_args_match_mode=arguments)  # type: ignore[arg-type]
    return dict(evaluator(outputs=output, reference_outputs=reference))


def shuffled(data: st.DataObject, trajectory: Trajectory) -> Trajectory:
    """The same messages with the calls of each in another order."""
    return [
        {**each, "tool_calls": data.draw(st.permutations(each["tool_calls"]))} if "tool_calls" in each else each
        for each in trajectory
    ]


@st.composite
def related(draw: st.DrawFn) -> tuple[Trajectory, Trajectory]:
    """Two trajectories of which one often is a little changed copy of the other, so that matches are common."""
    one = draw(TRAJECTORY)
    if draw(st.integers(0, 3)) == 0:
        return one, draw(TRAJECTORY)
    other = draw(st.permutations(one)) if draw(st.booleans()) else one
    return one, other[: draw(st.integers(0, len(other)))] if draw(st.booleans()) else other


@given(st.data(), related(), MODES, ARGUMENT_MODES)
def test_parallel_calls_have_no_order(
    data: st.DataObject, pair: tuple[Trajectory, Trajectory], mode: str, arguments: str
) -> None:
    output, reference = pair
    before = result(output, reference, mode, arguments)
    after = result(shuffled(data, output), shuffled(data, reference), mode, arguments)
    assert before["score"] == after["score"]
    assert before["metadata"]["matched"] == after["metadata"]["matched"]


@given(related())
def test_superset_is_subset_the_other_way_round(pair: tuple[Trajectory, Trajectory]) -> None:
    one, other = pair
    assert result(one, other, "superset")["score"] == result(other, one, "subset")["score"]


@given(related())
def test_p90_argument_modes_mirror_too(pair: tuple[Trajectory, Trajectory]) -> None:
    one, other = pair
    assert result(one, other, "superset", "superset")["score"] == result(other, one, "subset", "subset")["score"]


@given(related(), ARGUMENT_MODES)
def test_strict_implies_unordered_implies_subset_and_superset(pair: tuple[Trajectory, Trajectory], arguments: str) -> None:
    scores = {mode: result(*pair, mode, arguments)["score"] for mode in ("strict", "unordered", "subset", "superset")}
    assert scores["strict"] <= scores["unordered"] <= min(scores["subset"], scores["superset"])
    assert scores["unordered"] == (scores["subset"] and scores["superset"])


@given(TRAJECTORY, MODES, ARGUMENT_MODES)
def test_every_trajectory_matches_itself(trajectory: Trajectory, mode: str, arguments: str) -> None:
    found = result(trajectory, copy.deepcopy(trajectory), mode, arguments)
    assert (found["score"], found["comment"]) == (True, None)
    assert {found["metadata"][name] for name in ("precision", "recall", "f1", "lcs")} == {1.0}


@given(related(), MODES, ARGUMENT_MODES)
def test_p93_a_comment_exactly_where_there_is_no_match(pair: tuple[Trajectory, Trajectory], mode: str, arguments: str) -> None:
    found = result(*pair, mode, arguments)
    assert (found["comment"] is None) == found["score"]
    assert found["comment"] is None or (found["comment"].strip() and "\n" not in found["comment"])


@given(related(), MODES, ARGUMENT_MODES)
def test_figures_are_shares_that_agree_with_the_counts(pair: tuple[Trajectory, Trajectory], mode: str, arguments: str) -> None:
    figures = result(*pair, mode, arguments)["metadata"]
    called, expected = (sum(len(message.get("tool_calls", ())) for message in side) for side in pair)
    assert (figures["matched"] + figures["extra"], figures["matched"] + figures["missing"]) == (called, expected)
    assert all(0 <= figures[name] <= 1 for name in ("precision", "recall", "f1", "lcs"))
    precision, recall = figures["precision"], figures["recall"]
    if called and expected:
        mean = 2 * precision * recall / (precision + recall) if precision + recall else 0
        assert abs(figures["f1"] - mean) < 1e-12


@given(related(), MODES, ARGUMENT_MODES)
def test_p92_nothing_given_is_changed(pair: tuple[Trajectory, Trajectory], mode: str, arguments: str) -> None:
    before = copy.deepcopy(pair)
    result(*pair, mode, arguments)
    assert pair == before
