"""The verdicts, and that they survive the way through a file."""

from __future__ import annotations

import json

import pytest

from tests.performance.bar import Bar, Verdict, from_json
from tests.tables import each_row


@each_row(
    ("measured", "at_least", "verdict", "margin"),
    [
        pytest.param(1.25, False, "met", 1.0, id="equality-meets-an-upper-bar"),
        pytest.param(1.26, False, "missed", 1.25 / 1.26, id="above-an-upper-bar"),
        pytest.param(1.25, True, "met", 1.0, id="equality-meets-a-lower-bar"),
        pytest.param(2.5, True, "met", 2.0, id="above-a-lower-bar"),
        pytest.param(1.0, True, "missed", 0.8, id="below-a-lower-bar"),
        pytest.param(None, False, "not measured", None, id="no-figure-is-never-met"),
        pytest.param(float("nan"), True, "not measured", None, id="nan-is-no-figure"),
        pytest.param(float("inf"), True, "not measured", None, id="infinity-is-no-figure"),
    ],
)
def test_verdict(measured: float | None, at_least: bool, verdict: Verdict, margin: float | None) -> None:
    bar = Bar(row="r", what="w", measured=measured, limit=1.25, at_least=at_least)
    assert bar.verdict == verdict
    assert bar.margin == (None if margin is None else pytest.approx(margin))


def test_a_bar_survives_its_json() -> None:
    bar = Bar(row="sweep", what="items", measured=1600.5, limit=1500, at_least=True, unit="items/s", detail="3 sweeps")
    assert from_json(json.loads(json.dumps(bar.to_json()))) == bar
