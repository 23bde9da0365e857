"""`find --mcp` and `create --from-mcp`: a server's tools as skills."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.core.skills import load_skill
from tests.tables import each_row

Run = Callable[..., Any]
PROGRAM = Path(__file__).parents[1] / "adapters" / "mcp_servers" / "handshake.py"
NOWHERE = "http://127.0.0.1:1/mcp"
SERVER = f"{shlex.quote(sys.executable)} -S -E {shlex.quote(str(PROGRAM))}"


@pytest.mark.slow
def test_find_lists_the_tools_of_a_server(run_here: Run) -> None:
    result = run_here("find", "--mcp", SERVER, "-q", "echo", "--json")
    assert result.code == 0, result.err
    [skill] = result.json["skills"]
    assert (skill["id"], skill["version"], skill["adapterType"], skill["path"]) == ("echo", "0.9.0", "mcp", None)
    assert skill["description"] == "Does echo."
    shown = run_here("find", "--mcp", SERVER, "--limit", "2").out
    assert "big@0.9.0" in shown
    assert "echo" not in shown


@pytest.mark.slow
def test_p64_created_skills_call_their_tools_from_anywhere(place: Any, monkeypatch: pytest.MonkeyPatch, run_here: Run) -> None:
    (place.folder / "server.py").write_text(PROGRAM.read_text())
    relative = f"{shlex.quote(sys.executable)} -S -E server.py"
    result = run_here("create", "--from-mcp", relative, "--output-dir", "tools")
    assert result.code == 0, result.err
    assert "created echo  tools/echo  (without tests: it takes no arguments, and nothing says what a call may do)" in result.out
    skill = load_skill(place.folder / "tools/echo")
    assert skill.input_schema == {"type": "object"}
    assert skill.metadata == {"mcpServer": "by-hand", "openWorld": True}
    monkeypatch.chdir("/")

    async def ask() -> Any:
        async with open_adapter(skill) as adapter:
            return (await adapter.call({"x": 1}, 60)).output

    assert asyncio.run(ask()) == '{"x": 1}'


@pytest.mark.slow
def test_one_tool_is_created_by_its_name_and_nothing_is_overwritten(place: Any, run_here: Run) -> None:
    given = ("create", "--from-mcp", SERVER, "--name", "echo", "--output-dir", "tools", "--json")
    assert [skill["id"] for skill in run_here(*given).json["skills"]] == ["echo"]
    before = place.files()
    again = run_here(*given)
    assert again.code == 2
    assert "exists" in again.err
    assert run_here(*given, "--force").code == 0
    assert place.files() == before


@pytest.mark.slow
def test_the_variables_that_a_server_needs_are_passed_and_noted(
    place: Any, run_here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEATHER_TOKEN", "s3cret")
    result = run_here("create", "--from-mcp", SERVER, "--name", "echo", "--pass-env", "WEATHER_TOKEN", "--output-dir", "tools")
    assert result.code == 0, result.err
    written = (place.folder / "tools/echo/skill.json").read_text()
    assert json.loads(written)["adapterConfig"] == {"passEnv": ["WEATHER_TOKEN"]}
    assert "s3cret" not in written


class _Guarded(BaseHTTPRequestHandler):
    """A server of protocol 2025-06-18 that lists its tools to whoever has the token."""

    tools: ClassVar[list[Any]] = [{"name": "secret_tool", "inputSchema": {"type": "object"}}]

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        about = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "guarded", "version": "1"},
        }
        if self.headers.get("Authorization") != "Bearer s3cret-t0ken":
            self.reply(401, {"error": "who are you"})
        elif message["method"] == "initialize":
            self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "result": about})
        elif message["method"] == "tools/list":
            self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "result": {"tools": self.tools}})
        elif "id" in message:
            self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        else:
            self.reply(202, None)

    def do_GET(self) -> None:
        self.reply(405, None)

    def reply(self, status: int, body: Any) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"" if body is None else json.dumps(body).encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def _served(handler: type[_Guarded]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/mcp"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def guarded_url() -> Iterator[str]:
    with _served(_Guarded) as url:
        yield url


CITY = {"type": "object", "required": ["city"], "properties": {"city": {"default": "Bern"}}}


class _Odd(_Guarded):
    """Tools without a name, with too long a one, two of one name, and hints of what a call does."""

    tools: ClassVar[list[Any]] = [
        {"name": name, "inputSchema": CITY, "annotations": hints}
        for name, hints in [
            ("", {}),
            ("x" * 300, {}),
            ("said", {"destructiveHint": True}),
            ("implied", {"readOnlyHint": False}),
            ("adds", {"readOnlyHint": False, "destructiveHint": False}),
            ("reads", {"readOnlyHint": True, "destructiveHint": True}),
            ("double", {"readOnlyHint": True}),
            ("double", {"readOnlyHint": False}),
            ("broken", {"readOnlyHint": "perhaps"}),
        ]
    ]


def test_odd_tools_keep_no_other_from_being_created_and_none_that_destroys_is_called(
    place: Any, run_here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUARDED_TOKEN", "s3cret-t0ken")
    place.write("tools/said/tests/basic.eval.json", "{}")
    with _served(_Odd) as url:
        result = run_here("create", "--from-mcp", url, "--auth-token-env", "GUARDED_TOKEN", "--output-dir", "tools", "--json")
    assert result.code == 0, result.err
    assert "tools/said/tests/basic.eval.json stays: no test is written here any more" in result.err
    assert "lists 1 tool that has no name: left out" in result.err
    assert "lists double more than once, in different ways: left out" in result.err
    assert (
        "left out, since the server lists them against the MCP version that it names: broken (annotations.readOnly" in result.err
    )
    assert "has 300 characters, so its skill is called xxx" in result.err
    tested = {skill["id"]: len(skill["files"]) == 2 for skill in result.json["skills"]}
    assert tested == {"x" * 60: True, "said": False, "implied": False, "adds": True, "reads": True}
    assert load_skill(place.folder / "tools/said").metadata["mayDestroy"] is True


def test_a_server_whose_tools_have_no_names_offers_none(run_here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUARDED_TOKEN", "s3cret-t0ken")
    with _served(type("_Nameless", (_Odd,), {"tools": _Odd.tools[:1]})) as url:
        result = run_here("find", "--mcp", url, "--auth-token-env", "GUARDED_TOKEN")
    assert result.code == 2
    assert "offers no tool that has a name" in result.err


class _NoMcp(_Guarded):
    """A service that answers with JSON of its own."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.reply(200, {"ok": True})


