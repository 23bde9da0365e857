"""A model for the demonstration: it speaks the chat-completions protocol on loopback, and answers by rules in place of a network.

It does what a model does with the example: it looks at the skills that are listed and loads the one whose description fits, reads
the file that the prompt names, adds up what it finds there as well as it knows, writes a file, and says the total. What it knows of
the shops' files, it knows from the skill's text alone.

    python scripted_model.py                 prints the address, and serves until it is stopped
    python scripted_model.py -- COMMAND …    serves while the command runs; {address} in it is the address
"""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

FILE = re.compile(r"[\w./-]+\.csv")
WORDS = re.compile(r"[a-z]{4,}")
COMMON = frozenset("with from that this when what wants want somebody asks uses file please have which your goes".split())


def reply(messages, tools):
    """The next message: a tool call, or the answer."""
    prompt = next(text_of(message) for message in messages if message["role"] == "user")
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    results = {message["tool_call_id"]: text_of(message) for message in messages if message["role"] == "tool"}
    done = {call["function"]["name"]: results.get(call["id"], "") for call in calls}
    offered = {tool["function"]["name"] for tool in tools}
    skill = fitting_skill(messages, prompt) if "skill" in offered else None
    if skill and "skill" not in done:
        return call_of("skill", name=skill)
    named = FILE.search(prompt)
    if named is None:
        return {"role": "assistant", "content": "I can help with that."}
    if "read" not in done:
        return call_of("read", path=named.group())
    total, known = total_of(done["read"], done.get("skill", "")), done.get("skill", "")
    if "how many" in prompt.lower():
        return {"role": "assistant", "content": f"There are {len(done['read'].strip().splitlines()) - 1} shops."}
    if "write" not in done:
        return call_of("write", **file_of(prompt, total, known))
    return {"role": "assistant", "content": f"The total is {total} euros."}


def fitting_skill(messages, prompt):
    """The skill of the list in the system prompt whose description shares most words with the prompt, at least two."""
    system = "\n".join(text_of(message) for message in messages if message["role"] == "system")
    asked = words(prompt)
    best = max(listed(system), key=lambda each: len(words(each[1]) & asked), default=None)
    return best[0] if best and len(words(best[1]) & asked) >= 2 else None


def listed(system):
    """Names and descriptions, as ``<name>…</name> <description>…</description>`` or ``- name: description``."""
    tagged = re.findall(r"<name>\s*(.*?)\s*</name>\s*<description>\s*(.*?)\s*</description>", system, re.DOTALL)
    return tagged or re.findall(r"^[-*] \**([\w-]+)\**: (.+)$", system, re.MULTILINE)


def words(text):
    return {word.rstrip("s") for word in WORDS.findall(text.lower())} - COMMON


def total_of(table, known):
    """The sum of the last column. Without the rule of the decimal comma, a comma is what separates columns."""
    separator = ";" if ";" in table.split("\n")[0] else ","
    total = 0.0
    for line in table.strip().splitlines()[1:]:
        cell = line.rsplit(separator, 1)[-1].strip()
        if "decimal comma" in known.replace("*", ""):
            cell = cell.replace(".", "").replace(",", ".")
        found = re.match(r"[\d.]+", cell)
        total += float(found.group().rstrip(".")) if found else 0.0
    return int(total + 0.5) if "whole euros" in known else round(total, 2)


def file_of(prompt, total, known):
    asked = re.search(r"\b(\w+\.(?:txt|json))\b", prompt)
    if asked:
        return {"path": asked.group(1), "content": f"{total}\n"}
    if "report.json" in known:
        whole = int(total) if float(total).is_integer() else total
        return {"path": "report.json", "content": json.dumps({"currency": "EUR", "total": whole}) + "\n"}
    return {"path": "report.txt", "content": f"Total: {total}\n"}


def call_of(tool, **arguments):
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": f"call_{tool}", "type": "function", "function": function}]}


def text_of(message):
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


class Model(BaseHTTPRequestHandler):
    """Answers ``POST …/chat/completions``."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = reply(asked["messages"], asked.get("tools") or [])
        tokens = {"prompt_tokens": len(json.dumps(asked["messages"])) // 4, "completion_tokens": len(json.dumps(message)) // 4}
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        body = {
            "id": "scripted", "object": "chat.completion", "created": 1, "model": asked.get("model", "scripted"),
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {**tokens, "total_tokens": sum(tokens.values())},
        }
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Says nothing of callers that are stopped in the middle."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def main(words):
    """Serve; with a command after ``--``, only as long as that runs, with ``{address}`` in it replaced. The exit code is its own."""
    server = Server(("127.0.0.1", 0), Model)
    address = f"http://127.0.0.1:{server.server_port}/v1"
    if words[:1] != ["--"]:
        print(address, flush=True)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
        return 130
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C reaches the command, too, which ends in its own way
    Thread(target=server.serve_forever, daemon=True).start()
    command = [word.replace("{address}", address) for word in words[1:]]
    return subprocess.run(command, env={**os.environ, "SCRIPTED_MODEL_KEY": "not-a-secret"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
