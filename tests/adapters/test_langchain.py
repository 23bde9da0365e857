"""Runnables, graphs and tools of the real LangChain and LangGraph, with fake chat models."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import check_skill, open_adapter
from eval_skills.adapters.host import Host
from eval_skills.adapters.langchain import LangchainAdapter, graph_input
from eval_skills.adapters.langchain_messages import calls_of, openai_message, text_of, usage_of
from eval_skills.core.errors import ContractError, InfraError, InputError, SkillError, SkillTimeout
from eval_skills.core.models import EvalTask, SkillResponse, Usage
from eval_skills.scorers import score_response
from tests.adapters.conftest import make_skill
from tests.adapters.programs import PATIENCE_S

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("langchain")]

AGENT = """
import time
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
def asking(node, **compiled):
    state = TypedDict("Asked", {"question": str, "answer": Any})
    return (StateGraph(state).add_node("first", lambda state: {"answer": "Bern"}).add_node("last", node)
        .add_edge(START, "first").add_edge("first", "last").compile(checkpointer=MemorySaver(), **compiled))
waiting = asking(ask)
breaking = asking(lambda state: {"answer": "done"}, interrupt_before=["last"])
finishing = asking(lambda state: {"answer": "done"})

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
unsayable = RunnableLambda(lambda _: {1})
def raising(_): raise ValueError("no luck")
raises = RunnableLambda(raising)
async def hanging(_): time.sleep(600)
hangs = RunnableLambda(lambda _: 1, afunc=hanging)
"""

Call = Callable[[Any], SkillResponse]
Started = Callable[..., Call]


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    """A call of an attribute of the agent's module, by a host in this process: LangChain takes seconds to import."""
    (tmp_path / "agent.py").write_text(AGENT)
    monkeypatch.setattr(sys, "path", [*sys.path])
    known, hosts = set(sys.modules), []

    def start(attribute: str, **config: Any) -> Call:
        adapter = LangchainAdapter(make_skill("langchain", f"agent:{attribute}", config, tmp_path))
        host = Host()
        hosts.append(host)
        where = {"place": str(tmp_path / "agent.py"), "attribute": attribute}
        adapter._loaded = answer(host, where | adapter._setup())
        return lambda value: adapter._read(answer(host, adapter._input(value)))

    yield start
    for host in hosts:
        host._loop.run_until_complete(host._loop.shutdown_default_executor())
        host._loop.close()
    asyncio.set_event_loop(None)
    for name in {name for name in set(sys.modules) - known if name.endswith("agent")}:
        del sys.modules[name]


def answer(host: Host, params: Any) -> Any:
    reply = json.loads(host.answer(json.loads(json.dumps({"id": 1, "params": params}))))
    if "error" in reply:
        raise RuntimeError(reply["error"]["message"])
    return reply["result"]


# Graphs


@pytest.mark.parametrize("attribute", ["graph", "bound"])
def test_a_graph_answers_with_its_messages_calls_and_tokens(started: Started, attribute: str) -> None:
    response = started(attribute)("2 + 3?")
    assert response.output == "It is 5."
    assert response.usage == Usage(prompt_tokens=30, completion_tokens=7)
    assert response.messages is not None
    assert [message["role"] for message in response.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert response.messages[0] == {"role": "user", "content": "2 + 3?"}
    assert response.messages[1] == {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}},
            {"id": "c2", "type": "function", "function": {"name": "divide", "arguments": '{"a": 1, "b": 0}'}},
        ],
    }
    assert response.messages[2] == {"role": "tool", "content": "5", "name": "add", "tool_call_id": "c1"}
    assert response.messages[4] == {"role": "assistant", "content": "It is 5."}


