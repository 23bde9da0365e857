"""A judging model that limits requests, or refuses our key in the middle of a run: what becomes of the items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.engine.definition.scoring import judges_of
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.scorers.judging import Judges
from tests.scripted_model import Asked, Says, ScriptedModel, failure, verdict

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan, Watcher


@pytest.fixture
def judge_all(make_plan_of: MakePlan, write_tasks: Callable[..., str], model: ScriptedModel) -> Callable[..., Judges]:
    """Has the answer to one task judged so often; who judged."""

    def judged(runs: int, **fields: Any) -> Judges:
        tasks = write_tasks("ok", expectedOutput={"type": "llm_judge", "criteria": "Be right."})
        llm = {"model": "openai/scripted", "apiBase": model.url, **fields.pop("llm", {})}
        asked = {"runs": runs, "no_judge_cache": True, "no_judge_check": True, "concurrency": 8, "judge_concurrency": 4}
        plan = make_plan_of(tasks=tasks, llm=llm, **asked | fields)
        evaluate_in_process(plan)
        judges = judges_of(plan.scorings)
        assert judges is not None
        return judges

    return judged


@pytest.mark.slow
@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_in_the_middle_ends_the_asking_and_scores_nothing(
    judge_all: Callable[..., Judges], model: ScriptedModel, watcher: Watcher, status: int
) -> None:
    model.otherwise = lambda _: verdict(1.0) if len(model.asked) <= 3 else failure(status, "expired")
    judges = judge_all(12, judge_concurrency=1)
    assert len(model.asked) == 4
    assert judges.total.asked == 4
    assert Counter(result.status for result in watcher.results) == {"pass": 3, "error": 9}
    errors = [result for result in watcher.results if result.status == "error"]
    assert {(result.error_kind, result.score) for result in errors} == {("judge", None)}
    unasked = [
        each.error_message for each in errors if (each.error_message or "").startswith("not asked, because openai/scripted")
    ]
    assert len(unasked) == 8
    assert f"(HTTP {status}" in str(unasked[0])


@pytest.mark.slow
def test_requests_are_counted_as_sent_with_those_that_were_tried_again(
    judge_all: Callable[..., Judges], model: ScriptedModel, watcher: Watcher
) -> None:
    model.script(failure(503), failure(429, Retry_After="0"), failure(500))
    judges = judge_all(1)
    assert (len(model.asked), judges.total.asked, watcher.results[0].judge_requests) == (4, 4, 4)
    assert watcher.results[0].status == "pass"


@pytest.mark.slow
def test_a_provider_that_limits_requests_is_asked_at_its_pace_and_no_item_fails(
    judge_all: Callable[..., Judges], model: ScriptedModel, watcher: Watcher
) -> None:
    allowed: list[float] = []

    def at_most_two_at_once(_: Asked) -> Says:
        if len([when for when in allowed if when > monotonic() - 0.5]) >= 2:
            return failure(429, "slow down", Retry_After="1")
        allowed.append(monotonic())
        return verdict(1.0)

    model.otherwise = at_most_two_at_once
    judge_all(8)
    assert Counter(result.status for result in watcher.results) == {"pass": 8}
    assert watcher.throttles
    assert watcher.throttles[0].service == model.url.removeprefix("http://").removesuffix("/v1")


@pytest.mark.slow
def test_the_rate_of_a_run_holds_for_questions_and_takes_no_time_from_them(
    judge_all: Callable[..., Judges], model: ScriptedModel, watcher: Watcher
) -> None:
    moments: list[float] = []

    def noted(_: Asked) -> Says:
        moments.append(monotonic())
        return verdict(1.0)

    model.otherwise = noted
    judge_all(5, rate="1/s", llm={"timeoutMs": 2_000})
    assert Counter(result.status for result in watcher.results) == {"pass": 5}
    assert sum(after - before for before, after in pairwise(moments)) > 3.5


@pytest.mark.slow
def test_a_model_whose_limit_is_used_up_is_left_alone_until_it_is_renewed(
    judge_all: Callable[..., Judges], model: ScriptedModel, watcher: Watcher
) -> None:
    moments: list[float] = []
    used_up = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s500ms"}

    def noted(_: Asked) -> Says:
        moments.append(monotonic())
        said = verdict(1.0)
        return Says(said.content, headers=used_up if len(moments) == 1 else {})

    model.otherwise = noted
    judge_all(2, judge_concurrency=1)
    assert moments[1] - moments[0] > 1.4
    assert watcher.throttles == []
