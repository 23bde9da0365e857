"""An outage marks nothing in a trend; what holds however its items would have gone does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from eval_skills.core.store import Store
from eval_skills.core.trend.changes import LineFindings, line_findings
from eval_skills.core.trend.trend import TrendPoint

STEADY: list[float] = (np.random.default_rng(4).binomial(100, 0.9, size=20) / 100).tolist()


def findings(tmp_path: Path, *last: tuple[float, float | None], steady: Sequence[float] = STEADY) -> LineFindings:
    """What is found where these runs (completion, and with missing items as passed) follow twenty steady ones of 100 tasks."""
    values: list[tuple[float, float | None]] = [*((value, None) for value in steady), *last]
    line = [
        TrendPoint(
            timestamp=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day),
            run_id=f"202601{day:02}T120000Z-0000",
            skill_version="1.0.0",
            benchmark_version="1.0.0",
            value=value,
            tasks=100,
            most=most,
        )
        for day, (value, most) in enumerate(values)
    ]
    return line_findings(Store(tmp_path), "adder", line, "completionRate", newest=0)


@pytest.mark.parametrize(
    ("last", "changes"),
    [
        pytest.param([(0.4, None), (0.42, None)] * 4, 1, id="it-fails"),
        pytest.param([(0.4, 0.9), (0.42, 0.91)] * 4, 0, id="an-outage"),
        pytest.param([(0.4, 0.5), (0.42, 0.49)] * 4, 1, id="it-fails-and-some-items-are-missing"),
    ],
)
def test_a_level_changed_only_if_it_did_however_the_missing_went(
    tmp_path: Path, last: list[tuple[float, float | None]], changes: int
) -> None:
    assert len(findings(tmp_path, *last).changes) == changes


@pytest.mark.parametrize(
    ("steady", "one", "band"),
    [
        pytest.param([0.9, 0.92] * 10, 0.0, (0.783, 1.0), id="not-above-all"),
        pytest.param([0.05, 0.1, 0.0, 0.15] * 5, 1.0, (0.0, 0.319), id="not-below-none"),
    ],
)
def test_the_band_of_a_rate_holds_rates_alone(tmp_path: Path, steady: list[float], one: float, band: tuple[float, float]) -> None:
    (run,) = findings(tmp_path, (one, None), *((value, None) for value in steady[:2]), steady=steady).single
    assert (run.point.value, run.lower, run.upper) == (one, *(pytest.approx(end, abs=0.001) for end in band))


@pytest.mark.parametrize(("most", "single"), [(None, 1), (0.9, 0), (0.3, 1)])
def test_a_single_run_stands_out_only_if_it_does_so_too(tmp_path: Path, most: float | None, single: int) -> None:
    assert len(findings(tmp_path, (0.2, most), (0.9, None), (0.91, None)).single) == single
