"""`find --mcp` and `create --from-mcp`: a server's tools as skills."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.core.skills import load_skill

Run = Callable[..., Any]
PROGRAM = Path(__file__).parents[1] / "adapters" / "mcp_servers" / "handshake.py"
SERVER = f"{shlex.quote(sys.executable)} -S -E {shlex.quote(str(PROGRAM))}"


def test_find_lists_the_tools_of_a_server(run_here: Run) -> None:
    result = run_here("find", "--mcp", SERVER, "-q", "echo", "--json")
    assert result.code == 0, result.err
    [skill] = result.json["skills"]
    assert (skill["id"], skill["version"], skill["adapterType"], skill["path"]) == ("echo", "0.9.0", "mcp", None)
    assert skill["description"] == "Does echo."
    shown = run_here("find", "--mcp", SERVER, "--limit", "2").out
    assert "big@0.9.0" in shown
    assert "echo" not in shown


def test_p64_created_skills_call_their_tools_from_anywhere(place: Any, monkeypatch: pytest.MonkeyPatch, run_here: Run) -> None:
    (place.folder / "server.py").write_text(PROGRAM.read_text())
    relative = f"{shlex.quote(sys.executable)} -S -E server.py"
    result = run_here("create", "--from-mcp", relative, "--output-dir", "tools")
    assert result.code == 0, result.err
    assert "created echo  tools/echo" in result.out.splitlines()
    skill = load_skill(place.folder / "tools/echo")
    assert skill.input_schema == {"type": "object"}
    monkeypatch.chdir("/")

    async def ask() -> Any:
        async with open_adapter(skill) as adapter:
            return (await adapter.call({"x": 1}, 60)).output

    assert asyncio.run(ask()) == {"x": 1}


def test_one_tool_is_created_by_its_name_and_nothing_is_overwritten(place: Any, run_here: Run) -> None:
    given = ("create", "--from-mcp", SERVER, "--name", "echo", "--output-dir", "tools", "--json")
    assert [skill["id"] for skill in run_here(*given).json["skills"]] == ["echo"]
    before = place.files()
    again = run_here(*given)
    assert again.code == 2
    assert "exists" in again.err
    assert run_here(*given, "--force").code == 0
    assert place.files() == before


def test_the_variables_that_a_server_needs_are_passed_and_noted(
    place: Any, run_here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEATHER_TOKEN", "s3cret")
    result = run_here("create", "--from-mcp", SERVER, "--name", "echo", "--pass-env", "WEATHER_TOKEN", "--output-dir", "tools")
    assert result.code == 0, result.err
    written = (place.folder / "tools/echo/skill.json").read_text()
    assert json.loads(written)["adapterConfig"] == {"passEnv": ["WEATHER_TOKEN"]}
    assert "s3cret" not in written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["find", "--mcp", "no-such-server"], "--mcp 'no-such-server': the server ended at its start", id="missing"),
        pytest.param(["find", "--mcp", "http://127.0.0.1:1/mcp"], "Connection refused", id="refused"),
        pytest.param(["find", "--mcp", "http://"], "names no host", id="no-host"),
        pytest.param(["find", "--mcp", "a 'b"], "check its quotes", id="quotes"),
        pytest.param(["find", "--mcp", f"{SERVER} empty"], "the server offers no tools", id="nothing-offered"),
        pytest.param(["find", "--mcp", SERVER, "--skills-dir", "skills"], "both say where to look", id="two-places"),
        pytest.param(["find", "--pass-env", "A"], "name it with --mcp", id="variables-for-nobody"),
        pytest.param(["find", "--mcp", SERVER, "--pass-env", "ABSENT"], "ABSENT, which is not set", id="unset"),
        pytest.param(["create", "--from-mcp", SERVER, "--name", "ecko"], r"no tool of the server (did you mean", id="no-tool"),
        pytest.param(["create", "--from-mcp", SERVER, "--description", "x"], "cannot stand beside --from-mcp", id="description"),
        pytest.param(["create", "--from-mcp", SERVER, "--from-openapi", "a.json"], "both say what to create", id="two-sources"),
        pytest.param(["create", "--name", "x", "--pass-env", "A"], "name it with --from-mcp", id="create-variables-for-nobody"),
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
