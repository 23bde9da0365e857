"""What a LangGraph thread did, read from its checkpoints: real graphs, with a real checkpointer."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.types import Command, interrupt

from eval_skills.scorers.trajectory import (
    aextract_langgraph_trajectory_from_thread,
    create_graph_trajectory_match_evaluator,
    extract_langgraph_trajectory_from_snapshots,
    extract_langgraph_trajectory_from_thread,
)

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Words(TypedDict):
    """Words, one after the other."""

    words: Annotated[list[str], operator.add]


class Chat(TypedDict):
    """The messages of a conversation."""

    messages: Annotated[list[AnyMessage], add_messages]


def plan(state: Words) -> dict[str, Any]:
    return {"words": ["planned"]}


def act(state: Words) -> dict[str, Any]:
    return {"words": ["done"]}


def ask(state: Words) -> dict[str, Any]:
    return {"words": [interrupt("May I?")]}


def graph_of(**nodes: Any) -> Any:
    """A chain of the nodes, in order."""
    graph: Any = StateGraph(Words)
    names = [START, *nodes, END]
    for name, node in nodes.items():
        graph.add_node(name, node)
    for before, after in pairwise(names):
        graph.add_edge(before, after)
    return graph


def test_each_invocation_is_a_turn() -> None:
    graph = graph_of(plan=plan, act=act).compile(checkpointer=MemorySaver())
    graph.invoke({"words": ["first"]}, THREAD)
    graph.invoke({"words": ["second"]}, THREAD)
    assert extract_langgraph_trajectory_from_thread(graph, THREAD) == {
        "inputs": [{"__start__": {"words": ["first"]}}, {"__start__": {"words": ["second"]}}],
        "outputs": {
            "inputs": [],
            "results": [
                {"words": ["first", "planned", "done"]},
                {"words": ["first", "planned", "done", "second", "planned", "done"]},
            ],
            "steps": [["__start__", "plan", "act"], ["__start__", "plan", "act"]],
        },
    }


def test_a_resumed_interrupt_is_a_turn_of_its_own() -> None:
    graph = graph_of(plan=plan, ask=ask, act=act).compile(checkpointer=MemorySaver())
    graph.invoke({"words": []}, THREAD)
    graph.invoke(Command(resume="yes"), THREAD)
    extracted = extract_langgraph_trajectory_from_thread(graph, THREAD)
    assert extracted["inputs"] == [{"__start__": {"words": []}}, "__resuming__"]
    assert extracted["outputs"]["results"] == [{}, {"words": ["planned", "yes", "done"]}]
    assert extracted["outputs"]["steps"] == [["__start__", "plan", "ask", "__interrupt__"], ["act"]]


def test_the_nodes_of_a_subgraph_are_named_with_it() -> None:
    inner = graph_of(look=plan, stop=ask).compile()
    graph = graph_of(inner=inner, act=act).compile(checkpointer=MemorySaver())
    graph.invoke({"words": []}, THREAD)
    graph.invoke(Command(resume="yes"), THREAD)
    with pytest.warns(UserWarning, match="which input belongs to which turn"):  # the states inside count as well
        steps = extract_langgraph_trajectory_from_thread(graph, THREAD)["outputs"]["steps"]
    nodes = [node for turn in steps for node in turn]
    assert {"inner", "inner:look", "inner:stop", "act"} <= set(nodes)
    assert nodes.index("inner") < nodes.index("inner:look") < nodes.index("inner:stop") < nodes.index("act")


@pytest.mark.parametrize(
    ("said", "result"),
    [
        (AIMessage("7 degrees"), {"content": "7 degrees"}),
        (AIMessage("", additional_kwargs={"refusal": "I will not."}), {"content": "", "refusal": "I will not."}),
    ],
)
def test_of_messages_the_last_one_is_the_result_in_openais_form(said: AIMessage, result: dict[str, Any]) -> None:
    def answer(state: Chat) -> dict[str, Any]:
        return {"messages": [said]}

    builder: Any = StateGraph(Chat)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    graph = builder.compile(checkpointer=MemorySaver())
    graph.invoke({"messages": [{"role": "user", "content": "Weather?"}]}, THREAD)
    results = extract_langgraph_trajectory_from_thread(graph, THREAD)["outputs"]["results"]
    assert results == [{"messages": [{"role": "assistant", **result}]}]


async def test_the_asynchronous_twin() -> None:
    graph = graph_of(plan=plan, ask=ask).compile(checkpointer=MemorySaver())
    await graph.ainvoke({"words": ["go"]}, THREAD)
    await graph.ainvoke(Command(resume="yes"), THREAD)
    extracted = await aextract_langgraph_trajectory_from_thread(graph, THREAD)
    assert extracted == extract_langgraph_trajectory_from_thread(graph, THREAD)
    assert len(extracted["inputs"]) == len(extracted["outputs"]["steps"]) == 2


def test_what_is_extracted_is_what_the_evaluators_take() -> None:
    graph = graph_of(plan=plan, act=act).compile(checkpointer=MemorySaver())
    graph.invoke({"words": []}, THREAD)
    extracted = extract_langgraph_trajectory_from_thread(graph, THREAD)
    judge = create_graph_trajectory_match_evaluator()
    assert judge(**extracted, reference_outputs={"steps": [["__start__", "plan", "act"]]})["score"] is True
    assert judge(**extracted, reference_outputs={"steps": [["__start__", "act"]]})["score"] is False


def test_a_thread_that_was_never_used_has_no_turn() -> None:
    graph = graph_of(plan=plan).compile(checkpointer=MemorySaver())
    empty = {"inputs": [], "outputs": {"inputs": [], "results": [], "steps": []}}
    assert extract_langgraph_trajectory_from_thread(graph, THREAD) == empty
    assert extract_langgraph_trajectory_from_snapshots([]) == empty


def test_a_graph_without_a_checkpointer_is_refused() -> None:
    with pytest.raises(ValueError, match="No checkpointer"):
        extract_langgraph_trajectory_from_thread(graph_of(plan=plan).compile(), THREAD)


def test_a_changed_state_is_pointed_out() -> None:
    graph = graph_of(plan=plan).compile(checkpointer=MemorySaver())
    graph.invoke({"words": []}, THREAD)
    graph.update_state(THREAD, {"words": ["from outside"]})
    with pytest.warns(UserWarning, match="1 inputs and 2 turns"):
        extract_langgraph_trajectory_from_thread(graph, THREAD)