def test_each_tool_call_has_its_result_or_its_error(started: Started) -> None:
    calls = started("graph")("2 + 3?").tool_calls
    assert calls is not None
    assert [(call.name, call.arguments, call.id, call.result) for call in calls] == [
        ("add", {"a": 2, "b": 3}, "c1", "5"),
        ("divide", {"a": 1, "b": 0}, "c2", None),
    ]
    assert calls[0].error is None
    assert calls[1].error is not None
    assert "ZeroDivisionError" in calls[1].error


def test_a_graph_with_a_memory_remembers_nothing_of_another_item(started: Started) -> None:
    call = started("remembering")
    assert [len(call("hello").messages or []) for _ in range(3)] == [2, 2, 2]


def test_a_thread_of_ones_own_is_kept(started: Started) -> None:
    call = started("remembering", invokeConfig={"configurable": {"thread_id": "mine"}})
    assert [len(call("hello").messages or []) for _ in range(3)] == [2, 3, 4]  # the model's one message replaces itself


def test_the_recursion_limit_strikes(started: Started) -> None:
    with pytest.raises(RuntimeError, match="GraphRecursionError: Recursion limit of 3 reached"):
        started("limited", invokeConfig={"recursionLimit": 3})("go")


def test_a_structured_response_goes_before_the_text_and_other_parts_of_the_state_need_be_no_json(started: Started) -> None:
    response = started("structured")({"messages": [["user", "why?"]], "topic": "tides"})
    assert response.output == {"topic": "tides", "asked": ["why?"]}
    assert [message["content"] for message in response.messages or []] == ["why?", "done"]


def test_p59_the_keys_of_input_and_output_are_obeyed(started: Started) -> None:
    assert started("seen", inputKey="question")("tides").output == {"question": "tides", "answer": "about tides"}
    assert started("seen", inputKey="question", outputKey="answer")({"question": "tides"}).output == "about tides"
    assert started("structured", outputKey="topic")({"messages": [], "topic": "tides"}).output == "tides"
    with pytest.raises(RuntimeError, match=r"no 'anser' \(adapterConfig.outputKey\); it has question, answer"):
        started("seen", outputKey="anser")({"question": "tides"})


HISTORY = [{"role": "user", "content": "Bern?"}, {"role": "assistant", "content": "Bern."}, ["user", "Bern?"]]


@pytest.mark.parametrize("given", [pytest.param("Bern or Basel?", id="question"), pytest.param(HISTORY, id="earlier-answer")])
def test_what_a_graph_was_given_is_not_its_answer(started: Started, given: Any) -> None:
    with pytest.raises(ContractError, match="no message of the model in the answer"):
        started("silent")(given)


def test_a_model_may_repeat_what_it_was_given(started: Started) -> None:
    assert started("remembering")([["user", "hi"]]).output == "hi"


@pytest.mark.parametrize("call", ["ainvoke", "invoke"])
@pytest.mark.parametrize("config", [{}, {"outputKey": "answer"}])
@pytest.mark.parametrize(
    ("attribute", "wanted"),
    [pytest.param("waiting", "approve\\?", id="interrupt"), pytest.param("breaking", "it stopped before last", id="breakpoint")],
)
def test_a_graph_that_waits_has_no_answer(
    started: Started, attribute: str, wanted: str, config: dict[str, Any], call: str
) -> None:
    with pytest.raises(RuntimeError, match=f"^the graph waits for input: {wanted}$"):
        started(attribute, inputKey="question", call=call, **config)("Bern or Basel?")
    assert started("finishing", inputKey="question", call=call, outputKey="answer")("Bern or Basel?").output == "done"


# Other Runnables


def test_tokens_are_counted_although_the_message_is_lost(started: Started) -> None:
    response = started("chain")({"q": "hello"})
    assert (response.output, response.messages, response.tool_calls) == ("hi", None, None)
    assert response.usage == Usage(prompt_tokens=3, completion_tokens=4)


def test_a_model_answers_its_text_and_unknown_tokens_stay_unknown(started: Started) -> None:
    call = started("model")
    responses = [call("hello"), call("hello")]
    assert [response.output for response in responses] == ["one", "two"]
    assert responses[0].messages == [{"role": "assistant", "content": "one"}]
    assert (responses[0].tool_calls, responses[0].usage) == ([], None)


