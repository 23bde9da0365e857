"""An MCP server of protocol 2025-06-18, written without any SDK: one JSON-RPC message a line, and every way to misbehave.

Words on its command line change how it begins: ``mute``, ``strict`` (ends at anything before the handshake), ``crash``,
``empty``, ``pages`` (one tool a page), ``endless`` (of pages), ``circle`` (every page leads to itself), ``late`` (the first
list has no tools), ``twice`` (it lists ``echo`` twice, and the second one is another tool), ``malformed`` (``state``, and one
that is no object, are not as the protocol has it, and ``slow`` has half of a surrogate pair), ``stubborn`` (ignores the end of
its input and SIGTERM), ``choosy`` (refuses every version but its own and names it), ``curt`` (refuses every version but the
oldest without any output), ``foreign`` (speaks a version that nobody knows), ``brief`` (ends itself a moment after its first
call), ``marked`` (begins with a byte-order mark).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

WORDS = sys.argv[1:]
ANY = {"type": "object"}
NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
DOUBLING = {
    "type": "object",
    "$ref": "#/$defs/d0",
    "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(24)} | {"d24": {}},
}
SCHEMAS = {
    "broken_schema": NUMBER,
    "unstructured": NUMBER,
    "backtracks": {"type": "object", "properties": {"text": {"pattern": "(a|aa)+$"}}},
    "doubles": DOUBLING,
    "elsewhere": {"type": "object", "properties": {"text": {"$ref": "http://127.0.0.1:9/schema.json"}}},
    "formatted": {"type": "object", "properties": {"text": {"format": "uri"}}},
}
STATE: dict[str, Any] = {"handshakes": 0, "cancelled": [], "ready": False, "lists": 0}
LOCK = threading.Lock()


def send(message: Any) -> Any:
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def write(line: Any) -> Any:
    with LOCK:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def text(value: str, **more: Any) -> Any:
    return {"content": [{"type": "text", "text": value}], **more}


def echo(given: Any, _: Any) -> Any:
    return text(json.dumps(given))


def structured(given: Any, _: Any) -> Any:
    return text("this is not what counts", structuredContent=given)


def parts(given: Any, _: Any) -> Any:
    return {"content": given["parts"]}


def fail(given: Any, _: Any) -> Any:
    return text(given["text"], isError=True)


def rpc_error(given: Any, _: Any) -> Any:
    raise LookupError(given["text"])


def broken_schema(given: Any, _: Any) -> Any:
    return text("{}", structuredContent={"number": "not one"})


def unstructured(given: Any, _: Any) -> Any:
    return text("no structure")


def invalid(given: Any, _: Any) -> Any:
    return {"content": "not a list"}


def backtracks(given: Any, _: Any) -> Any:
    return text("", structuredContent={"text": "a" * 40 + "b"})


def doubles(given: Any, _: Any) -> Any:
    return text("", structuredContent=given)


def elsewhere(given: Any, _: Any) -> Any:
    return text("", structuredContent=given)


def formatted(given: Any, _: Any) -> Any:
    return text("", structuredContent=given)


def state(given: Any, _: Any) -> Any:
    return text(json.dumps({**STATE, "pid": os.getpid(), "cwd": os.getcwd(), "env": dict(os.environ)}))


def slow(given: Any, _: Any) -> Any:
    time.sleep(given["seconds"])
    return text("late")


def die(given: Any, _: Any) -> Any:
    print("going down", file=sys.stderr, flush=True)
    os._exit(given.get("code", 3))


def die_once(given: Any, _: Any) -> Any:
    note = Path(given["note"])
    if note.exists():
        return text("alive")
    note.write_text("died")
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def big(given: Any, _: Any) -> Any:
    return text("x" * given["size"])


def noisy(given: Any, _: Any) -> Any:
    write("a stray print")
    write('{"level": "info", "message": "a log line that is JSON"}')
    print("on stderr", file=sys.stderr, flush=True)
    send({"method": "notifications/message", "params": {"level": "warning", "data": "a log message"}})
    return text("quiet")


def progress(given: Any, message: Any) -> Any:
    token = message["params"]["_meta"]["progressToken"]
    for number in range(given.get("reports", 0)):
        report = {"toolCalls": [{"name": "search", "arguments": {"q": "x" * 1_000}}]}
        params = {"progressToken": token, "progress": number, "message": json.dumps(report)}
        send({"method": "notifications/progress", "params": params})
    told = {"progressToken": token, "progress": 1, "total": 2, "message": "half way"}
    send({"method": "notifications/progress", "params": told})
    return text("done")


def sampling(given: Any, _: Any) -> Any:
    asked = {"messages": [], "maxTokens": 1}
    send({"id": "mine", "method": "sampling/createMessage", "params": asked})
    return text("Error executing tool sampling", isError=True)


def consult(given: Any, _: Any) -> Any:
    """Asks its client, and answers what that said."""
    reply: Any = {}
    for _ in range(given.get("times", 1)):
        reply = {}
        send({"id": "mine", "method": given["method"], "params": given.get("params", {})})
        while reply.get("id") != "mine":
            reply = json.loads(sys.stdin.readline())
    return text(json.dumps(reply.get("result", reply.get("error"))), isError="error" in reply)


def garbled(given: Any, message: Any) -> Any:
    write(given["line"].replace("ID", str(message["id"])))


def forget(given: Any, _: Any) -> Any:
    """Declares no output schema any more, and says that its tools changed."""
    SCHEMAS.clear()
    send({"method": "notifications/tools/list_changed"})
    return text("forgotten")


def masked(given: Any, message: Any) -> Any:
    """Logs why it fails, and does not say so; it is answered by `release`."""
    print("ValueError: the real reason", file=sys.stderr, flush=True)
    STATE["held"] = message["id"]


def release(given: Any, message: Any) -> Any:
    send({"id": message["id"], "result": text("released")})
    send({"id": STATE.pop("held"), "result": text("Error executing tool masked", isError=True)})


def masked_late(given: Any, message: Any) -> Any:
    """Answers before it logs why it failed."""
    send({"id": message["id"], "result": text("Error executing tool masked_late", isError=True)})
    print("ValueError: the late reason", file=sys.stderr, flush=True)


TOOLS = {
    tool.__name__: tool
    for tool in (
        echo, structured, parts, fail, rpc_error, broken_schema, unstructured, invalid, state, slow, die, die_once, big, noisy,
        progress, sampling, consult, garbled, backtracks, doubles, elsewhere, formatted, forget,
        masked, masked_late, release,
    )
}  # fmt: skip
IN_THREADS = {"slow"}


def block(given: Any, _: Any) -> Any:
    """Answers nothing to anybody for as long as it takes."""
    time.sleep(given["seconds"])
    return text("late")


TOOLS["block"] = block


def listed(name: Any) -> Any:
    schema = {"outputSchema": SCHEMAS[name]} if name in SCHEMAS else {}
    hints = {"annotations": {"openWorldHint": True}} if name == "echo" else {}
    return {"name": name, "description": f"Does {name}.", "inputSchema": ANY, **schema, **hints}


def page(cursor: Any) -> Any:
    names = sorted(TOOLS)
    STATE["lists"] += 1
    if "empty" in WORDS or ("late" in WORDS and STATE["lists"] == 1):
        return {"tools": []}
    if "twice" in WORDS:
        return {"tools": [listed("echo"), listed("state"), listed("state"), {**listed("echo"), "outputSchema": NUMBER}]}
    if "malformed" in WORDS:
        torn = {**listed("slow"), "description": "\ud800"}
        return {"tools": [{"name": "state"}, "nameless", torn, listed("echo")]}
    if "circle" in WORDS:
        return {"tools": [listed("echo")], "nextCursor": ""}
    if "pages" not in WORDS and "endless" not in WORDS:
        return {"tools": [listed(name) for name in names]}
    at = int(cursor or 0)
    more = {"nextCursor": str(at + 1)} if at + 1 < len(names) or "endless" in WORDS else {}
    return {"tools": [listed(names[at % len(names)])], **more}


def call(message: Any) -> Any:
    try:
        tool = TOOLS[message["params"]["name"]]
        result = tool(message["params"].get("arguments", {}), message)
    except LookupError as error:
        send({"id": message["id"], "error": {"code": -32050, "message": str(error.args[0]), "data": {"hint": "try less"}}})
        return
    if result is not None:
        send({"id": message["id"], "result": result})
    if "brief" in WORDS:
        with Path("asked").open("a") as asked:
            print(message["params"]["arguments"]["n"], file=asked)
        time.sleep(0.2)
        os._exit(3)


def initialize(message: Any) -> Any:
    offered, error = message["params"]["protocolVersion"], {"code": -32602, "message": "Invalid params"}
    if "choosy" in WORDS and offered != "2025-06-18":
        error["data"] = {"supported": ["2024-11-05", "2025-06-18"], "requested": offered}
    if ("choosy" in WORDS and offered != "2025-06-18") or ("curt" in WORDS and offered != "2024-11-05"):
        send({"id": message["id"], "error": error})
        return
    STATE["handshakes"] += 1
    STATE["offered"], STATE["capabilities"] = offered, message["params"]["capabilities"]
    info = {"name": "by-hand", "version": "0.9.0"}
    spoken = "2023-01-01" if "foreign" in WORDS else "2024-11-05" if "curt" in WORDS else "2025-06-18"
    about = {"protocolVersion": spoken, "capabilities": {"tools": {}, "logging": {}}, "serverInfo": info}
    send({"id": message["id"], "result": about})


def on_request(message: Any) -> Any:
    method = message["method"]
    if method == "initialize":
        initialize(message)
    elif method == "tools/list":
        send({"id": message["id"], "result": page(message.get("params", {}).get("cursor"))})
    elif method == "tools/call" and message["params"]["name"] in IN_THREADS:
        threading.Thread(target=call, args=(message,), daemon=True).start()
    elif method == "tools/call":
        call(message)
    else:
        send({"id": message["id"], "error": {"code": -32601, "message": f"Method not found: {method}"}})


def main() -> None:
    if "crash" in WORDS:
        sys.exit("no configuration found")
    if "marked" in WORDS:
        sys.stdout.write("\ufeff")
    if "stubborn" in WORDS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        message = json.loads(line)
        if "mute" in WORDS:
            continue
        if "strict" in WORDS and not STATE["handshakes"] and message.get("method") != "initialize":
            sys.exit("expected the handshake")
        if message.get("method") == "notifications/cancelled":
            STATE["cancelled"].append(message["params"]["requestId"])
        elif "id" in message and "method" in message:
            on_request(message)
    while "stubborn" in WORDS:
        time.sleep(60)


main()
