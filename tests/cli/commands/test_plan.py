"""`plan`: the choices and the check of the gate, in the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.cli.output.plan import _power
from tests.cli.output.test_run import on_a_terminal

Run = Callable[..., Any]
RUN = "20260101T100000Z-0001"


@pytest.mark.slow
def test_the_choices_are_a_table_of_80_columns_with_bars(run_here: Run) -> None:
    result = run_here("plan", "--effect", "0.2", "--tasks", "50")
    assert result.code == 0
    assert "assumed: flakiness 0.1, base rate 0.8" in result.out
    assert "█" in result.out
    assert "fewest items that find it in 80.0 % of cases: 50 tasks × 1 run" in result.out
    assert all(len(line) <= 80 for line in result.out.splitlines())


@pytest.mark.slow
def test_a_stored_run_says_what_tasks_are_like_and_what_an_item_takes(run_here: Run, past: Callable[..., str]) -> None:
    past(RUN, passed=2)
    plan = run_here("plan", "--from", "latest", "--effect", "0.2", "--budget", "1h", "--tasks", "20", "--json").json
    assert (plan["source"], plan["assumed"]) == (f"run {RUN}", ["flakiness 0.1"])
    assert plan["baseRate"] == pytest.approx(0.5)
    assert plan["rows"][0]["seconds"] == pytest.approx(20 * 0.025 / 4)
    assert {row["withinBudget"] for row in plan["rows"]} == {True}


@pytest.mark.parametrize(
    ("power", "target", "shown"),
    [
        pytest.param(0.7975, 0.8, "79.8 %", id="just-below"),
        pytest.param(0.8, 0.8, "80 %", id="at-it"),
        pytest.param(0.8025, 0.8025, "80.2 %", id="at-one-with-decimals"),
        pytest.param(0.7775, 0.8, "78 %", id="far-below"),
    ],
)
def test_a_power_never_looks_enough_where_it_is_not(power: float, target: float, shown: str) -> None:
    assert _power(power, target) == shown


@pytest.mark.slow
def test_a_narrow_terminal_has_figures_whole_or_not_at_all(place: Any) -> None:
    said = on_a_terminal(place, "plan", "--effect", "0.2", "--tasks", "50", COLUMNS="42", NO_COLOR="1")
    assert "tasks  runs  items  power" in said
    assert "left out for lack of room: smallest, cost, time" in said
    assert "…" not in said.partition("power:")[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param((), f"completion 90.0 %, flakiness 10.0 %, from run {RUN}\nestimates: half a pass, half a", id="run"),
        pytest.param(
            ("--base-rate", "0.7"), f"completion 70.0 %, flakiness 10.0 %, from run {RUN}, completion from the options", id="one"
        ),
        pytest.param(
            ("--base-rate", "0.7", "--flakiness", "0.2"), "completion 70.0 %, flakiness 20.0 %, from the options\n\n", id="both"
        ),
    ],
)
def test_a_plan_says_what_is_an_estimate_and_what_was_given(
    run_here: Run, past: Callable[..., str], given: tuple[str, ...], says: str
) -> None:
    past(RUN, passed=4)
    assert says in run_here("plan", "--from", RUN, "--effect", "0.2", "--tasks", "20", *given).out


@pytest.mark.slow
def test_the_gate_of_a_stored_run_is_checked(run_here: Run, past: Callable[..., str]) -> None:
    past(RUN, passed=2)
    result = run_here("plan", "--check", "latest")
    assert result.code == 0
    assert "report diff --fail-on worse, simulated 400 times on two runs like it, fails" in result.out
    assert "where nothing changed" in result.out
    found = run_here("plan", "--check", RUN, "--json").json
    assert list(found["found"]) == ["0.05", "0.1", "0.2"]
    assert 0.05 < found["falseAlarms"] < found["found"]["0.2"]  # four tasks that ran once: what was lost cannot be judged


def test_p40_a_run_that_is_not_there_and_two_purposes_are_refused(run_here: Run, past: Callable[..., str]) -> None:
    past(RUN, passed=2)
    for given, says in ((("--from", "20260101T100000Z-ffff"), "no run"), (("--from", RUN, "--check", RUN), "exclude each other")):
        result = run_here("plan", *given)
        assert (result.code, says in result.err) == (2, True)