@pytest.mark.parametrize(
    ("attribute", "value", "output"),
    [
        pytest.param("add", {"a": 1, "b": 2}, 3, id="tool"),
        pytest.param("later", {"a": 1}, {"a": 1}, id="coroutine-tool"),
        pytest.param("listed", "hello", "listed", id="list-of-messages"),
        pytest.param("duck", 1, {"duck": 1}, id="anything-with-invoke"),
    ],
)
def test_the_output_of_other_runnables(started: Started, attribute: str, value: Any, output: Any) -> None:
    assert started(attribute)(value).output == output


def test_a_message_deep_in_an_answer_is_written_out(started: Started) -> None:
    output = started("both")("hello").output
    assert output["length"] == 5
    assert (output["raw"]["type"], output["raw"]["content"]) == ("ai", "raw")


def test_an_envelope_is_read(started: Started) -> None:
    response = started("envelope")([1])
    assert (response.output, response.cost_usd, response.usage) == ([1], 0.5, Usage(prompt_tokens=9))


def test_a_call_that_the_model_wrote_unreadably_is_kept_as_it_was(started: Started) -> None:
    response = started("broken_call")("go")
    assert response.messages is not None
    assert response.messages[0]["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": '}
    assert response.tool_calls is not None
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("add", '{"a": ')]


def test_p59_the_config_reaches_the_runnable(started: Started) -> None:
    config = {"recursionLimit": 7, "configurable": {"user": "u"}, "tags": ["t"], "metadata": {"m": 1}}
    assert started("configured", invokeConfig=config)("go").output == [7, {"user": "u"}, ["t"], 1]


def test_p59_the_method_is_the_one_that_was_chosen(started: Started) -> None:
    assert started("hangs", call="invoke")("go").output == 1


@pytest.mark.parametrize(
    ("attribute", "config", "message"),
    [
        pytest.param("uncompiled", {}, "is a graph that is not compiled; name what its compile", id="uncompiled"),
        pytest.param("function", {}, "is a function without ainvoke or invoke; name a Runnable", id="function"),
        pytest.param("Duck", {}, "is a class; name an instance of it", id="class"),
        pytest.param("duck", {"call": "ainvoke"}, "without ainvoke; name a Runnable", id="no-such-method"),
        pytest.param(
            "duck", {"invokeConfig": {"tags": ["t"]}}, "takes no config, and adapterConfig.invokeConfig", id="no-config"
        ),
    ],
)
def test_what_is_no_runnable_is_said(started: Started, attribute: str, config: dict[str, Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        started(attribute, **config)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        pytest.param({"invokeConfig": {"recursion_limits": 3}}, "did you mean 'recursionLimit'", id="p60-unknown"),
        pytest.param({"invokeConfig": {"recursionLimit": 0}}, "invokeConfig.recursionLimit", id="no-recursion"),
        pytest.param({"call": "stream"}, "adapterConfig.call", id="method"),
        pytest.param({"inputKeys": "x"}, "did you mean 'inputKey'", id="p60-misspelt"),
    ],
)
def test_a_wrong_configuration_is_found_before_the_run(tmp_path: Path, config: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_skill(make_skill("langchain", "agent:graph", config, tmp_path))


# Inputs


@pytest.mark.parametrize(
    ("value", "key", "channels", "passed"),
    [
        pytest.param("hi", None, ["messages"], {"messages": [{"role": "user", "content": "hi"}]}, id="text"),
        pytest.param({"prompt": "hi"}, None, ["messages"], {"messages": [{"role": "user", "content": "hi"}]}, id="only-text"),
        pytest.param({"topic": "hi"}, None, ["messages", "topic"], {"topic": "hi"}, id="part-of-the-state"),
        pytest.param({"a": "x", "b": "y"}, None, ["messages"], {"a": "x", "b": "y"}, id="two-texts"),
        pytest.param({"n": 1}, None, ["messages"], {"n": 1}, id="no-text"),
        pytest.param([{"role": "user"}], None, ["messages"], {"messages": [{"role": "user"}]}, id="list"),
        pytest.param({"messages": "hi"}, None, ["messages"], {"messages": "hi"}, id="state"),
        pytest.param("hi", None, [], "hi", id="no-graph"),
        pytest.param({"input": "hi"}, None, ["question"], {"input": "hi"}, id="graph-without-messages"),
        pytest.param("hi", "messages", [], {"messages": [{"role": "user", "content": "hi"}]}, id="asked-for"),
        pytest.param(
            {"a": "é", "b": 2}, "messages", [], {"messages": [{"role": "user", "content": '{"a": "é", "b": 2}'}]}, id="json"
        ),
        pytest.param(5, "messages", [], {"messages": [{"role": "user", "content": "5"}]}, id="number"),
        pytest.param("hi", "question", ["messages"], {"question": "hi"}, id="key"),
        pytest.param({"question": "hi", "x": 1}, "question", [], {"question": "hi", "x": 1}, id="has-the-key"),
    ],
)
def test_the_input_of_a_graph(value: Any, key: str | None, channels: list[str], passed: Any) -> None:
    assert graph_input(value, key, channels) == passed


# Messages


IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}


