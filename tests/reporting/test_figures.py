"""How figures are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.models import ConfidenceInterval
from eval_skills.core.statistics.rates import OUR_METHODS
from eval_skills.reporting import numbers
from tests.tables import each_row


@each_row(
    ("show", "value", "text"),
    [
        pytest.param(numbers.rate, 0.85, "85.0 %", id="rate"),
        pytest.param(numbers.rate, 0, "0.0 %", id="none-passed"),
        pytest.param(numbers.rate, 1, "100.0 %", id="all-passed"),
        pytest.param(numbers.rate, 0.9996, "99.96 %", id="nearly-all-is-not-all"),
        pytest.param(numbers.rate, 0.00004, "0.004 %", id="nearly-none-is-not-none"),
        pytest.param(numbers.rate, 1 / 3, "33.3 %", id="third"),
        pytest.param(numbers.interval, ConfidenceInterval(lower=0.6211, upper=0.9679), "62.1 to 96.8 %", id="interval"),
        pytest.param(numbers.score, 0.8125, "0.8125", id="score"),
        pytest.param(numbers.score, -0.25, "-0.2500", id="negative"),
        pytest.param(numbers.score, -0.00001, "0.0000", id="hardly-negative"),
        pytest.param(numbers.rate, -0.0, "0.0 %", id="negative-zero-rate"),
        pytest.param(numbers.p_value, 0.03125, "0.0312", id="p"),
        pytest.param(numbers.p_value, 0.00000024, "2.4e-07", id="small-p"),
        pytest.param(numbers.p_value, 0.0, "< 1e-300", id="no-p-is-0"),
        pytest.param(numbers.milliseconds, -0.01, "0.0 ms", id="negative-zero-ms"),
        pytest.param(numbers.usd, -0.0, "$0.00", id="negative-zero-usd"),
        pytest.param(numbers.count, -0.4, "0", id="negative-zero-count"),
        pytest.param(numbers.milliseconds, 0.04, "0.0 ms", id="fast"),
        pytest.param(numbers.milliseconds, 3.21, "3.2 ms", id="ms"),
        pytest.param(numbers.milliseconds, 1234.4, "1,234 ms", id="slow"),
        pytest.param(numbers.usd, 0.0, "$0.00", id="free"),
        pytest.param(numbers.usd, 1234.5, "$1,234.50", id="dear"),
        pytest.param(numbers.usd, 0.0123, "$0.0123", id="cents"),
        pytest.param(numbers.usd, 0.0000012, "$0.0000012", id="far-below-a-cent"),
        pytest.param(numbers.count, 1234, "1,234", id="count"),
        pytest.param(numbers.duration, 4.2, "4.2 s", id="seconds"),
        pytest.param(numbers.duration, 59.97, "1 min 0 s", id="no-sixty-seconds"),
        pytest.param(numbers.duration, 125, "2 min 5 s", id="minutes"),
        pytest.param(numbers.duration, 3720, "1 h 2 min", id="hours"),
    ],
)
def test_figure(show: Callable[[Any], str], value: Any, text: str) -> None:
    assert show(value) == text


@each_row("show", [numbers.rate, numbers.interval, numbers.score, numbers.milliseconds, numbers.usd, numbers.count])
def test_p38_unknown_is_a_dash(show: Callable[[Any], str]) -> None:
    assert show(None) == "–"


def test_no_report_shows_the_internal_name_of_one_of_our_methods() -> None:
    made = [ConfidenceInterval(lower=0, upper=1, method=name) for name in sorted(OUR_METHODS)]
    shown = numbers.methods(made)
    assert len(shown) == len(OUR_METHODS)
    assert not [each for each in shown if "_" in each or "wilson" in each]
    assert "95 %, Wilson's interval, widened where it would be too narrow" in shown


def test_methods_are_named_once_and_those_of_others_by_their_own_names() -> None:
    given = [ConfidenceInterval(lower=0, upper=1, level=0.9, method=name) for name in ("jeffreys", "wilson", "wilson", "")]
    assert numbers.methods(given) == ["90 %, jeffreys", "90 %, Wilson's interval", "90 %, method not recorded"]
