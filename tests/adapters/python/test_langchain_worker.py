"""An agent in a worker of its own: called, scored, and what goes wrong told apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.core.errors import ContractError, SkillError, SkillNotStarted, SkillTimeout
from eval_skills.core.models import EvalTask
from eval_skills.scorers import score_response
from tests.adapters.langchain_agent import AGENT, FAILING
from tests.adapters.programs import PATIENCE_S
from tests.adapters.skills import make_skill

pytestmark = pytest.mark.filterwarnings("ignore")


TASK = {
    "id": "sum",
    "inputData": {"prompt": "2 + 3?"},
    "expectedOutput": {"type": "contains", "keywords": ["5"]},
    "expected": {"tools": ["add", "divide"], "toolSequence": ["add", "divide"]},
}


@pytest.mark.slow
async def test_an_agent_run_is_called_and_scored(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    task = EvalTask.model_validate(TASK)
    async with open_adapter(make_skill("langchain", "agent:graph", {}, tmp_path)) as adapter:
        responses = [await adapter.call(task.input_data, PATIENCE_S) for _ in range(2)]
    verdicts = [await score_response(task, response) for response in responses]
    assert [(verdict.status, verdict.score) for verdict in verdicts] == [("pass", 1.0)] * 2
    assert verdicts[0].dimensions == {"tool_accuracy": 1.0, "output_quality": 1.0, "sequence_correctness": 1.0}
    missing = task.model_copy(
        update={"expected": task.expected and task.expected.model_copy(update={"tools": ["add", "search"]})}
    )
    assert (await score_response(missing, responses[0])).dimensions["tool_accuracy"] == 0.5
    assert all(response.latency_ms is not None and response.latency_ms < 60_000 for response in responses)


@pytest.mark.slow
async def test_p16_what_goes_wrong_in_a_worker_is_told_apart(tmp_path: Path, left_running: Callable[[], list[str]]) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    by_prompt = 'either = RunnableLambda(lambda prompt: raising(prompt) if prompt == "raise" else {1})\n'
    (tmp_path / "failing.py").write_text(FAILING + by_prompt)
    async with open_adapter(make_skill("langchain", "failing:either", {}, tmp_path)) as adapter:
        with pytest.raises(ContractError, match="the answer is a set"):
            await adapter.call("go", PATIENCE_S)
        with pytest.raises(SkillError, match=r"^ValueError: no luck$"):
            await adapter.call("raise", PATIENCE_S)
    async with open_adapter(make_skill("langchain", "failing:hangs", {}, tmp_path)) as adapter:
        with pytest.raises(SkillTimeout):
            await adapter.call("go", 0.5)
    async with open_adapter(make_skill("langchain", "agent:uncompiled", {}, tmp_path)) as adapter:
        with pytest.raises(SkillNotStarted, match="agent:uncompiled is a graph that is not compiled"):
            await adapter.call("go", PATIENCE_S)
    assert left_running() == []


LATE = """
import asyncio
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph

@tool
def pay(amount: int) -> str:
    "Pays."
    return "paid"

left = []

async def later(done):
    await done.wait()
    await pay.ainvoke({"amount": 5})
    left.clear()

async def node(state):
    if state["messages"][-1].content == "leave":
        done = asyncio.Event()
        left.append((done, asyncio.create_task(later(done))))
    elif left:
        done, task = left[0]
        done.set()
        await task
    return {"messages": [AIMessage("ok")]}

builder = StateGraph(MessagesState)
builder.add_node("node", node)
builder.add_edge(START, "node")
graph = builder.compile()
"""


@pytest.mark.slow
async def test_what_an_earlier_item_left_running_makes_the_calls_of_the_next_unknown_and_is_not_charged_to_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "late.py").write_text(LATE)
    task = EvalTask.model_validate({"id": "t", "inputData": "x", "expected": {"forbiddenTools": ["pay"]}})
    async with open_adapter(make_skill("langchain", "late:graph", {}, tmp_path)) as adapter:
        await adapter.call("leave", PATIENCE_S)
        during = await adapter.call("go", PATIENCE_S)
        after = await adapter.call("go", PATIENCE_S)
    reasons = [reason.code for reason in (await score_response(task, during)).reasons]
    assert reasons == ["TOOL_CALLS_UNKNOWN"]
    assert [call.error for call in during.tool_calls or []] == [
        "'pay' was called by what an earlier item had left running, while this one ran; await all that an item starts"
    ]
    assert (await score_response(task, after)).status == "pass"