def test_what_is_no_mcp_server_is_told_in_a_line(run_here: Run) -> None:
    with _served(_NoMcp) as url:
        result = run_here("find", "--mcp", url)
    assert result.code == 2
    assert result.err.endswith("error -32700: Failed to parse JSON response; is it the address of an MCP server?\n")
    assert (result.err.count("\n"), len(result.err) < 500) == (1, True)


@pytest.mark.slow
def test_p22_a_url_that_wants_a_token_gets_that_of_a_variable(
    place: Any, run_here: Run, monkeypatch: pytest.MonkeyPatch, guarded_url: str
) -> None:
    monkeypatch.setenv("GUARDED_TOKEN", "s3cret-t0ken")
    refused = run_here("find", "--mcp", guarded_url)
    assert refused.code == 2
    assert "HTTP 401" in refused.err
    found = run_here("find", "--mcp", guarded_url, "--auth-token-env", "GUARDED_TOKEN", "--json")
    assert [skill["id"] for skill in found.json["skills"]] == ["secret_tool"], found.err
    created = run_here("create", "--from-mcp", guarded_url, "--auth-token-env", "GUARDED_TOKEN", "--output-dir", "tools")
    assert created.code == 0, created.err
    written = (place.folder / "tools/secret_tool/skill.json").read_text()
    assert json.loads(written)["adapterConfig"] == {"authType": "bearer", "authTokenEnvKey": "GUARDED_TOKEN"}
    assert "s3cret" not in written + created.out + created.err + found.out


@pytest.mark.slow
@each_row(
    ("arguments", "message"),
    [
        pytest.param(["find", "--mcp", "no-such-server"], "--mcp 'no-such-server': the server ended at its start", id="missing"),
        pytest.param(["find", "--mcp", "http://127.0.0.1:1/mcp"], "Connection refused", id="refused"),
        pytest.param(["find", "--mcp", "http://"], "names no host", id="no-host"),
        pytest.param(["find", "--mcp", "a 'b"], "check its quotes", id="quotes"),
        pytest.param(["find", "--mcp", f"{SERVER} empty"], "the server offers no tools", id="nothing-offered"),
        pytest.param(["find", "--mcp", SERVER, "--skills-dir", "skills"], "both say where to look", id="two-places"),
        pytest.param(["find", "--pass-env", "A"], "name it with --mcp", id="variables-for-nobody"),
        pytest.param(["find", "--auth-token-env", "A"], "name it with --mcp", id="token-for-nobody"),
        pytest.param(
            ["find", "--mcp", SERVER, "--auth-token-env", "PATH"], "a program gets its variables with --pass-env", id="token"
        ),
        pytest.param(["find", "--mcp", NOWHERE, "--pass-env", "PATH"], "gets its token with --auth-token-env", id="variables"),
        pytest.param(["find", "--mcp", NOWHERE, "--auth-token-env", "ABSENT"], "variable ABSENT is not set", id="unset-token"),
        pytest.param(["find", "--mcp", NOWHERE, "--auth-token-env", "sk-live-1"], "did you paste the secret", id="pasted-token"),
        pytest.param(["find", "--mcp", SERVER, "--pass-env", "sk-live-1"], "did you paste the secret", id="pasted"),
        pytest.param(["find", "--mcp", SERVER, "--pass-env", "ABSENT"], "variable ABSENT is not set", id="unset"),
        pytest.param(["create", "--from-mcp", SERVER, "--name", "ecko"], r"not a tool of the server (did you mean", id="no-tool"),
        pytest.param(["create", "--from-mcp", SERVER, "--description", "x"], "cannot stand beside --from-mcp", id="description"),
        pytest.param(["create", "--from-mcp", SERVER, "--from-openapi", "a.json"], "both say what to create", id="two-sources"),
        pytest.param(["create", "--name", "x", "--pass-env", "A"], "name it with --from-mcp", id="create-variables-for-nobody"),
        pytest.param(["create", "--name", "x", "--auth-token-env", "A"], "name it with --from-mcp", id="create-token-for-nobody"),
    ],
)
def test_a_wrong_call_is_refused_in_one_line_and_writes_nothing(
    place: Any, run_here: Run, arguments: list[str], message: str
) -> None:
    before = place.files()
    result = run_here(*arguments)
    assert result.code == 2
    assert message in result.err
    assert result.err.count("\n") == 1
    assert place.files() == before
