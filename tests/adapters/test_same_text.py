"""The same text is the same output, and gets the same verdict, by whatever adapter it comes."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.core.models import EvalTask, Skill, SkillResponse
from eval_skills.scorers import score_response
from tests.adapters.programs import PATIENCE_S
from tests.adapters.skills import make_skill
from tests.warm_command import WarmCommand

TEXTS = {
    "plain": "Bern",
    "empty": "",
    "blank": "   ",
    "null": "null",
    "true": "true",
    "integer": "42",
    "decimal": "1.0",
    "exponent": "1e3",
    "padded-number": " 12 ",
    "leading-zeros": "007",
    "huge-number": "9" * 5000,
    "not-a-number": "NaN",
    "empty-object": "{}",
    "list": "[1]",
    "object": '{"result": 1}',
    "envelope": '{"output": 4, "toolCalls": [{"name": "pay"}]}',
    "failed-envelope": '{"output": 4, "tool_calls": [{"name": "pay"}]}',
    "json-rpc": '{"jsonrpc": "2.0", "id": 1, "result": 5}',
    "quoted": '"quoted"',
    "open-brace": "{",
    "close-brace": "}",
    "deep": "[" * 300 + "]" * 300,
    "lines": "one\ntwo\n\nthree\n",
    "crlf": "one\r\ntwo\r\n",
    "separators": "a\u2028b\u2029c\u0085d\x0be\x0cf",
    "control": "\x01\x02\x1b[31mred\x1b[0m\x7f\t",
    "unicode": "e\u0301 \u00e9 \U0001f3d4 \u05d0\u200f \ufeff",
    "event-stream": "data: [DONE]\n\nevent: error\n\n: ping",
    "long": "x\u00e9" * 100_000,
}
"""Texts that parsers read as something else."""

ANSWERS = "import json, pathlib\nTEXTS = json.loads((pathlib.Path(__file__).parent / 'texts.json').read_text())\n"

PROGRAM = (
    ANSWERS
    + """
import sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": TEXTS[request["params"]["id"]]}), flush=True)
"""
)
CUSTOM = ANSWERS + "def say(given):\n    return TEXTS[given['id']]\n"
CHAIN = (
    ANSWERS
    + """
from langchain_core.runnables import RunnableLambda

chain = RunnableLambda(lambda given: TEXTS[given["id"]])
"""
)
GRAPH = (
    ANSWERS
    + """
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

def answer(state):
    return {"messages": [AIMessage(TEXTS[state["messages"][-1].content])]}

graph = StateGraph(MessagesState).add_node("model", answer).add_edge(START, "model").compile()
"""
)
SERVER = (
    ANSWERS
    + """
import sys
from mcp.server import MCPServer

server = MCPServer("texts")

@server.tool(structured_output=False)
def say(id: str) -> str:
    return TEXTS[id]

@server.tool()
def say_structured(id: str) -> str:
    return TEXTS[id]

if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run("stdio")
"""
)


class Service(BaseHTTPRequestHandler):
    """Answers with a text, in our shape or as plain text."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = TEXTS[asked.get("input", asked)["id"]]
        kind, body = ("text/plain", text) if self.path == "/plain" else ("application/json", json.dumps(text))
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("texts")
    sources = {"program.py": PROGRAM, "custom.py": CUSTOM, "chain.py": CHAIN, "agent.py": GRAPH, "server.py": SERVER}
    for name, text in {**sources, "texts.json": json.dumps(TEXTS)}.items():
        (made / name).write_text(text)
    return made


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


SERVE = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"


@pytest.fixture(scope="module")
def mcp_url(folder: Path, warm_command: WarmCommand) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = warm_command.python(SERVE, str(folder / "server.py"), str(port))
    try:
        end = time.monotonic() + PATIENCE_S
        while not _accepts(port):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.output(PATIENCE_S)


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def skills_in(folder: Path, service: str, mcp_url: str) -> dict[str, Skill]:
    """The same answers behind every adapter."""
    python, own = {"python": sys.executable}, {"requestTemplate": {"body": {"id": "{{input.id}}"}}}
    said, wrapped = {"tool": "say"}, {"tool": "say_structured"}
    program, server = f"{sys.executable} program.py", f"{sys.executable} server.py"
    return {
        "subprocess": make_skill("subprocess", program, {"persistent": True}, folder),
        "http": make_skill("http", f"{service}/json", {}, folder),
        "http-plain": make_skill("http", f"{service}/plain", own, folder),
        "mcp-stdio": make_skill("mcp", server, said, folder),
        "mcp-http": make_skill("mcp", mcp_url, said, folder),
        "mcp-http-wrapped": make_skill("mcp", mcp_url, wrapped, folder),
        "custom": make_skill("custom", "custom.py:say", python, folder),
        "langchain": make_skill("langchain", "chain.py:chain", python, folder),
        "langchain-graph": make_skill("langchain", "agent.py:graph", python, folder),
    }


async def answers_of(skill: Skill) -> dict[str, SkillResponse]:
    """What the skill answers to every name of a text."""
    async with open_adapter(skill) as adapter:
        return {name: await adapter.call({"id": name}, PATIENCE_S) for name in TEXTS}


async def verdicts_on(responses: dict[str, SkillResponse]) -> dict[str, tuple[str, float | None]]:
    """How an exact comparison with the text, and a schema that asks for a text, judge each answer."""
    found: dict[str, tuple[str, float | None]] = {}
    for name, response in responses.items():
        for expected in ({"type": "exact_match", "value": TEXTS[name]}, {"type": "json_schema", "schema": {"type": "string"}}):
            task = EvalTask.model_validate({"id": "t", "description": "", "inputData": {}, "expectedOutput": expected})
            verdict = await score_response(task, response)
            found[f"{name}/{expected['type']}"] = (verdict.status, verdict.score)
    return found


@pytest.mark.slow
async def test_the_same_text_is_the_same_answer_over_every_adapter(folder: Path, service: str, mcp_url: str) -> None:
    assert len(TEXTS) == 29
    skills = skills_in(folder, service, mcp_url)
    answered = dict(zip(skills, await asyncio.gather(*map(answers_of, skills.values())), strict=True))
    for adapter, responses in answered.items():
        differing = [name for name, response in responses.items() if response.output != TEXTS[name]]
        assert differing == [], adapter
        assert all(response.tool_calls is None for response in responses.values() if adapter != "langchain-graph"), adapter
    verdicts = await asyncio.gather(*map(verdicts_on, answered.values()))
    assert all(each == verdicts[0] for each in verdicts)
    assert [name for name, (status, _) in verdicts[0].items() if name.endswith("exact_match") and status != "pass"] == []
