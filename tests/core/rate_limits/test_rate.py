"""Rates as people write them."""

from __future__ import annotations

import pytest

from eval_skills.core.rate_limits.rate import checked_rate, per_second, rate_words
from tests.tables import each_row


@each_row(
    ("rate", "per_s"),
    [
        pytest.param("60/min", 1.0, id="minutes"),
        pytest.param("10/s", 10.0, id="seconds"),
        pytest.param("900/h", 0.25, id="hours"),
        pytest.param(" 0.5 / s ", 0.5, id="spaces"),
    ],
)
def test_a_rate_is_read(rate: str, per_s: float) -> None:
    assert per_second(rate) == per_s
    assert per_second(checked_rate(rate)) == per_s


@each_row(
    "rate",
    [
        pytest.param(text, id=text or "nothing")
        for text in ("", "60", "60/", "/min", "0/s", "0.0/h", "-1/s", "60/day", "nan/s", "1e3/s", "1/s/s", "1\u0661/s")
    ],
)
def test_what_is_not_a_rate_is_refused_with_examples(rate: str) -> None:
    with pytest.raises(ValueError, match=r"give a number above 0 per s, min or h, such as 60/min, 10/s or 1000/h; got '"):
        per_second(rate)


def test_a_rate_that_limits_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="100001/s is more than 100,000 requests per second; leave the limit out"):
        per_second("100001/s")


@each_row(
    ("per_s", "words"),
    [
        pytest.param(20.4, "20/s", id="seconds"),
        pytest.param(1.24, "1.2/s", id="few"),
        pytest.param(0.8, "48/min", id="minutes"),
        pytest.param(0.001, "3.6/h", id="hours"),
        pytest.param(0.0001, "0.36/h", id="less-than-one"),
        pytest.param(12_345.6, "12,346/s", id="many"),
    ],
)
def test_a_rate_in_words(per_s: float, words: str) -> None:
    assert rate_words(per_s) == words
