"""What goes into the log of a flow run: bounded, in one line each, without secrets."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eval_skills.core.redaction import Redaction
from eval_skills.core.store import Store
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.observer import NullObserver
from eval_skills.tasks.run_log import LINE_CHARS, MAX_LINES, FlowRunLog, RunLog, log_conclusion
from tests.engine.evaluations import MakePlan, _result

LOGGER = logging.getLogger("tests.run_log")


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The lines so far."""
    caplog.set_level(logging.INFO, logger=LOGGER.name)
    return lambda: [record.getMessage() for record in caplog.records]


class Counting(NullObserver):
    """Counts what is passed on to it."""

    def __init__(self) -> None:
        self.finishes = self.retries = 0

    def finished(self, result: object) -> None:
        self.finishes += 1

    def retrying(self, item: str, reason: str) -> None:
        self.retries += 1


def test_however_many_items_fail_or_are_tried_again_the_log_is_bounded_and_says_how_many_it_left_out(
    make_plan_of: MakePlan, said: Callable[[], list[str]]
) -> None:
    plan = make_plan_of("ok", runs=1000)
    seen = Counting()
    log = RunLog(FlowRunLog(logger=LOGGER), seen)
    log.planned(plan)
    for number in range(1000):
        log.retrying(f"a@1.0.0/ok#{number}", "connection refused")
        log.finished(_result(plan, "ok", run_index=number, status="error", passed=False, error_message="it is gone"))
    log.landing(plan)
    log.end_items()
    lines = said()
    assert sum("ended in an error: it is gone" in line for line in lines) == MAX_LINES
    assert sum("is tried again: connection refused" in line for line in lines) == MAX_LINES
    assert [line.partition(":")[0] for line in lines if "%" in line] == [f"{tenth}0 %" for tenth in range(1, 11)]
    (failures,) = (line for line in lines if "900 items more did not pass" in line)
    assert f"eval-skills show {plan.run_id} SKILL TASK --store {plan.store.path}" in failures
    assert sum("900 items more were tried again" in line for line in lines) == 1
    assert len(lines) < 2 * MAX_LINES + 20
    assert (seen.finishes, seen.retries) == (1000, 1000)


def test_a_resumed_run_says_no_tenth_twice(make_plan_of: MakePlan, said: Callable[[], list[str]]) -> None:
    plan = make_plan_of("ok", runs=10)
    log = RunLog(FlowRunLog(logger=LOGGER), NullObserver())
    log.planned(plan.narrowed(plan.items[7:]))
    for number in (7, 8, 9):
        log.finished(_result(plan, "ok", run_index=number, status="pass", passed=True))
    lines = said()
    assert "= 10 items, 7 of them done already" in lines[0]
    assert [line.partition(":")[0] for line in lines if "%" in line] == ["80 %", "90 %", "100 %"]


def test_a_line_is_one_bounded_line_without_secrets_that_steers_no_terminal(said: Callable[[], list[str]]) -> None:
    secret = "s3cret value"  # as it is only before blanks are joined and the line is cut
    log = FlowRunLog(Redaction({"TOKEN": secret}), LOGGER)
    log.say(f"first\nsecond\x1b[31m {secret} %s {'x' * 10_000}")
    (line,) = said()
    assert line.startswith("first⏎second\\u001b[31m [redacted:TOKEN] %s xxx")
    assert len(line) <= LINE_CHARS + 1


def test_many_lines_of_a_kind_end_with_how_many_there_are_more(said: Callable[[], list[str]]) -> None:
    log = FlowRunLog(logger=LOGGER)
    log.say_all([f"skill {number}" for number in range(MAX_LINES + 2)], "skill", logging.ERROR)
    assert said()[-2:] == [f"skill {MAX_LINES - 1}", "And 2 more skills"]


def test_whatever_the_observer_is_notified_of_reaches_the_one_behind_the_log() -> None:
    notices = {name for name, each in vars(NullObserver).items() if callable(each) and not name.startswith("_")}
    assert notices == notices & vars(RunLog).keys()


def test_a_run_that_a_limit_stopped_is_said_with_what_must_be_raised(
    make_plan_of: MakePlan, said: Callable[[], list[str]]
) -> None:
    summary = evaluate_in_process(make_plan_of("dear", "ok", concurrency=1, max_cost=0.25, timeout_ms=120_000))
    log_conclusion(FlowRunLog(logger=LOGGER), summary)
    assert said()[-1] == (
        f"stopped at --max-cost 0.25: $0.5000 spent, 1 of 2 items done; raise the limit to continue: "
        f"eval-skills eval --resume {summary.run_id} --store {summary.store} --max-cost USD"
    )


def test_a_command_in_the_log_can_be_typed_as_it_stands(
    make_plan_of: MakePlan, said: Callable[[], list[str]], tmp_path: Path
) -> None:
    plan = replace(make_plan_of("ok"), store=Store(tmp_path / "my store"))
    log = RunLog(FlowRunLog(logger=LOGGER), NullObserver())
    log.planned(plan)
    for _ in range(MAX_LINES + 1):
        log.finished(_result(plan, "ok", status="error", passed=False, error_message="it is gone"))
    log.end_items()
    assert said()[-1].endswith(f"SKILL TASK --store '{plan.store.path}'")
