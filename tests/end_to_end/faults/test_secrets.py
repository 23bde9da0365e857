"""Secrets that a run uses, and skills that give them away in every way: not a byte of them is written anywhere."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from eval_skills.core.store import Store
from tests.end_to_end.faults.conftest import Workplace

if TYPE_CHECKING:
    from tests.end_to_end.faults.conftest import Process

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

FORMATS = ("json", "markdown", "html", "csv", "junit", "parquet")
PIECE = 10
"""So many characters of a secret in a row are a leak."""

WAYS = '''
def ways(held):
    """Each way to give a secret away, by name: what to answer with, or an error's text."""
    whole = json.dumps(held)
    return {
        "bare": {"answer": whole},
        "nested": {"output": {"list": [held], whole: 1}, "metadata": held},
        "messages": {"output": whole, "messages": [{"role": "assistant", "content": whole, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "send", "arguments": whole}}]}],
            "toolCalls": [{"name": "send", "args": held, "result": whole}]},
        "twice": {"output": json.dumps(whole)},
        "cut": {"output": "x" * 185 + "; ".join(held.values())},
        "long": {"output": " ".join(held.values()) * 2_000},
        "address": {"output": "https://h/?" + urllib.parse.urlencode(held)},
    }
'''

PROGRAM = f"""
import json, os, sys, urllib.parse
{WAYS}
request = json.loads(sys.stdin.readline())
held = {{name: value for name, value in os.environ.items() if name not in ("PATH", "HOME")}}
print("environment", held); print("environment", held, file=sys.stderr)
what, head = request["params"]["do"], {{"jsonrpc": "2.0", "id": request["id"]}}
if what == "die":
    sys.exit("; ".join(held.values()))
if what == "hang":
    print(*held.values(), flush=True); import time; time.sleep(600)
if what == "garble":
    print("no answer:", *held.values()); sys.exit()
if what == "refuse":
    print(json.dumps(head | {{"error": {{"code": 1, "message": "y" * 280 + " ".join(held.values()), "data": held}}}})); sys.exit()
print(json.dumps(head | {{"result": ways(held)[what]}}))
"""

SERVER = f"""
import http.server, json, sys, urllib.parse
{WAYS}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        what = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]["do"]
        held = {{**self.headers, "path": self.path}}
        print("headers", held); print("headers", held, file=sys.stderr)
        status = {{"die": 500, "refuse": 400}}.get(what, 200)
        body = " ".join(held.values()) if what in ("die", "refuse", "hang", "garble") else json.dumps(ways(held)[what])
        self.send_response(status)
        self.send_header("X-Repeated", json.dumps(held).encode("ascii", "replace").decode())
        self.end_headers()
        self.wfile.write(body.encode())
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""

FUNCTION = f"""
import json, os, urllib.parse
{WAYS}
class Skill:
    def __init__(self, api_key):
        self.held = {{name: value for name, value in os.environ.items() if name not in ("PATH", "HOME")}}
        self.held["argument"] = api_key
    def call(self, given):
        print(self.held)
        if given["do"] in ("die", "refuse", "hang", "garble"):
            raise RuntimeError("; ".join(self.held.values()))
        return ways(self.held)[given["do"]]
"""

DOINGS = ("bare", "nested", "messages", "twice", "cut", "long", "address", "die", "refuse", "garble", "hang")


class Canaries:
    """One secret for each place that may hold one; all of them are random."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def new(self, name: str, form: str = "{}") -> str:
        """A secret, of which any `PIECE` random characters may be found nowhere."""
        self.values[name] = form.format(uuid4().hex + uuid4().hex[:8])
        return self.values[name]

    def pieces(self) -> dict[str, str]:
        """Every piece that would be a leak, and the secret that it is of."""
        return {
            value[at : at + PIECE]: name
            for name, value in self.values.items()
            for at in range(len(value) - PIECE + 1)
            if value[at : at + PIECE].isalnum() and any(letter.isdigit() for letter in value[at : at + PIECE])
        }

    def leaks(self, data: bytes) -> set[str]:
        """The names of the secrets that a piece of is in the data."""
        return {name for piece, name in self.pieces().items() if piece.encode() in data}


@pytest.fixture
def canaries() -> Canaries:
    return Canaries()


@pytest.fixture
def leaky(private_place: Workplace, canaries: Canaries) -> Workplace:
    """Skills that were given secrets, and tasks that make them tell; `private_place` calls start a server of their own."""
    new, python = canaries.new, shlex.quote(sys.executable)
    place = private_place
    place.environment = place.environment | {
        "MY_API_KEY": new("never passed on"),
        "OPENAI_API_KEY": new("never passed on, of a provider"),
        "PASSED_TOKEN": new("passEnv", "{}\n"),
        "PLAIN": new("configuration: secrets"),
        "KEY_FILE": new("of several lines", "-----BEGIN KEY-----\n{0}\n{0}\n-----END KEY-----\n"),
        "SERVICE_TOKEN": new("authTokenEnvKey"),
        "REFERRED": new("a header's reference"),
        "QUOTED_TOKEN": new("signs in it", 'a"{}\\/<&> ü'),
    }
    passed = {"passEnv": ["PASSED_TOKEN", "PLAIN", "KEY_FILE", "QUOTED_TOKEN"]}
    written = {"DB_PASSWORD": new("env"), "DATABASE": f"postgres://me:{new('password in an address')}@h/db"}
    place.add_skill("program", PROGRAM, entrypoint=f"{python} -IS skill.py", adapterConfig={**passed, "env": written})
    place.add_skill(
        "function", FUNCTION, adapterType="custom", entrypoint="skill:Skill",
        adapterConfig={**passed, "init": {"api_key": new("init")}},
    )  # fmt: skip
    place.add_skill(
        "service", SERVER, adapterType="http", entrypoint=f"http://127.0.0.1:{{port}}/?access_token={new('query')}",
        adapterConfig={
            "authType": "bearer", "authTokenEnvKey": "SERVICE_TOKEN",
            "headers": {"X-Internal-Key": new("headers"), "X-Other": "v1 ${REFERRED}"},
            "serve": {"command": f"{python} -IS skill.py {{port}}"},
        },
    )  # fmt: skip
    tasks: list[dict[str, Any]] = [
        {"id": do, "inputData": {"do": do}, "expectedOutput": {"value": "nothing of the kind"}} for do in DOINGS
    ]
    tasks[-1]["timeoutMs"] = 1_500
    schema = {"type": "json_schema", "schema": {"type": "object", "additionalProperties": {"type": "null"}}}
    tasks.append({"id": "schema", "inputData": {"do": "nested"}, "expectedOutput": schema})
    (place.folder / "tasks.json").write_text(json.dumps(tasks))
    (place.folder / "eval-skills.config.yaml").write_text("secrets: [PLAIN, KEY_FILE]\n")
    return place


def files_of(place: Workplace) -> Iterator[Path]:
    """Everything that was written while the run went on: the store and its mirror, reports, output, and Prefect's own home."""
    for folder in (place.folder, place.prefect_home):
        yield from (path for path in folder.rglob("*") if path.is_file() and "skills" not in path.relative_to(folder).parts[:1])


def test_p71_no_secret_is_written_anywhere(leaky: Workplace, canaries: Canaries) -> None:
    process = leaky.call(
        "run", "--skills-dir", "skills", "--tasks", "tasks.json", "--store", "kept.db", "--retries", "1", "--format", *FORMATS,
        "--min-completion", "0", "-v",
    )  # fmt: skip
    assert process.end() == 0, process.err
    assert_everything_was_said(leaky, process)
    seen = list(files_of(leaky))
    assert {path.name: found for path in seen if (found := canaries.leaks(path.read_bytes()))} == {}
    for frame in (decoded := tables(leaky)):
        assert canaries.leaks(frame.encode()) == set()
    assert len(decoded) == 3
    assert {"prefect.db", "manifest.json", "kept.db"} <= {path.name for path in seen}
    assert {path.suffix for path in seen} >= {".json", ".md", ".html", ".csv", ".xml", ".parquet", ".out", ".err"}


def assert_everything_was_said(place: Workplace, process: Process) -> None:
    """The skills had the secrets, and gave them away; where they would stand is their name."""
    items = Store(place.folder / "kept.store").items()
    assert len(items) == 3 * (len(DOINGS) + 1)
    told = "".join(items["output"].dropna()) + "".join(items["error_message"].dropna()) + process.out + process.err
    for name in (
        "PASSED_TOKEN", "PLAIN", "KEY_FILE", "QUOTED_TOKEN", "DB_PASSWORD", "password in DATABASE", "api_key", "SERVICE_TOKEN",
        "REFERRED", "X-Internal-Key", "access_token",
    ):  # fmt: skip
        assert f"[redacted:{name}]" in told, name
    assert set(items["status"]) == {"fail", "error", "timeout"}


def tables(place: Workplace) -> list[str]:
    """The Parquet files as text: compressed as they are, their bytes would tell nothing."""
    import pyarrow.parquet as parquet

    found = [*(place.folder / "kept.store").rglob("*.parquet"), *(place.folder / "reports").rglob("*.parquet")]
    return [repr(parquet.read_table(path).to_pylist()) + repr(parquet.read_schema(path).metadata) for path in found]
