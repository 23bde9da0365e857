"""What a skill called is known however its run ends, by every adapter: forbidden tools must not hide behind a failure."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import eval_skills
from eval_skills.adapters import open_adapter
from eval_skills.adapters.http.errors import status_error
from eval_skills.adapters.process.adapter import SubprocessAdapter
from eval_skills.adapters.python.object_skill import ObjectSkill
from eval_skills.core.errors import ItemError, SkillTimeout
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.scorers.tools.calls import unknown_calls
from tests.adapters.programs import PATIENCE_S
from tests.adapters.skills import make_skill
from tests.tables import each_row

ENDING = """
def finish(end):
    if end == "answer":
        return "done"
    if end == "error":
        raise ValueError("broke")
    if end == "recursion":
        return finish(end) + finish(end)
    if end == "cancel":
        import asyncio
        raise asyncio.CancelledError
    if end == "crash":
        os._exit(3)
    if end == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(600)
"""

PROGRAM = (
    """
import json, os, signal, sys, time

def report(**parts):
    print(json.dumps({"jsonrpc": "2.0", "method": "progress", "params": parts}), flush=True)
"""
    + ENDING
    + """
for line in sys.stdin:
    request = json.loads(line)
    report(toolCalls=[{"name": "pay", "arguments": {"chf": 5}}])
    try:
        reply = {"result": finish(request["params"]["end"])}
    except BaseException as error:
        reply = {"error": {"code": 1, "message": repr(error)}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
"""
)

CUSTOM = (
    """
import os, signal, threading, time
from eval_skills import record_tool_call
"""
    + ENDING
    + """
def pay(input):
    thread = threading.Thread(target=record_tool_call, args=("pay", {"chf": 5}))
    thread.start()
    thread.join()
    return finish(input["end"])
"""
)

GRAPH = (
    """
import os, signal, time
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
"""
    + ENDING.replace("return finish(end) + finish(end)", "return end")
    + """
@tool
def pay(end: str) -> str:
    "Pay."
    return finish(end)

def think(state):
    asked = state["messages"][0].content
    if asked == "answer" and len(state["messages"]) > 1:
        answers = [AIMessage("done")]
    else:
        answers = [AIMessage("", tool_calls=[{"name": "pay", "args": {"end": asked}, "id": "c1"}])]
    return {"messages": [FakeMessagesListChatModel(responses=answers).invoke(state["messages"])]}

builder = StateGraph(MessagesState)
builder.add_node("model", think)
builder.add_node("tools", ToolNode([pay], handle_tool_errors=False))
builder.add_edge(START, "model")
builder.add_conditional_edges("model", tools_condition)
builder.add_edge("tools", "model")
graph = builder.compile().with_config(recursion_limit=12)  # langgraph's own, 10,000, would be reached after a minute
"""
)

CALLING_BACK = (
    """
import os, signal, time, uuid
import langchain_core.callbacks.base
"""
    + ENDING
    + """
class Chain:
    def invoke(self, end, config):
        for handler in config["callbacks"]:
            handler.on_tool_start({"name": "pay"}, end, run_id=uuid.uuid4(), inputs={"end": end})
        return finish(end)

chain = Chain()
"""
)
"""It calls back as a tool of LangChain does. The import of a graph takes most of a second in each process, and ends take some."""

MCP = (
    """
import json, os, signal, sys, time

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": "pay", "inputSchema": {"type": "object"}}]}
    told = json.dumps({"toolCalls": [{"name": "pay", "arguments": {"chf": 5}}]})
    progress = {"progressToken": params["_meta"]["progressToken"], "progress": 1, "total": 2, "message": told}
    say(method="notifications/progress", params=progress)
    time.sleep(0.2)
    try:
        return {"content": [{"type": "text", "text": finish(params["arguments"]["end"])}]}
    except ValueError as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
"""
    + ENDING
    + """
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        say(id=message["id"], result=answer(message["method"], message.get("params")))
"""
)


AGENT = (
    """
import json, os, signal, sys, time

def say(type, **more):
    print(json.dumps({"type": type, **more}), flush=True)
"""
    + ENDING
    + """
asked = json.loads(sys.stdin.read())
say("tool_call", id="c1", name="pay", arguments={"chf": 5})
say("answer", content=finish(asked["end"]))
"""
)


class Payer(BaseHTTPRequestHandler):
    """Reports in an event of its stream, and ends as it is asked to."""

    def do_POST(self) -> None:
        end = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]["end"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self._event({"toolCalls": [{"name": "pay", "arguments": {"chf": 5}}]})
        if end == "answer":
            self._event({"text": "done"})
            self._event({"end": True}, "done")
        elif end == "error":
            self._event({"message": "broke"}, "error")
        elif end == "timeout":
            self.server.hold.wait(PATIENCE_S)  # type: ignore[attr-defined]
        self.close_connection = True

    def _event(self, data: Any, name: str = "message") -> None:
        self.wfile.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *args: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def payer() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Payer) as server:
        server.hold = threading.Event()  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.hold.set()  # type: ignore[attr-defined]
        server.shutdown()


def pay_here(asked: dict[str, str]) -> str:
    """A function of this process."""
    eval_skills.record_tool_call("pay", {"chf": 5})
    if asked["end"] == "error":
        raise ValueError("broke")
    if asked["end"] == "cancel":
        raise asyncio.CancelledError
    return "done"


async def pay_slowly(asked: dict[str, str]) -> str:
    """One that hangs."""
    eval_skills.record_tool_call("pay", {"chf": 5})
    await asyncio.sleep(600)
    return "done"


def skill_of(adapter: str, folder: Path, payer: str) -> Skill:
    """The payer behind this adapter, in this folder."""
    for name, text in {
        "program.py": PROGRAM,
        "custom.py": CUSTOM,
        "agent.py": GRAPH,
        "chain.py": CALLING_BACK,
        "server.py": MCP,
        "an_agent.py": AGENT,
    }.items():
        (folder / name).write_text(text)
    python, alone = {"python": sys.executable}, f"{sys.executable} -ISs"
    stream = {"stream": {"format": "sse", "path": "/text", "done": "done"}}
    made: dict[str, tuple[str, str, dict[str, Any]]] = {
        "one-shot": ("subprocess", f"{alone} program.py", {}),
        "persistent": ("subprocess", f"{alone} program.py", {"persistent": True}),
        "custom": ("custom", "custom.py:pay", python),
        "langchain": ("langchain", "agent.py:graph", {**python, "call": "invoke"}),
        "langchain-async": ("langchain", "agent.py:graph", {**python, "call": "ainvoke"}),
        "langchain-dies": ("langchain", "chain.py:chain", {**python, "call": "invoke"}),
        "http": ("http", payer, stream),
        "mcp": ("mcp", f"{alone} server.py", {"tool": "pay", "protocol": "legacy"}),
        "agent": ("agent", "custom", {"command": f"{alone} an_agent.py"}),
    }
    if adapter == "function":
        return ObjectSkill.of(pay_here)
    if adapter == "coroutine":
        return ObjectSkill.of(pay_slowly)
    if adapter == "runnable":
        sys.path.insert(0, str(folder))
        try:
            namespace: dict[str, Any] = {}
            exec(compile(GRAPH, "agent.py", "exec"), namespace)
            return ObjectSkill.of(namespace["graph"])
        finally:
            sys.path.remove(str(folder))
    kind, entrypoint, config = made[adapter]
    return make_skill(kind, entrypoint, config, folder)


PROCESSES = ["answer", "error", "timeout", "recursion", "cancel", "crash", "kill"]
ENDS = {
    "one-shot": PROCESSES,
    "persistent": PROCESSES,
    "custom": PROCESSES,
    "langchain": ["answer", "error", "recursion", "cancel", "timeout"],
    "langchain-async": ["answer", "error", "recursion"],
    "langchain-dies": ["timeout", "crash", "kill", "answer"],
    "http": ["answer", "error", "timeout", "crash"],
    "mcp": ["answer", "error", "timeout", "crash", "kill"],
    "agent": PROCESSES,
    "function": ["answer", "error", "cancel"],
    "coroutine": ["timeout"],
    "runnable": ["answer", "error", "recursion"],
}


async def all_ended(skill: Skill, ends: list[str]) -> AsyncIterator[tuple[str, SkillResponse | ItemError]]:
    """What became of each call of one adapter: as in a run, the next call finds what the end of the one before has left."""
    async with open_adapter(skill) as adapter:
        for end in ends:
            value: Any = end if skill.adapter_type in {"langchain", "runnable"} else {"end": end}
            try:
                yield end, await adapter.call(value, 3.0 if end == "timeout" else PATIENCE_S)
            except ItemError as error:
                yield end, error


async def ended(skill: Skill, end: str) -> SkillResponse | ItemError:
    """What became of the only call."""
    [(_, found)] = [each async for each in all_ended(skill, [end])]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ENDS)
async def test_what_was_called_is_known_however_the_run_ends(adapter: str, tmp_path: Path, payer: str) -> None:
    skill = skill_of(adapter, tmp_path, payer)
    async for end, found in all_ended(skill, ENDS[adapter]):
        assert isinstance(found, SkillResponse) is (end == "answer"), (end, found)
        assert isinstance(found, SkillTimeout) is (end == "timeout"), (end, found)
        known = found if isinstance(found, SkillResponse) else found.known
        assert known is not None, (end, found)
        assert "pay" in [call.name for call in known.tool_calls or []], (end, found, known)


@pytest.mark.parametrize(
    ("adapter_type", "entrypoint"),
    [
        pytest.param("subprocess", "no-such-program", id="no-program"),
        pytest.param("custom", "broken.py:f", id="does-not-load"),
        pytest.param("http", "http://127.0.0.1:9/", id="nobody-listens"),
        pytest.param("mcp", "no-such-program", id="no-server"),
        pytest.param("agent", "custom", id="no-agent"),
    ],
)
async def test_a_skill_that_was_not_reached_called_nothing(adapter_type: str, entrypoint: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import nothing_of_this_name\n")
    config = {"command": "no-such-program"} if adapter_type == "agent" else {}
    found = await ended(make_skill(adapter_type, entrypoint, config, tmp_path), "answer")
    assert isinstance(found, ItemError)
    assert found.known is not None
    assert found.known.tool_calls == []


async def test_a_skill_that_reports_nothing_leaves_open_what_it_called(tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("import os, sys\nsys.stdin.readline()\nos._exit(1)\n")
    found = await ended(make_skill("subprocess", f"{sys.executable} dies.py", {}, tmp_path), "crash")
    assert isinstance(found, ItemError)
    assert found.known is None


@pytest.mark.slow
async def test_the_recorder_is_there_in_an_interpreter_without_this_package(tmp_path: Path) -> None:
    """The host runs isolated and finds nothing of ours there."""
    (tmp_path / "custom.py").write_text(CUSTOM)
    python = tmp_path / "bare" / "bin" / "python"
    bare = await asyncio.create_subprocess_exec(sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare"))
    assert await bare.wait() == 0
    found = await ended(make_skill("custom", "custom.py:pay", {"python": str(python)}, tmp_path), "error")
    assert isinstance(found, ItemError)
    assert found.known is not None
    assert [(call.name, call.arguments) for call in found.known.tool_calls or []] == [("pay", {"chf": 5})]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "entrypoint"),
    [
        pytest.param("record_tool_call('pay')\ndef f(input): return 1\n", "early.py:f", id="import"),
        pytest.param(
            "try:\n record_tool_call('pay')\nexcept Exception: pass\ndef f(input): return 1\n", "early.py:f", id="import-goes-on"
        ),
        pytest.param(
            "class Agent:\n def __init__(self): record_tool_call('pay')\n def __call__(self, input): return 1\n",
            "early.py:Agent",
            id="the-making-of-a-class",
        ),
    ],
)
async def test_a_call_that_is_recorded_while_the_skill_is_loaded_is_no_items_and_is_told(
    text: str, entrypoint: str, tmp_path: Path
) -> None:
    """The process is started ahead, for whichever items will come."""
    (tmp_path / "early.py").write_text(f"from eval_skills import record_tool_call\n{text}")
    found = await ended(make_skill("custom", entrypoint, {"python": sys.executable}, tmp_path), "answer")
    assert isinstance(found, ItemError)
    assert "record_tool_call(pay) ran while the skill was loaded" in str(found)
    assert found.known is not None
    assert found.known.tool_calls == []


async def test_a_report_of_an_earlier_request_is_not_that_of_this_one(tmp_path: Path) -> None:
    late = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    for number in (request["id"] - 1, request["id"]):
        report = {"requestId": number, "toolCalls": [{"name": f"tool{number - request['id']}"}]}
        print(json.dumps({"jsonrpc": "2.0", "method": "progress", "params": report}), flush=True)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": 1}), flush=True)
"""
    (tmp_path / "late.py").write_text(late)
    found = await ended(make_skill("subprocess", f"{sys.executable} late.py", {}, tmp_path), "answer")
    assert isinstance(found, SkillResponse)
    assert [call.name for call in found.tool_calls or []] == ["tool0"]


@pytest.mark.parametrize("named", [True, False], ids=["with-its-id", "without-an-id"])
async def test_reports_that_come_after_the_answer_are_a_remark(tmp_path: Path, named: bool) -> None:
    late = f"""
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": 1}}), flush=True)
    time.sleep(0.05)
    report = {{"toolCalls": [{{"name": "pay"}}]}} | ({{"requestId": request["id"]}} if {named} else {{}})
    print(json.dumps({{"jsonrpc": "2.0", "method": "progress", "params": report}}), flush=True)
"""
    (tmp_path / "late.py").write_text(late)
    skill = make_skill("subprocess", f"{sys.executable} late.py", {"persistent": True}, tmp_path)
    async with SubprocessAdapter(skill) as adapter:
        found = await adapter.call("answer", 60)
    assert found.tool_calls is None
    assert adapter.remarks == [
        f"{skill.key}: 1 report came after the answer to its request, so an item may have called more than is known of it; "
        "report calls before the answer"
    ]


async def test_reports_without_end_are_cut_off_and_what_was_read_counts(tmp_path: Path) -> None:
    endless = """
import json, sys
sys.stdin.readline()
while True:
    print(json.dumps({"jsonrpc": "2.0", "method": "progress", "params": {"toolCalls": [{"name": "pay"}]}}), flush=True)
"""
    (tmp_path / "endless.py").write_text(endless)
    found = await ended(make_skill("subprocess", f"{sys.executable} endless.py", {"maxOutputBytes": 4096}, tmp_path), "answer")
    assert isinstance(found, ItemError)
    assert "what it reported while it worked" in str(found)
    assert found.known is not None
    assert {call.name for call in found.known.tool_calls or []} == {"pay"}


def test_outside_an_evaluation_nothing_is_recorded() -> None:
    assert eval_skills.record_tool_call("pay") is False
    with pytest.raises(TypeError, match="the name of a tool is a text, not 5"):
        eval_skills.record_tool_call(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "report",
    [
        pytest.param('{"toolCalls": [{"tool": "pay"}]}', id="no-name"),
        pytest.param('{"toolCalls": "pay"}', id="no-list"),
        pytest.param('{"toolCalls": [{"name": "pay", "arguments": NaN}]}', id="not-json"),
    ],
)
async def test_a_report_that_cannot_be_read_leaves_open_what_was_called(report: str, tmp_path: Path) -> None:
    program = f"""
import os, sys
sys.stdin.readline()
for params in ('{{"toolCalls": []}}', {report!r}):
    print('{{"jsonrpc": "2.0", "method": "progress", "params": %s}}' % params, flush=True)
os._exit(3)
"""
    (tmp_path / "vague.py").write_text(program)
    found = await ended(make_skill("subprocess", f"{sys.executable} vague.py", {}, tmp_path), "crash")
    assert isinstance(found, ItemError)
    assert found.known is not None
    assert unknown_calls(found.known) is not None


CHAIN = """
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

def pay(message):
    return message.content + ", and paid without any callback"

chain = FakeMessagesListChatModel(responses=[AIMessage("done")]) | RunnableLambda(pay)
"""


@pytest.mark.slow
async def test_callbacks_never_say_that_a_chain_called_nothing(tmp_path: Path) -> None:
    (tmp_path / "chain.py").write_text(CHAIN)
    found = await ended(make_skill("langchain", "chain.py:chain", {}, tmp_path), "answer")
    assert isinstance(found, SkillResponse)
    assert (found.tool_calls, found.messages) == (None, None)


@each_row("status", [401, 404, 429, 503])
def test_no_status_says_that_nothing_was_called(status: int) -> None:
    """An agent whose own model refuses it in the middle of its run passes that status on."""
    error = status_error(status, {}, "", "http://127.0.0.1/")
    assert error is not None
    assert error.known is None
