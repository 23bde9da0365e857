"""What the display says when a service asks for time."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from eval_skills.cli.output.progress import LiveDisplay
from eval_skills.core.rate_limits.services import Throttled


@pytest.mark.parametrize(
    ("waited_s", "asked_s", "said"),
    [
        (120.0, 100_000.0, "h3@1.0.0 waits 120 s: its service asked for 100,000 s, at most 120 s are waited\n"),
        (30.0, 30.0, "h3@1.0.0 waits 30 s: its service asked for 30 s\n"),
    ],
    ids=["capped", "as-asked"],
)
def test_a_wait_that_a_service_asked_for_is_said_in_one_line(waited_s: float, asked_s: float, said: str) -> None:
    out = StringIO()
    with LiveDisplay(Console(file=out, width=40, color_system=None)) as display:
        display.waiting("h3@1.0.0", waited_s, asked_s)
    assert out.getvalue() == said


def test_a_service_that_throttles_stands_beside_the_bar_and_has_one_line_where_there_is_none() -> None:
    out = StringIO()
    with LiveDisplay(Console(file=out, width=40, color_system=None)) as display:
        for rate in (20.4, 18.0):
            display.throttled(Throttled("127.0.0.1:8000", wait_s=60, rate_per_s=rate))
        display.throttled(Throttled("[::1]:\x1b[31m", wait_s=2.5))
        assert "asks for fewer requests; waiting 2.5 s" in display.doing
    first, second = out.getvalue().splitlines()
    assert first == "127.0.0.1:8000 allows about 20/s; waiting"
    assert "\x1b" not in second
