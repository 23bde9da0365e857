"""Skills of every kind that take more than they may, when they are asked to."""

from __future__ import annotations

import shlex
import sys
import textwrap
from pathlib import Path
from typing import Any

from eval_skills.core.models import Skill

GREEDY = """
def greedy(wanted):
    if wanted == "memory":
        return len(bytearray(2_000_000_000))
    if wanted == "files":
        return len([open("/dev/null") for _ in range(5_000)])
    if wanted in ("cpu", "stubborn", "seen"):
        spend(wanted)
    return "modest"

def spend(wanted):
    import os, resource, signal, sys, time
    if (limit := resource.getrlimit(resource.RLIMIT_CPU)) != (1, 2):
        sys.exit(f"it runs under {limit}")
    if wanted == "cpu":
        os.kill(os.getpid(), signal.SIGXCPU)
    told = []
    signal.signal(signal.SIGXCPU, lambda *_: told.append(print("told to end", file=sys.stderr, flush=True)))
    while wanted == "stubborn" or not told or time.process_time() < 1.1:
        pass
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)
"""
"""`cpu` ends as the system ends it when a second is used up, where it sees that this is its limit: to use it up takes one.

`stubborn` goes on until the system kills it. `seen` does so a moment longer than it may, waits to be looked at, and is killed.
"""

ONE_SHOT = """
import json, sys
request = json.loads(sys.stdin.read())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": greedy(request["params"])}))
"""

WARM = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": greedy(request["params"])}), flush=True)
"""

MCP = """
import json, sys
def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "g", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": "probe", "inputSchema": {"type": "object"}}]}
    return {"content": [{"type": "text", "text": str(greedy(params["arguments"]["wanted"]))}]}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params"))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""

SERVICE = """
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204)
        self.end_headers()
    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        body = json.dumps(greedy(given)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""

Config = dict[str, Any]


def _program(source: str) -> tuple[str, str, str, Config]:
    return "subprocess", source, f"{shlex.quote(sys.executable)} -S -E skill.py", {}


def _kinds() -> dict[str, tuple[str, str, str, Config]]:
    python = f"{shlex.quote(sys.executable)} -S -E skill.py"
    serve = {"serve": {"command": f"{python} {{port}}", "readyPath": "/", "readyTimeoutMs": 60_000}}
    return {
        "fresh": _program(ONE_SHOT),
        "forked": ("subprocess", ONE_SHOT, "{python} skill.py", {"startMethod": "forkserver"}),
        "warm": ("subprocess", WARM, python, {"persistent": True}),
        "custom": ("custom", "", "skill:greedy", {}),
        "langchain": (
            "langchain",
            "class Runs:\n    def invoke(self, value): return greedy(value)\nruns = Runs()",
            "skill:runs",
            {},
        ),
        "mcp": ("mcp", MCP, python, {"protocol": "legacy"}),
        "http": ("http", SERVICE, "http://127.0.0.1:{port}/run", serve),
    }


KINDS = tuple(_kinds())


def greedy_skill(kind: str, folder: Path, **config: Any) -> Skill:
    """A skill of one of `KINDS` that lives in `folder`."""
    adapter, source, entrypoint, own = _kinds()[kind]
    folder.mkdir(exist_ok=True)
    (folder / "skill.py").write_text(textwrap.dedent(GREEDY) + source)
    data = {"id": "probe", "name": "Probe", "version": "1.0.0", "adapterType": adapter, "entrypoint": entrypoint}
    if kind == "langchain":
        own = {**own, "call": "invoke"}
    return Skill.model_validate(data | {"adapterConfig": {**own, **config}}).located_in(folder.resolve())


def asked_for(kind: str, wanted: str) -> Any:
    """The input by which a skill of this kind is asked to take `wanted`."""
    return {"wanted": wanted} if kind == "mcp" else wanted
