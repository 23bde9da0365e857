"""Functions of the caller as evaluators."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eval_skills as es
from eval_skills.cli.main import call
from eval_skills.core.errors import UsageError, UserError
from eval_skills.core.fingerprint import digest_of_folder
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.engine.rescoring.plan import plan_rescoring
from eval_skills.engine.rescoring.request import RescoreRequest
from eval_skills.scorers import Score, registry, scorer
from tests.tables import each_row


def capital(country: str) -> str:
    return {"Switzerland": "Bern", "Japan": "Tokyo"}[country]


TASKS = [{"input": "Switzerland", "expected": "bern"}, {"input": "Japan", "expected": "kyoto"}]


def same_word(output: str, expected: str) -> bool:
    return output.lower() == expected


def test_a_function_judges_the_tasks_that_name_no_scorer() -> None:
    result = es.evaluate(capital, [*TASKS, {"input": "Japan", "expected": "Tokyo", "evaluator": "exact"}], evaluator=same_word)
    items = result.reports[0].task_results
    assert [(item.status, item.scorer) for item in items] == [
        ("pass", "same_word"), ("fail", "same_word"), ("pass", "exact_match"),
    ]  # fmt: skip


@pytest.mark.parametrize("given", [["exact"], {"type": "exact"}, 5], ids=["several", "with-options", "number"])
def test_what_is_no_evaluator_of_a_call_is_told_what_is(given: Any) -> None:
    said = r"evaluator: give the name of a scorer, such as contains, or a function; .* belong to a task .*; got "
    with pytest.raises(UsageError, match=said + re.escape(repr(given))):
        es.evaluate(capital, TASKS, evaluator=given)


@pytest.mark.parametrize(("given", "hint"), [(["exact"], "; several of them are `evaluators` of the task"), (5, "")])
def test_what_is_no_evaluator_of_a_task_is_told_what_is(given: Any, hint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"or a function{hint}; got {given!r}")):
        es.score("Bern", {"expected": "Bern", "evaluator": given})


def test_it_gets_as_many_of_answer_expectation_and_task_as_it_takes() -> None:
    seen: list[tuple[Any, ...]] = []

    def one(output: Any) -> bool:
        seen.append((output,))
        return True

    def three(output: Any, expected: Any, task: dict[str, Any]) -> bool:
        seen.append((output, expected, task["id"]))
        return True

    def any_number(*given: Any) -> bool:
        seen.append(given[:2])
        return True

    def with_a_default(output: Any, expected: Any = "none") -> bool:
        seen.append((output, expected))
        return True

    for function in (one, three, any_number, with_a_default):
        es.score({"output": "Bern"}, {"id": "swiss", "expected": "BERN", "evaluator": function})
    assert seen == [("Bern",), ("Bern", "BERN", "swiss"), ("Bern", "BERN"), ("Bern", "BERN")]


@pytest.mark.slow
@each_row(
    ("function", "given"),
    [
        pytest.param(lambda output, expected, ignore_case=False: [output, expected, ignore_case], ["o", "e", False], id="option"),
        pytest.param(lambda expected, output: [expected, output], ["e", "o"], id="swapped"),
        pytest.param(lambda answer, gold: [answer, gold], ["o", "e"], id="other-names"),
        pytest.param(lambda expected, answer: [expected, answer], ["e", "o"], id="one-name"),
        pytest.param(lambda answer, task: [answer, task["id"]], ["o", "t"], id="no-expectation"),
        pytest.param(lambda task: [task["id"]], ["t"], id="task-alone"),
        pytest.param(lambda output, strict=1, task=None: [output, strict, task["id"]], ["o", 1, "t"], id="behind-an-option"),
        pytest.param(lambda answer, /, strict=1, *, expected: [answer, strict, expected], ["o", 1, "e"], id="by-name-alone"),
        pytest.param(lambda output, strict=1, /, expected="": [output, strict, expected], ["o", 1, "e"], id="by-place-alone"),
        pytest.param(lambda output, strict=1, *rest: [output, strict, rest[0]], ["o", 1, "e"], id="any-number-behind"),
        pytest.param(lambda output, **more: [output, more], ["o", {}], id="any-names"),
        pytest.param(lambda inputs, outputs, reference_outputs: [inputs, outputs, reference_outputs], ["i", "o", "e"], id="ls"),
        pytest.param(lambda *, outputs, reference_outputs=None, **more: [outputs, reference_outputs], ["o", "e"], id="openevals"),
        pytest.param(lambda input, output, expected=0: [input, output, expected], ["i", "o", "e"], id="autoevals"),  # noqa: A006
        pytest.param(lambda reference_outputs, answer, rest: [reference_outputs, answer, rest["id"]], ["e", "o", "t"], id="one"),
    ],
)
def test_a_parameter_gets_what_it_is_called_and_an_option_keeps_its_default(function: Any, given: list[Any]) -> None:
    seen: list[Any] = []

    @wraps(function)
    def judge(*args: Any, **options: Any) -> bool:
        seen.extend(function(*args, **options))
        return True

    es.score("o", {"id": "t", "input": "i", "expected": "e", "evaluator": judge})
    assert seen == given


def test_feedback_as_langsmith_has_it_is_a_score_with_a_reason() -> None:
    def judge(outputs: str, reference_outputs: str) -> dict[str, Any]:
        return {"key": "near", "score": 0.5, "comment": f"{outputs} is not {reference_outputs}", "metadata": None}

    found = es.score("o", {"expected": "e", "evaluator": judge})
    assert (found.status, found.score, [each.message for each in found.reasons]) == ("fail", 0.5, ["o is not e"])


def test_a_partial_function_keeps_what_it_has() -> None:
    seen: list[Any] = []

    def judge(output: Any, expected: Any, task: Any) -> bool:
        seen.extend([output, expected, task["id"]])
        return True

    es.score("o", {"id": "t", "expected": "e", "evaluator": partial(judge, expected="mine")})
    assert seen == ["o", "mine", "t"]


def test_an_answer_of_which_nothing_else_is_expected_is_judged_too() -> None:
    result = es.evaluate(capital, [{"input": "Japan"}], evaluator=lambda output: output == "Tokyo")
    assert result.completion == 1
    assert result.reports[0].task_results[0].scorer == "lambda"


async def judged_later(output: str, expected: str) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"score": 0.5, "passed": True, "reason": f"{output} is not quite {expected}"}


class Judge:
    async def __call__(self, output: str, expected: str) -> Score:
        return Score(0.5, passed=True, reasons=(Reason(code="NEAR", message="near"),))


def share(least: float, output: str, expected: str) -> float:
    return max(least, float(output == expected))


@pytest.mark.slow
@each_row(
    ("function", "name", "score"),
    [
        pytest.param(judged_later, "judged_later", 0.5, id="coroutine-function"),
        pytest.param(Judge(), "Judge", 0.5, id="object"),
        pytest.param(partial(share, 0.25), "share", 0.25, id="partial"),
    ],
)
def test_what_can_be_called_can_judge(function: Callable[..., Any], name: str, score: float) -> None:
    (item,) = es.evaluate(capital, TASKS[:1], evaluator=function).reports[0].task_results
    assert (item.scorer, item.score) == (name, score)


@pytest.mark.slow
def test_what_it_raises_is_an_error_of_the_scorer_and_no_failure_of_the_skill() -> None:
    def broken(output: str) -> bool:
        raise LookupError("no such word")

    def nothing(output: str) -> None:
        return None

    for function, message in ((broken, "no such word"), (nothing, "nothing returned None")):
        (item,) = es.evaluate(capital, TASKS[:1], evaluator=function).reports[0].task_results
        assert (item.status, item.error_kind, item.score) == ("error", "scorer", None)
        assert message in (item.error_message or "")


@pytest.mark.slow
def test_what_would_end_more_than_the_item_is_its_error_too() -> None:
    def leaves(output: str) -> bool:
        raise SystemExit(3)

    def stops(output: str) -> bool:
        raise StopIteration

    async def leaves_later(output: str) -> bool:
        raise SystemExit(3)

    async def interrupts(output: str) -> bool:
        raise KeyboardInterrupt

    async def awaits_what_was_cancelled(output: str) -> bool:
        waiting = asyncio.ensure_future(asyncio.sleep(600, result=True))
        asyncio.get_running_loop().call_soon(waiting.cancel)
        return await waiting

    class Ending(BaseException):
        pass

    async def ends(output: str) -> bool:
        raise Ending("early")

    for function, message in (
        (leaves, "raised SystemExit: 3"),
        (stops, "stops raised StopIteration"),
        (leaves_later, "raised SystemExit"),
        (interrupts, "interrupts raised KeyboardInterrupt"),
        (awaits_what_was_cancelled, "awaits_what_was_cancelled raised CancelledError"),
        (ends, "ends raised Ending: early"),
    ):
        (item,) = es.evaluate(capital, TASKS[:1], evaluator=function).reports[0].task_results
        assert (item.status, item.error_kind) == ("error", "scorer")
        assert message in (item.error_message or "")


def test_what_it_changes_of_what_it_gets_is_changed_for_nobody_else() -> None:
    def spoils(output: dict[str, Any], expected: dict[str, Any], task: dict[str, Any]) -> bool:
        fresh = output == {"a": [1]} and expected == {"a": [1]} and task["tags"] == []
        output["a"].append(2)
        expected["a"].append(2)
        task["tags"].append("spoilt")
        return fresh

    result = es.evaluate(lambda _: {"a": [1]}, [{"input": 0, "expected": {"a": [1]}}], evaluator=spoils, runs=2)
    items = result.reports[0].task_results
    assert [(item.status, item.output) for item in items] == [("pass", {"a": [1]})] * 2


@pytest.mark.slow
def test_one_that_never_returns_holds_nobody_up() -> None:
    is_over = threading.Event()

    def waits(output: str) -> bool:
        return is_over.wait(60)

    began = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(es.aevaluate(capital, TASKS[:1], evaluator=waits), 1))
    assert time.monotonic() - began < 30
    is_over.set()


@pytest.mark.slow
@each_row(
    ("given", "score"),
    [
        pytest.param(np.bool_(True), 1.0, id="truth"),
        pytest.param(np.float32(0.5), 0.5, id="number"),
        pytest.param({"score": np.int64(1), "passed": np.bool_(True)}, 1.0, id="object"),
    ],
)
def test_values_of_numpy_are_values(given: Any, score: float) -> None:
    (item,) = es.evaluate(capital, TASKS[:1], evaluator=lambda _: given).reports[0].task_results
    assert item.score == score


def test_a_task_that_says_itself_how_it_is_judged_is_not_judged_by_the_function() -> None:
    def never(output: str) -> bool:
        return False

    tasks: list[dict[str, Any]] = [
        {"input": "Japan", "evaluators": [{"type": "exact", "value": "Tokyo"}]},
        {"turns": [{"input": "Japan", "evaluator": {"type": "exact", "value": "Tokyo"}}]},
    ]
    assert es.evaluate(capital, tasks, evaluator=never).completion == 1


def test_several_evaluators_may_be_functions_and_names() -> None:
    task = {"input": "Japan", "expected": "Tokyo", "evaluators": [same_word, "exact", {"type": same_word, "name": "word"}]}
    (item,) = es.evaluate(capital, [task], evaluator="contains").reports[0].task_results
    assert item.status == "fail"
    assert [reason.message for reason in item.reasons] == ["same_word (evaluators[0]): its score is 0", "word: its score is 0"]


def test_a_column_of_a_table_may_hold_functions() -> None:
    table = pd.DataFrame({"input": ["Japan", "Japan"], "expected": ["tokyo", "Tokyo"], "evaluator": [same_word, None]})
    assert es.evaluate(capital, table).completion == 1


@pytest.mark.slow
def test_the_name_is_free_again_when_the_call_is_over() -> None:
    def judge(output: str) -> bool:
        return True

    first = judge

    def judge(output: str) -> bool:  # type: ignore[no-redef]  # as a notebook's cell that runs again
        return False

    assert es.evaluate(capital, TASKS[:1], evaluator=first).completion == 1
    assert es.evaluate(capital, TASKS[:1], evaluator=judge).completion == 0
    assert es.score("Bern", TASKS[0], evaluator=judge).status == "fail"
    with pytest.raises(UserError, match="unknown scorer 'judge'"):
        registry.find_scorer("judge")
    for judging in (es.score, es.evaluate):
        with pytest.raises(UserError, match="unknown scorer 'judge'"):
            judging(capital, TASKS[0], evaluator="judge")


@pytest.mark.slow
@each_row(
    ("evaluator", "name"),
    [
        pytest.param(same_word, "same_word", id="function"),
        pytest.param(Judge(), "Judge", id="object"),
        pytest.param(partial(share, 0.25), "share", id="partial"),
    ],
)
def test_a_run_records_which_code_judged(evaluator: Callable[..., Any], name: str, tmp_path: Path) -> None:
    store = es.Store(str(tmp_path / name))
    es.evaluate(capital, TASKS, evaluator=evaluator, store=store)
    (run_id,) = store.run_ids()
    assert store.manifest(run_id).scorers == {name: digest_of_folder(Path(__file__))}


def test_a_registered_scorer_may_be_given_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))

    @scorer("loud")
    def shouts(response: SkillResponse) -> bool:
        return str(response.output).isupper()

    @scorer("quiet")
    class Whispers:
        def score(self, response: SkillResponse) -> bool:
            return str(response.output).islower()

    tasks = [{"input": "Japan", "evaluator": each} for each in (shouts, Whispers)]
    items = es.evaluate(str.upper, tasks).reports[0].task_results
    assert [(item.status, item.scorer) for item in items] == [("pass", "loud"), ("fail", "quiet")]


@pytest.mark.slow
async def test_where_an_event_loop_runs() -> None:
    assert es.score("Bern", {"expected": "bern"}, evaluator=same_word).status == "pass"
    assert (await es.aevaluate(capital, TASKS[:1], evaluator=judged_later)).completion == 1
    assert es.evaluate(capital, TASKS[:1], evaluator=same_word).completion == 1


def contains(output: str) -> bool:
    return True


@each_row(
    ("evaluator", "message"),
    [
        pytest.param(Judge, r"evaluator is the class Judge; give an instance of it, or a function", id="class"),
        pytest.param(contains, r"contains is the name of a scorer, too; rename the function", id="name-of-a-scorer"),
        pytest.param(lambda: True, r"evaluator lambda takes 0; an evaluator is called as function\(output", id="takes-nothing"),
        pytest.param(lambda a, b, c, d: True, r"evaluator lambda takes 4; an evaluator is called", id="takes-four"),
        pytest.param(lambda a, *, key: True, r"evaluator lambda needs key by name; an evaluator is called", id="by-name"),
        pytest.param(3, r"evaluator: give the name of a scorer, such as contains, or a function; .* got 3", id="number"),
    ],
)
def test_what_cannot_judge_is_refused(evaluator: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        es.evaluate(capital, TASKS, evaluator=evaluator)


@pytest.mark.slow
def test_two_functions_of_one_name_are_refused_and_lambdas_are_numbered() -> None:
    def same_word(output: str) -> bool:
        return True

    named = [{**TASKS[0], "evaluator": each} for each in (globals()["same_word"], same_word)]
    with pytest.raises(UserError, match=r"tasks\[1\]: evaluator: same_word is the name of another function that judges here"):
        es.evaluate(capital, named)
    tasks = [{"input": "Japan", "evaluator": each} for each in (lambda _: True, lambda _: False)]
    assert [item.scorer for item in es.evaluate(capital, tasks).reports[0].task_results] == ["lambda", "lambda-2"]


def test_other_processes_do_not_have_the_function() -> None:
    with pytest.raises(UserError, match="evaluator same_word is an object of this process, and task_runner dask"):
        es.evaluate("examples/skills/calculator", TASKS, evaluator=same_word, prefect=True, task_runner="dask")


def test_the_right_answer_may_be_none() -> None:
    with pytest.raises(UserError, match="an expected of None counts as not given: where None is the right answer"):
        es.evaluate(capital, [{"input": "Japan", "expected": None}])
    task: dict[str, Any] = {"input": "Japan", "expectedOutput": {"value": None}}
    assert es.evaluate(lambda _: None, task).completion == 1


def test_with_custom_code_of_a_benchmark_the_expected_answer_is_a_value() -> None:
    task = {"input": "Japan", "expected": "Tokyo", "evaluator": {"type": "custom", "customScorerPath": "judge.py"}}
    with pytest.raises(UserError, match="customScorerPath: the benchmark's folder is unknown"):
        es.evaluate(capital, [task], allow_custom_code=True)


@pytest.mark.slow
def test_a_stored_run_that_it_judged_is_not_judged_by_another_scorer_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    judged = es.evaluate(capital, TASKS, evaluator=same_word, store="eval-store")
    judge = "the run was judged by same_word, which is not known here: a function is known to the Python program"
    for command, why in (
        (["rescore", "latest"], judge),
        (["eval", "--resume", "latest"], "cannot be continued by a command: its skills or tasks are objects of a Python program"),
        (["backfill", "--mode", "rescore"], judge),
    ):
        assert call(command) == 2
        said = capsys.readouterr().err
        assert why in said
        assert "did you mean" not in said
    known = [item.task_id for item in judged.reports[0].task_results]
    tasks = [{"id": task_id, "inputData": {}, "expectedOutput": {"value": "Bern"}} for task_id in known]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    plan = plan_rescoring(RescoreRequest(run_id="latest", store="eval-store", tasks="tasks.json", evaluator="exact"))
    assert len(plan.results) == len(TASKS)
