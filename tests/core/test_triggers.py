from __future__ import annotations

import pytest

from eval_skills.core.models import TaskResult
from eval_skills.core.models.report import is_missing
from eval_skills.core.triggers import ENDED_BY_LOAD, Query, Triggers, as_observed, trigger_rates
from tests.tables import each_row

RUNS: dict[str, tuple[str, list[str] | None]] = {
    "L": ("pass", ["csv"]),  # loaded, and came to its end
    "-": ("fail", []),  # came to its end, nothing loaded
    "x": ("error", None),  # crashed, nothing is known
    "t": ("timeout", []),  # ran out of time before it loaded anything
    "T": ("timeout", ["csv"]),  # loaded it, then ran out of time
    "o": ("fail", ["pdf"]),  # loaded the neighbour
    "s": ("error", None),  # came to its end, and the agent does not say what it loads: its scorer refuses
    "c": ("fail", ["pdf"]),  # was ended because it had loaded the neighbour
}


def item(query: str, run: int, letter: str) -> TaskResult:
    """The run of a query that a letter of `RUNS` stands for."""
    return TaskResult(
        task_id=query,
        run_index=run,
        status=RUNS[letter][0],  # type: ignore[arg-type]
        passed=False,
        error_kind="skill" if letter == "x" else "scorer" if letter == "s" else None,
        error_message="HTTP 401: bad key" if letter == "x" else None,
        skills_loaded=RUNS[letter][1],
        finish_reason=ENDED_BY_LOAD if letter == "c" else None,
    )


def triggers(*queries: tuple[bool, str], planned: int = 0) -> Triggers:
    """The figures of queries, each with whether it should trigger, and its runs as letters of `RUNS`."""
    asked = [Query(id=f"q{number}", query=f"query {number}", should_trigger=should) for number, (should, _) in enumerate(queries)]
    items = [item(f"q{number}", run, letter) for number, (_, runs) in enumerate(queries) for run, letter in enumerate(runs)]
    return trigger_rates(items, asked, skill="csv", neighbours=["pdf"], planned=planned)


@each_row(
    ("should", "runs", "loaded", "observed", "passed"),
    [
        pytest.param(True, "LL-", 2, 3, True, id="at-least-half"),
        pytest.param(True, "L-", 1, 2, True, id="half-is-enough"),
        pytest.param(False, "L-", 1, 2, False, id="half-is-too-much"),
        pytest.param(False, "---", 0, 3, True, id="near-miss-left-alone"),
        pytest.param(False, "xtx", 0, 0, None, id="outages-are-no-pass"),
        pytest.param(False, "-xt", 0, 1, True, id="missing-runs-are-not-counted"),
        pytest.param(True, "Txx", 1, 1, True, id="loaded-before-the-time-was-up"),
        pytest.param(True, "ooL", 1, 3, False, id="the-neighbour-took-it"),
    ],
)
def test_a_query(should: bool, runs: str, loaded: int, observed: int, passed: bool | None) -> None:
    (found,) = triggers((should, runs)).queries
    assert (found.loaded, found.observed, found.missing, found.passed) == (loaded, observed, len(runs) - observed, passed)


def test_the_rates_and_what_missing_runs_could_change() -> None:
    found = triggers((True, "LLL"), (True, "L-x"), (False, "---"), (False, "L-x"))
    assert (found.recall.rate, found.recall.lower_bound, found.recall.upper_bound) == (4 / 5, 4 / 6, 5 / 6)
    assert (found.false_alarms.rate, found.false_alarms.lower_bound, found.false_alarms.upper_bound) == (1 / 5, 1 / 6, 2 / 6)
    assert (found.precision.rate, found.precision.lower_bound, found.precision.upper_bound) == (4 / 5, 4 / 6, 5 / 6)
    assert found.recall.interval is not None
    assert found.recall.interval.lower < 4 / 5 < found.recall.interval.upper
    assert found.missing == 2


def test_the_neighbours_that_took_queries_are_counted() -> None:
    found = triggers((True, "oo-"), (True, "oL-"), (False, "oo"))
    assert found.confusion == {"pdf": 3}
    assert found.queries[2].others == {"pdf": 2}


def test_without_a_query_of_one_kind_that_rate_is_unknown() -> None:
    found = triggers((True, "LL"))
    assert found.false_alarms.rate is None
    assert found.false_alarms.upper_bound is None
    assert found.remarks == ["every query should load the Agent Skill, so nothing is known of false alarms; add near-misses"]


def test_nothing_loaded_has_no_precision() -> None:
    assert triggers((True, "--"), (False, "--")).precision.rate is None


def test_each_reason_why_a_run_says_nothing_is_named() -> None:
    found = triggers((True, "Lx"), (False, "ss"), (False, "-c"), planned=3)
    assert [(each.missing, each.silent, each.unmade, each.cut) for each in found.queries] == [
        (2, 0, 1, 0),
        (3, 2, 1, 0),
        (1, 0, 1, 1),
    ]
    assert [remark.partition(":")[0] for remark in found.remarks] == [
        "1 run broke off before a load (HTTP 401",
        "2 runs came to an end, but what was loaded is unknown (the agent does not say it, or a call that reads among the skills "
        "is not understood)",
        "3 runs of those that were planned were not made",
        "1 run ended when a neighbour was loaded",
    ]
    assert (found.recall.lower_bound, found.recall.upper_bound) == (1 / 3, 1.0)


def test_what_most_runs_broke_off_with_is_said() -> None:
    found = triggers((True, "xxt"), (False, "-T"))
    assert found.remarks == [
        "3 runs broke off before a load (2 of them: HTTP 401: bad key): not counted; the bounds take them either way"
    ]


@each_row(
    ("should", "runs", "is_open"),
    [
        pytest.param(False, "-xx", True, id="a-near-miss-that-two-runs-could-turn"),
        pytest.param(False, "--x", False, id="one-run-cannot"),
        pytest.param(True, "Lxx", True, id="a-load-that-two-runs-could-outvote"),
        pytest.param(True, "LLx", False, id="two-loads-stand"),
        pytest.param(True, "-xx", True, id="a-failure-may-be-open-too"),
        pytest.param(True, "xx", False, id="nothing-observed-is-unknown-not-open"),
    ],
)
def test_missing_runs_leave_a_query_open(should: bool, runs: str, is_open: bool) -> None:
    assert triggers((should, runs)).queries[0].left_open is is_open


@each_row(
    ("letter", "load", "not_load"),
    [
        pytest.param("L", "pass", "fail", id="loaded"),
        pytest.param("T", "pass", "fail", id="loaded-then-out-of-time"),
        pytest.param("-", "fail", "pass", id="not-loaded"),
        pytest.param("o", "fail", "pass", id="the-neighbour-alone"),
        pytest.param("x", "error", "error", id="crashed"),
        pytest.param("t", "error", "error", id="out-of-time"),
        pytest.param("s", "error", "error", id="does-not-say"),
    ],
)
def test_a_comparison_counts_loads_and_takes_what_is_unknown_as_missing(letter: str, load: str, not_load: str) -> None:
    asked = [Query(id="yes", query="a", should_trigger=True), Query(id="no", query="b", should_trigger=False)]
    yes, no = as_observed([item("yes", 0, letter), item("no", 0, letter)], asked, "csv")
    assert (yes.status, no.status) == (load, not_load)
    assert [each.passed for each in (yes, no)] == [each.status == "pass" for each in (yes, no)]
    assert is_missing(yes) is (load == "error")
