"""Numbers as bars."""

from __future__ import annotations

import pytest

from eval_skills.reporting.numbers import sparkline
from tests.tables import each_row


@each_row(
    ("values", "top", "line"),
    [
        pytest.param([], None, "", id="nothing"),
        pytest.param([0.0, 0.5, 1.0], 1.0, "▁▅█", id="shares"),
        pytest.param([0.5], 1.0, "▅", id="one-share-is-not-the-highest"),
        pytest.param([20.0, None, 40.0], None, "▅·█", id="up-to-the-highest-and-a-gap"),
        pytest.param([0.0, 0.0], None, "▁▁", id="all-zero"),
        pytest.param([None], None, "·", id="all-unknown"),
        pytest.param([-1.0, 2.0], 1.0, "▁█", id="outside"),
    ],
)
def test_one_bar_per_value(values: list[float | None], top: float | None, line: str) -> None:
    assert sparkline(values, top=top) == line
