"""A module of agents and other Runnables, as a skill's author would write it, and calls of them in this process."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eval_skills.adapters.python.host.main import Host
from eval_skills.adapters.python.langchain import LangchainAdapter
from eval_skills.core.models import SkillResponse
from tests.adapters.skills import make_skill

AGENT = """
from typing import Any
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, InvalidToolCall, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tools import tool
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict
from langgraph.prebuilt import ToolNode, tools_condition

def tokens(read, written):
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}

def fake(*messages):
    return FakeMessagesListChatModel(responses=list(messages))

def calling(name, identity, **arguments):
    return {"name": name, "args": arguments, "id": identity}

@tool
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b

@tool
async def later(a: int) -> dict:
    "Answer an object."
    return {"a": a}

@tool
def divide(a: int, b: int) -> float:
    "Divide."
    return a / b

def agent_with(model, **compiled):
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode([add, divide], handle_tool_errors=True))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(**compiled)

def script():
    return fake(
        AIMessage("Let me see.", tool_calls=[calling("add", "c1", a=2, b=3), calling("divide", "c2", a=1, b=0)],
                  usage_metadata=tokens(10, 2)),
        AIMessage([{"type": "text", "text": "It is "}, {"type": "reasoning", "reasoning": "?"}, {"type": "text", "text": "5."}],
                  usage_metadata=tokens(20, 5)),
    )

graph = agent_with(script())
limited = agent_with(fake(AIMessage("", tool_calls=[calling("add", "c1", a=1, b=1)])))
remembering = agent_with(fake(AIMessage("hi")), checkpointer=MemorySaver())
bound = agent_with(script()).with_config(tags=["bound"])
uncompiled = StateGraph(MessagesState)

class Facts(MessagesState):
    topic: str
    structured_response: Any
    handle: Any

def facts(state):
    about = {"topic": state.get("topic"), "asked": [message.content for message in state["messages"]]}
    return {"messages": [AIMessage("done")], "structured_response": about, "handle": object()}

def one_node(kind, node):
    return StateGraph(kind).add_node("only", node).add_edge(START, "only").add_edge("only", END).compile()

structured = one_node(Facts, facts)
seen = one_node(dict, lambda state: {"question": state["question"], "answer": "about " + state["question"]})

silent = one_node(MessagesState, lambda state: {"messages": []})
def ask(state): return {"answer": interrupt("approve?"), "question": "?"}
def asking(node, checkpointer=None, **compiled):
    state = TypedDict("Asked", {"question": str, "answer": Any})
    return (StateGraph(state).add_node("first", lambda state: {"answer": "Bern"}).add_node("last", node)
        .add_edge(START, "first").add_edge("first", "last").compile(checkpointer=checkpointer, **compiled))
def done(state): return {"answer": "done"}
waiting = asking(ask, MemorySaver())
breaking = asking(done, MemorySaver(), interrupt_before=["last"])
finishing = asking(done, MemorySaver())
breaking_before, breaking_after = asking(done, interrupt_before=["last"]), asking(done, interrupt_after=["first"])
going_on = asking(done, MemorySaver(), interrupt_after=["first"])
def go_on(question):
    config = {"configurable": {"thread_id": "1"}}
    going_on.invoke({"question": question}, config)
    return going_on.invoke(None, config)
resumed = RunnableLambda(go_on)

prompt = ChatPromptTemplate.from_messages([("user", "{q}")])
chain = prompt | fake(AIMessage("hi", usage_metadata=tokens(3, 4))) | StrOutputParser()
model = GenericFakeChatModel(messages=iter([AIMessage("one"), AIMessage("two")]))
listed = RunnableLambda(lambda text: [SystemMessage("be brief"), HumanMessage(text), AIMessage("listed")])
broken_call = RunnableLambda(lambda _: AIMessage("", invalid_tool_calls=[
    InvalidToolCall(name="add", args='{"a": ', id="c9", error="not JSON", type="invalid_tool_call")]))
envelope = RunnableLambda(lambda value: {"output": value, "costUsd": 0.5, "usage": {"promptTokens": 9}})
both = RunnableParallel(raw=fake(AIMessage("raw")), length=RunnableLambda(len))
def obeying(_, config): return [config[key] for key in ("recursion_limit", "configurable", "tags")] + [config["metadata"]["m"]]
configured = RunnableLambda(obeying)
class Duck:
    def invoke(self, value): return {"duck": value}
duck = Duck()
def function(value): return value
"""

FAILING = """
import time
from langchain_core.runnables import RunnableLambda
unsayable = RunnableLambda(lambda _: {1})
def raising(_): raise ValueError("no luck")
raises = RunnableLambda(raising)
async def hanging(_): time.sleep(600)
hangs = RunnableLambda(lambda _: 1, afunc=hanging)
"""
"""What fails, without the seconds that a graph imports."""

AGENT += FAILING

Call = Callable[[Any], SkillResponse]
Started = Callable[..., Call]


@contextmanager
def running_agent(folder: Path) -> Iterator[Started]:
    """Calls of the module's attributes by hosts that end with the context; it is written into `folder`."""
    (folder / "agent.py").write_text(AGENT)
    known, hosts = set(sys.modules), []

    def start(attribute: str, **config: Any) -> Call:
        adapter = LangchainAdapter(make_skill("langchain", f"agent:{attribute}", config, folder))
        host = Host(lambda message: None)
        hosts.append(host)
        where = {"place": str(folder / "agent.py"), "attribute": attribute}
        adapter._loaded = _answer(host, where | adapter._setup())
        return lambda value: adapter._read(_answer(host, adapter._input(value)))

    yield start
    for host in hosts:
        host._loop.run_until_complete(host._loop.shutdown_default_executor())
        host._loop.close()
    asyncio.set_event_loop(None)
    for name in {name for name in set(sys.modules) - known if name.endswith("agent")}:
        del sys.modules[name]


def _answer(host: Host, params: Any) -> Any:
    reply = json.loads(json.dumps(host.answer(json.loads(json.dumps({"id": 1, "params": params})))))
    if "error" in reply:
        raise RuntimeError(reply["error"]["message"])
    return reply["result"]
