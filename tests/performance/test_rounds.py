"""The arithmetic of alternating rounds."""

from __future__ import annotations

import pytest

from tests.performance.rounds import Rounds, alternate


def test_every_other_round_goes_backwards() -> None:
    order: list[str] = []

    def measure(name: str) -> float:
        order.append(name)
        return float(len(order))

    taken = alternate({"a": lambda: measure("a"), "b": lambda: measure("b")}, rounds=3)
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert taken.figures == {"a": [1.0, 4.0, 5.0], "b": [2.0, 3.0, 6.0]}


def test_the_ratio_is_taken_within_each_round_so_that_drift_cancels_out() -> None:
    taken = Rounds({"a": [2.0, 20.0, 200.0], "b": [1.0, 10.0, 100.0]})
    assert taken.ratio("a", "b") == pytest.approx(2.0)


def test_several_figures_below_are_summed_up_within_their_round() -> None:
    taken = Rounds({"a": [3.0, 8.0, 6.0], "b": [1.0, 3.0, 2.0], "c": [1.0, 1.0, 1.0]})
    assert taken.ratio("a", "b", "c") == pytest.approx(2.0)


def test_the_spread_names_median_and_extremes() -> None:
    assert Rounds({"a s": [3.0, 1.0, 2.5]}).spread("a s") == "a s 2.5 (1..3)"
