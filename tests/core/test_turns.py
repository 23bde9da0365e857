from typing import Any

import pytest

from eval_skills.core.documents.loading import validate
from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, TurnResponse, Usage
from eval_skills.core.models.conversation import MAX_TURNS
from eval_skills.core.models.result import TurnResult


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({"turns": []}, "turns: give at least 1 item", id="none"),
        pytest.param({"turns": [{"input": 1}] * (MAX_TURNS + 1)}, "turns: give at most 1000 items", id="too-many"),
        pytest.param({"turns": [{"expected": 1}]}, r"turns\[0\].input: this key is required", id="no-input"),
        pytest.param({"turns": [{"input": 1}]}, "nothing is expected of any turn", id="nothing-expected"),
        pytest.param({"inputData": {}, "turns": [{"input": 1, "expected": 2}]}, "no inputData of its own", id="two-inputs"),
        pytest.param({"turns": [{"input": 1, "inputData": 1}]}, r"turns\[0\]: input and inputData are the same", id="twice"),
        pytest.param(
            {"turns": [{"input": 1, "expected": 2, "expectedOutput": {"value": 2}}]}, "leave one of them out", id="expected-twice"
        ),
        pytest.param({"turns": [{"input": 1, "expected": 2, "tags": []}]}, r"turns\[0\]: unknown key 'tags'", id="unknown-key"),
    ],
)
def test_a_task_whose_turns_cannot_be_meant_is_refused_with_the_place(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        validate(EvalTask, {"id": "talk", **given})


@pytest.mark.parametrize(
    ("expected", "value", "tools"),
    [
        pytest.param("Bern", "Bern", None, id="text"),
        pytest.param({"city": "Bern"}, {"city": "Bern"}, None, id="an-object-of-ones-own"),
        pytest.param({"tools": ["search"]}, None, ["search"], id="what-an-agent-should-do"),
    ],
)
def test_expected_is_an_answer_unless_it_says_what_an_agent_should_do(expected: Any, value: Any, tools: list[str] | None) -> None:
    [turn] = validate(EvalTask, {"id": "talk", "turns": [{"input": "where?", "expected": expected}]}).turns or []
    assert turn.expected_value == value
    assert (turn.expected.tools if turn.expected else None) == tools


def test_the_json_of_a_task_without_turns_is_as_it_was_before_there_were_any() -> None:
    assert "turns" not in EvalTask(id="one", evaluator={"type": "exact"}).to_json()  # type: ignore[arg-type]


def test_a_conversation_reads_back_from_its_own_json() -> None:
    task = validate(EvalTask, {"id": "talk", "turns": [{"input": "a", "expected": None, "evaluator": "exact"}]})
    assert validate(EvalTask, {key: value for key, value in task.to_json().items() if key != "inputData"}) == task


class TestOfTurns:
    def test_sums_and_the_last_output_stand_for_the_whole(self) -> None:
        turns = [
            TurnResponse(output="a", cost_usd=0.5, latency_ms=3, tool_calls=[], messages=[{"role": "user"}]),
            TurnResponse(output="b", cost_usd=0.25, latency_ms=4, tool_calls=[], messages=[{"role": "assistant"}]),
        ]
        whole = SkillResponse.of_turns(turns)
        assert (whole.output, whole.cost_usd, whole.latency_ms, whole.tool_calls) == ("b", 0.75, 7, [])
        assert [message["role"] for message in whole.messages or []] == ["user", "assistant"]

    def test_a_sum_or_list_with_an_unknown_part_is_unknown(self) -> None:
        whole = SkillResponse.of_turns([TurnResponse(output="a", cost_usd=0.5, tool_calls=[]), TurnResponse(output="b")])
        assert (whole.cost_usd, whole.tool_calls) == (None, None)

    def test_a_sum_that_cannot_be_right_is_unknown(self) -> None:
        most = {"usage": {"promptTokens": 10**12, "completionTokens": 1}, "costUsd": 1e9, "latencyMs": 1e11}
        whole = SkillResponse.of_turns([TurnResponse.model_validate({"output": "a", **most})] * 2)
        assert (whole.cost_usd, whole.latency_ms, whole.usage) == (None, None, Usage(prompt_tokens=None, completion_tokens=2))

    def test_of_one_that_was_cut_off_what_is_known_counts(self) -> None:
        called = TurnResponse.model_validate({"output": "a", "costUsd": 0.5, "toolCalls": [{"name": "rm"}]})
        cut = SkillResponse.of_turns([called, TurnResponse()], ended=False)
        assert (cut.output, cut.cost_usd, [call.name for call in cut.tool_calls or []]) == (None, 0.5, ["rm"])

    def test_of_one_that_was_cut_off_no_known_call_is_not_none_called(self) -> None:
        assert SkillResponse.of_turns([TurnResponse(output="a", tool_calls=[]), TurnResponse()], ended=False).tool_calls is None


def test_a_stored_turn_of_before_there_was_a_limit_of_latencies_can_be_judged() -> None:
    stored = TurnResult.model_validate({"turn": 1, "latency_ms": 1e22, "time_to_first_token_ms": 5.0})
    assert (stored.answer.latency_ms, stored.answer.time_to_first_token_ms) == (None, 5.0)
