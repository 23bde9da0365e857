"""What the answer says and nobody told the agent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, ToolCall, Verdict
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.claims.lookup import MAX_REASONS, Finding, share_supported
from tests.tables import each_row

SALES = ToolCall(name="sales", result={"total": 1250.5, "top": "Marie Curie", "day": "2026-11-22"})


async def judged(output: Any, *calls: ToolCall, checks: Any = True, messages: Any = None, **fields: Any) -> Verdict:
    task = EvalTask.model_validate(
        {"id": "t", "inputData": {"q": "Sales of owls in 2026?"}, "checks": {"hallucination": checks}} | fields
    )
    response = SkillResponse(output=output, tool_calls=list(calls) if messages is None else None, messages=messages)
    return await TaskScoring(task).verdict(response)


def unsupported(verdict: Verdict) -> list[str]:
    return [each.message for each in verdict.reasons if each.code == "CLAIM_UNSUPPORTED"]


async def test_supported_claims_pass_and_the_share_is_shown() -> None:
    verdict = await judged("$1,250.50 by Marie Curie on 22 November 2026, the best of 2026", SALES)
    assert (verdict.status, verdict.score, verdict.dimensions) == ("pass", 1, {"hallucination": 1})
    assert verdict.metadata["hallucination"] == {"claims": 4, "unsupported": 0}


async def test_an_unsupported_claim_is_quoted_and_fails_the_item() -> None:
    verdict = await judged('It was 1,260, said "Pierre Curie"', SALES)
    assert (verdict.status, verdict.score, verdict.dimensions) == ("fail", 0, {"hallucination": 0})
    assert [each.code for each in verdict.reasons] == ["CLAIM_UNSUPPORTED", "CLAIM_UNSUPPORTED"]
    assert unsupported(verdict) == [
        'number "1,260" occurs in no tool result and not in the input',
        'quote "Pierre Curie" occurs in no tool result and not in the input',
    ]


@each_row(("threshold", "status"), [(0, "pass"), (0.5, "pass"), (2 / 3, "pass"), (0.67, "fail"), (0.8, "fail"), (1, "fail")])
async def test_p87_the_threshold_is_applied_as_given_and_passes_at_equality(threshold: float, status: str) -> None:
    verdict = await judged("1250.5 or 2026 or 7", SALES, checks={"threshold": threshold})
    assert verdict.status == status
    assert verdict.score == verdict.dimensions["hallucination"] == pytest.approx(2 / 3), "nothing else is scored"
    [reason] = [each for each in verdict.reasons if each.code == "CLAIM_UNSUPPORTED"]
    assert reason.informational is (status == "pass")


@each_row("checks", [True, {}, {"threshold": 0.8}, {"kinds": ["number"]}])
async def test_p87_a_block_that_is_there_switches_the_check_on(checks: Any) -> None:
    assert (await judged("7", checks=checks)).status == "fail"


@pytest.mark.parametrize("checks", [False, None])
async def test_and_false_switches_it_off(checks: Any) -> None:
    verdict = await judged("7", checks=checks, evaluator={"type": "contains", "keywords": ["7"]})
    assert (verdict.status, verdict.dimensions) == ("pass", {"output_quality": 1})


@each_row(
    "checks",
    ["false", "true", 1, {"threshold": 1.1}, {"threshold": float("nan")}, {"threshold": "0.8"}, {"kinds": []},
     {"kinds": ["moods"]}, {"treshold": 1}],
)  # fmt: skip
async def test_p87_p60_anything_else_is_refused(checks: Any) -> None:
    with pytest.raises(ValidationError):
        await judged("7", checks=checks)


async def test_p40_a_task_that_checks_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="nothing is expected"):
        await judged("7", checks=False)


@each_row("output", ["I do not know.", "", None, {"sum": None}])
async def test_p88_no_claims_is_not_configured_and_says_so(output: Any) -> None:
    verdict = await judged(output, SALES)
    assert (verdict.status, verdict.dimensions) == ("pass", {})
    assert "NO_CLAIMS" in {each.code for each in verdict.reasons}


async def test_p88_no_claims_for_the_evaluator_is_not_a_pass() -> None:
    verdict = await judged("I do not know.", SALES, checks=None, evaluator="hallucination")
    assert (verdict.status, verdict.reasons[0].code) == ("fail", "NOTHING_TO_JUDGE")


async def test_as_evaluator_its_share_is_the_quality() -> None:
    evaluator = {"type": "hallucination", "threshold": 0.5}
    verdict = await judged("1250.5 and 7", SALES, checks=None, evaluator=evaluator)
    assert (verdict.status, verdict.score, verdict.dimensions) == ("pass", 0.5, {"output_quality": 0.5})


async def test_beside_an_evaluator_it_is_a_gate() -> None:
    verdict = await judged("7", SALES, evaluator={"type": "contains", "keywords": ["7"]}, thresholds={"minScore": 50})
    assert (verdict.status, verdict.score) == ("fail", 1)
    assert verdict.dimensions == {"hallucination": 0, "output_quality": 1}


async def test_p75_a_forbidden_call_comes_first_and_alone() -> None:
    verdict = await judged("7", ToolCall(name="rm"), expected={"forbiddenTools": ["rm"]})
    assert (verdict.score, verdict.dimensions, unsupported(verdict)) == (0, {}, [])


@pytest.mark.parametrize(
    "output",
    [
        pytest.param({"answer": {"total": 1250.5, "who": "Marie Curie"}}, id="object"),
        pytest.param('{"grand total": 1250.5, "who is it": "Marie Curie"}', id="json-text"),
    ],
)
async def test_keys_of_an_answer_are_no_claims(output: Any) -> None:
    assert (await judged(output, SALES)).metadata["hallucination"] == {"claims": 2, "unsupported": 0}


async def test_results_may_lie_in_the_messages_and_own_words_prove_nothing() -> None:
    messages = [
        {"role": "assistant", "content": "I guess 8", "tool_calls": [{"id": "1", "name": "sales", "args": {"n": 9}}]},
        {"role": "tool", "tool_call_id": "1", "content": '{"total": "1,250.5"}'},
    ]
    verdict = await judged("1250.5, 8 or 9", messages=messages)
    assert verdict.dimensions["hallucination"] == pytest.approx(1 / 3)


# --- tools that failed ---

FAILED = ToolCall(name="sales", error="connection refused")


@each_row(
    ("output", "calls", "share"),
    [
        pytest.param("All is well in 2026.", [FAILED], 0.5, id="silent"),
        pytest.param("In 2026 the sales tool could not be reached.", [FAILED], 1, id="admitted"),
        pytest.param("All is well in 2026.", [FAILED, SALES], 1, id="retried"),
        pytest.param("All is well in 2026.", [SALES, FAILED], 0.5, id="failed-for-good"),
        pytest.param("All is well in 2026.", [FAILED, FAILED], 0.5, id="counted-once"),
    ],
)
async def test_a_failure_kept_silent_about_is_one_more_unsupported_claim(
    output: str, calls: list[ToolCall], share: float
) -> None:
    verdict = await judged(output, *calls)
    assert verdict.dimensions == {"hallucination": share}
    if share < 1:
        assert unsupported(verdict) == ['tool "sales" failed ("connection refused"), and the answer does not say so']
    assert (await judged(output, *calls, checks={"failedTools": False})).dimensions == {"hallucination": 1}


@pytest.mark.parametrize(
    "result",
    [
        {"role": "tool", "tool_call_id": "1", "content": "boom", "status": "error"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "boom", "is_error": True}]},
    ],
)
async def test_failures_in_messages_are_seen(result: dict[str, Any]) -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "sales", "args": {}}]}
    verdict = await judged("All is well.", messages=[call, result])
    assert unsupported(verdict) == ['tool "sales" failed ("boom"), and the answer does not say so']


# --- bounds ---


async def test_reasons_are_bounded_and_the_rest_counted() -> None:
    verdict = await judged(", ".join(map(str, range(10_000, 10_100))))
    assert len(unsupported(verdict)) == MAX_REASONS + 1
    assert unsupported(verdict)[-1] == f"and {100 - MAX_REASONS} more unsupported claims"


@pytest.mark.slow
async def test_p100_much_evidence_is_searched_off_the_event_loop() -> None:
    rows = [{"id": index, "name": f"Row Number {index}"} for index in range(5_000)]
    judging = asyncio.create_task(judged("4,999 rows", ToolCall(name="rows", result=rows)))
    turns = 0
    while not judging.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert judging.result().status == "pass"
    assert turns >= 3


def test_an_empty_list_of_kinds_is_refused_by_the_scorer_too() -> None:
    task = EvalTask.model_validate({"id": "t", "evaluator": {"type": "hallucination", "kinds": []}})
    with pytest.raises(InputError, match="nothing is checked") as caught:
        TaskScoring(task)
    assert caught.value.path == "task 't': evaluator.kinds"


def test_findings_of_any_source_are_scored_alike() -> None:
    score = share_supported([Finding("a", "statement"), Finding("b", "statement", "is contradicted")], 0.5)
    assert score is not None
    assert (score.value, score.passed, score.reasons[0].message) == (0.5, True, 'statement "b" is contradicted')
    assert share_supported([], 0) is None


@pytest.mark.parametrize("claim", ['"Hotel Krone"', "'Hotel Krone'", "Hotel Krone"])
def test_a_quotation_is_quoted_once(claim: str) -> None:
    assert Finding(claim, "quote", "occurs nowhere").reason.message == 'quote "Hotel Krone" occurs nowhere'
