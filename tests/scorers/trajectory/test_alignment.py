"""The cheapest alignment of two sequences."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.scorers.trajectory.alignment import MAX_CELLS, Aligned, aligned

TEXT = st.text("abc", max_size=6)


def path_of(one: str, other: str) -> Aligned:
    return aligned(
        len(one),
        len(other),
        pair=lambda here, there: int(one[here] != other[there]),
        extra=lambda _: 1,
        missing=lambda _: 1,
    )


def cost_of(path: Aligned, one: str, other: str) -> int:
    return sum(here is None or there is None or one[here] != other[there] for here, there in path)


@cache
def distance(one: str, other: str) -> int:
    """The edit distance by its definition."""
    if not one or not other:
        return len(one) + len(other)
    changed = distance(one[1:], other[1:]) + (one[0] != other[0])
    return min(changed, distance(one[1:], other) + 1, distance(one, other[1:]) + 1)


@given(TEXT, TEXT)
def test_no_alignment_is_cheaper_and_none_leaves_anything_out(one: str, other: str) -> None:
    path = path_of(one, other)
    assert [here for here, _ in path if here is not None] == list(range(len(one)))
    assert [there for _, there in path if there is not None] == list(range(len(other)))
    assert cost_of(path, one, other) == distance(one, other)


@pytest.mark.slow
def test_very_long_ones_are_compared_place_by_place() -> None:
    size = int(MAX_CELLS**0.5) + 1
    one, other = "x" + "ab" * size, "ba" * size + "yy"
    path = path_of(one, other)
    assert path == [*((place, place) for place in range(len(one))), (None, len(one))]
    assert cost_of(path_of("a" + "b" * 10**5, "b" * 10**5), "a" + "b" * 10**5, "b" * 10**5) == 1
