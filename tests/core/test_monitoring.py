"""The window, the status, and what is announced."""

from __future__ import annotations

import random

import pytest

from eval_skills.core.monitoring import HealthMonitor, HealthRule, HealthStatus, Judged, StatusChange
from eval_skills.core.statistics.rates import wilson
from tests.tables import each_row


def monitor(passes: list[bool], **rule: float) -> tuple[HealthMonitor, list[StatusChange]]:
    found = HealthMonitor(HealthRule(**rule))  # type: ignore[arg-type]
    changes = [found.add(Judged(str(number), passed, float(passed))) for number, passed in enumerate(passes)]
    return found, [change for change in changes if change]


def mixed(passed: int, size: int, seed: int = 1) -> list[bool]:
    return random.Random(seed).sample([True] * passed + [False] * (size - passed), size)


@each_row(
    ("passed", "size", "status"),
    [
        pytest.param(0, 0, "insufficient_data", id="nothing"),
        pytest.param(0, 1, "insufficient_data", id="p94-one-failed-sample-of-one"),
        pytest.param(0, 29, "insufficient_data", id="one-below-the-minimum"),
        pytest.param(0, 30, "critical", id="the-minimum"),
        pytest.param(69, 100, "critical", id="below-critical"),
        pytest.param(70, 100, "warning", id="critical-is-below-not-at"),
        pytest.param(84, 100, "warning", id="below-warning"),
        pytest.param(85, 100, "healthy", id="warning-is-below-not-at"),
        pytest.param(100, 100, "healthy", id="all"),
    ],
)
def test_the_status_is_what_the_window_says_however_it_came_about(passed: int, size: int, status: HealthStatus) -> None:
    for passes in ([True] * passed + [False] * (size - passed), [False] * (size - passed) + [True] * passed, mixed(passed, size)):
        assert monitor(passes)[0].status == status


def test_p94_the_window_forgets_what_has_rolled_out() -> None:
    found, _ = monitor([False] * 500 + [True] * 199, window=200)
    assert (found.figures().size, found.figures().passed) == (200, 199)
    assert len(found.samples) == 200
    found.add(Judged("last", True, 1.0))
    assert (found.figures().pass_rate, Judged("499", False) in found, Judged("698", True) in found) == (1.0, False, True)


def test_an_interaction_is_known_by_its_id_and_content_as_long_as_the_window_holds_it() -> None:
    one, same, other = Judged("1", True, content="a"), Judged("1", False, content="a"), Judged("1", True, content="b")
    found = HealthMonitor(HealthRule(window=2, min_sample=1), [one])
    assert (same in found, found.names_another(same)) == (True, False)
    assert (other in found, found.names_another(other)) == (False, True)
    found.add(other)
    assert (one in found, other in found, found.names_another(one), found.names_another(other)) == (True, True, True, True)
    found.add(Judged("2", True, content="a"))
    assert (one in found, other in found, found.names_another(one), found.names_another(other)) == (False, True, True, False)
    found.add(Judged("3", True, content="a"))
    assert (other in found, found.names_another(one)) == (False, False)


def test_where_only_the_id_is_known_it_may_be_the_same_interaction() -> None:
    found = HealthMonitor(HealthRule(), [Judged("1", True)])
    sample = Judged("1", True, content="a")
    assert (sample in found, found.names_another(sample)) == (False, False)


def test_the_memory_is_that_of_one_window() -> None:
    found = HealthMonitor(HealthRule(window=5, min_sample=1))
    for number in range(100):
        found.add(Judged(str(number), True, content="a"))
    assert (len(found._known), len(found._ids)) == (5, 5)


def test_the_interval_is_wilsons_and_holds_the_rate() -> None:
    figures = monitor(mixed(85, 100))[0].figures()
    assert (figures.interval.lower, figures.interval.upper) == wilson(0.85, 100)
    assert (figures.interval.method, figures.interval.level) == ("wilson", 0.95)


def test_without_a_sample_the_rate_is_unknown_and_the_interval_says_nothing() -> None:
    figures = HealthMonitor(HealthRule()).figures()
    assert (figures.pass_rate, figures.mean_score, figures.interval.lower, figures.interval.upper) == (None, None, 0.0, 1.0)


def test_p14_an_error_counts_as_not_passed_and_has_no_score() -> None:
    found = HealthMonitor(HealthRule(min_sample=2))
    found.add(Judged("a", True, 1.0))
    found.add(Judged("b", False, None, error=True))
    figures = found.figures()
    assert (figures.pass_rate, figures.errors, figures.mean_score, found.status) == (0.5, 1, 1.0, "critical")


class TestAnnouncements:
    def test_worse_is_announced_at_once(self) -> None:
        _, changes = monitor([True] * 200 + [False] * 61, window=200)
        assert [(each.before, each.after) for each in changes] == [
            ("insufficient_data", "healthy"), ("healthy", "warning"), ("warning", "critical"),
        ]  # fmt: skip
        assert [each.figures.passed for each in changes[1:]] == [169, 139]

    def test_better_is_announced_only_above_the_threshold_by_the_hysteresis(self) -> None:
        found, changes = monitor([True] * 84 + [False] * 16 + [True] * 100, window=100, min_sample=100)
        assert [each.after for each in changes] == ["warning", "healthy"]
        assert changes[1].figures.pass_rate == 0.87
        assert found.announced == found.status == "healthy"

    def test_from_critical_it_recovers_step_by_step_and_never_gets_worse_by_the_margin(self) -> None:
        _, changes = monitor([False] * 100 + [True] * 100, window=100, min_sample=100)
        assert [(each.after, each.figures.passed) for each in changes] == [("critical", 0), ("warning", 72), ("healthy", 87)]

    @each_row("period", [1, 2, 3, 7])
    def test_a_rate_that_trembles_about_a_threshold_makes_one_change(self, period: int) -> None:
        window = 100
        passes = [True] * 85 + [False] * 15
        for step in range(2000):  # keep the window at 84, 85 or 86 of 100
            leaving, below = passes[step], (step // period) % 2
            inside = sum(passes[step : step + window])
            passes.append(leaving if inside == 85 - below else inside < 85 - below)
        found, changes = monitor(passes, window=window, min_sample=window)
        flips = len(monitor(passes, window=window, min_sample=window, hysteresis=0.0)[1])
        assert [each.after for each in changes] == ["healthy", "warning"]
        assert flips > 10
        assert found.announced == "warning"

    def test_where_all_must_pass_it_recovers_when_all_do(self) -> None:
        _, changes = monitor([True] * 20 + [False] + [True] * 20, window=10, min_sample=10, warning=1.0)
        assert [each.after for each in changes] == ["healthy", "warning", "healthy"]

    def test_a_monitor_goes_on_where_another_one_stopped(self) -> None:
        passes = mixed(800, 1000)
        whole, changes = monitor(passes)
        first, before = monitor(passes[:437])
        second = HealthMonitor(first.rule, first.samples, first.announced)
        after = [second.add(Judged(str(number), passes[number], float(passes[number]))) for number in range(437, 1000)]
        assert [*before, *filter(None, after)] == changes
        assert (second.figures(), second.samples) == (whole.figures(), whole.samples)