@pytest.mark.parametrize(
    ("message", "spoken"),
    [
        pytest.param(
            {"type": "human", "content": "x", "name": "bob"}, {"role": "user", "content": "x", "name": "bob"}, id="human"
        ),
        pytest.param(
            {"type": "AIMessageChunk", "content": ["a", {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": "ab"},
            id="chunk",
        ),
        pytest.param({"type": "chat", "role": "critic", "content": "x"}, {"role": "critic", "content": "x"}, id="chat"),
        pytest.param({"type": "human", "content": [IMAGE]}, {"role": "user", "content": [IMAGE]}, id="image"),
        pytest.param({"role": "user", "content": "x"}, {"role": "user", "content": "x"}, id="already"),
    ],
)
def test_messages_become_openai_ones(message: dict[str, Any], spoken: dict[str, Any]) -> None:
    assert openai_message(message) == spoken


def test_calls_without_an_id_take_no_result_of_another() -> None:
    calls = calls_of(
        [
            {"type": "ai", "content": "", "tool_calls": [{"name": "a", "args": {}, "id": None}]},
            {"type": "tool", "content": "of nobody"},
        ]
    )
    assert [(call.name, call.result) for call in calls] == [("a", None)]


def test_sums_and_texts_of_nothing() -> None:
    assert usage_of([None, {}]) is None
    assert usage_of([{"input_tokens": 1}, {"output_tokens": 2}]) == Usage(prompt_tokens=1, completion_tokens=2)
    assert (text_of(None), text_of([]), text_of([IMAGE])) == ("", "", "")


# In a worker


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
    async with open_adapter(make_skill("langchain", "agent:unsayable", {}, tmp_path)) as adapter:
        with pytest.raises(ContractError, match="the answer is a set"):
            await adapter.call("go", PATIENCE_S)
    async with open_adapter(make_skill("langchain", "agent:raises", {}, tmp_path)) as adapter:
        with pytest.raises(SkillError, match=r"^ValueError: no luck$"):
            await adapter.call("go", PATIENCE_S)
    async with open_adapter(make_skill("langchain", "agent:hangs", {}, tmp_path)) as adapter:
        with pytest.raises(SkillTimeout):
            await adapter.call("go", 0.5)
    async with open_adapter(make_skill("langchain", "agent:uncompiled", {}, tmp_path)) as adapter:
        with pytest.raises(InfraError, match="agent:uncompiled is a graph that is not compiled"):
            await adapter.call("go", PATIENCE_S)
    assert left_running() == []
