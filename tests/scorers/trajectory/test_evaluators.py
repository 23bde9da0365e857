"""The evaluators that the factories make."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

import eval_skills.scorers.trajectory as door
from eval_skills.core.errors import ScorerError
from eval_skills.scorers.trajectory import create_async_trajectory_match_evaluator, create_trajectory_match_evaluator
from eval_skills.scorers.trajectory.evaluators import LONG_CHARS
from tests.tables import each_row

if TYPE_CHECKING:
    from tests.scorers.trajectory.conftest import Chat


def test_the_result(chat: type[Chat]) -> None:
    evaluator = create_trajectory_match_evaluator()
    found = evaluator(
        outputs=[chat.asks(chat.call("a", x=1))], reference_outputs=[chat.asks(chat.call("a", x=2), chat.call("b"))]
    )
    assert found == {
        "key": "trajectory_strict_match",
        "score": False,
        "comment": "message 1: a: x expected 2, got 1; message 1: missing: b()",
        "metadata": {"matched": 0, "missing": 2, "extra": 1, "precision": 0.0, "recall": 0.0, "f1": 0.0, "lcs": 0.5},
    }


def test_partial_scores_whatever_the_mode(chat: type[Chat]) -> None:
    a, b, c = (chat.call(name) for name in "abc")
    for mode in ("strict", "unordered", "subset", "superset"):
        evaluator = create_trajectory_match_evaluator(trajectory_match_mode=mode)
        figures = evaluator(outputs=[chat.asks(b), chat.asks(a)], reference_outputs=[chat.asks(a, b, c, c)])["metadata"]
        assert figures == {
            "matched": 2,
            "missing": 2,
            "extra": 0,
            "precision": 1.0,
            "recall": 0.5,
            "f1": pytest.approx(2 / 3),
            "lcs": 0.25,
        }


def test_messages_of_an_agent_against_a_written_reference() -> None:
    run = [
        HumanMessage("What's the weather in Oslo?"),
        AIMessage("", tool_calls=[{"id": "call_7", "name": "get_weather", "args": {"city": "Oslo"}}]),
        ToolMessage("75 degrees", tool_call_id="call_7"),
        AIMessage("It is warm."),
    ]
    reference = [
        {"role": "user", "content": "Oslo?"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}]},
        {"role": "tool"},
        {"role": "assistant", "content": "75 degrees"},
    ]
    evaluator = create_trajectory_match_evaluator(trajectory_match_mode="strict")
    assert evaluator(outputs=run, reference_outputs=reference)["score"] is True
    assert evaluator(outputs={"messages": run}, reference_outputs={"messages": run})["score"] is True


def test_everything_is_a_keyword_and_a_reference_is_needed() -> None:
    evaluator: Any = create_trajectory_match_evaluator(trajectory_match_mode="superset")
    assert evaluator(outputs=[], reference_outputs=[], inputs={"q": 1}, attachments=None)["score"] is True
    with pytest.raises(TypeError):
        evaluator([], [])
    with pytest.raises(TypeError):
        evaluator(outputs=[])
    factory: Any = create_trajectory_match_evaluator
    with pytest.raises(TypeError):
        factory("strict")


@each_row("mode", ["Strict", "", None, 1])
def test_an_unknown_mode_is_refused_at_once_with_the_known_ones(mode: Any) -> None:
    for factory in (create_trajectory_match_evaluator, create_async_trajectory_match_evaluator):
        with pytest.raises(ValueError, match="valid are strict, unordered, subset, superset"):
            factory(trajectory_match_mode=mode)
        with pytest.raises(ValueError, match="valid are exact, ignore, subset, superset"):
            factory(tool_args_match_mode=mode)


def test_an_evaluator_is_named_by_its_key() -> None:
    for factory in (create_trajectory_match_evaluator, create_async_trajectory_match_evaluator):
        evaluator: Any = factory(trajectory_match_mode="subset")
        assert evaluator.__name__ == "trajectory_subset_match"


def test_deep_reaches_the_comparison(chat: type[Chat]) -> None:
    output, reference = chat.asks(chat.call("a", x={"y": 1, "z": 2})), chat.asks(chat.call("a", x={"y": 1}))
    scores = [
        create_trajectory_match_evaluator(tool_args_match_mode="superset", deep=deep)(
            outputs=[output], reference_outputs=[reference]
        )["score"]
        for deep in (False, True)
    ]
    assert scores == [False, True]


def test_a_broken_function_is_no_verdict(chat: type[Chat]) -> None:
    evaluator = create_trajectory_match_evaluator(tool_args_match_overrides={"a": lambda *_: 1 / 0 > 0})
    asks = [chat.asks(chat.call("a"))]
    with pytest.raises(ScorerError, match="matcher of tool 'a' failed: ZeroDivisionError"):
        evaluator(outputs=asks, reference_outputs=asks)


@pytest.mark.parametrize("long", [False, True])
async def test_p100_long_trajectories_do_not_hold_up_the_loop(chat: type[Chat], long: bool) -> None:
    threads: list[bool] = []

    def noted(*_: Any) -> bool:
        threads.append(threading.current_thread() is threading.main_thread())
        return True

    evaluator = create_async_trajectory_match_evaluator(tool_args_match_overrides={"a": noted})
    given = [chat.asks(chat.call("a", text="x" * LONG_CHARS if long else "x"))]
    found = await asyncio.gather(*(evaluator(outputs=given, reference_outputs=given) for _ in range(3)))
    assert [each["score"] for each in found] == [True] * 3
    assert threads == [not long] * 3


def test_the_door_offers_what_exists_and_nothing_else() -> None:
    assert all(callable(getattr(door, name)) or name.isupper() for name in door.__all__)
