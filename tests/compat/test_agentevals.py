"""The interface of agentevals: its module paths, names and results, with cases of our own."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from eval_skills.compat.agentevals import types
from eval_skills.compat.agentevals.graph_trajectory.llm import create_graph_trajectory_llm_as_judge
from eval_skills.compat.agentevals.graph_trajectory.match import (
    create_async_graph_trajectory_match_evaluator,
    create_graph_trajectory_match_evaluator,
)
from eval_skills.compat.agentevals.graph_trajectory.strict import (
    graph_trajectory_strict_match,
    graph_trajectory_strict_match_async,
)
from eval_skills.compat.agentevals.trajectory.llm import (
    TRAJECTORY_ACCURACY_PROMPT,
    create_async_trajectory_llm_as_judge,
    create_trajectory_llm_as_judge,
)
from eval_skills.compat.agentevals.trajectory.match import (
    create_async_trajectory_match_evaluator,
    create_trajectory_match_evaluator,
)
from tests.tables import each_row

NAMES = {
    "trajectory": "create_trajectory_match_evaluator create_async_trajectory_match_evaluator create_trajectory_llm_as_judge "
    "create_async_trajectory_llm_as_judge",
    "trajectory.match": "create_trajectory_match_evaluator create_async_trajectory_match_evaluator TrajectoryMatchMode",
    "trajectory.llm": "create_trajectory_llm_as_judge create_async_trajectory_llm_as_judge TRAJECTORY_ACCURACY_PROMPT "
    "TRAJECTORY_ACCURACY_PROMPT_WITH_REFERENCE",
    "trajectory.strict": "trajectory_strict_match trajectory_strict_match_async",
    "trajectory.unordered": "trajectory_unordered_match trajectory_unordered_match_async",
    "trajectory.subset": "trajectory_subset trajectory_subset_async",
    "trajectory.superset": "trajectory_superset trajectory_superset_async",
    "graph_trajectory.llm": "create_graph_trajectory_llm_as_judge create_async_graph_trajectory_llm_as_judge "
    "DEFAULT_REF_COMPARE_PROMPT",
    "graph_trajectory.strict": "graph_trajectory_strict_match graph_trajectory_strict_match_async",
    "graph_trajectory.utils": "extract_langgraph_trajectory_from_thread aextract_langgraph_trajectory_from_thread "
    "extract_langgraph_trajectory_from_snapshots",
    "types": "ChatCompletionMessage EvaluatorResult ExtractedLangGraphThreadTrajectory FewShotExample GraphTrajectory "
    "SimpleAsyncEvaluator SimpleEvaluator ToolArgsMatchMode ToolArgsMatchOverrides",
}


def way(*calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """A question, and a message with these calls."""
    return [HumanMessage("?"), AIMessage("", tool_calls=[{"id": "", "name": name, "args": args} for name, args in calls])]


FIND, BOOK, PAY = ("find", {"city": "Bern"}), ("book", {"room": 3}), ("pay", {"euro": 80})
ROWS = [
    pytest.param((FIND, BOOK), (FIND, BOOK), {"strict", "unordered", "subset", "superset"}, id="equal"),
    pytest.param((BOOK, FIND), (FIND, BOOK), {"strict", "unordered", "subset", "superset"}, id="one-message-in-any-order"),
    pytest.param((FIND,), (FIND, BOOK), {"subset"}, id="one-less"),
    pytest.param((FIND, BOOK, PAY), (FIND, BOOK), {"superset"}, id="one-more"),
    pytest.param((("find", {"city": "Basel"}),), (FIND,), set(), id="other-arguments"),
]


@each_row(("module", "names"), NAMES.items())
def test_every_name_has_its_place(module: str, names: str) -> None:
    found = import_module(f"eval_skills.compat.agentevals.{module}")
    assert [name for name in names.split() if not hasattr(found, name)] == []


@each_row(("outputs", "reference", "matching"), ROWS)
async def test_results_are_those_of_agentevals(outputs: Any, reference: Any, matching: set[str]) -> None:
    for mode in ("strict", "unordered", "subset", "superset"):
        create: dict[str, Any] = {"trajectory_match_mode": mode}
        given: dict[str, Any] = {"inputs": {}, "outputs": way(*outputs), "reference_outputs": {"messages": way(*reference)}}
        expected = types.EvaluatorResult(key=f"trajectory_{mode}_match", score=mode in matching, comment=None, metadata=None)
        assert create_trajectory_match_evaluator(**create)(**given) == expected
        assert await create_async_trajectory_match_evaluator(**create)(**given) == expected


def test_explain_leaves_comment_and_metadata() -> None:
    explained = create_trajectory_match_evaluator(trajectory_match_mode="superset", explain=True)
    result = explained(outputs=way(FIND), reference_outputs=way(FIND, BOOK))
    assert (result["score"], result["comment"], (result["metadata"] or {})["missing"]) == (False, "missing: book(room=3)", 1)


def test_overrides() -> None:
    evaluator = create_trajectory_match_evaluator(
        tool_args_match_mode="exact",
        tool_args_match_overrides={
            "find": lambda one, other: one["city"][0] == other["city"][0],
            "book": ["room"],
            "pay": "ignore",
        },
    )
    outputs = way(("find", {"city": "Basel"}), ("book", {"room": 3, "nights": 2}), ("pay", {}))
    assert evaluator(outputs=outputs, reference_outputs=way(FIND, BOOK, PAY))["score"] is True


@pytest.mark.parametrize(
    ("module", "name", "key", "mode"),
    [
        ("strict", "trajectory_strict_match", "trajectory_strict_match", None),
        ("unordered", "trajectory_unordered_match", "trajectory_unordered_match", "unordered"),
        ("subset", "trajectory_subset", "trajectory_subset", "subset"),
        ("superset", "trajectory_superset", "trajectory_superset", "superset"),
    ],
)
async def test_the_old_functions_warn_and_have_their_keys(module: str, name: str, key: str, mode: str | None) -> None:
    found = import_module(f"eval_skills.compat.agentevals.trajectory.{module}")
    given: dict[str, Any] = {"outputs": way(("find", {"city": "Basel"})), "reference_outputs": way(FIND)}
    with pytest.warns(DeprecationWarning, match=rf"^{name}\(\) is deprecated; use create_trajectory_match_evaluator\("):
        result = getattr(found, name)(**given)
    assert result == {"key": key, "score": mode is not None, "comment": None, "metadata": None}  # strict compares arguments
    with pytest.warns(DeprecationWarning, match="create_async_"):
        assert await getattr(found, f"{name}_async")(**given) == result


def test_the_old_strict_function_can_ignore_arguments() -> None:
    found = import_module("eval_skills.compat.agentevals.trajectory.strict")
    with pytest.warns(DeprecationWarning, match="trajectory_strict_match"):
        result = found.trajectory_strict_match(
            outputs=way(("find", {})), reference_outputs=way(FIND), tool_call_args_exact_match=False
        )
    assert result["score"] is True


@each_row(
    ("steps", "matching"),
    [
        pytest.param([["go", "look"], ["say"]], {"strict", "unordered", "subset", "superset"}, id="equal"),
        pytest.param([["go", "look", "say"]], {"unordered", "subset", "superset"}, id="other-turns"),
        pytest.param([["go"], ["say"]], {"subset"}, id="one-less"),
        pytest.param([["go", "look", "look"], ["say"]], {"superset"}, id="one-twice"),
    ],
)
async def test_graphs(steps: list[list[str]], matching: set[str]) -> None:
    given: dict[str, Any] = {
        "outputs": {"results": [], "steps": steps},
        "reference_outputs": {"steps": [["go", "look"], ["say"]]},
    }
    for mode in ("strict", "unordered", "subset", "superset"):
        create: dict[str, Any] = {"trajectory_match_mode": mode}
        expected = {"key": f"graph_trajectory_{mode}_match", "score": mode in matching, "comment": None, "metadata": None}
        assert create_graph_trajectory_match_evaluator(**create)(**given) == expected
        assert await create_async_graph_trajectory_match_evaluator(**create)(**given) == expected
    assert graph_trajectory_strict_match(**given)["score"] is ("strict" in matching)
    assert (await graph_trajectory_strict_match_async(**given))["key"] == "graph_trajectory_strict_match"


@each_row(
    ("call", "message"),
    [
        pytest.param(
            lambda: create_trajectory_match_evaluator(trajectory_match_mode="loose"),  # type: ignore[arg-type]
            "Invalid trajectory match type: 'loose'; valid are strict",
            id="mode",
        ),
        pytest.param(
            lambda: create_async_trajectory_match_evaluator(tool_args_match_mode="loose"),  # type: ignore[arg-type]
            "Invalid tool args match mode: 'loose'; valid are exact",
            id="arguments",
        ),
        pytest.param(
            lambda: create_graph_trajectory_match_evaluator(trajectory_match_mode="loose"),  # type: ignore[arg-type]
            "Invalid trajectory match mode: 'loose'",
            id="graph",
        ),
        pytest.param(
            lambda: create_trajectory_match_evaluator()(outputs={"text": "?"}, reference_outputs=[]),
            "expected a list of messages",
            id="no-messages",
        ),
        pytest.param(
            lambda: graph_trajectory_strict_match(outputs=None, reference_outputs={"steps": []}),
            "requires both outputs and reference_outputs",
            id="no-graph",
        ),
        pytest.param(create_trajectory_llm_as_judge, "no judging model is named", id="no-model"),
    ],
)
def test_p02_what_cannot_be_used_is_a_value_error(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def client(asked: list[dict[str, Any]], content: str) -> Any:
    """What works like OpenAI's client."""

    def create(**arguments: Any) -> dict[str, Any]:
        asked.append(arguments)
        return {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}

    return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))


