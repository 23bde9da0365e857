"""How gates, dimensions, weights and the evaluator come together."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from eval_skills.core.errors import InputError, JudgeError
from eval_skills.core.models import EvalTask, SkillResponse, ToolCall, Verdict
from eval_skills.scorers import Score, ScoringSettings, TaskScoring, scorer
from tests.tables import each_row

TOOLS = {"tools": ["a", "b"], "toolSequence": ["a", "b"]}
EXACT = {"type": "exact", "value": "42"}


def task(**fields: Any) -> EvalTask:
    return EvalTask.model_validate({"id": "t", **fields})


def answer(output: Any = "42", called: str | None = None, **fields: Any) -> SkillResponse:
    calls = None if called is None else [ToolCall(name=name) for name in called.split()]
    return SkillResponse(output=output, tool_calls=calls, **fields)


async def verdict(response: SkillResponse, settings: Any = None, **fields: Any) -> Verdict:
    return await TaskScoring(task(**fields), settings).verdict(response)


def codes(found: Verdict) -> list[str]:
    return [each.code for each in found.reasons]


# --- which evaluator ---


@each_row(
    ("fields", "settings", "name"),
    [
        pytest.param({"evaluator": "contains", "expectedOutput": {**EXACT, "keywords": ["4"]}}, {}, "contains", id="evaluator"),
        pytest.param({"expectedOutput": EXACT}, {"default_evaluator": "contains"}, "exact_match", id="then-expected-type"),
        pytest.param({"expectedOutput": {"keywords": ["4"]}}, {"default_evaluator": "contains"}, "contains", id="then-default"),
        pytest.param({"expected": TOOLS}, {}, None, id="an-agent-run-needs-none"),
    ],
)
def test_p10_evaluator_type_else_expected_type_else_default(
    fields: dict[str, Any], settings: dict[str, Any], name: str | None
) -> None:
    assert TaskScoring(task(**fields), settings).scorer == name


@each_row(
    ("fields", "path"),
    [
        pytest.param({"evaluator": "llm_judge"}, "task 't': evaluator.judgePrompt", id="llm-judge"),
        pytest.param(
            {"expectedOutput": {"type": "of_nobody", "criteria": "good"}}, "task 't': expectedOutput.type", id="p10-type"
        ),
        pytest.param({"expectedOutput": {"type": "exact"}}, "task 't': expectedOutput.value", id="p10-no-value"),
        pytest.param({"evaluator": {"type": "contains", "keywords": []}}, "task 't': evaluator.keywords", id="p05-evaluator"),
        pytest.param(
            {"expectedOutput": {"type": "regex", "patterns": ["a", "("]}}, "task 't': expectedOutput.patterns[1]", id="pattern"
        ),
        pytest.param(
            {"expectedOutput": {"type": "schema", "schema": {"type": "x"}}}, "task 't': expectedOutput.schema.type", id="schema"
        ),
        pytest.param({"expected": {"toolCategories": ["wob"]}}, "task 't': expected.toolCategories[0]", id="p80-category"),
        pytest.param(
            {"expected": TOOLS, "weights": {"tool_accuracy": 0, "sequence_correctness": 0}}, "task 't': weights", id="p61"
        ),
    ],
)
def test_load_errors_name_the_task_and_the_option(fields: dict[str, Any], path: str) -> None:
    with pytest.raises(InputError) as caught:
        TaskScoring(task(**fields))
    assert caught.value.path == path


# --- gates ---


async def test_p75_a_forbidden_call_means_0_and_nothing_further_is_computed(own_scorers: None) -> None:
    paid: list[SkillResponse] = []

    @scorer("paid")
    def judge(response: SkillResponse) -> Score:
        paid.append(response)
        return Score(1.0)

    found = await verdict(
        answer(called="a EditFile"),
        expected={**TOOLS, "forbiddenTools": ["edit_file"]},
        thresholds={"minScore": 0},
        evaluator="paid",
    )
    assert (found.status, found.score, found.dimensions, codes(found)) == ("fail", 0, {}, ["FORBIDDEN_TOOL_CALLED"])
    assert (paid, found.scorer) == ([], "paid")


async def test_p40_a_gate_on_calls_that_nobody_reported_is_not_passed() -> None:
    found = await verdict(answer(), expected={"forbiddenTools": ["rm"]}, expectedOutput=EXACT)
    assert (found.status, codes(found)) == ("fail", ["TOOL_CALLS_UNKNOWN"])
    known = await verdict(answer(called=""), expected={"forbiddenTools": ["rm"]}, expectedOutput=EXACT)
    assert known.status == "pass"


async def test_unknown_calls_are_never_better_than_wrong_ones() -> None:
    for expected in (TOOLS, {"forbiddenTools": ["x"]}, {**TOOLS, "forbiddenTools": ["x"]}):
        unknown = await verdict(answer(), expected=expected, expectedOutput=EXACT, thresholds={"minScore": 0})
        wrong = await verdict(answer(called="x"), expected=expected, expectedOutput=EXACT, thresholds={"minScore": 0})
        assert (unknown.status, unknown.reasons[0].code) == ("fail", "TOOL_CALLS_UNKNOWN")
        assert unknown.score is not None
        assert wrong.score is not None
        assert unknown.score <= wrong.score < 1
        assert unknown.dimensions == {"output_quality": 1}, "what was not computed is not shown as 0"


async def test_p82_texts_are_gates_beside_an_evaluator_and_leave_the_score_alone() -> None:
    found = await verdict(
        answer(), expected={"output": {"contains": ["word"]}}, expectedOutput=EXACT, thresholds={"minScore": 50}
    )
    assert (found.status, found.score, codes(found)) == ("fail", 1, ["OUTPUT_MISSING_TEXT"])


async def test_p38_an_unknown_cost_is_not_within_a_limit() -> None:
    found = await verdict(answer(), expectedOutput=EXACT, thresholds={"maxCost": 1})
    assert (found.status, found.score, codes(found)) == ("fail", 1, ["COST_UNKNOWN"])


# --- score and verdict ---


async def test_p77_undeclared_dimensions_give_no_marks() -> None:
    found = await verdict(answer(called=""), expected={"tools": ["a"]}, thresholds={"minScore": 10})
    assert (found.status, found.score, found.dimensions) == ("fail", 0, {"tool_accuracy": 0})


async def test_nothing_but_a_limit_scores_1_and_says_so() -> None:
    found = await verdict(answer(cost_usd=0.1), thresholds={"maxCost": 1})
    assert (found.status, found.score, found.dimensions, codes(found)) == ("pass", 1, {}, ["NOTHING_EXPECTED"])


@pytest.mark.parametrize(
    ("called", "output", "status"),
    [
        pytest.param("a b", "42", "pass", id="all-right"),
        pytest.param("", "42", "pass", id="the-evaluator-decides"),
        pytest.param("a b", "43", "fail", id="and-so-it-does-here"),
    ],
)
async def test_without_min_score_the_evaluator_decides(called: str, output: str, status: str) -> None:
    assert (await verdict(answer(output, called), expected=TOOLS, expectedOutput=EXACT)).status == status


@pytest.mark.parametrize(("called", "status"), [("a b", "pass"), ("a", "fail")])
async def test_without_min_score_and_evaluator_everything_expected_must_hold(called: str, status: str) -> None:
    assert (await verdict(answer(called=called), expected=TOOLS)).status == status


async def test_p41_p43_with_min_score_reasons_explain_a_fail_and_are_remarks_on_a_pass() -> None:
    fields: dict[str, Any] = {"expected": {"tools": ["a", "b"]}}
    failed = await verdict(answer(called="a x"), **fields, thresholds={"minScore": 80})
    passed = await verdict(answer(called="a x"), **fields, thresholds={"minScore": 50})
    assert codes(failed) == ["TOOL_MISSING", "SCORE_BELOW_MIN", "TOOL_UNEXPECTED"]
    assert [each.informational for each in failed.reasons] == [False, False, True]
    assert codes(passed) == ["TOOL_MISSING", "TOOL_UNEXPECTED"]
    assert all(each.informational for each in passed.reasons)


async def test_p43_one_ordered_list_of_reasons() -> None:
    expected = {**TOOLS, "toolCategories": ["git"], "output": {"contains": ["word"], "notContains": ["no"]}}
    found = await verdict(
        answer("no", "b x", latency_ms=9),
        expected=expected,
        expectedOutput=EXACT,
        thresholds={"minScore": 90, "maxCost": 1, "maxLatency": 1},
    )
    assert codes(found) == [
        "OUTPUT_MISSING_TEXT",
        "OUTPUT_FORBIDDEN_TEXT",
        "TOOL_MISSING",
        "CATEGORY_NOT_SATISFIED",
        "SEQUENCE_MISSING",
        "OUTPUT_MISMATCH",
        "SCORE_BELOW_MIN",
        "COST_UNKNOWN",
        "LATENCY_ABOVE_MAX",
        "TOOL_UNEXPECTED",
    ]


async def test_p78_correct_is_visible() -> None:
    found = await verdict(answer(called="a b c"), expected={"toolSequence": ["a", "b"], "sequenceMode": "exact"})
    assert found.metadata["sequence_correctness"] == {"correct": False}
    assert found.status == "fail"


async def test_p80_own_categories_and_names_of_the_settings_reach_the_scorer() -> None:
    settings = ScoringSettings(tool_categories={"database": ["sql_run"]}, tool_names="normalised")
    found = await verdict(answer(called="SqlRun A"), settings, expected={"tools": ["a"], "toolCategories": ["database"]})
    assert found.status == "pass"


async def test_calls_may_lie_in_the_messages() -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]}
    assert (await verdict(SkillResponse(output="x", messages=[message]), expected={"tools": ["a"]})).status == "pass"


# --- scorers that break, or bring more ---


async def test_p09_p13_a_scorer_that_raises_is_an_error_without_a_score(own_scorers: None) -> None:
    @scorer("broken")
    def broken(response: SkillResponse) -> Score:
        raise KeyError("timed out: timeout")

    found = await verdict(answer(called="a"), expected=TOOLS, evaluator="broken", thresholds={"minScore": 10})
    assert (found.status, found.error_kind, found.score, found.passed, found.scorer) == ("error", "scorer", None, False, "broken")
    assert found.dimensions == {"tool_accuracy": 0.5, "sequence_correctness": 0.5}
    assert codes(found)[0] == "SCORER_ERROR"
    assert "KeyError" in found.reasons[0].message


async def test_p13_a_judge_that_is_out_is_an_error_of_kind_judge(own_scorers: None) -> None:
    @scorer("judge_out")
    async def judge_out(response: SkillResponse) -> Score:
        raise JudgeError("the model answered nothing")

    found = await verdict(answer(), evaluator="judge_out")
    assert (found.status, found.error_kind, found.score, codes(found)) == ("error", "judge", None, ["JUDGE_ERROR"])


async def test_a_failed_gate_outweighs_a_broken_scorer(own_scorers: None) -> None:
    @scorer("broken_too")
    def broken(response: SkillResponse) -> Score:
        raise RuntimeError

    found = await verdict(answer(), evaluator="broken_too", expected={"output": {"contains": ["word"]}})
    assert (found.status, found.error_kind, codes(found)) == ("fail", None, ["OUTPUT_MISSING_TEXT", "SCORER_ERROR"])


@pytest.mark.parametrize("result", [7, -1, float("nan"), "good", [1]])
async def test_p06_a_result_that_is_no_share_is_an_error(own_scorers: None, result: Any) -> None:
    @scorer("wild")
    def wild(response: SkillResponse) -> Any:
        return result

    found = await verdict(answer(), evaluator="wild")
    assert (found.status, found.error_kind, found.score) == ("error", "scorer", None)


async def test_a_scorer_with_nothing_to_judge_does_not_pass(own_scorers: None) -> None:
    @scorer("idle")
    def idle(response: SkillResponse) -> None:
        return None

    found = await verdict(answer(), evaluator="idle")
    assert (found.status, codes(found)) == ("fail", ["NOTHING_TO_JUDGE"])


async def test_dimensions_metadata_and_reason_of_an_evaluator_are_shown(own_scorers: None) -> None:
    @scorer("rich")
    def rich(response: SkillResponse) -> Score:
        return Score(0.8, passed=True, reason="well said", dimensions={"style": 0.6}, metadata={"tokens": 7})

    found = await verdict(answer(), evaluator="rich")
    assert found.dimensions == {"output_quality": 0.8, "style": 0.6}
    assert found.metadata == {"tokens": 7}
    assert [(each.code, each.message) for each in found.reasons] == [("OUTPUT_ACCEPTED", "well said")]


async def test_a_reason_that_begins_like_a_remark_is_none(own_scorers: None) -> None:
    @scorer("remarking")
    def remarking(response: SkillResponse) -> Score:
        return Score(0.0, passed=False, reason="remark: too short")

    [reason] = (await verdict(answer(), evaluator="remarking")).reasons
    assert (reason.informational, reason.text) == (False, "remark: too short")


# --- many answers ---


async def test_one_scoring_judges_many_answers_independently() -> None:
    judge = TaskScoring(task(expected=TOOLS, expectedOutput=EXACT, thresholds={"minScore": 70}))
    good, bad = answer(called="a b"), answer("no", called="x")
    before = copy.deepcopy((good, bad))
    first = [await judge.verdict(each) for each in (good, bad, good, bad)]
    assert first[:2] == first[2:]
    assert [each.status for each in first[:2]] == ["pass", "fail"]
    assert (good, bad) == before


@pytest.mark.slow
async def test_p100_the_plain_path_costs_less_than_25_turns_of_the_event_loop() -> None:
    judge, response = TaskScoring(task(expectedOutput=EXACT)), answer({"result": "42"})

    async def cpu_s(work: Callable[[], Awaitable[Any]]) -> float:
        """The processor's time, in the best of some rounds: what else runs does not count, nor how fast the machine is."""
        rounds = []
        for _ in range(20):
            began = time.process_time()
            for _ in range(100):
                await work()
            rounds.append(time.process_time() - began)
        return min(rounds)

    # a hop to a thread costs more than that
    assert await cpu_s(lambda: judge.verdict(response)) < 25 * await cpu_s(lambda: asyncio.sleep(0))


async def test_p100_a_huge_answer_is_searched_off_the_event_loop() -> None:
    huge = [{"name": f"item {index}"} for index in range(60_000)]
    judging = asyncio.create_task(verdict(answer(huge), expectedOutput={"type": "contains", "keywords": ["item 59999"]}))
    turns = 0
    while not judging.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert judging.result().status == "pass"
    assert turns >= 3
