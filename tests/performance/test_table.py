"""Aligned columns, figures with units, and the reason beside a figure that is missing."""

from __future__ import annotations

import pytest

from tests.performance.bar import Bar
from tests.performance.table import figure, table_of
from tests.tables import each_row

BARS = [
    Bar(row="mapping", what="map over gather", measured=0.98, limit=1.25, detail="5 rounds"),
    Bar(row="sweep", what="items", measured=1047.3, limit=1500, at_least=True, unit="items/s"),
    Bar(row="recorded", what="over a rival", measured=None, limit=2.5, at_least=True, detail="not measured: no network"),
]


@each_row(
    ("value", "unit", "text"),
    [
        pytest.param(0.98234, "x", "0.982x", id="ratio"),
        pytest.param(1500.0, "items/s", "1,500 items/s", id="large-numbers-are-whole"),
        pytest.param(0.35, "s", "0.35 s", id="small"),
        pytest.param(None, "s", "-", id="missing"),
    ],
)
def test_figure(value: float | None, unit: str, text: str) -> None:
    assert figure(value, unit) == text


def test_columns_line_up_and_details_stand_below() -> None:
    heading, mapping, detail, sweep, recorded, reason = table_of(BARS).splitlines()
    assert detail.strip() == "5 rounds"
    assert reason.strip() == "not measured: no network"
    columns = [line.index(verdict) for line, verdict in ((mapping, "met"), (sweep, "missed"), (recorded, "not measured"))]
    assert columns == [heading.index("verdict")] * 3
    assert sweep.split("  ")[-1] == "missed"
    assert "1,047 items/s  >= 1,500 items/s" in sweep