def test_the_default_prompt_needs_no_reference() -> None:
    asked: list[dict[str, Any]] = []
    judge = create_trajectory_llm_as_judge(judge=client(asked, '{"reasoning": "why", "score": true}'), model="openai:o3-mini")
    expected = {"key": "trajectory_accuracy", "score": True, "comment": "why", "metadata": None}
    assert judge(outputs=way(FIND)) == expected
    assert "No reference is given." in asked[0]["messages"][1]["content"]
    assert judge(outputs=way(FIND), reference_outputs=way(BOOK)) == expected
    assert '"book"' in asked[1]["messages"][1]["content"]
    assert asked[0]["model"] == "o3-mini"


async def test_a_prompt_function_and_no_reasoning() -> None:
    asked: list[dict[str, Any]] = []
    judge = create_async_trajectory_llm_as_judge(
        judge=client(asked, '{"score": 0.5}'),
        model="m",
        prompt=lambda *, outputs, reference_outputs, **_: [{"role": "user", "content": f"{outputs} / {reference_outputs}"}],
        choices=[0.0, 0.5, 1.0],
        use_reasoning=False,
        feedback_key="way",
    )
    assert await judge(outputs=way(FIND)) == {"key": "way", "score": 0.5, "comment": None, "metadata": None}
    assert asked[0]["messages"][1]["content"].endswith('<tool_call>find {"city": "Bern"}</tool_call>\n</assistant> / ')


