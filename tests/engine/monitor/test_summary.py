"""The result of a monitor in one line."""

from __future__ import annotations

from eval_skills.core.models import ConfidenceInterval
from eval_skills.core.monitoring import WindowFigures
from eval_skills.engine.monitor.summary import summary_line


def test_a_window_with_a_failure_is_not_said_to_pass_by_100_percent() -> None:
    interval = ConfidenceInterval(lower=0.9981, upper=0.99999, method="wilson")
    figures = WindowFigures(size=3000, passed=2999, errors=0, pass_rate=2999 / 3000, interval=interval, mean_score=None)
    assert summary_line("warning", figures, 3000, 3000, 0) == (
        "warning: 99.97 % of 3,000 samples in the window pass (99.8 to 99.999 %); 3,000 records read, 3,000 sampled, 0 bad"
    )