def test_graphs_are_judged() -> None:
    asked: list[dict[str, Any]] = []
    judge = create_graph_trajectory_llm_as_judge(judge=client(asked, '{"reasoning": "why", "score": false}'), model="m")
    extracted: dict[str, Any] = {
        "inputs": ["Bern?"],
        "outputs": {"results": [{}], "steps": [["__start__", "find"]], "inputs": []},
    }
    result = judge(**extracted)
    assert result == {"key": "graph_trajectory_accuracy", "score": False, "comment": "why", "metadata": None}


def test_langsmith_gives_them_the_run() -> None:
    assert "run" in inspect.signature(create_trajectory_match_evaluator()).parameters
    assert inspect.iscoroutinefunction(create_async_trajectory_match_evaluator())
    crashed = create_trajectory_match_evaluator(trajectory_match_mode="subset")
    assert crashed(outputs=None, reference_outputs=way(FIND), run=SimpleNamespace(error="boom"))["score"] is False


def test_messages_may_be_made_of_their_types() -> None:
    message = types.ChatCompletionMessage(role="user", content="?")
    assert create_trajectory_match_evaluator()(outputs=[message], reference_outputs=[message])["score"] is True
    assert "{outputs}" in TRAJECTORY_ACCURACY_PROMPT


@pytest.mark.slow
def test_neither_agentevals_nor_langchain_is_needed() -> None:
    modules = ", ".join(f"eval_skills.compat.agentevals.{name}" for name in NAMES)
    heavy = ("agentevals", "openevals", "langchain_core", "langgraph", "langsmith", "litellm")
    code = f"import sys, {modules}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
